"""A memory that says what a better one says gives way to others, and nothing is left out for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from memvault.recall import Shelf
from memvault.recall.diverse import apart

LEAST = 0.95
Likeness = npt.NDArray[np.float32]


@st.composite
def answers(draw: st.DrawFn) -> tuple[Likeness, npt.NDArray[np.bool_]]:
    """Cosines among some rows, many of them copies of each other, and which are settled."""
    count = draw(st.integers(0, 12))
    cosine = st.sampled_from([0.0, 0.3, 0.94, 0.95, 0.99, 1.0])
    likeness = np.eye(count, dtype=np.float32)
    for one in range(count):
        for other in range(one):
            likeness[one, other] = likeness[other, one] = draw(cosine)
    return likeness, np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), np.bool_)


@given(answers())
def test_nothing_is_left_out_and_nothing_comes_twice(given_: Any) -> None:
    likeness, settled = given_
    assert sorted(apart(likeness, settled, LEAST).tolist()) == list(range(len(likeness)))


@given(answers())
def test_the_best_stays_the_best(given_: Any) -> None:
    likeness, settled = given_
    if len(likeness):
        assert apart(likeness, settled, LEAST)[0] == 0


@given(answers())
def test_copies_come_after_all_others_and_both_keep_their_order(given_: Any) -> None:
    likeness, settled = given_
    order = apart(likeness, settled, LEAST).tolist()
    first: list[int] = []
    for at in range(len(likeness)):
        if settled[at] or all(likeness[at, other] < LEAST for other in first):
            first.append(at)
    later = [at for at in range(len(likeness)) if at not in first]
    assert order == first + later
    assert all(not settled[at] for at in later)
    assert all(max(likeness[at, other] for other in first) >= LEAST for at in later)


@given(answers())
def test_rows_that_differ_keep_their_order(given_: Any) -> None:
    likeness, _ = given_
    np.minimum(likeness, np.float32(0.94), out=likeness)
    settled = np.zeros(len(likeness), np.bool_)
    assert apart(likeness, settled, LEAST).tolist() == list(range(len(likeness)))


@given(answers())
def test_settled_rows_give_way_to_nobody(given_: Any) -> None:
    likeness, settled = given_
    settled[:] = True
    assert apart(likeness, settled, LEAST).tolist() == list(range(len(likeness)))


def test_a_copy_of_a_copy_is_compared_with_what_stands_in_front() -> None:
    likeness = np.array([[1, 0.96, 0.9], [0.96, 1, 0.96], [0.9, 0.96, 1]], np.float32)
    assert apart(likeness, np.zeros(3, np.bool_), LEAST).tolist() == [0, 2, 1]


COPIES = [
    "The billing service is deployed with ship.sh from the bastion host",
    "the billing service is deployed with ship.sh from the bastion host!",
    "The Billing service is deployed with ship.sh, from the bastion host.",
]
OTHER = "The billing service was deployed by hand until the outage in spring"


def test_other_answers_come_before_copies_of_the_best(desk: Any) -> None:
    for number, text in enumerate([*COPIES, OTHER]):
        desk.put(str(number), text)
    question = "how is the billing service deployed"
    ids = desk.ids(question, threshold=0.0)
    assert sorted(ids) == ["0", "1", "2", "3"], "nothing is left out"
    assert ids[1] == "3"
    assert desk.ids(question, threshold=0.0, limit=2)[1] == "3"


def test_the_sides_of_a_conflict_stay_together(desk: Any) -> None:
    for number, text in enumerate(COPIES[:2]):
        desk.put(str(number), text, Shelf("private", None, 1, "conflict"))
    desk.put("3", OTHER)
    assert desk.ids("how is the billing service deployed", threshold=0.0) == ["0", "1", "3"]
