"""SPEC 9, priority when claims disagree: each rank goes before the next, and what nothing ranks is a pair."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from memvault.compile.plan import Material, plan
from memvault.compile.priority import precedence, settle
from memvault.compile.task import Mode, Task, is_unspecific
from memvault.model import Authority, Kind

CHECKED = "2026-04-01T00:00:00.000Z"
RANKS: list[tuple[str, dict[str, Any]]] = [
    ("current source of truth", {"authority": Authority.FILE}),
    ("explicit statement of the user", {"authority": Authority.USER_CONFIRMED}),
    ("decision record of the project", {"authority": Authority.DOCUMENT}),
    ("verified episode", {"authority": Authority.CONVERSATION, "verified_at": CHECKED, "kind": Kind.EPISODE}),
    ("conversation", {"authority": Authority.CONVERSATION}),
    ("inferred preference", {"authority": Authority.INFERRED, "kind": Kind.PREFERENCE}),
]


def claim(entry: Any, number: int, value: str, **more: Any) -> Any:
    about = {"subject": "app", "attribute": "builder", "value": value, "project": "app", "score": 0.5}
    return entry(number, f"The app is built with {value}.", **{**about, **more})


@pytest.mark.parametrize(
    ("higher", "lower"), list(itertools.pairwise(RANKS)), ids=[name for name, _ in RANKS[:-1]]
)
@pytest.mark.parametrize("order", [1, -1])
def test_each_rank_goes_before_the_next(entry: Any, higher: Any, lower: Any, order: int) -> None:
    one, two = claim(entry, 1, "npm", **higher[1]), claim(entry, 2, "pnpm", **lower[1])
    assert precedence(one) > precedence(two)
    settled = settle([one, two][::order])
    assert ([e.id for e in settled.kept], settled.open) == ([one.id], [])
    assert [(loser.id, winner.id) for loser, winner in settled.outranked] == [(two.id, one.id)]
    made = plan(Task("x", Mode.CONTINUITY, "app"), Material(now=CHECKED, standing=(), recalled=(one, two)))
    assert made.reasons[two.id] == f"{one.id} goes before it"


@pytest.mark.parametrize(("name", "how"), RANKS, ids=[name for name, _ in RANKS])
def test_what_has_one_rank_is_a_pair_and_never_silently_chosen(entry: Any, name: str, how: Any) -> None:
    one, two = claim(entry, 1, "npm", **how), claim(entry, 2, "pnpm", **how)
    settled = settle([one, two])
    assert settled.kept == []
    assert [[e.id for e in group] for group in settled.open] == [[one.id, two.id]], name


def test_a_source_of_truth_that_waits_for_a_new_check_goes_behind_the_users_word(entry: Any) -> None:
    file = claim(entry, 1, "npm", authority=Authority.FILE, stale=True)
    word = claim(entry, 2, "pnpm", authority=Authority.USER_CONFIRMED)
    assert [e.id for e in settle([file, word]).kept] == [word.id]


def test_a_preference_without_room_in_the_stable_zone_still_outranks_what_is_recalled(entry: Any) -> None:
    long = {"why": "it was so. " * 60, "how_to_apply": "as ever. " * 60}
    first = [entry(n, f"Keep {n}. " * 20, Kind.PREFERENCE, subject=f"a{n}") for n in range(10, 16)]
    last = claim(entry, 99, "npm", kind=Kind.PREFERENCE, **long)
    said = claim(entry, 1, "pnpm", authority=Authority.CONVERSATION)
    found = Material(now=CHECKED, standing=(*first, last), recalled=(said,))
    made = plan(Task("x", Mode.SCOPED, "app", budget=300), found)
    assert last.id not in {id_ for placed in made.stable for id_ in placed.unit.ids}
    assert made.reasons[said.id] == f"{last.id} goes before it"


@pytest.mark.parametrize(
    "objective",
    ["shop", "the shop project", "Start work on shop", "continue", "hello", "…", "shop：新会话，开始工作",
     "继续", "what do we know about this project?"],
)  # fmt: skip
def test_an_objective_that_names_no_work_is_unspecific(objective: str) -> None:
    assert is_unspecific(objective, "shop")


@pytest.mark.parametrize(
    "objective", ["fix the payments of shop", "shop checkout", "开始重构支付模块", "支付", "release"]
)
def test_an_objective_that_names_work_is_specific(objective: str) -> None:
    assert not is_unspecific(objective, "shop")
