"""How theta trades precision against recall on labelled claims, and which theta to use. Pure.

Owns the curve and the suggestion. Reading label files and printing are the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PRECISION = 0.95
"""What a written memory must be worth: a wrong one costs more than one that is missing."""


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


def curve(rows: Iterable[Labelled], steps: int = 20) -> list[Point]:
    """Precision and recall at `steps` + 1 thresholds from 0 to 1, in rising order."""
    judged = list(rows)
    return [_at(judged, step / steps) for step in range(steps + 1)]


def suggest(points: Sequence[Point], precision: float = PRECISION) -> Point | None:
    """The point with the best recall among those that reach `precision` and keep something.

    Equal ones: the middle of the run, which new claims move least. None when no point reaches it.
    """
    good = [point for point in points if point.kept and point.precision >= precision]
    if not good:
        return None
    best = max(point.recall for point in good)
    ties = [point for point in good if point.recall == best]
    return ties[len(ties) // 2]


def at(rows: Iterable[Labelled], theta: float) -> Point:
    """Precision and recall at one threshold."""
    return _at(list(rows), theta)


def _at(rows: Sequence[Labelled], theta: float) -> Point:
    kept = [row for row in rows if row.total >= theta]
    right = sum(row.keep for row in kept)
    wanted = sum(row.keep for row in rows)
    return Point(theta, right / len(kept) if kept else 1.0, right / wanted if wanted else 1.0, len(kept))
