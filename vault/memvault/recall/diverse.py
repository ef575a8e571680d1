"""The stage that keeps one answer from being given several times. Owns the order among near-copies.

A memory that says what a better one says already gives way to others; nothing is left out for it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Order = npt.NDArray[np.int64]


def apart(likeness: npt.NDArray[np.float32], settled: npt.NDArray[np.bool_], least: float) -> Order:
    """A new order of rows given best first: copies of better ones after all others, both in their order.

    `likeness` is symmetric, shape (n, n), cosines; a row is a copy from `least` on. Rows that are `settled`
    (the sides of a conflict) keep their rank whatever they resemble.
    """
    count = len(likeness)
    if not np.triu(likeness >= least, 1).any():
        return np.arange(count)
    first: list[int] = []
    later: list[int] = []
    for at in range(count):
        copy = bool(first) and not settled[at] and bool((likeness[at, first] >= least).any())
        (later if copy else first).append(at)
    return np.array(first + later, np.int64)
