"""The index in memory: runs the stages of recall under one lock.

Owns the order of the stages and the upkeep of `rows`, `lexical` and `semantic`. The permission filter comes
first: rows of a shelf that is not allowed take part in no score, no document frequency and no count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import RLock

import numpy as np
import numpy.typing as npt

from memvault.recall import fuse, lexical
from memvault.recall.asked import Asked
from memvault.recall.calibration import FOLLOWING, THRESHOLD
from memvault.recall.explain import Days, reasons
from memvault.recall.lexical import Postings, TermMatch
from memvault.recall.query import Entry, Explanation, Hit, Matrix, Query, Shelf
from memvault.recall.rows import Permitted, Rows, Slots
from memvault.recall.semantic import Vectors
from memvault.recall.terms import Terms, decode
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
_CHUNK = 4_096
"""Memories taken in at once when many come; bounds the temporary memory."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What one question finds. Arrays run along all slots and hold nothing for rows not permitted."""

    query: Query
    threshold: float
    permitted: Permitted
    matches: list[TermMatch]
    words: Floats
    meaning: Floats | None
    odds: Floats
    exact: Slots


class Index:
    """All memories of an unlocked vault, ready to be asked. Thread safe."""

    def __init__(self, dims: int, means: Means) -> None:
        self._means = means
        self._lock = RLock()
        self._rows = Rows()
        self._postings = Postings()
        self._vectors = Vectors(dims)
        self._asked = Asked(means)

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, entry: Entry) -> None:
        """Add a memory, or replace the one with its id. Raises VaultDamaged when its terms cannot be read."""
        terms = decode([entry.terms])
        with self._lock:
            self.drop(entry.id)
            slot = self._rows.extend([entry], terms.lengths).start
            self._vectors.reserve(slot + 1)
            self._postings.put(slot, terms.hashes, terms.counts)
            if entry.vectors is not None:
                self._vectors.put(slot, self._centre(entry.vectors, entry.language))
            if self._postings.late_rows > max(_LATE_AT_LEAST, self._rows.ordered * _LATE_SHARE):
                self._postings.rebuild(self._rows.order())
                self._settle()

    def put_many(self, entries: Iterable[Entry]) -> None:
        """Add or replace many memories at once, faster than `put` from some thousands on.

        Entries are taken in by chunks, so that raw vectors never lie in memory all at once.
        Raises VaultDamaged when terms cannot be read; the chunks before are then in.
        """
        source = iter(entries)
        with self._lock:
            first_slot = self._rows.size
            taken: list[Terms] = []
            try:
                while chunk := list(islice(source, _CHUNK)):
                    taken.append(self._take_in(list({entry.id: entry for entry in chunk}.values())))
            finally:
                self._postings.rebuild(self._rows.order(), taken, first_slot)
                self._settle()

    def _take_in(self, chunk: Sequence[Entry]) -> Terms:
        """Rows and vectors of a chunk; gives its terms, which are sorted in by the caller."""
        terms = decode([entry.terms for entry in chunk])
        self.drop_many([entry.id for entry in chunk])
        slots = self._rows.extend(chunk, terms.lengths)
        self._vectors.reserve(self._rows.size)
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
            slots = [slot for slot in map(self._rows.drop, ids) if slot is not None]
            if slots:
                self._vectors.clear(slots)
                self._postings.drop(slots)

    def clear(self) -> None:
        """Forget everything, as when the vault is locked."""
        with self._lock:
            self._vectors.clear(range(self._rows.size))
            self._postings.clear()
            self._rows, self._postings, self._vectors = Rows(), Postings(), Vectors(self._vectors.dims)
            self._asked = Asked(self._means)

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

    def note_question(self, query: Query) -> None:
        """Learn what questions have in common from one that was really asked; it counts from tomorrow on."""
        if query.vector is not None:
            with self._lock:
                self._asked.note(query.vector, _language(query.language))

    def learned(self) -> bytes:
        """What `note_question` gathered, to be kept in the vault."""
        with self._lock:
            return self._asked.encode()

    def restore_learned(self, data: bytes) -> None:
        """Take in what `learned` gave. Raises VaultDamaged."""
        with self._lock:
            self._asked.restore(data)

    def search(self, query: Query, allow: Allow, limit: int) -> list[Hit]:
        """The best permitted memories above the threshold, best first, ties by id; may be empty."""
        with self._lock:
            found = self._find(query, allow)
            if found is None:
                return []
            slots, scores = self._ranked(found, limit)
            return [
                self._hit(found, int(slots[at]), float(scores[at])) for at in range(min(limit, len(slots)))
            ]

    def explain(self, query: Query, allow: Allow, id_: str, limit: int = 5) -> Explanation:
        """Why one memory is, or is not, among the first `limit` answers."""
        threshold = _threshold(query)
        with self._lock:
            slot = self._rows.slot_of.get(id_)
            found = None if slot is None else self._find(query, allow)
            if slot is None or found is None or not found.permitted.mask[slot]:
                why = "no such memory, or not one this caller may see"
                return Explanation(id_, "not_permitted", None, threshold, None, (why,))
            if found.odds[slot] == -np.inf:
                why = "it shares no word with this question, has no vector yet, or is of another kind"
                return Explanation(id_, "not_matched", None, threshold, None, (why,))
            slots, scores = self._ranked(found, limit)
            where = np.flatnonzero(slots == slot)
            if not len(where):
                hit = self._hit(found, slot, self._alone(found, slot))
                why = f"relevance {hit.relevance:.2f} is below the threshold {threshold:.2f}"
                return Explanation(id_, "below_threshold", None, threshold, hit, (why,))
            at = int(where[0])
            verdict = "returned" if at < limit else "beyond_limit"
            why = f"rank {at + 1}, the first {limit} are shown"
            return Explanation(
                id_, verdict, at + 1, threshold, self._hit(found, slot, float(scores[at])), (why,)
            )

    def size_bytes(self) -> int:
        """Memory held by vectors and postings; ids and columns come on top."""
        with self._lock:
            return self._vectors.size_bytes() + self._postings.size_bytes()

    def _find(self, query: Query, allow: Allow) -> _Evidence | None:
        """Filter, then words and meaning of permitted rows, then their fusion."""
        rows = self._rows
        permitted = rows.permitted(allow)
        if permitted.count == 0:
            return None
        mask = permitted.mask[:-1]
        lengths = rows.column("length")
        matches = lexical.match(self._postings, query.terms, permitted)
        mean_length = float(lengths.sum(where=mask, dtype=np.float64)) / permitted.count
        words = lexical.score(matches, lengths, max(mean_length, 1.0))
        meaning = self._meaning(query, permitted)
        foreign = rows.column("language") != rows.languages.number(query.language)
        setting = fuse.Setting(permitted.count, self._asked.share(_language(query.language), query.today))
        odds = fuse.evidence(words, meaning, self._vectors.present(rows.size), foreign, setting)
        wanted = mask if query.kinds is None else mask & rows.of_kinds(query.kinds)
        odds[~wanted] = -np.inf
        exact = rows.exact(query.subject, query.attribute, wanted)
        odds[exact] = np.inf
        return _Evidence(query, _threshold(query), permitted, matches, words, meaning, odds, exact)

    def _meaning(self, query: Query, permitted: Permitted) -> Floats | None:
        if query.vector is None:
            return None
        centred = self._asked.centre(query.vector, _language(query.language), query.today)
        return self._vectors.cosines(centred, permitted)

    def _ranked(self, found: _Evidence, limit: int) -> tuple[Slots, npt.NDArray[np.float64]]:
        """Slots above the threshold by score, equal ones by id, and their scores."""
        least = fuse.odds(found.threshold)
        if found.query.threshold is None and float(found.odds.max()) >= least:
            least = fuse.odds(FOLLOWING)
        slots = np.flatnonzero(found.odds >= least) if least > -np.inf else np.flatnonzero(found.odds > least)
        most = max(_WEIGHED, limit)
        if len(slots) > most:
            slots = slots[np.argpartition(-found.odds[slots], most)[:most]]
        scores = fuse.relevance(found.odds[slots]) * weights(self._rows, slots, found.query.today)
        ids = [self._rows.ids[slot] for slot in slots.tolist()]
        order = [at for _, _, at in sorted(zip((-scores).tolist(), ids, range(len(ids)), strict=True))]
        return slots[order], scores[order]

    def _alone(self, found: _Evidence, slot: int) -> float:
        one = np.array([slot])
        return float(fuse.relevance(found.odds[one])[0] * weights(self._rows, one, found.query.today)[0])

    def _hit(self, found: _Evidence, slot: int, score: float) -> Hit:
        rows = self._rows
        has_vector = found.meaning is not None and bool(self._vectors.present(rows.size)[slot])
        semantic = float(found.meaning[slot]) if found.meaning is not None and has_vector else None
        words = [hit.term.text for hit in found.matches if hit.term.weight > _NAMED and slot in hit.slots]
        created, verified, used = (int(rows.column(name)[slot]) for name in ("created", "verified", "used"))
        days = Days(created, verified, used, found.query.today)
        return Hit(
            rows.ids[slot],
            score,
            float(fuse.relevance(found.odds[slot : slot + 1])[0]),
            float(found.words[slot]),
            semantic,
            float(weights(rows, np.array([slot]), found.query.today)[0]),
            reasons(words, semantic, days, exact=slot in found.exact),
        )

    def _centre(self, vectors: Matrix, language: str) -> Matrix:
        return np.atleast_2d(self._means.centre(vectors, "passage", _language(language)))

    def _put_vectors(self, language: str, found: Sequence[tuple[int, Matrix]]) -> None:
        """Store the vectors of rows in one language: the first window of each, then the further ones."""
        centred = self._centre(np.concatenate([vectors for _, vectors in found]), language)
        sizes = np.array([len(vectors) for _, vectors in found])
        slots = np.array([slot for slot, _ in found])
        first = np.zeros(len(centred), np.bool_)
        first[np.concatenate(([0], np.cumsum(sizes)[:-1]))] = True
        self._vectors.put_many(slots, centred[first])
        self._vectors.put_windows(np.repeat(slots, sizes)[~first], centred[~first])

    def _settle(self) -> None:
        """Put the rows shelf by shelf, after the postings were told the same order."""
        order = self._rows.order()
        self._vectors.reorder(order)
        self._rows.reorder(order)


def _threshold(query: Query) -> float:
    return THRESHOLD if query.threshold is None else query.threshold


def _language(name: str) -> Language:
    return name if name in LANGUAGES else "other"
