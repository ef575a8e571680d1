"""The index in memory: asks the stages of recall (`pipeline`) under one lock.

Owns the upkeep of rows, words, vectors and threads, so that they always speak of the same slots.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from threading import RLock

import numpy as np

from memvault.recall import pipeline
from memvault.recall.asked import Asked
from memvault.recall.calibration import STEEPNESS
from memvault.recall.lexical import Postings
from memvault.recall.naming import Names
from memvault.recall.pipeline import Allow, Parts
from memvault.recall.query import Entry, Explanation, Hit, Matrix, Query, Trial
from memvault.recall.rows import Rows
from memvault.recall.semantic import Vectors
from memvault.recall.terms import Terms, decode
from memvault.recall.threads import Threads
from memvault_models.means import Means
from memvault_models.port import Language

_LATE_AT_LEAST = 2_048
_LATE_SHARE = 0.125
"""Rows outside the sorted block before it is sorted again: a share of the block, and at least so many."""
_CHUNK = 4_096
"""Memories taken in at once when many come; bounds the temporary memory."""


class Index:
    """All memories of an unlocked vault, ready to be asked. Thread safe."""

    def __init__(self, dims: int, means: Means) -> None:
        self._means = means
        self._lock = RLock()
        self._parts = _empty(dims, means)

    def __len__(self) -> int:
        return len(self._parts.rows)

    def put(self, entry: Entry) -> None:
        """Add a memory, or replace the one with its id. Raises VaultDamaged when its terms cannot be read."""
        terms = decode([entry.terms])
        with self._lock:
            self.drop(entry.id)
            slot = self._parts.rows.extend([entry], terms.lengths).start
            thread, place = (int(self._parts.rows.column(name)[slot]) for name in ("thread", "place"))
            self._parts.threads.put(slot, thread, place)
            self._parts.names.put(slot, entry.named)
            self._parts.vectors.reserve(slot + 1)
            self._parts.postings.put(slot, terms.hashes, terms.counts)
            if entry.vectors is not None:
                self._parts.vectors.put(slot, self._centre(entry.vectors, entry.language))
            if self._parts.postings.late_rows > max(_LATE_AT_LEAST, self._parts.rows.ordered * _LATE_SHARE):
                self._parts.postings.rebuild(self._parts.rows.order())
                self._settle()

    def put_many(self, entries: Iterable[Entry]) -> None:
        """Add or replace many memories at once, faster than `put` from some thousands on.

        Entries are taken in by chunks, so that raw vectors never lie in memory all at once.
        Raises VaultDamaged when terms cannot be read; the chunks before are then in.
        """
        source = iter(entries)
        with self._lock:
            first_slot = self._parts.rows.size
            taken: list[Terms] = []
            try:
                while chunk := list(islice(source, _CHUNK)):
                    taken.append(self._take_in(list({entry.id: entry for entry in chunk}.values())))
            finally:
                self._parts.postings.rebuild(self._parts.rows.order(), taken, first_slot)
                self._settle()

    def _take_in(self, chunk: Sequence[Entry]) -> Terms:
        """Rows and vectors of a chunk; gives its terms, which are sorted in by the caller."""
        terms = decode([entry.terms for entry in chunk])
        self.drop_many([entry.id for entry in chunk])
        slots = self._parts.rows.extend(chunk, terms.lengths)
        self._parts.vectors.reserve(self._parts.rows.size)
        for slot, entry in zip(slots, chunk, strict=True):
            self._parts.names.put(slot, entry.named)
        languages: dict[str, list[tuple[int, Matrix]]] = {}
        for slot, entry in zip(slots, chunk, strict=True):
            if entry.vectors is not None:
                languages.setdefault(entry.language, []).append((slot, entry.vectors))
        for language, found in languages.items():
            self._put_vectors(language, found)
        return terms

    def drop(self, id_: str) -> None:
        """Forget a memory: its terms and vectors are overwritten now. Unknown ids are ignored."""
        self.drop_many([id_])

    def drop_many(self, ids: Sequence[str]) -> None:
        """Forget many memories, in one pass over the terms."""
        with self._lock:
            slots = [slot for slot in map(self._parts.rows.drop, ids) if slot is not None]
            if slots:
                self._parts.vectors.clear(slots)
                self._parts.postings.drop(slots)
                self._parts.names.drop(slots)

    def clear(self) -> None:
        """Forget everything, as when the vault is locked."""
        with self._lock:
            self._parts.vectors.clear(range(self._parts.rows.size))
            self._parts.postings.clear()
            self._parts = _empty(self._parts.vectors.dims, self._means)  # what was calibrated goes with it

    def set_vectors(self, id_: str, vectors: Matrix) -> None:
        """Give a memory its raw vectors, shape (windows, dims). Unknown ids are ignored."""
        with self._lock:
            slot = self._parts.rows.slot_of.get(id_)
            if slot is not None:
                language = self._parts.rows.languages.names[int(self._parts.rows.column("language")[slot])]
                self._parts.vectors.put(slot, self._centre(vectors, language))

    def touch(self, id_: str, *, used_day: int | None = None, verified_day: int | None = None) -> None:
        """Note a use, which counts from the next day on, or a verification, which counts at once.

        Unknown ids are ignored.
        """
        with self._lock:
            slot = self._parts.rows.slot_of.get(id_)
            if slot is None:
                return
            if used_day is not None:
                self._parts.rows.use(slot, used_day)
            if verified_day is not None:
                self._parts.rows.column("verified")[slot] = verified_day

    def note_question(self, query: Query) -> None:
        """Learn what questions have in common from one that was really asked; it counts from tomorrow on."""
        if query.vector is not None:
            with self._lock:
                self._parts.asked.note(query.vector, pipeline.language_of(query.language))

    def learned(self) -> bytes:
        """What `note_question` gathered, to be kept in the vault."""
        with self._lock:
            return self._parts.asked.encode()

    def restore_learned(self, data: bytes) -> None:
        """Take in what `learned` gave. Raises VaultDamaged."""
        with self._lock:
            self._parts.asked.restore(data)

    def search(self, query: Query, allow: Allow, limit: int) -> list[Hit]:
        """The best permitted memories above the threshold, best first, ties by id; may be empty."""
        with self._lock:
            found = pipeline.find(self._parts, query, allow)
            if found is None:
                return []
            slots, scores = pipeline.ranked(self._parts, found, limit)
            return [
                pipeline.hit(self._parts, found, int(slots[at]), float(scores[at]))
                for at in range(min(limit, len(slots)))
            ]

    def margin(self, query: Query, allow: Allow) -> float:
        """How far the question is above what an answer needs, in units of evidence (`fuse.joined`); below 0
        nothing is returned. Minus infinity without permitted memories."""
        with self._lock:
            found = pipeline.find(self._parts, query, allow)
            return -math.inf if found is None else found.answered / STEEPNESS

    def tried(self, query: Query, allow: Allow, limit: int) -> Trial:
        """What calibration asks of a question: up to which shift it has an answer, and what it gets."""
        with self._lock:
            found = pipeline.find(self._parts, query, allow)
            if found is None:
                return Trial(-math.inf, (), ())
            slots = pipeline.tried(self._parts, found, limit)
            ids = self._parts.rows.ids
            answer, named = (tuple(ids[int(slot)] for slot in some) for some in slots)
            return Trial(found.holds, answer, named)

    @property
    def shift(self) -> Mapping[Language, float]:
        """What was calibrated for this vault, by the question's language: added to what an answer needs, in
        the same units; 0 for languages that are not named."""
        return self._parts.shift

    @shift.setter
    def shift(self, shift: Mapping[Language, float]) -> None:
        with self._lock:
            self._parts.shift = dict(shift)

    def explain(self, query: Query, allow: Allow, id_: str, limit: int = 5) -> Explanation:
        """Why one memory is, or is not, among the first `limit` answers."""
        with self._lock:
            slot = self._parts.rows.slot_of.get(id_)
            found = None if slot is None else pipeline.find(self._parts, query, allow)
            return pipeline.explain(self._parts, found, slot, id_, limit)

    def size_bytes(self) -> int:
        """Memory held by vectors and postings; ids and columns come on top."""
        with self._lock:
            return self._parts.vectors.size_bytes() + self._parts.postings.size_bytes()

    def _centre(self, vectors: Matrix, language: str) -> Matrix:
        return np.atleast_2d(self._means.centre(vectors, "passage", pipeline.language_of(language)))

    def _put_vectors(self, language: str, found: Sequence[tuple[int, Matrix]]) -> None:
        """Store the vectors of rows in one language: the first window of each, then the further ones."""
        centred = self._centre(np.concatenate([vectors for _, vectors in found]), language)
        sizes = np.array([len(vectors) for _, vectors in found])
        slots = np.array([slot for slot, _ in found])
        first = np.zeros(len(centred), np.bool_)
        first[np.concatenate(([0], np.cumsum(sizes)[:-1]))] = True
        self._parts.vectors.put_many(slots, centred[first])
        self._parts.vectors.put_windows(np.repeat(slots, sizes)[~first], centred[~first])

    def _settle(self) -> None:
        """Put the rows shelf by shelf, after the postings were told the same order."""
        order = self._parts.rows.order()
        self._parts.vectors.reorder(order)
        self._parts.names.reorder(order)
        self._parts.rows.reorder(order)
        self._parts.threads.rebuild(self._parts.rows)


def _empty(dims: int, means: Means) -> Parts:
    return Parts(Rows(), Postings(), Vectors(dims), Threads(), Asked(means), Names())
