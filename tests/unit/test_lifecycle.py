"""SPEC 4: the table of moves, every one of it and nothing beside it."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import Illegal
from memvault.lifecycle import TABLE, Move, check
from memvault.model import Status

NEW = None
LIVING = [status for status in Status if status is not Status.DELETED]

SPEC_4 = {
    (NEW, "candidate", "propose"),
    (NEW, "active", "create"),
    ("candidate", "active", "confirm"),
    ("candidate", "active", "promote"),
    ("candidate", "superseded", "promote"),
    ("candidate", "conflict", "promote"),
    ("candidate", "deleted", "reject"),
    ("candidate", "deleted", "lapse"),
    ("active", "superseded", "supersede"),
    ("expired", "superseded", "supersede"),
    ("archived", "superseded", "supersede"),
    ("disabled", "superseded", "supersede"),
    ("active", "conflict", "contradict"),
    ("active", "expired", "expire"),
    ("active", "archived", "archive"),
    ("conflict", "archived", "archive"),
    ("active", "disabled", "disable"),
    ("conflict", "disabled", "disable"),
    ("disabled", "active", "enable"),
    ("conflict", "active", "resolve"),
    ("conflict", "deleted", "resolve"),
    ("expired", "active", "revive"),
    ("archived", "active", "revive"),
    *((status.value, "deleted", "delete") for status in LIVING),
}
"""Written out by hand from the SPEC: (from, to, move). Rolling back has a test of its own."""


def allowed(move: Move, before: Status | None, after: Status) -> bool:
    try:
        check(move, before, after)
    except Illegal:
        return False
    return True


@pytest.mark.parametrize("move", [move for move in Move if move is not Move.ROLL_BACK])
def test_the_table_is_that_of_the_spec_and_nothing_more(move: Move) -> None:
    found = {
        (before, after) for before, after in product([NEW, *Status], Status) if allowed(move, before, after)
    }
    assert found == {(before, after) for before, after, name in SPEC_4 if name == move}


def test_a_rollback_restores_any_living_state_but_never_makes_a_conflict_superseded() -> None:
    for before, after in product(LIVING, LIVING):
        expected = before is not after and (before, after) != (Status.CONFLICT, Status.SUPERSEDED)
        assert allowed(Move.ROLL_BACK, before, after) == expected, (before, after)
    assert not any(allowed(Move.ROLL_BACK, state, Status.DELETED) for state in LIVING)


@pytest.mark.parametrize("move", Move)
def test_no_move_leads_from_conflict_to_superseded(move: Move) -> None:
    assert not allowed(move, Status.CONFLICT, Status.SUPERSEDED)


@pytest.mark.parametrize("move", Move)
def test_deleted_is_final(move: Move) -> None:
    assert not any(allowed(move, Status.DELETED, after) for after in Status)


@pytest.mark.parametrize("move", Move)
def test_no_move_leaves_a_state_for_itself(move: Move) -> None:
    assert not any(allowed(move, state, state) for state in Status)


@given(st.lists(st.tuples(st.sampled_from(Move), st.sampled_from(Status)), max_size=60))
def test_a_random_walk_never_leaves_the_table(steps: list[tuple[Move, Status]]) -> None:
    state: Status | None = NEW
    was_deleted = False
    for move, wanted in steps:
        if not allowed(move, state, wanted):
            continue
        assert not was_deleted
        assert wanted in TABLE[move][state]
        assert (state, wanted) != (Status.CONFLICT, Status.SUPERSEDED)
        assert (state is NEW) == (move in (Move.CREATE, Move.PROPOSE))
        state = wanted
        was_deleted = state is Status.DELETED


@pytest.mark.parametrize(("before", "after"), [(None, "conflict"), ("conflict", "superseded")])
def test_a_refusal_names_both_states(before: str | None, after: str) -> None:
    with pytest.raises(Illegal) as refusal:
        check(Move.SUPERSEDE, None if before is None else Status(before), Status(after))
    assert (before or "new") in refusal.value.message
    assert after in refusal.value.message
    assert refusal.value.exit_status == 7
