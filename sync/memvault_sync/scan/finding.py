"""What a scan reports: which rule, how serious, where. Never the text that was found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What sort of thing was found."""

    CREDENTIAL = "credential"
    PERSONAL = "personal"
    LOCAL = "local"
    INJECTION = "injection"


class View(StrEnum):
    """Through which view of the text it was seen."""

    RAW = "raw"
    NORMALISED = "normalised"
    UNWRAPPED = "unwrapped"
    DECODED = "decoded"


ALL_VIEWS: frozenset[View] = frozenset(View)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One finding.

    `start` and `end` are positions in what was scanned: characters of a `str`, bytes of `bytes`. `line`
    counts from 1. `tier` 1 is never overridden, 2 needs a person's tick. For the decoded view the positions
    are those of the encoded text.
    """

    start: int
    end: int
    rule: str
    tier: int
    kind: Kind
    view: View
    line: int
