"""One relevance from words and meaning. Owns the formula; its constants are in `calibration`.

Both parts have fixed scales, so a vault of one memory is judged as one of a million: words count as the
share of the question's information that was found, meaning as the centred cosine, which is about 0 for
unrelated texts whatever their languages.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memvault.recall import calibration as known

Floats = npt.NDArray[np.float32]


def relevance(lexical: Floats, semantic: Floats | None, present: npt.NDArray[np.bool_]) -> Floats:
    """Relevance 0..1 of each row; rows without a vector, or a question without one, count by words alone."""
    alone = _logistic(lexical - known.LEXICAL_ONLY_MIDDLE)
    if semantic is None:
        return alone
    joined = np.float32(known.SEMANTIC_SHARE) * semantic + np.float32(known.LEXICAL_SHARE) * lexical
    both = _logistic(joined - known.MIDDLE)
    return np.where(present, both, alone).astype(np.float32)


def _logistic(values: Floats) -> Floats:
    steep = np.clip(values * np.float32(known.STEEPNESS), -30.0, 30.0)
    return (1.0 / (1.0 + np.exp(-steep))).astype(np.float32)
