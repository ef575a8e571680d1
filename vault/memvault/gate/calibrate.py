"""How theta trades precision against recall on labelled claims, and which theta to use. Pure.

Owns the curve and the rule of the suggestion. Reading labels is `labels`', printing the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memvault.gate.estimate import NONE, Estimates
from memvault.gate.score import Writer, decide
from memvault.model import Draft, SourceType

PRECISION = 0.95
"""What a written memory must be worth: a wrong one costs more than one that is missing."""

REFUSED = -1.0
"""Total of a claim that is refused whatever theta is."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One judged claim: its total (0..1, below 0 when refused whatever theta is) and what a person says."""

    total: float
    keep: bool


@dataclass(frozen=True, slots=True)
class Point:
    """At `theta`, `kept` claims pass; the two rates are 0..1, precision 1 when nothing passes."""

    theta: float
    precision: float
    recall: float
    kept: int


RULE = "the highest recall at precision 0.95 or more; where none reaches it, the best F0.5"
"""How a theta is suggested, for people."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A point of the curve, and which half of RULE chose it."""

    point: Point
    by: Literal["recall", "f0.5"]


def judge(draft: Draft, keep: bool, estimates: Estimates = NONE) -> Labelled:
    """What the gate makes of a labelled claim that an agent proposes.

    A source of type user counts as said in so many words.
    """
    said = any(source.type is SourceType.USER for source in draft.sources)
    found = decide(draft, who=Writer.AGENT, theta=0.0, said_explicitly=said, estimates=estimates)
    return Labelled(REFUSED if found.verdict == "refuse" else found.scores.total, keep)


def curve(rows: Iterable[Labelled], steps: int = 20) -> list[Point]:
    """Precision and recall at `steps` + 1 thresholds from 0 to 1, in rising order."""
    judged = list(rows)
    return [_at(judged, step / steps) for step in range(steps + 1)]


def suggest(points: Sequence[Point], precision: float = PRECISION) -> Suggestion | None:
    """The best theta above 0 by RULE; None when nothing that is worth keeping passes at any.

    Equal ones: the middle of the run, which new claims move least.
    """
    kept = [point for point in points if point.theta > 0 and point.kept and point.precision > 0]
    good = [point for point in kept if point.precision >= precision]
    if good:
        return Suggestion(_middle_of_best(good, [point.recall for point in good]), "recall")
    if kept:
        return Suggestion(_middle_of_best(kept, [_f_half(point) for point in kept]), "f0.5")
    return None


def _middle_of_best(points: Sequence[Point], worth: Sequence[float]) -> Point:
    ties = [point for point, value in zip(points, worth, strict=True) if value == max(worth)]
    return ties[len(ties) // 2]


def _f_half(point: Point) -> float:
    """F0.5: precision counts twice as much as recall."""
    return 1.25 * point.precision * point.recall / (0.25 * point.precision + point.recall)


def at(rows: Iterable[Labelled], theta: float) -> Point:
    """Precision and recall at one threshold."""
    return _at(list(rows), theta)


def _at(rows: Sequence[Labelled], theta: float) -> Point:
    kept = [row for row in rows if row.total >= theta]
    right = sum(row.keep for row in kept)
    wanted = sum(row.keep for row in rows)
    return Point(theta, right / len(kept) if kept else 1.0, right / wanted if wanted else 1.0, len(kept))
