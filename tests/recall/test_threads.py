"""Turns of one conversation are judged with what was said around them (SPEC 8)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.recall import Hit, Shelf
from memvault.recall.threads import Threads

MINE = Shelf("private", "alpha", 1, "current")
OTHER = Shelf("private", "beta", 1, "current")
TALK = (
    "Ada: hi, how are you?",
    "Ben: fine, we came back from the lake",
    "Ada: did the camping trip to Baikal work out?",
    "Ben: yes, in early May, with the old tent",
    "Ada: lovely, the cat says hello",
)
WORDS = ["lake", "tent", "camping", "trip", "cat", "hello", "may", "baikal", "ada", "ben", "when", "work"]


def mine(shelf: Shelf) -> bool:
    return shelf == MINE


def shown(hits: list[Hit]) -> list[tuple[Any, ...]]:
    return [(h.id, h.score, h.relevance, h.lexical, h.semantic, h.weight, h.reasons) for h in hits]


def put_talk(desk: Any, thread: str | None = "talk", name: str = "t") -> None:
    for place, text in enumerate(TALK):
        desk.put(f"{name}{place}", text, MINE, thread=thread, place=place)


def fill(desk: Any) -> None:
    for number in range(30):
        desk.put(f"x{number}", f"note {number} about invoices and backups of service {number % 7}", MINE)


def test_an_answer_is_found_by_the_question_before_it(desk: Any) -> None:
    fill(desk)
    put_talk(desk)
    found = desk.ids("when was the camping trip to Baikal", threshold=0.0)
    assert set(found[:2]) == {"t2", "t3"}, "the turn that asks, and the turn that answers without its words"
    assert "with what was said around it" in desk.ask("camping trip to Baikal", threshold=0.0)[0].reasons


def test_without_a_thread_the_same_turns_are_judged_alone(desk: Any) -> None:
    fill(desk)
    put_talk(desk, thread=None)
    found = desk.ids("when was the camping trip to Baikal", threshold=0.0)
    assert found[0] == "t2"
    assert "t3" not in found[:2]


def test_a_turn_alone_in_its_thread_is_judged_like_any_memory(new_desk: Any) -> None:
    answers = []
    for thread in (None, "one"):
        desk = new_desk()
        fill(desk)
        desk.put("lonely", "the camping trip to Baikal was in May", MINE, thread=thread, place=4)
        answers.append(shown(desk.ask("when was the camping trip to Baikal", threshold=0.0)))
    assert answers[0] == answers[1]


def test_a_name_in_the_question_prefers_what_that_person_says(desk: Any) -> None:
    for place, (who, what) in enumerate(
        (
            ("Ada", "I moved to a new flat"),
            ("Ben", "I moved to a new flat"),
            ("Ada", "nice"),
            ("Ben", "nice"),
        )
    ):
        desk.put(f"t{place}", f"{who}: {what}", MINE, thread="talk", place=place)
    assert desk.ids("where did Ben move, to which flat", threshold=0.0)[0] == "t1"
    assert desk.ids("where did Ada move, to which flat", threshold=0.0)[0] == "t0"


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_turns_that_may_not_be_seen_change_nothing_of_those_between_which_they_stand(
    new_desk: Any, seed: int
) -> None:
    random_ = random.Random(seed)
    with_others, without = new_desk(), new_desk()
    for number in range(24):
        text = " ".join(random_.choices(WORDS, k=random_.randint(2, 7))) + random_.choice(("", "?"))
        thread, place = f"talk{number % 3}", random_.randint(0, 9)
        shelf = random_.choice((MINE, OTHER))
        with_others.put(f"m{number:02}", text, shelf, thread=thread, place=place)
        if shelf == MINE:
            without.put(f"m{number:02}", text, shelf, thread=thread, place=place)
    question = " ".join(random_.choices(WORDS, k=4))
    for vector in (True, False):
        for threshold in (None, 0.0):
            kept = {"vector": vector, "threshold": threshold, "limit": 50}
            assert shown(with_others.ask(question, mine, **kept)) == shown(
                without.ask(question, mine, **kept)
            )


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_the_order_in_which_turns_come_in_changes_no_answer(new_desk: Any, seed: int) -> None:
    random_ = random.Random(seed)
    turns = [
        (f"m{n:02}", " ".join(random_.choices(WORDS, k=5)), f"talk{n % 2}", random_.randint(0, 6))
        for n in range(20)
    ]
    answers = []
    for bulk in (True, False):
        desk = new_desk()
        random_.shuffle(turns)
        made = [desk.entry(i, text, MINE, thread=thread, place=place) for i, text, thread, place in turns]
        if bulk:
            desk.index.put_many(made)
        else:
            for entry in made:
                desk.index.put(entry)
        answers.append([(h.id, round(h.score, 9)) for h in desk.ask("camping trip in may", limit=20)])
    assert answers[0] == answers[1]


def test_deleting_a_turn_leaves_its_neighbours_as_if_it_had_never_been(new_desk: Any) -> None:
    with_one, without = new_desk(), new_desk()
    for desk in (with_one, without):
        put_talk(desk)
    with_one.put("extra", "Ben: Baikal was cold", MINE, thread="talk", place=2)
    with_one.index.drop("extra")
    question = "when was the camping trip to Baikal"
    assert shown(with_one.ask(question, threshold=0.0)) == shown(without.ask(question, threshold=0.0))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.booleans()), max_size=30))
def test_neighbours_are_those_before_and_behind_in_the_same_thread(rows: list[tuple[int, int, bool]]) -> None:
    threads = Threads()
    for slot, (thread, place, _) in enumerate(rows):
        threads.put(slot, thread, place)
    mask = np.array([seen for _, _, seen in rows] + [False])
    view = threads.view(mask)
    expected: list[list[int]] = []
    for wanted in (1, 2, 3):
        mine_ = [(p, slot) for slot, (t, p, seen) in enumerate(rows) if t == wanted and seen]
        if len(mine_) > 1:
            expected.append([slot for _, slot in sorted(mine_)])
    flat = [slot for thread in expected for slot in thread]
    assert (view.slots.tolist() if view else []) == flat
    if view is None:
        return
    values = np.arange(1, len(flat) + 1, dtype=np.float32)
    number = {slot: at for at, slot in enumerate(flat)}
    for thread in expected:
        for at, slot in enumerate(thread):
            near = {d: float(number[thread[at + d]] + 1) for d in (-2, -1, 1, 2) if 0 <= at + d < len(thread)}
            assert view.before(values)[number[slot]] == near.get(-1, 0.0)
            assert view.after(values)[number[slot]] == near.get(1, 0.0)
            assert view.two_before(values)[number[slot]] == near.get(-2, 0.0)
            assert view.window(values)[number[slot]] == number[slot] + 1 + sum(near.values())
