"""The stage that lets a reranker have a say in the order of the answers. Pure; knows no model.

It decides nothing about what is returned: that is the threshold's, which is calibrated, and a reranker's
scores are not. Scores of any scale will do, since only their place between the lowest and the highest of one
question counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memvault.recall.query import Hit

SHARE = 0.5
"""The reranker's part of the order, 0..1; the rest is the score recall gave."""


def order(hits: Sequence[Hit], scores: npt.NDArray[np.float32], share: float = SHARE) -> list[int]:
    """Positions in `hits` (best first) in their new order; `scores` has one number a hit, more is better.

    Exact matches stay in front, and what recall put behind lesser ones (copies of better answers) behind.
    Age, trust and confidence weigh on both parts alike. Equal ones keep their order.
    """
    if not hits:
        return []
    given = np.array([hit.score for hit in hits])
    behind = given > np.minimum.accumulate(given)
    weights = np.array([hit.weight for hit in hits])
    spread = float(np.ptp(scores))
    read = (scores - scores.min()) / spread if spread > 0.0 else np.zeros(len(hits))
    both = (1.0 - share) * _to_one(given) + share * read * _to_one(weights)
    exact = np.array([hit.relevance >= 1.0 for hit in hits])
    return [int(at) for at in np.lexsort((np.arange(len(hits)), -both, behind, ~exact))]


def _to_one(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    most = float(values.max())
    return values / most if most > 0.0 else values
