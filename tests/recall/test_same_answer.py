"""The same memories give the same answer, to the last digit, however they came in: one by one or at once, in
any order, sorted or not yet, others dropped in between. (A new daemon loads them in an order of its own.)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from memvault.recall import Entry, Shelf

SHELVES = [
    Shelf("private", project, 1, pool) for project in (None, "alpha", "beta") for pool in ("current", "said")
]
WORDS = ["deploy", "billing", "ship", "service", "staging", "database", "invoice", "部署", "缓存", "key"]
ABOUT = [("api", "deploy_command"), ("billing", "database"), ("web", "deploy_command"), (None, None)]
QUESTIONS = [
    "how do we deploy the billing service", "部署 缓存", "what is the deploy command of the api?",
    "which database does billing use", "invoice key",
]  # fmt: skip


def everything(shelf: Shelf) -> bool:
    return True


def entries(desk: Any, chance: random.Random, count: int) -> list[Entry]:
    out: list[Entry] = []
    for number in range(count):
        subject, attribute = chance.choice(ABOUT)
        text = " ".join(chance.choices(WORDS, k=chance.randint(2, 9)))
        more = {"thread": chance.choice(("t1", "t2", None)), "place": number // 2}
        created = 20_000 - chance.randint(0, 300)
        shelf = chance.choice(SHELVES)
        out.append(
            desk.entry(
                f"m{number:04}",
                text,
                shelf,
                subject=subject,
                attribute=attribute,
                created_day=created,
                **more,
            )
        )
    return out


def one_by_one(desk: Any, found: list[Entry]) -> None:
    for entry in found:
        desk.index.put(entry)


def at_once(desk: Any, found: list[Entry]) -> None:
    desk.index.put_many(found)


def backwards_in_two_parts(desk: Any, found: list[Entry]) -> None:
    desk.index.put_many(found[len(found) // 2 :][::-1])
    one_by_one(desk, found[: len(found) // 2][::-1])


def with_others_dropped(desk: Any, found: list[Entry]) -> None:
    others = entries(desk, random.Random(99), len(found))
    for other in others:
        other.id = "x" + other.id
    at_once(desk, [entry for pair in zip(others, found, strict=True) for entry in pair])
    desk.index.drop_many([other.id for other in others])
    one_by_one(desk, found[::3])


def used_and_verified_again(desk: Any, found: list[Entry]) -> None:
    at_once(desk, found)
    for entry in found:
        desk.index.touch(entry.id, used_day=20_000)


def shown(desk: Any) -> list[Any]:
    return [
        desk.ask(question, everything, 20, vector=vector, threshold=threshold)
        for question in QUESTIONS
        for vector, threshold in ((True, None), (True, 0.0), (False, 0.0))
    ]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "way", [one_by_one, backwards_in_two_parts, with_others_dropped, used_and_verified_again]
)
def test_neither_order_nor_company_of_the_past_changes_an_answer(
    new_desk: Any, way: Callable[[Any, list[Entry]], None], seed: int
) -> None:
    expected, other = new_desk(), new_desk()
    found = entries(expected, random.Random(seed), 60)
    at_once(expected, found)
    way(other, found)
    assert any(shown(expected))
    assert shown(other) == shown(expected)


def test_late_rows_answer_as_they_do_once_sorted_in(new_desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    late, settled = new_desk(), new_desk()
    found = entries(late, random.Random(3), 90)
    one_by_one(late, found)
    monkeypatch.setattr("memvault.recall.index._LATE_AT_LEAST", 8)
    one_by_one(settled, found)
    assert late.index._parts.rows.ordered == 0
    assert settled.index._parts.rows.ordered > 60
    assert shown(late) == shown(settled)


def test_of_more_equals_than_are_weighed_the_same_come_first(new_desk: Any) -> None:
    """Six hundred memories that say the same differ by age alone, and among equals by id."""
    forth, back = new_desk(), new_desk()
    made = [
        forth.entry(f"m{n:03}", "deploy the billing service", created_day=20_000 - n * 7 % 300)
        for n in range(700)
    ]
    at_once(forth, made)
    at_once(back, made[::-1])
    hits = forth.ask("deploy billing", everything, 50)
    assert [hit.id for hit in hits] == [hit.id for hit in back.ask("deploy billing", everything, 50)]
    assert hits[0].id == min(made, key=lambda entry: (-entry.created_day, entry.id)).id


def test_what_was_asked_in_between_changes_nothing(desk: Any) -> None:
    at_once(desk, entries(desk, random.Random(4), 60))
    first = shown(desk)
    for number in range(60):
        query = desk.query(f"deploy the billing service {number}")
        for hit in desk.index.search(query, everything, 10):
            desk.index.touch(hit.id, used_day=20_000)
        desk.index.note_question(query)
    assert shown(desk) == first
