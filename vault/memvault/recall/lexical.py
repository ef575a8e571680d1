"""Keyword scores: BM25 with the document frequencies and the mean length of permitted rows only.

Owns the postings: one sorted block for most rows and a small hash table for those that came since. Must not
know text or keys: a term is a number.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.recall.calibration import ASKED_TERMS, LENGTH_SHARE, OTHER_NAME, PRIOR_ROWS, SATURATION
from memvault.recall.query import OtherName, QueryTerm
from memvault.recall.rows import Permitted, Slots
from memvault.recall.terms import QUARTERS, Terms

Scores = npt.NDArray[np.float32]
_TELLING = 0.01
_FEW = 1_000
"""A term that carries less than this share of the question and stands in many rows moves no rank: skipped."""
_Counts = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class TermMatch:
    """One term of the question among the permitted rows: where it stands and how much it tells."""

    term: QueryTerm
    slots: npt.NDArray[np.int32]
    counts: Scores
    information: float
    """Weight of the term in this question times its inverse document frequency."""
    others: tuple[tuple[str, npt.NDArray[np.int32]], ...] = ()
    """Where only another name of it stands, and how a person reads that."""

    def said_in(self, slot: int) -> str | None:
        """The word as it was found in a row; None where it was not."""
        if slot not in self.slots:
            return None
        return next((text for text, slots in self.others if slot in slots), self.term.text)


class Postings:
    """Which slots hold which term, and how often."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.uint64)
        self._starts = np.zeros(1, np.int64)
        self._slots = np.zeros(0, np.int32)
        self._counts = np.zeros(0, np.uint8)
        self._late: dict[int, tuple[array[int], array[int]]] = {}
        self._late_terms: dict[int, npt.NDArray[np.uint64]] = {}

    @property
    def late_rows(self) -> int:
        """Rows outside the sorted block."""
        return len(self._late_terms)

    def put(self, slot: int, hashes: npt.NDArray[np.uint64], counts: _Counts) -> None:
        """Add one row."""
        self._late_terms[slot] = hashes.copy()
        for term, count in zip(hashes.tolist(), counts.tolist(), strict=True):
            found = self._late.get(term)
            if found is None:
                found = self._late[term] = (array("i"), array("B"))
            found[0].append(slot)
            found[1].append(count)

    def drop(self, slots: Sequence[int]) -> None:
        """Erase the terms of rows; a term that no other row holds is overwritten with its neighbour.

        In the sorted block one pass serves all of them (about a millisecond at 100,000 rows).
        """
        settled = [slot for slot in slots if slot not in self._late_terms]
        if settled:
            self._drop_sorted(settled)
        for slot in slots:
            if slot in self._late_terms:
                self._drop_late(slot)

    def _drop_late(self, slot: int) -> None:
        hashes = self._late_terms.pop(slot)
        for term in hashes.tolist():
            slots, counts = self._late[term]
            at = slots.index(slot)
            del slots[at], counts[at]
            if not slots:
                del self._late[term]
        hashes[:] = 0

    def _drop_sorted(self, slots: Sequence[int]) -> None:
        if len(slots) == 1:
            mine = np.flatnonzero(self._slots == slots[0])
        else:
            gone = np.zeros(max(int(self._slots.max(initial=-1)), *slots) + 2, np.bool_)
            gone[list(slots)] = True
            mine = np.flatnonzero(gone[self._slots])
        self._slots[mine] = -1
        self._counts[mine] = 0
        for at in np.unique(np.searchsorted(self._starts, mine, side="right") - 1):
            if not self._counts[self._starts[at] : self._starts[at + 1]].any():
                self._keys[at] = self._keys[at - 1] if at else 0

    def rebuild(self, order: Slots, added: Sequence[Terms] = (), first_slot: int = 0) -> None:
        """Sort everything into one block, with slot `order[i]` becoming i.

        `added` are the terms of new rows, in slots from `first_slot` on.
        """
        terms, slots, counts = self._flat()
        if added:
            sizes = np.concatenate([part.sizes for part in added])
            new = np.arange(first_slot, first_slot + len(sizes), dtype=np.int32)
            terms = np.concatenate([terms, *(part.hashes for part in added)])
            slots = np.concatenate([slots, np.repeat(new, sizes)])
            counts = np.concatenate([counts, *(part.counts for part in added)])
        moved = np.full(max(int(slots.max(initial=-1)), int(order.max(initial=-1))) + 2, -1, np.int32)
        moved[order] = np.arange(len(order), dtype=np.int32)
        slots = moved[slots]  # a dropped row is -1, and so is the last place of `moved`
        kept = slots >= 0
        if not kept.all():
            terms, slots, counts = terms[kept], slots[kept], counts[kept]
        self._sort(terms, slots, counts)
        self._late, self._late_terms = {}, {}

    def _flat(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32], _Counts]:
        terms = [np.repeat(self._keys, np.diff(self._starts))]
        slots, counts = [self._slots], [self._counts]
        if self._late:
            sizes = [len(found[0]) for found in self._late.values()]
            terms.append(np.repeat(np.fromiter(self._late, np.uint64, len(self._late)), sizes))
            slots.extend(np.frombuffer(found[0], np.int32) for found in self._late.values())
            counts.extend(np.frombuffer(found[1], np.uint8) for found in self._late.values())
        return np.concatenate(terms), np.concatenate(slots), np.concatenate(counts)

    def _sort(self, terms: npt.NDArray[np.uint64], slots: npt.NDArray[np.int32], counts: _Counts) -> None:
        order = np.argsort(terms, kind="stable")
        terms = terms[order]
        first = np.flatnonzero(np.concatenate(([True], terms[1:] != terms[:-1]))) if len(terms) else order
        self._keys = terms[first]
        self._starts = np.append(first, len(terms)).astype(np.int64)
        self._slots, self._counts = slots[order], counts[order]

    def find(self, term: int) -> tuple[npt.NDArray[np.int32], _Counts]:
        """Slots that hold a term and its counts in quarters; dropped rows may appear as -1."""
        at = int(np.searchsorted(self._keys, np.uint64(term)))
        slots, counts = self._slots[:0], self._counts[:0]
        if at < len(self._keys) and int(self._keys[at]) == term:
            start, stop = int(self._starts[at]), int(self._starts[at + 1])
            slots, counts = self._slots[start:stop], self._counts[start:stop]
        late = self._late.get(term)
        if late is None:
            return slots, counts
        return (
            np.concatenate([slots, np.frombuffer(late[0], np.int32)]),
            np.concatenate([counts, np.frombuffer(late[1], np.uint8)]),
        )

    def clear(self) -> None:
        """Overwrite all terms."""
        self._keys[:] = 0
        for hashes in self._late_terms.values():
            hashes[:] = 0
        self._late.clear()

    def size_bytes(self) -> int:
        """Memory held by the sorted block."""
        return self._keys.nbytes + self._starts.nbytes + self._slots.nbytes + self._counts.nbytes


def match(postings: Postings, terms: Sequence[QueryTerm], permitted: Permitted) -> list[TermMatch]:
    """Look every term up among the permitted rows, most informative first."""
    found: list[TermMatch] = []
    for term in terms:
        slots, occurrences = _look_up(postings, term.hash, permitted)
        others: list[tuple[str, npt.NDArray[np.int32]]] = []
        for other in term.others:
            where, often = _all_of(postings, other, permitted)
            only = np.isin(where, slots, assume_unique=True, invert=True)
            if only.any():
                others.append((other.text, where[only]))
                slots = np.concatenate([slots, where[only]])
                occurrences = np.concatenate([occurrences, often[only] * np.float32(OTHER_NAME)])
        if others:
            order = np.argsort(slots)
            slots, occurrences = slots[order], occurrences[order]
        information = term.weight * inverse_frequency(len(slots), permitted.count)
        found.append(TermMatch(term, slots, occurrences, information, tuple(others)))
    found.sort(key=lambda hit: -hit.information)
    return found


def _look_up(postings: Postings, term: int, permitted: Permitted) -> tuple[npt.NDArray[np.int32], Scores]:
    """The permitted slots that hold a term, and how often."""
    slots, counts = postings.find(term)
    seen = permitted.mask[slots]
    if not seen.all():
        slots, counts = slots[seen], counts[seen]
    return slots, counts.astype(np.float32) / np.float32(QUARTERS)


def _all_of(
    postings: Postings, other: OtherName, permitted: Permitted
) -> tuple[npt.NDArray[np.int32], Scores]:
    """The permitted slots that hold every term of a name, and how often the rarest of them."""
    slots, often = _look_up(postings, other.hashes[0], permitted)
    for term in other.hashes[1:]:
        more, times = _look_up(postings, term, permitted)
        slots, here, there = np.intersect1d(slots, more, assume_unique=True, return_indices=True)
        often = np.minimum(often[here], times[there])
    return slots, often


def inverse_frequency(holding: int, permitted: int) -> float:
    """How much a term tells, 0..1: 1 for a term no row holds, falling with the share of rows that do."""
    rows = permitted + PRIOR_ROWS
    return math.log1p((rows - holding + 0.5) / (holding + 0.5)) / math.log1p((rows + 0.5) / 0.5)


def score(matches: Sequence[TermMatch], lengths: npt.NDArray[np.float32], mean_length: float) -> Scores:
    """BM25 of every slot as a share of what the question asks for: about 1 when each term stands once.

    `matches` come most informative first. `lengths` are those of all slots; `mean_length` is that of the
    permitted ones, above 0.
    """
    out = np.zeros(len(lengths), np.float32)
    asked = sum(found.information for found in matches[:ASKED_TERMS])
    # A question of nothing but function words still asks for one whole word.
    asked = max([asked, *(found.information / found.term.weight for found in matches)])
    if asked <= 0.0:
        return out
    for found in matches:
        if len(found.slots) and (found.information >= _TELLING * asked or len(found.slots) < _FEW):
            norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * lengths[found.slots] / mean_length)
            gain = found.counts * (SATURATION + 1.0) / (found.counts + norm)
            out[found.slots] += np.float32(found.information / asked) * gain.astype(np.float32)
    return out
