"""Nothing relevant is a valid answer, in a vault of any size."""

from __future__ import annotations

from typing import Any

import pytest

MEMORIES = ["The staging database runs PostgreSQL 16.", "Invoices are numbered per calendar year."]
UNRELATED = [
    "favourite colour of the user's grandmother's parrot",
    "who won the chess tournament",
    "鹦鹉最喜欢什么颜色",
    "what is the",
    "?!",
]


@pytest.mark.parametrize("question", UNRELATED)
@pytest.mark.parametrize("vector", [True, False])
def test_an_unrelated_question_returns_nothing(desk: Any, question: str, vector: bool) -> None:
    for number, text in enumerate(MEMORIES):
        desk.put(str(number), text)
    assert desk.ask(question, vector=vector) == []


@pytest.mark.parametrize("more", [0, 3, 300])
@pytest.mark.parametrize("vector", [True, False])
def test_a_question_that_names_the_matter_is_answered_in_small_and_large_vaults(
    desk: Any, more: int, vector: bool
) -> None:
    for number, text in enumerate(MEMORIES):
        desk.put(str(number), text)
    desk.index.put_many(
        desk.entry(f"f{n}", f"Ticket {n} was closed after a call with town {n}") for n in range(more)
    )
    assert desk.ids("which database runs on staging", vector=vector)[:1] == ["0"]
    assert desk.ids("postgresql", vector=vector)[:1] == ["0"]


def test_an_empty_index_and_an_empty_question_return_nothing(desk: Any) -> None:
    assert desk.ask("deploy") == []
    desk.put("x", "deploy the billing service")
    assert desk.ask("", vector=False) == []


def test_a_caller_may_ask_for_everything_or_for_less(desk: Any) -> None:
    for number, text in enumerate(MEMORIES):
        desk.put(str(number), text)
    assert len(desk.ask("database", threshold=0.0)) == 2
    assert desk.ask("database calendar of parrots", threshold=0.999) == []
