"""One relevance from words and meaning. Owns the formula; its constants are in `calibration`.

Both parts have fixed scales, so a vault of one memory is judged as one of a million: words count as the
share of the question's information that was found, meaning as the centred cosine, which is about 0 for
unrelated texts whatever their languages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.recall import calibration as known

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
_NEVER = np.float32(-np.inf)


@dataclass(frozen=True, slots=True)
class Setting:
    """What moves the middle: how many rows the caller may see, and how far questions are known (0..1)."""

    rows: int
    learned: float = 0.0


def evidence(
    lexical: Floats, semantic: Floats | None, present: Mask, foreign: Mask, setting: Setting
) -> Floats:
    """Log-odds that each row answers; minus infinity where there is neither a word nor a vector.

    Rows without a vector, and questions without one, are judged by words alone. A `foreign` row is in
    another language than the question: that it shares no words says nothing, so it counts at least the
    words that a row of its meaning would share in the question's own language.
    """
    many = known.MIDDLE_PER_DECADE * math.log10(min(max(setting.rows, 1), known.MANY_ROWS))
    steep = np.float32(known.STEEPNESS)
    alone = (lexical - np.float32(known.LEXICAL_ONLY_MIDDLE + many)) * steep
    alone[lexical <= 0.0] = _NEVER
    if semantic is None:
        return alone
    shared = (semantic - np.float32(known.FOREIGN_FROM)) * np.float32(known.FOREIGN_WORDS)
    expected = np.where(foreign, shared, np.float32(0.0))
    joined = np.maximum(lexical, expected)
    joined *= np.float32(known.LEXICAL_SHARE)
    joined += semantic
    joined -= np.float32(known.MIDDLE + many + known.MIDDLE_ONCE_LEARNED * setting.learned)
    joined *= steep
    return np.where(present, joined, alone)


def relevance(odds: Floats) -> npt.NDArray[np.float64]:
    """From log-odds to 0..1, in double precision so that near-certain rows keep their order."""
    return 1.0 / (1.0 + np.exp(-np.clip(odds.astype(np.float64), -30.0, 30.0)))


def odds(relevance_: float) -> float:
    """From 0..1 to log-odds; 0 gives minus infinity."""
    if relevance_ <= 0.0:
        return -np.inf
    return float(np.log(relevance_ / max(1.0 - relevance_, 1e-9)))
