"""Vectors of memories and their nearness to a question. Owns centred, quantised vectors by slot.

Raw float32 vectors stay in the vault; the index holds each one centred by its language and quantised to
int8 with one scale (384 bytes a window instead of 1,536). Which index to use was measured: see
docs/benchmarks.md, "Vector index". Only rows that the mask permits are ever compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import simsimd

from memvault.recall.query import Matrix
from memvault.recall.rows import Mask, Permitted, Slots

Cosines = npt.NDArray[np.float32]
_LEVELS = 127.0


class Vectors:
    """One vector a slot, and further windows of long texts beside them."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self._codes = np.zeros((0, dims), np.int8)
        self._scales = np.zeros(0, np.float32)
        self._more_codes = np.zeros((0, dims), np.int8)
        self._more_scales = np.zeros(0, np.float32)
        self._more_owner = np.zeros(0, np.int64)

    def reserve(self, slots: int) -> None:
        """Make room for slots 0 to `slots` - 1."""
        have = len(self._codes)
        if slots <= have:
            return
        room = max(slots, have + have // 2, 1024)
        codes, scales = np.zeros((room, self.dims), np.int8), np.zeros(room, np.float32)
        codes[:have], scales[:have] = self._codes, self._scales
        self._codes, self._scales = codes, scales

    def put(self, slot: int, centred: Matrix) -> None:
        """Store the windows of one memory, unit vectors of shape (windows, dims), at least one."""
        self.clear([slot])
        codes, scales = quantise(centred)
        self._codes[slot], self._scales[slot] = codes[0], scales[0]
        if len(codes) > 1:
            self._append(codes[1:], scales[1:], np.full(len(codes) - 1, slot, np.int64))

    def put_many(self, slots: Slots, centred: Matrix) -> None:
        """Store the first windows of many memories at once, shape (len(slots), dims)."""
        self._codes[slots], self._scales[slots] = quantise(centred)

    def clear(self, slots: Sequence[int]) -> None:
        """Overwrite the vectors of some slots with zeros."""
        gone = np.asarray(slots, dtype=np.int64)
        self._codes[gone] = 0
        self._scales[gone] = 0.0
        mine = np.isin(self._more_owner, gone)
        self._more_codes[mine] = 0
        self._more_scales[mine] = 0.0
        self._more_owner[mine] = -1

    def present(self, size: int) -> Mask:
        """Which of the first `size` slots have a vector."""
        return self._scales[:size] > 0.0

    def has(self, slot: int) -> bool:
        """Whether one slot has a vector."""
        return bool(self._scales[slot] > 0.0)

    def cosines(self, centred_query: npt.NDArray[np.float32], permitted: Permitted) -> Cosines:
        """Centred cosine of each permitted slot (best window), 0 elsewhere, along all slots."""
        codes, scales = quantise(centred_query[None, :])
        out = np.zeros(len(permitted.mask) - 1, np.float32)
        for start, stop in permitted.runs:
            out[start:stop] = _dots(codes, self._codes[start:stop])
        if len(permitted.late):
            out[permitted.late] = _dots(codes, self._codes[permitted.late])
        out *= self._scales[: len(out)]
        out *= scales[0]
        self._raise_by_windows(out, permitted.mask, codes, float(scales[0]))
        return out

    def likeness(self, slots: Slots) -> Matrix:
        """Centred cosines between the first windows of some slots, symmetric, shape (n, n)."""
        codes = self._codes[slots].astype(np.float32) * self._scales[slots][:, None]
        return (codes @ codes.T).astype(np.float32)

    def reorder(self, order: Slots) -> None:
        """Move slot `order[i]` to i and forget the others."""
        moved = np.full(len(self._codes), -1, np.int64)
        moved[order] = np.arange(len(order))
        owners = np.where(self._more_owner >= 0, moved[self._more_owner], -1)
        kept = owners >= 0
        old_codes, old_more = self._codes, self._more_codes
        self._codes, self._scales = old_codes[order], self._scales[order]
        self._more_codes, self._more_scales = old_more[kept], self._more_scales[kept]
        self._more_owner = owners[kept]

    def size_bytes(self) -> int:
        """Memory held by vectors."""
        arrays = (self._codes, self._scales, self._more_codes, self._more_scales, self._more_owner)
        return sum(array.nbytes for array in arrays)

    def _append(self, codes: npt.NDArray[np.int8], scales: Cosines, owners: Slots) -> None:
        self._more_codes = np.concatenate([self._more_codes, codes])
        self._more_scales = np.concatenate([self._more_scales, scales])
        self._more_owner = np.concatenate([self._more_owner, owners])

    def put_windows(self, owners: Slots, centred: Matrix) -> None:
        """Store further windows of many memories, shape (len(owners), dims)."""
        if len(owners):
            codes, scales = quantise(centred)
            self._append(codes, scales, owners)

    def _raise_by_windows(self, out: Cosines, mask: Mask, codes: npt.NDArray[np.int8], scale: float) -> None:
        owners = self._more_owner
        if not len(owners):
            return
        seen = np.flatnonzero(mask[owners])  # a dropped owner is -1, which is never permitted
        if len(seen):
            found = _dots(codes, self._more_codes[seen]) * self._more_scales[seen] * np.float32(scale)
            np.maximum.at(out, owners[seen], found)


def quantise(vectors: Matrix) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Codes -127..127 and the factor that turns them back, per row; a zero row keeps factor 0."""
    peaks = np.abs(vectors).max(axis=1)
    factors = np.where(peaks > 0.0, _LEVELS / np.where(peaks > 0.0, peaks, 1.0), 0.0)
    codes = np.rint(vectors * factors[:, None]).astype(np.int8)
    return codes, (peaks / np.float32(_LEVELS)).astype(np.float32)


def _dots(query: npt.NDArray[np.int8], codes: npt.NDArray[np.int8]) -> Cosines:
    found = simsimd.cdist(query, codes, metric="dot", out_dtype="float32")
    return np.asarray(found, dtype=np.float32).reshape(len(codes))
