"""Authority and confidence: who stands behind a claim, and how far it can be relied on. Pure.

Owns the numbers of SPEC 6. Authority is computed from the caller and the sources, never taken from either.
"""

from __future__ import annotations

from collections.abc import Sequence

from memvault.model import Authority, Kind, Sensitivity, Source, SourceType
from memvault.services.caller import Caller

CONFIDENCE = {
    Authority.SYSTEM: 0.99,
    Authority.FILE: 0.95,
    Authority.USER_CONFIRMED: 0.95,
    Authority.DOCUMENT: 0.8,
    Authority.CONVERSATION: 0.7,
    Authority.INFERRED: 0.5,
}
"""Confidence a claim starts with when its writer gives none."""

MOST_CONFIDENT = 0.99

CONTRADICTED = 0.7
"""What is left of a confidence while the claim is contradicted."""


def authority_of(caller: Caller, sources: Sequence[Source]) -> Authority:
    """Who stands behind a claim (SPEC 2).

    A file speaks where the daemon found the excerpt in it; for anybody but a person, only a file that vouches
    by itself, as the writer may have made it.
    """
    types = {source.type for source in sources}
    if types & {SourceType.IMPORT, SourceType.TEAM}:
        return Authority.DOCUMENT
    files = types == {SourceType.FILE}
    if files and all(source.content_hash if caller.is_person else source.verified for source in sources):
        return Authority.FILE
    if caller.is_person:
        return Authority.USER_CONFIRMED
    return Authority.CONVERSATION if types == {SourceType.CONVERSATION} else Authority.INFERRED


def stronger(one: Authority, other: Authority) -> Authority:
    return max(one, other, key=lambda level: level.rank)


def default_sensitivity(kind: Kind) -> Sensitivity:
    return Sensitivity.PERSONAL if kind is Kind.RELATIONSHIP else Sensitivity.INTERNAL


def merged_confidence(one: float, other: float) -> float:
    """`1 - (1-c1)(1-c2)`, at most 0.99 (SPEC 6)."""
    return min(MOST_CONFIDENT, 1 - (1 - one) * (1 - other))


def lowered(confidence: float) -> float:
    """While the claim is contradicted."""
    return confidence * CONTRADICTED


def restored(confidence: float) -> float:
    """What it was before `lowered`."""
    return min(1.0, round(confidence / CONTRADICTED, 12))
