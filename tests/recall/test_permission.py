"""Rows that a caller may not see change nothing: no score, no order, no count, no explanation (SPEC 3)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.recall import Hit, Shelf

MINE = Shelf("private", "alpha", 1, "current")
OTHERS = [
    Shelf("private", "beta", 1, "current"),
    Shelf("team", "beta", 0, "current"),
    Shelf("private", "alpha", 3, "current"),
    Shelf("private", "alpha", 1, "waiting"),
]
WORDS = [
    "deploy",
    "billing",
    "ship",
    "service",
    "staging",
    "database",
    "invoice",
    "backup",
    "部署",
    "缓存",
    "发布",
    "contractor",
    "monday",
    "key",
]
QUESTIONS = ["how do we deploy the billing service", "部署", "which database does staging use", "backup key"]


def mine(shelf: Shelf) -> bool:
    return shelf == MINE


def sentence(random_: random.Random) -> str:
    return " ".join(random_.choices(WORDS, k=random_.randint(3, 9)))


def shown(hits: list[Hit]) -> list[tuple[Any, ...]]:
    return [(h.id, h.score, h.relevance, h.lexical, h.semantic, h.weight, h.reasons) for h in hits]


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=8)
def test_a_thousand_foreign_rows_change_no_score_of_a_permitted_one(
    new_desk: Any, seed: int, bulk: bool
) -> None:
    random_ = random.Random(seed)
    desk = new_desk()
    for number in range(40):
        desk.put(f"m{number}", sentence(random_), MINE)
    before = [
        shown(desk.ask(question, mine, 10, vector=vector, threshold=threshold))
        for question in QUESTIONS
        for vector in (True, False)
        for threshold in (None, 0.0)
    ]
    foreign = [desk.entry(f"f{n}", sentence(random_), random_.choice(OTHERS)) for n in range(1_000)]
    if bulk:
        desk.index.put_many(foreign)
    else:
        for entry in foreign:
            desk.index.put(entry)
    after = [
        shown(desk.ask(question, mine, 10, vector=vector, threshold=threshold))
        for question in QUESTIONS
        for vector in (True, False)
        for threshold in (None, 0.0)
    ]
    assert any(before)
    assert after == before


def test_a_foreign_row_is_explained_as_one_that_does_not_exist(desk: Any) -> None:
    desk.put("theirs", "deploy the billing service", OTHERS[0])
    desk.put("ours", "invoice backup", MINE)
    query = desk.query("deploy the billing service")
    hidden = desk.index.explain(query, mine, "theirs")
    absent = desk.index.explain(query, mine, "nobody")
    assert (hidden.verdict, hidden.reasons, hidden.hit, hidden.rank) == (
        absent.verdict,
        absent.reasons,
        absent.hit,
        absent.rank,
    )


@pytest.mark.parametrize("shelf", OTHERS)
def test_the_shelf_decides_and_nothing_else(desk: Any, shelf: Shelf) -> None:
    desk.put("x", "deploy the billing service", shelf)
    assert desk.ask("deploy the billing service", mine) == []
    assert [hit.id for hit in desk.ask("deploy the billing service", lambda given: given == shelf)] == ["x"]


def test_a_memory_that_moves_to_another_shelf_moves_out_of_sight(desk: Any) -> None:
    desk.put("x", "deploy the billing service", MINE)
    assert desk.ask("deploy billing", mine)
    desk.put("x", "deploy the billing service", Shelf("private", "alpha", 1, "resting"))
    assert desk.ask("deploy billing", mine) == []
    assert len(desk.index) == 1
