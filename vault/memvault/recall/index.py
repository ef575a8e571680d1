"""The index in memory: runs the stages of recall under one lock.

Owns the order of the stages and the upkeep of `rows`, `lexical` and `semantic`. The permission filter comes
first: rows of a shelf that is not allowed take part in no score, no document frequency and no count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import RLock

import numpy as np
import numpy.typing as npt

from memvault.recall import fuse, lexical
from memvault.recall.calibration import THRESHOLD
from memvault.recall.explain import Days, reasons
from memvault.recall.lexical import Postings, TermMatch
from memvault.recall.query import Entry, Explanation, Hit, Matrix, Query, Shelf
from memvault.recall.rows import Mask, Rows, Slots
from memvault.recall.semantic import Vectors
from memvault.recall.terms import decode
from memvault.recall.weigh import weights
from memvault_models.means import Means
from memvault_models.port import LANGUAGES, Language

Allow = Callable[[Shelf], bool]
Floats = npt.NDArray[np.float32]

_LATE_AT_LEAST = 2_048
_LATE_SHARE = 0.125
"""Rows outside the sorted block before it is sorted again: a share of the block, and at least so many."""
_WEIGHED = 512
"""As many of the most relevant rows are weighed; weights change their order, not who is among them."""
_NAMED = 0.2
"""Terms that weigh less in a question (function words) are not named in reasons."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """Everything known about one question before the limit; arrays run along `slots`, best first."""

    slots: Slots
    score: Floats
    relevance: Floats
    lexical: Floats
    semantic: Floats | None
    present: Mask
    weight: Floats
    exact: Mask
    matches: list[TermMatch]


class Index:
    """All memories of an unlocked vault, ready to be asked. Thread safe."""

    def __init__(self, dims: int, means: Means) -> None:
        self._means = means
        self._lock = RLock()
        self._rows = Rows()
        self._postings = Postings()
        self._vectors = Vectors(dims)
        self._ordered = 0  # slots below this stand shelf by shelf

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, entry: Entry) -> None:
        """Add a memory, or replace the one with its id."""
        hashes, counts, length = decode(entry.terms)
        with self._lock:
            self.drop(entry.id)
            slot = self._rows.append(entry, length)
            self._vectors.reserve(slot + 1)
            self._postings.put(slot, hashes, counts)
            if entry.vectors is not None:
                self._vectors.put(slot, self._centre(entry.vectors, entry.language))
            if self._postings.late_rows > max(_LATE_AT_LEAST, self._ordered * _LATE_SHARE):
                self._settle([])

    def put_many(self, entries: Iterable[Entry]) -> None:
        """Add many memories at once; faster than `put` from some thousands on."""
        given = {entry.id: entry for entry in entries}
        with self._lock:
            for id_ in given.keys() & self._rows.slot_of.keys():
                self.drop(id_)
            self._rows.reserve(len(given))
            self._vectors.reserve(self._rows.size + len(given))
            added: list[tuple[int, bytes]] = []
            by_language: dict[str, list[tuple[int, Matrix]]] = {}
            for entry in given.values():
                slot = self._rows.append(entry, decode(entry.terms)[2])
                added.append((slot, entry.terms))
                if entry.vectors is not None:
                    by_language.setdefault(entry.language, []).append((slot, entry.vectors))
            for language, found in by_language.items():
                self._put_vectors(language, found)
            self._settle(added)

    def drop(self, id_: str) -> None:
        """Forget a memory: its terms and vectors are overwritten now. Unknown ids are ignored."""
        with self._lock:
            slot = self._rows.drop(id_)
            if slot is not None:
                self._vectors.clear(slot)
                self._postings.drop(slot)

    def clear(self) -> None:
        """Forget everything, as when the vault is locked."""
        with self._lock:
            for id_ in list(self._rows.slot_of):
                self._vectors.clear(self._rows.slot_of[id_])
            self._rows, self._postings, self._ordered = Rows(), Postings(), 0
            self._vectors = Vectors(self._vectors.dims)

    def set_vectors(self, id_: str, vectors: Matrix) -> None:
        """Give a memory its raw vectors, shape (windows, dims). Unknown ids are ignored."""
        with self._lock:
            slot = self._rows.slot_of.get(id_)
            if slot is not None:
                language = self._rows.languages.names[int(self._rows.column("language")[slot])]
                self._vectors.put(slot, self._centre(vectors, language))

    def touch(self, id_: str, *, used_day: int | None = None, verified_day: int | None = None) -> None:
        """Note a use or a verification. Unknown ids are ignored."""
        with self._lock:
            slot = self._rows.slot_of.get(id_)
            if slot is None:
                return
            if used_day is not None:
                self._rows.column("used")[slot] = used_day
            if verified_day is not None:
                self._rows.column("verified")[slot] = verified_day

    def search(self, query: Query, allow: Allow, limit: int) -> list[Hit]:
        """The best permitted memories above the threshold, best first, ties by id; may be empty."""
        with self._lock:
            scored = self._score(query, allow)
            if scored is None:
                return []
            return [self._hit(query, scored, at) for at in range(min(limit, self._passing(query, scored)))]

    def explain(self, query: Query, allow: Allow, id_: str, limit: int = 5) -> Explanation:
        """Why one memory is, or is not, among the first `limit` answers."""
        threshold = THRESHOLD if query.threshold is None else query.threshold
        with self._lock:
            slot = self._rows.slot_of.get(id_)
            if slot is None or not self._rows.permitted(allow, query.kinds)[slot]:
                why = ("no such memory, or not one this caller may see or asked for",)
                return Explanation(id_, "not_permitted", None, threshold, None, why)
            scored = self._score(query, allow)
            where = np.flatnonzero(scored.slots == slot) if scored is not None else np.zeros(0, np.int64)
            if scored is None or not len(where):
                why = ("neither its words nor its meaning are near this question",)
                return Explanation(id_, "not_matched", None, threshold, None, why)
            at = int(where[0])
            hit = self._hit(query, scored, at)
            if hit.relevance < threshold:
                why = (f"relevance {hit.relevance:.2f} is below the threshold {threshold:.2f}",)
                return Explanation(id_, "below_threshold", None, threshold, hit, why)
            verdict = "returned" if at < limit else "beyond_limit"
            why = (f"rank {at + 1}, the first {limit} are shown",)
            return Explanation(id_, verdict, at + 1, threshold, hit, why)

    def size_bytes(self) -> int:
        """Memory held by vectors and postings (ids and columns add about 0.3 KB a memory)."""
        with self._lock:
            return self._vectors.size_bytes() + self._postings.size_bytes()

    def _score(self, query: Query, allow: Allow) -> _Scored | None:
        rows = self._rows
        mask = rows.permitted(allow, query.kinds)
        permitted = int(np.count_nonzero(mask))
        if permitted == 0:
            return None
        lengths = rows.column("length").astype(np.float32, copy=False)
        mean_length = max(float(lengths[mask].mean()), 1.0)
        matches = lexical.match(self._postings, query.terms, mask, permitted)
        words = lexical.score(matches, lengths, mean_length)
        meaning = self._meaning(query, mask)
        slots = np.flatnonzero(mask)
        present = self._vectors.present(slots) if meaning is not None else np.zeros(len(slots), np.bool_)
        relevance = fuse.relevance(words[slots], None if meaning is None else meaning[slots], present)
        exact = rows.exact(slots, query.subject, query.attribute)
        relevance[exact] = 1.0
        best = self._best(relevance, words[slots], present)
        slots, relevance, present, exact = slots[best], relevance[best], present[best], exact[best]
        weight = weights(rows, slots, query.today)
        score = relevance * weight
        order = self._ranked(slots, score, relevance, query)
        slots = slots[order]
        return _Scored(
            slots,
            score[order],
            relevance[order],
            words[slots],
            None if meaning is None else meaning[slots],
            present[order],
            weight[order],
            exact[order],
            matches,
        )

    def _best(self, relevance: Floats, words: Floats, present: Mask) -> Slots:
        """Positions of the most relevant rows; a row with neither a word nor a vector is none."""
        some = np.flatnonzero(present | (words > 0.0) | (relevance >= 1.0))
        if len(some) <= _WEIGHED:
            return some
        return some[np.argpartition(-relevance[some], _WEIGHED)[:_WEIGHED]]

    def _ranked(self, slots: Slots, score: Floats, relevance: Floats, query: Query) -> Slots:
        """Those above the threshold by score, then the rest by score; equal ones by id."""
        threshold = THRESHOLD if query.threshold is None else query.threshold
        ids = self._rows.ids
        below = relevance < threshold
        keys = sorted(
            range(len(slots)), key=lambda at: (bool(below[at]), -float(score[at]), ids[int(slots[at])])
        )
        return np.array(keys, dtype=np.int64)

    def _passing(self, query: Query, scored: _Scored) -> int:
        threshold = THRESHOLD if query.threshold is None else query.threshold
        return int(np.count_nonzero(scored.relevance >= threshold))

    def _meaning(self, query: Query, mask: Mask) -> Floats | None:
        if query.vector is None:
            return None
        centred = self._means.centre(query.vector, "query", _language(query.language))
        return self._vectors.cosines(centred, mask, self._ordered)

    def _hit(self, query: Query, scored: _Scored, at: int) -> Hit:
        rows, slot = self._rows, int(scored.slots[at])
        semantic = float(scored.semantic[at]) if scored.semantic is not None and scored.present[at] else None
        words = [
            found.term.text for found in scored.matches if found.term.weight > _NAMED and slot in found.slots
        ]
        days = Days(*(int(rows.column(name)[slot]) for name in ("created", "verified", "used")), query.today)
        weight = float(scored.weight[at])
        return Hit(
            rows.ids[slot],
            float(scored.score[at]),
            float(scored.relevance[at]),
            float(scored.lexical[at]),
            semantic,
            weight,
            reasons(words, semantic, days, exact=bool(scored.exact[at])),
        )

    def _centre(self, vectors: Matrix, language: str) -> Matrix:
        return np.atleast_2d(self._means.centre(vectors, "passage", _language(language)))

    def _put_vectors(self, language: str, found: list[tuple[int, Matrix]]) -> None:
        for start in range(0, len(found), 4_096):
            part = found[start : start + 4_096]
            slots = np.fromiter((slot for slot, _ in part), np.int64, len(part))
            first = np.stack([vectors[0] for _, vectors in part])
            self._vectors.put_many(slots, self._centre(first, language))
            more = [(slot, vectors[1:]) for slot, vectors in part if len(vectors) > 1]
            if more:
                owners = np.repeat([slot for slot, _ in more], [len(vectors) for _, vectors in more])
                windows = np.concatenate([vectors for _, vectors in more])
                self._vectors.put_windows(owners, self._centre(windows, language))

    def _settle(self, added: list[tuple[int, bytes]]) -> None:
        """Put the rows shelf by shelf and all terms into the sorted block."""
        order = self._rows.order()
        self._postings.rebuild(order, added)
        self._vectors.reorder(order)
        self._rows.reorder(order)
        self._ordered = self._rows.size


def _language(name: str) -> Language:
    return name if name in LANGUAGES else "other"
