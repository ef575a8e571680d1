"""SPEC 8: a question's "last week" prefers memories of those days, and neither filters nor makes answers."""

from __future__ import annotations

from typing import Any

from memvault.recall import when

TODAY = 20_000

ASKED = "what did the ledger team decide last week"


def ids(desk: Any, text: str = ASKED, **more: Any) -> list[str]:
    return [hit.id for hit in asked(desk, text, **more)]


def asked(desk: Any, text: str = ASKED, **more: Any) -> list[Any]:
    return desk.ask(text, span=when.asked(text, TODAY), **more)


def test_of_equal_memories_the_one_of_those_days_comes_first(desk: Any) -> None:
    for number, days_ago in enumerate([40, 7, 90]):
        desk.put(str(number), f"The ledger team decided on plan {number}.", created_day=TODAY - days_ago)
    assert ids(desk)[0] == "1"
    assert set(ids(desk)) == {"0", "1", "2"}


def test_what_was_said_then_counts_when_it_was_noted_later(desk: Any) -> None:
    desk.put("old", "The ledger team decided on plan A.", dated_day=TODAY - 7)
    desk.put("new", "The ledger team decided on plan B.", dated_day=TODAY - 300)
    assert ids(desk)[0] == "old"


def test_the_reason_names_the_days_only_where_they_are_the_cause(desk: Any) -> None:
    desk.put("in", "The ledger team decided on plan A.", created_day=TODAY - 7)
    desk.put("out", "The ledger team decided on plan B.", created_day=TODAY - 300)
    told = {hit.id: "of the time asked for: last week" in hit.reasons for hit in asked(desk)}
    assert told == {"in": True, "out": False}


def test_a_date_alone_is_no_answer(desk: Any) -> None:
    desk.put("a", "Breakfast is served in the east wing.", created_day=TODAY - 7)
    assert ids(desk) == []


def test_a_memory_of_other_days_that_answers_still_comes(desk: Any) -> None:
    desk.put("a", "The ledger team decided on plan A last week.", created_day=TODAY - 300)
    assert ids(desk) == ["a"]
