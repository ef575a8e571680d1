"""SPEC 3: notes of a running task belong to its owner, move only as they may, and stay within limits."""

from __future__ import annotations

import random
import string
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memvault.errors import (
    Illegal,
    LimitReached,
    MemvaultError,
    NotFound,
    NotGranted,
    Refused,
    TextUnusable,
    Usage,
)
from memvault.model import NoteKind
from memvault.services import tasks
from memvault.services.caller import PERSON, SCRIPT, Caller, Verb, agent
from memvault.store import settings as kept

OTHERS = {
    "another agent": agent("codex", (None, "alpha")),
    "another project": agent("claude-code", (None, "beta")),
    "no project": agent("claude-code", (None,)),
    "a script": SCRIPT,
}


def begin(desk: Any, caller: Caller = PERSON, title: str = "Move the mill", own: str | None = None) -> str:
    return str(tasks.open_task(desk.vault, caller, title, own)["id"])


def jot(desk: Any, task: str, text: str, kind: str = "todo", caller: Caller = PERSON) -> dict[str, Any]:
    return tasks.note(desk.vault, caller, task, NoteKind(kind), text)


def acts(desk: Any, caller: Caller, task: str) -> dict[str, Any]:
    """Every way to reach a task that is named."""
    vault = desk.vault
    return {
        "get": lambda: tasks.get(vault, caller, task),
        "note": lambda: tasks.note(vault, caller, task, NoteKind.TO_DO, "x"),
        "done": lambda: tasks.done(vault, caller, task, 1),
        "reopen": lambda: tasks.reopen(vault, caller, task, 1, "x"),
        "close": lambda: tasks.close(vault, caller, task, ()),
    }


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_a_foreign_task_is_answered_exactly_like_an_unknown_one(
    desk: Any, robot: Caller, other: Caller
) -> None:
    task = begin(desk, robot, own="session-1")
    jot(desk, task, "Grease the axle.", caller=robot)
    before = tasks.get(desk.vault, robot, task)
    unknown = "01999999-0000-7000-8000-000000000000"
    for named in (task, "session-1"):
        for name, act in acts(desk, other, named).items():
            with pytest.raises(NotFound) as foreign:
                act()
            with pytest.raises(NotFound) as absent:
                acts(desk, other, unknown)[name]()
            said = [(error.value.code, error.value.message, error.value.hint) for error in (foreign, absent)]
            assert said[0] == said[1], name
    assert tasks.listing(desk.vault, other, 50, 0) == {"items": [], "total": 0}
    assert tasks.get(desk.vault, robot, task) == before


def test_a_person_sees_and_changes_every_task(desk: Any, robot: Caller) -> None:
    task = begin(desk, robot)
    jot(desk, task, "Grease the axle.", caller=robot)
    mine = begin(desk, PERSON)
    assert {item["id"] for item in tasks.listing(desk.vault, PERSON, 50, 0)["items"]} == {task, mine}
    assert tasks.done(desk.vault, PERSON, task, 1)["steps"][0]["by"] == "person"
    assert tasks.close(desk.vault, PERSON, task, ()).erased == 1


def test_what_a_script_opens_is_the_persons(desk: Any) -> None:
    task = begin(desk, SCRIPT, own="nightly")
    assert begin(desk, PERSON, own="nightly") == task
    assert tasks.get(desk.vault, PERSON, task)["owner"] == "person"


def test_without_the_right_to_propose_no_notes_are_kept(desk: Any, robot: Caller) -> None:
    task = begin(desk, robot)
    reader = replace(robot, verbs=frozenset({Verb.READ}))
    elsewhere = replace(robot, here=False)
    for caller in (reader, elsewhere):
        tries = acts(desk, caller, task) | {
            "open": lambda caller=caller: begin(desk, caller),
            "list": lambda caller=caller: tasks.listing(desk.vault, caller, 50, 0),
        }
        for act in tries.values():
            with pytest.raises(NotGranted):
                act()


def test_opening_by_a_name_of_ones_own_goes_on_with_that_task(desk: Any, robot: Caller) -> None:
    first = tasks.open_task(desk.vault, robot, "Move the mill", "session-1")
    jot(desk, "session-1", "Grease the axle.", caller=robot)
    again = tasks.open_task(desk.vault, robot, "Another title", "session-1")
    assert (first["resumed"], again["resumed"]) == (False, True)
    assert (again["id"], again["title"]) == (first["id"], "Move the mill")
    assert [note["text"] for note in again["notes"]] == ["Grease the axle."]
    for other in (agent("codex", (None, "alpha")), agent("claude-code", (None, "beta")), PERSON):
        assert begin(desk, other, own="session-1") != first["id"]


def test_a_name_that_several_owners_use_is_the_persons_own_or_asked_back(desk: Any, robot: Caller) -> None:
    ids = [begin(desk, caller, own="same") for caller in (robot, agent("codex", (None,)))]
    with pytest.raises(Usage, match="several"):
        tasks.get(desk.vault, PERSON, "same")
    mine = begin(desk, PERSON, own="same")
    assert tasks.get(desk.vault, PERSON, "same")["id"] == mine
    assert tasks.get(desk.vault, PERSON, ids[1])["owner"] == "agent:codex"
    taken = begin(desk, robot, own=mine)
    assert tasks.get(desk.vault, PERSON, mine)["id"] == mine != taken, "a name never hides an id"


@pytest.mark.parametrize("again", ["Grease the axle.", "  grease the   AXLE ", "Grease the axle!"])
def test_noting_again_what_is_done_says_so_and_reopens_nothing(desk: Any, again: str) -> None:
    task = begin(desk)
    assert jot(desk, task, "Grease the axle.")["outcome"] == "noted"
    assert jot(desk, task, again)["outcome"] == "known"
    finished = tasks.done(desk.vault, PERSON, task, 1)
    assert (finished["outcome"], finished["state"]) == ("done", "done")
    before = tasks.get(desk.vault, PERSON, task)
    for kind in ("todo", "plan"):
        said = jot(desk, task, again, kind)
        assert (said["outcome"], said["note"], said["state"]) == ("done_already", 1, "done")
    assert tasks.done(desk.vault, PERSON, task, 1)["outcome"] == "done_already"
    assert tasks.get(desk.vault, PERSON, task) == before


def test_another_number_negation_or_kind_is_another_note(desk: Any) -> None:
    task = begin(desk)
    jot(desk, task, "Move 3 stones")
    tasks.done(desk.vault, PERSON, task, 1)
    for text, kind in (
        ("Move 4 stones", "todo"), ("Do not move 3 stones", "todo"), ("Move 3 stones?", "question"),
        ("Move 3 stones", "finding"), ("Move 3 stones", "decision"),
    ):  # fmt: skip
        assert jot(desk, task, text, kind)["outcome"] == "noted", (text, kind)


def test_reopening_is_explicit_and_recorded_with_its_reason(desk: Any) -> None:
    task = begin(desk)
    jot(desk, task, "Grease the axle.")
    with pytest.raises(Illegal, match="open"):
        tasks.reopen(desk.vault, PERSON, task, 1, "why not")
    tasks.done(desk.vault, PERSON, task, 1)
    again = tasks.reopen(desk.vault, PERSON, task, 1, "it squeaks again")
    assert (again["outcome"], again["state"]) == ("reopened", "reopened")
    with pytest.raises(Illegal, match="reopened"):
        tasks.reopen(desk.vault, PERSON, task, 1, "twice")
    tasks.done(desk.vault, PERSON, task, 1)
    (note,) = tasks.get(desk.vault, PERSON, task)["notes"]
    assert [(step["to"], step["why"]) for step in note["steps"]] == [
        ("done", None), ("reopened", "it squeaks again"), ("done", None),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["finding", "decision"])
def test_findings_and_decisions_are_no_items(desk: Any, kind: str) -> None:
    task = begin(desk)
    assert jot(desk, task, "The axle is oak.", kind)["state"] == "noted"
    with pytest.raises(Illegal, match=kind):
        tasks.done(desk.vault, PERSON, task, 1)
    assert tasks.listing(desk.vault, PERSON, 50, 0)["items"][0]["open"] == 0


TEXTS = ("Grease the axle", "Turn the sails", "Count the sacks")
NOTES = st.tuples(st.just("note"), st.sampled_from(TEXTS), st.sampled_from(list(NoteKind)))
MOVES = st.tuples(st.sampled_from(["done", "reopen"]), st.integers(1, 6), st.none())


class Twin:
    """What the notes of a task must be: kept by rules of its own, beside the real ones."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str]] = []
        """Group of kinds, text, state."""

    def note(self, text: str, kind: NoteKind) -> str:
        group = "item" if kind in ("plan", "todo") else str(kind)
        same = [state for held, said, state in self.rows if (held, said) == (group, text)]
        if same:
            return "done_already" if same[0] == "done" else "known"
        self.rows.append((group, text, "open" if kind.is_item else "noted"))
        return "noted"

    def move(self, act: str, number: int) -> str | type[MemvaultError]:
        """The outcome, or the error that it must be."""
        if number > len(self.rows):
            return NotFound
        group, text, state = self.rows[number - 1]
        if (act, state) == ("done", "done"):
            return "done_already"
        if state == "noted" or (state == "done") == (act == "done"):
            return Illegal
        after = "done" if act == "done" else "reopened"
        self.rows[number - 1] = (group, text, after)
        return after


def moved(desk: Any, task: str, act: str, number: int) -> str | type[MemvaultError]:
    try:
        if act == "done":
            return str(tasks.done(desk.vault, PERSON, task, number)["outcome"])
        return str(tasks.reopen(desk.vault, PERSON, task, number, "because")["outcome"])
    except MemvaultError as error:
        return type(error)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(walk=st.lists(st.one_of(NOTES, MOVES), min_size=4, max_size=30))
def test_an_item_is_open_done_or_reopened_and_only_a_recorded_step_moves_it(
    desk: Any, walk: list[tuple[str, Any, Any]]
) -> None:
    task, twin = begin(desk), Twin()
    for act, what, kind in walk:
        if act == "note":
            assert jot(desk, task, what, kind)["outcome"] == twin.note(what, kind)
        else:
            assert moved(desk, task, act, what) == twin.move(act, what)
        notes = tasks.get(desk.vault, PERSON, task)["notes"]
        assert [note["state"] for note in notes] == [state for _, _, state in twin.rows]
        for note in notes:
            path = [step["to"] for step in note["steps"]]
            assert path == ["done", "reopened"] * (len(path) // 2) + ["done"] * (len(path) % 2)
            first = "open" if NoteKind(note["kind"]).is_item else "noted"
            assert note["state"] == (path[-1] if path else first), "no step without a record"
    tasks.close(desk.vault, PERSON, task, ())


def test_tasks_notes_and_reopenings_have_limits_with_errors_of_their_own(
    desk: Any, robot: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("MOST_TASKS", 3), ("MOST_NOTES", 3), ("MOST_STEPS", 4)):
        assert getattr(tasks, name) > most
        monkeypatch.setattr(tasks, name, most)
    task = begin(desk, robot, own="mine")
    begin(desk, robot)
    begin(desk, agent("claude-code", (None, "beta")))
    with pytest.raises(LimitReached, match="3 tasks"):
        begin(desk, robot)
    assert begin(desk, robot, own="mine") == task, "going on with one is no new one"
    begin(desk, agent("codex", (None, "alpha")))
    for number in range(3):
        jot(desk, task, f"Step {number}", caller=robot)
    with pytest.raises(LimitReached, match="3 notes"):
        jot(desk, task, "Step 3", caller=robot)
    assert jot(desk, task, "Step 2", caller=robot)["outcome"] == "known"
    for _ in range(2):
        tasks.done(desk.vault, robot, task, 1)
        tasks.reopen(desk.vault, robot, task, 1, "again")
    tasks.done(desk.vault, robot, task, 1)
    with pytest.raises(LimitReached, match="too often"):
        tasks.reopen(desk.vault, robot, task, 1, "again")
    assert LimitReached.code == "limit_reached"


@pytest.mark.parametrize("text", ["", " \n", "x" * (tasks.NOTE_BYTES + 1), "a\x00b", "a\udc80"])
def test_a_note_that_is_empty_too_long_or_no_text_is_refused_by_name(desk: Any, text: str) -> None:
    task = begin(desk)
    with pytest.raises(TextUnusable, match="note"):
        jot(desk, task, text)
    assert jot(desk, task, "字" * (tasks.NOTE_BYTES // 3))["outcome"] == "noted"


@pytest.mark.parametrize("own", ["two words", "tab\there", "", "x" * 201])
def test_a_task_id_of_ones_own_is_one_short_word(desk: Any, own: str) -> None:
    with pytest.raises(Usage):
        begin(desk, own=own)


@pytest.mark.parametrize("where", ["title", "task id", "note", "reason"])
def test_a_credential_never_reaches_the_notes(desk: Any, where: str) -> None:
    rnd = random.Random(11)
    secret = "gh" + "p_" + "".join(rnd.choices(string.ascii_letters + string.digits, k=36))
    task = begin(desk)
    jot(desk, task, "Grease the axle.")
    tasks.done(desk.vault, PERSON, task, 1)
    tries = {
        "title": lambda: begin(desk, title=f"Use {secret} to deploy"),
        "task id": lambda: begin(desk, own=secret),
        "note": lambda: jot(desk, task, f"The token is {secret}."),
        "reason": lambda: tasks.reopen(desk.vault, PERSON, task, 1, f"key {secret}"),
    }
    with pytest.raises(Refused, match=f"{where} holds a credential") as refusal:
        tries[where]()
    assert secret not in refusal.value.message
    assert kept.counters(desk.vault.writer)["refused:credential"] == 1
    rows = [
        row
        for table in ("task_head", "task_note", "task_step")
        for row in desk.vault.writer.all(f"SELECT * FROM {table}")
    ]
    assert rows
    assert secret not in repr(rows)
