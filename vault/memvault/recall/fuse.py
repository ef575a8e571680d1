"""One evidence from words and meaning. Owns the formulas; their constants are in `calibration`.

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
    """What moves the middle: how many rows the caller may see, how far questions are known (0..1), and what
    was calibrated for this vault."""

    rows: int
    learned: float = 0.0
    shift: float = 0.0

    def decades(self, most: int) -> float:
        """Powers of ten of the rows, of which more than `most` count as so many."""
        return math.log10(min(max(self.rows, 1), most))


def joined(words: Floats, meaning: Floats, foreign: Mask) -> Floats:
    """Words and meaning of each row as one number, about 0 for unrelated rows and 0.4 to 1.2 for answers.

    A `foreign` row is in another language than the question: that it shares no words says nothing, so it
    counts at least the words that a row of its meaning would share in the question's own language.
    """
    out = np.maximum(words, np.where(foreign, expected_words(meaning), np.float32(0.0)))
    out *= np.float32(known.LEXICAL_SHARE)
    out += meaning
    return out


def expected_words(meaning: Floats) -> Floats:
    """The words that a row of some meaning would share with a question in its own language."""
    return (meaning - np.float32(known.FOREIGN_FROM)) * np.float32(known.FOREIGN_WORDS)


def evidence(words: Floats, both: Floats | None, present: Mask, setting: Setting) -> Floats:
    """Log-odds that each row answers; minus infinity where there is neither a word nor a vector.

    `both` is what `joined` gives; rows without a vector, and questions without one, are judged by words.
    """
    many = known.MIDDLE_PER_DECADE * setting.decades(known.MANY_ROWS)
    alone = (words - np.float32(known.LEXICAL_ONLY_MIDDLE + many)) * np.float32(known.STEEPNESS)
    alone[words <= 0.0] = _NEVER
    if both is None:
        return alone
    middle = known.MIDDLE + many + known.MIDDLE_ONCE_LEARNED * setting.learned
    return np.where(present, (both - np.float32(middle)) * np.float32(known.STEEPNESS), alone)


def answered(both: Floats, meaning: Floats, rows: Mask, foreign: Mask, setting: Setting) -> float:
    """Log-odds that any of `rows` answers at all, from the best meaning and the best evidence among them.

    The nearest meaning tells a question about this vault from one about something else better than words
    do, which strangers share as well. Rows in another language than the question need a little more.
    """
    least = known.ANSWERED_FROM + known.ANSWERED_PER_DECADE * setting.decades(known.ANSWERED_MANY_ROWS)
    least += known.ANSWERED_ONCE_LEARNED * setting.learned + setting.shift
    best = -np.inf
    for some, more in ((rows & ~foreign, 0.0), (rows & foreign, known.ANSWERED_FOREIGN)):
        if some.any():
            nearest, most = float(meaning[some].max()), float(both[some].max())
            best = max(best, nearest + known.ANSWERED_JOINED * most - more - least)
    return best * known.STEEPNESS


def raise_named(odds: Floats, slots: npt.NDArray[np.int64], wholly: float, *, sure: bool) -> None:
    """Raise rows that the question names, `wholly` or less (1..0, see `naming.Match`).

    One with neither a word nor a vector is then as likely as not to answer.
    """
    more = wholly * (known.NAMED_PAIR if sure else known.NAMED_AMONG_OTHERS)
    odds[slots] = np.where(odds[slots] == _NEVER, np.float32(0.0), odds[slots] + np.float32(more))


def relevance(odds: Floats) -> npt.NDArray[np.float64]:
    """From log-odds to 0..1, in double precision so that near-certain rows keep their order."""
    return 1.0 / (1.0 + np.exp(-np.clip(odds.astype(np.float64), -30.0, 30.0)))


def likelihood(odds: float) -> float:
    """From log-odds to 0..1."""
    return 1.0 / (1.0 + math.exp(-min(max(odds, -30.0), 30.0)))


def odds(relevance_: float) -> float:
    """From 0..1 to log-odds; 0 gives minus infinity."""
    if relevance_ <= 0.0:
        return -np.inf
    return float(np.log(relevance_ / max(1.0 - relevance_, 1e-9)))
