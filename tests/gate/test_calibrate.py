"""Theta is calibrated on labelled claims, and the shipped rules reach the aims of SPEC 5 on theirs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.gate.calibrate import Labelled, at, curve, judge, suggest
from memvault.gate.labels import label
from memvault.gate.score import THETA

DATA = Path(__file__).parents[1] / "data"


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").split("\n") if line]


ROWS, BLIND = read("gate.jsonl"), read("gate_blind.jsonl")


def labelled(half: str) -> list[Labelled]:
    found = [label(row) for row in (*ROWS, *BLIND) if row["half"] == half]
    return [judge(one.draft, one.keep) for one in found]


@pytest.mark.parametrize("half", ["tune", "held", "a"])
def test_precision_is_at_least_95_and_recall_85_percent_on_what_the_rules_author_wrote_or_saw(
    half: str,
) -> None:
    point = at(labelled(half), THETA)
    assert point.precision >= 0.95
    assert point.recall >= 0.85


def test_on_claims_that_nobody_tuned_on_the_recall_is_reached_and_the_precision_is_not() -> None:
    """The honest figure: half b of the blind set, whose texts the rules' author never read."""
    point = at(labelled("b"), THETA)
    assert point.recall >= 0.85
    assert 0.79 <= point.precision < 0.95, "better by now? then say so here and in docs/benchmarks.md"


def test_the_blind_halves_are_split_by_the_hash_of_the_text_and_share_nothing_with_the_other_set() -> None:
    assert len(BLIND) >= 380
    for row in BLIND:
        assert row["half"] == "ab"[hashlib.sha256(row["text"].encode()).digest()[0] % 2]
    texts = [row["text"] for row in (*ROWS, *BLIND)]
    assert len(set(texts)) == len(texts)


def test_the_labelled_set_is_large_bilingual_and_balanced_over_the_reasons() -> None:
    assert len(ROWS) >= 320
    assert len({row["text"] for row in ROWS}) == len(ROWS)
    for half in ("tune", "held"):
        part = [row for row in ROWS if row["half"] == half]
        languages = Counter(row["lang"] for row in part)
        assert languages["en"] == languages["zh"]
        assert 0.4 <= sum(row["keep"] for row in part) / len(part) <= 0.6
        reasons = Counter((row["lang"], row["reason"]) for row in part)
        assert len({reason for _, reason in reasons}) == 29
        assert min(reasons.values()) >= 2


def test_the_default_theta_is_as_good_as_any_on_the_half_the_rules_were_tuned_on() -> None:
    rows = labelled("tune")
    best = suggest(curve(rows))
    assert best is not None
    assert best.by == "recall"
    assert at(rows, THETA).recall >= best.point.recall - 0.02


def test_a_curve_counts_what_passes_and_what_of_it_was_right() -> None:
    rows = [Labelled(0.9, True), Labelled(0.7, False), Labelled(0.5, True), Labelled(-1.0, True)]
    at_half = next(point for point in curve(rows) if point.theta == 0.5)
    assert (at_half.kept, at_half.precision, at_half.recall) == (3, 2 / 3, 2 / 3)


def test_the_suggestion_needs_the_precision_first_and_then_takes_the_best_recall() -> None:
    rows = [Labelled(0.9, True), Labelled(0.8, True), Labelled(0.4, False)]
    best = suggest(curve(rows))
    assert best is not None
    assert best.by == "recall"
    assert (best.point.precision, best.point.recall) == (1.0, 1.0)
    assert 0.4 < best.point.theta <= 0.8


def test_where_no_theta_reaches_the_precision_the_best_f_half_is_suggested() -> None:
    rows = [
        Labelled(0.9, False),
        *[Labelled(0.8, True)] * 3,
        *[Labelled(0.5, False)] * 9,
        Labelled(0.4, True),
    ]
    best = suggest(curve(rows))
    assert best is not None
    assert best.by == "f0.5"
    assert (best.point.precision, best.point.recall) == (0.75, 0.75)


@pytest.mark.parametrize("rows", [[], [Labelled(0.9, False)], [Labelled(-1.0, True)], [Labelled(0.0, True)]])
def test_nothing_is_suggested_where_nothing_worth_keeping_passes(rows: list[Labelled]) -> None:
    assert suggest(curve(rows)) is None


@given(st.lists(st.tuples(st.floats(-1, 1), st.booleans()), max_size=30))
def test_a_suggested_theta_is_one_that_the_settings_accept(rows: list[tuple[float, bool]]) -> None:
    best = suggest(curve(Labelled(total, keep) for total, keep in rows))
    assert best is None or 0 < best.point.theta <= 1


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=30))
def test_recall_never_rises_with_theta(rows: list[tuple[float, bool]]) -> None:
    points = curve(Labelled(total, keep) for total, keep in rows)
    recalls = [point.recall for point in points]
    assert recalls == sorted(recalls, reverse=True)
    assert all(0 <= point.precision <= 1 for point in points)
