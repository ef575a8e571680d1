"""The reranker's say in the order of answers: bounded, deterministic, and no more than an order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memvault.recall.blend import order
from memvault.recall.query import Hit

SCORES = st.floats(-20, 20, width=32)


def hit(name: str, score: float, *, weight: float = 1.0, relevance: float = 0.5) -> Hit:
    return Hit(name, score, relevance, 0.0, None, weight, ())


def hits(*scores: float) -> list[Hit]:
    return [hit(str(at), score) for at, score in enumerate(scores)]


def of(*scores: float) -> np.ndarray:
    return np.array(scores, np.float32)


def test_what_the_reranker_prefers_by_far_moves_up_and_what_recall_was_sure_of_stays() -> None:
    assert order(hits(0.5, 0.45, 0.4), of(-3, 1, 5)) == [2, 1, 0]
    assert order(hits(0.9, 0.1), of(4.9, 5), share=0.5)[0] == 1
    assert order(hits(0.9, 0.1), of(2, 5), share=0.25)[0] == 0


def test_age_and_trust_weigh_on_the_rerankers_part_too() -> None:
    old = [hit("a", 0.5), hit("b", 0.1, weight=0.2)]
    assert order(
        old,
        of(
            0.4,
            1.0,
        ),
    ) == [0, 1]
    assert order([hit("a", 0.5), hit("b", 0.45)], of(0.4, 1.0)) == [1, 0]


def test_an_exact_match_stays_in_front() -> None:
    exact = [hit("a", 0.6, relevance=1.0), hit("b", 0.55)]
    assert order(exact, of(-9, 9)) == [0, 1]


def test_a_copy_of_a_better_answer_stays_behind_the_others() -> None:
    assert order(hits(0.9, 0.5, 0.3, 0.89, 0.8), of(1, 2, 3, 9, 10)) == [0, 1, 2, 4, 3]


def test_scores_that_tell_nothing_leave_the_order() -> None:
    assert order(hits(0.5, 0.4, 0.4, 0.3), of(2, 2, 2, 2)) == [0, 1, 2, 3]
    assert order([], of()) == []


@given(st.lists(st.tuples(st.floats(0, 1), SCORES), min_size=1, max_size=20), st.floats(0.1, 9), SCORES)
def test_every_hit_stays_and_the_scale_of_the_scores_does_not_matter(
    rows: list[tuple[float, float]], scale: float, shift: float
) -> None:
    ranked = hits(*sorted((score for score, _ in rows), reverse=True))
    whole = np.array([round(score) for _, score in rows], np.float32)
    found = order(ranked, whole)
    assert sorted(found) == list(range(len(rows)))
    assert order(ranked, whole) == found
    moved = (whole.astype(np.float64) * scale + shift).astype(np.float32)
    close = {at: place for place, at in enumerate(order(ranked, moved))}
    spread = max(float(np.ptp(whole)), 1.0)
    for earlier, later in pairwise(found):
        if close[earlier] > close[later]:  # only by rounding
            most = ranked[0].score or 1.0
            gain = abs((ranked[earlier].score - ranked[later].score) / most)
            assert abs(gain - abs(float(whole[later] - whole[earlier])) / spread) < 1e-3


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.data())
def test_without_a_share_the_order_is_recalls(scores: list[float], data: st.DataObject) -> None:
    ranked = hits(*sorted(scores, reverse=True))
    other = data.draw(st.lists(SCORES, min_size=len(scores), max_size=len(scores)))
    assert order(ranked, of(*other), share=0.0) == list(range(len(scores)))
