"""The stages of recall, in their order, each a function of its own module (SPEC 8).

    permission -> structured match -> words, meaning, neighbours -> fusion -> weights -> threshold
    -> diversity

Permission comes first (`Rows.permitted`): rows that are not allowed take part in no score, no document
frequency, no neighbourhood and no count. Owns what one question finds and its order; the budget (how many,
how many tokens) is the caller's. Must not know how rows are kept up to date.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from memvault.recall import calibration as known
from memvault.recall import diverse, fuse, lexical, threads, when
from memvault.recall.asked import Asked
from memvault.recall.explain import Days, reasons
from memvault.recall.lexical import Postings, TermMatch
from memvault.recall.naming import Match, Names
from memvault.recall.query import Explanation, Hit, Query, Shelf
from memvault.recall.rows import Mask, Permitted, Rows, Slots
from memvault.recall.semantic import Vectors
from memvault.recall.threads import Around, Threads, View
from memvault.recall.weigh import weights
from memvault_models.port import LANGUAGES, Language

Allow = Callable[[Shelf], bool]
Floats = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float64]

_WEIGHED = 512
"""As many of the most relevant rows are weighed; weights change their order, not who is among them."""
_NAMED = 0.2
"""Terms that weigh less in a question (function words) are not named in reasons."""
_SETTLED = "conflict"
"""The shelf whose memories come in pairs and stay together."""


@dataclass(slots=True)
class Parts:
    """What an index holds, by slot."""

    rows: Rows
    postings: Postings
    vectors: Vectors
    threads: Threads
    asked: Asked
    names: Names
    shift: Mapping[Language, float] = field(default_factory=dict[Language, float])
    """Calibrated for this vault, by the question's language: added to what an answer needs (see `shift`)."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one question finds. Arrays run along all slots and hold nothing for rows not permitted.

    `meant` and `firm` are log-odds that anything answers: by meaning, which `shift` moves, and by what no
    calibration moves.
    """

    query: Query
    permitted: Permitted
    matches: list[TermMatch]
    words: Floats
    meaning: Floats | None
    near: Slots
    odds: Floats
    named: Match
    meant: float
    firm: float
    shift: float

    @property
    def answered(self) -> float:
        """Log-odds that anything answers."""
        return max(self.meant, self.firm)

    @property
    def holds(self) -> float:
        """The largest shift at which the question has an answer; infinite when none keeps it back."""
        if fuse.likelihood(self.firm) >= known.THRESHOLD:
            return math.inf
        return self.shift + (self.meant - fuse.odds(known.THRESHOLD)) / known.STEEPNESS

    @property
    def has_answer(self) -> bool:
        """Whether anything may be returned beside what the question names."""
        return self.query.threshold is not None or fuse.likelihood(self.answered) >= known.THRESHOLD

    @property
    def least(self) -> float:
        """Least relevance of a row that is returned, if anything is."""
        return known.FOLLOWING if self.query.threshold is None else self.query.threshold

    def least_of(self, slot: int) -> float:
        """The same for one row: in threads less, where a turn by itself says less."""
        return known.FOLLOWING_NEAR if self.query.threshold is None and slot in self.near else self.least


@dataclass(frozen=True, slots=True)
class _Judged:
    """Rows with what is around them taken in. `both` and `support` are None without a question's vector.

    `words` and `both` are on one scale for rows alone and rows in threads; `support` is the cosine, raised
    where the question names who says it. `near` are the slots of rows in threads.
    """

    words: Floats
    both: Floats | None
    support: Floats | None
    near: Slots


def find(parts: Parts, query: Query, allow: Allow) -> Found | None:
    """Filter, then words, meaning and neighbours of permitted rows, then their fusion; None without rows."""
    rows = parts.rows
    permitted = rows.permitted(allow)
    if permitted.count == 0:
        return None
    mask = permitted.mask[:-1]
    matches = lexical.match(parts.postings, query.terms, permitted)
    words = _words(parts, matches, permitted)
    meaning = _meaning(parts, query, permitted)
    foreign = rows.column("language") != rows.languages.number(query.language)
    judged = _judged(parts, query, permitted, matches, words, meaning, foreign)
    language = language_of(query.language)
    shift = parts.shift.get(language, 0.0)
    setting = fuse.Setting(permitted.count, parts.asked.share(language, query.today), shift)
    present = parts.vectors.present(rows.size)
    odds = fuse.evidence(judged.words, judged.both, present, setting)
    wanted = mask if query.kinds is None else mask & rows.of_kinds(query.kinds)
    odds[~wanted] = -np.inf
    meant, firm = _answered(odds, words, judged, wanted & present, foreign, setting)
    named = parts.names.find(query.terms, wanted)
    fuse.raise_named(odds, named.slots, named.wholly, sure=named.sure)
    if query.span is not None:  # after it was seen whether anything answers: a date alone is no answer
        odds += when.boost((rows.column("created"), rows.column("dated")), query.span)
    return Found(query, permitted, matches, words, meaning, judged.near, odds, named, meant, firm, shift)


def _words(parts: Parts, matches: list[TermMatch], permitted: Permitted) -> Floats:
    lengths = parts.rows.column("length")
    # By runs, because a sum under a mask takes several times as long; a dropped row has length 0.
    whole = sum(float(lengths[start:stop].sum(dtype=np.float64)) for start, stop in permitted.runs)
    whole += float(lengths[permitted.late].sum(dtype=np.float64))
    return lexical.score(matches, lengths, max(whole / permitted.count, 1.0))


def _meaning(parts: Parts, query: Query, permitted: Permitted) -> Floats | None:
    if query.vector is None:
        return None
    centred = parts.asked.centre(query.vector, language_of(query.language), query.today)
    return parts.vectors.cosines(centred, permitted)


def _judged(
    parts: Parts,
    query: Query,
    permitted: Permitted,
    matches: list[TermMatch],
    words: Floats,
    meaning: Floats | None,
    foreign: Mask,
) -> _Judged:
    both = None if meaning is None else fuse.joined(words, meaning, foreign)
    view = parts.threads.view(permitted.mask)
    if view is None:
        return _Judged(words, both, meaning, np.zeros(0, np.int64))
    at = view.slots
    around = _around(parts, query, view, words)
    nearby = threads.lexical(view, around, matches, parts.rows.size)
    told = words.copy()
    told[at] = np.where(nearby + around.words > 0.0, threads.by_words(around, nearby), np.float32(0.0))
    if both is None or meaning is None:
        return _Judged(told, both, meaning, at)
    both[at] = threads.joined(view, around, meaning[at], nearby, foreign[at])
    support = meaning.copy()
    support[at] += np.float32(known.ANSWERED_NAMED) * around.named
    return _Judged(told, both, support, at)


def _around(parts: Parts, query: Query, view: View, words: Floats) -> Around:
    at, size = view.slots, parts.rows.size
    marks = query.marks
    return Around(
        words=words[at],
        lengths=parts.rows.column("length")[at],
        asks=_marked(parts, () if marks is None else (marks.asks,), size)[at],
        named=_marked(parts, () if marks is None else marks.names, size)[at],
    )


def _marked(parts: Parts, marks: tuple[int, ...], size: int) -> Floats:
    """1 for rows that hold any of the marks."""
    out = np.zeros(size + 1, np.float32)
    for mark in marks:
        slots, _ = parts.postings.find(mark)
        out[slots] = 1.0  # a dropped row is -1: the place behind the last
    return out[:-1]


def _answered(
    odds: Floats, words: Floats, judged: _Judged, rows: Mask, foreign: Mask, setting: fuse.Setting
) -> tuple[float, float]:
    """By meaning where there is any; and by words for rows that have no vector, and for all that hold nearly
    everything the question asks for."""
    if judged.both is None or judged.support is None:
        return -np.inf, float(odds.max())
    others = odds[~rows]
    best = float(others.max()) if len(others) else -np.inf
    held = float(words[rows].max()) if rows.any() else 0.0
    by_words = (held - known.ANSWERED_WORDS) * known.STEEPNESS
    return fuse.answered(judged.both, judged.support, rows, foreign, setting), max(best, by_words)


def tried(parts: Parts, found: Found, limit: int) -> tuple[Slots, Slots]:
    """What is returned, best first, when the question has an answer, and when it has none."""
    always, never = replace(found, firm=math.inf), replace(found, firm=-math.inf, meant=-math.inf)
    return ranked(parts, always, limit)[0][:limit], ranked(parts, never, limit)[0][:limit]


def ranked(parts: Parts, found: Found, limit: int) -> tuple[Slots, Scores]:
    """Slots that are returned, by score, equal ones by id, copies of better ones later; and their scores."""
    slots = _passing(found)
    most = max(_WEIGHED, limit)
    if len(slots) > most:  # with all that are as relevant as the last: which of them is for weight and id
        last = float(np.partition(found.odds[slots], -most)[-most])
        slots = slots[found.odds[slots] >= last]
    scores = fuse.relevance(found.odds[slots]) * _weights(parts, found, slots)
    order = _by_score(parts, slots, scores)
    slots, scores = slots[order], scores[order]
    apart = _apart(parts, slots[: known.COMPARED])
    slots[: len(apart)], scores[: len(apart)] = slots[apart], scores[apart]
    return slots, scores


def _by_score(parts: Parts, slots: Slots, scores: Scores) -> Slots:
    """Positions by score, the highest first, equal ones by id."""
    order = np.argsort(-scores, kind="stable")
    sorted_ = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_[1:] != sorted_[:-1], [True])))
    for start, stop in pairwise(starts.tolist()) if len(starts) <= len(order) else ():
        if stop - start > 1:
            equal: list[int] = order[start:stop].tolist()
            order[start:stop] = sorted(equal, key=lambda at: parts.rows.ids[int(slots[at])])
    return order


def _weights(parts: Parts, found: Found, slots: Slots) -> npt.NDArray[np.float32]:
    """The weight of each slot; one that the question names loses less by age, confidence and trust."""
    out = weights(parts.rows, slots, found.query.today)
    named = np.isin(slots, found.named.slots)
    out[named] = 1.0 - (1.0 - out[named]) * np.float32(1.0 - found.named.wholly * (1.0 - known.NAMED_AGEING))
    return out


def _passing(found: Found) -> Slots:
    if not found.has_answer:
        return found.named.slots[found.odds[found.named.slots] >= fuse.odds(known.THRESHOLD)]
    least = fuse.odds(found.least)
    passes = found.odds >= least if least > -np.inf else found.odds > least
    if found.query.threshold is None:
        passes[found.near] = found.odds[found.near] >= fuse.odds(known.FOLLOWING_NEAR)
    return np.flatnonzero(passes)


def _apart(parts: Parts, slots: Slots) -> Slots:
    shelves: list[int] = parts.rows.column("shelf")[slots].tolist()
    settled = np.array([parts.rows.shelves[shelf].pool == _SETTLED for shelf in shelves], np.bool_)
    return diverse.apart(parts.vectors.likeness(slots), settled, known.COPY_FROM)


def alone(parts: Parts, found: Found, slot: int) -> float:
    """The score of one row, whatever its rank."""
    one = np.array([slot])
    return float(fuse.relevance(found.odds[one])[0] * _weights(parts, found, one)[0])


def hit(parts: Parts, found: Found, slot: int, score: float) -> Hit:
    """One row as an answer, with its reasons."""
    rows = parts.rows
    has_vector = found.meaning is not None and parts.vectors.has(slot)
    semantic = float(found.meaning[slot]) if found.meaning is not None and has_vector else None
    said = [hit.said_in(slot) for hit in found.matches if hit.term.weight > _NAMED]
    words = list(dict.fromkeys(word for word in said if word is not None))
    one = np.array([slot])
    created, verified = (int(rows.column(name)[slot]) for name in ("created", "verified"))
    used = int(rows.used(one, found.query.today)[0])
    days = Days(created, verified, used, found.query.today)
    named = found.named.sure if slot in found.named.slots else None
    told = reasons(words, semantic, days, named=named, near=slot in found.near)
    span = found.query.span
    if span is not None and span.holds(created, int(rows.column("dated")[slot])):
        told = (*told, span.reason)
    return Hit(
        id=rows.ids[slot],
        score=score,
        relevance=float(fuse.relevance(found.odds[one])[0]),
        lexical=float(found.words[slot]),
        semantic=semantic,
        weight=float(_weights(parts, found, one)[0]),
        reasons=told,
    )


def explain(parts: Parts, found: Found | None, slot: int | None, id_: str, limit: int) -> Explanation:
    """Why one memory is, or is not, among the first `limit` answers."""
    if slot is None or found is None or not found.permitted.mask[slot]:
        why = "no such memory, or not one this caller may see"
        return Explanation(id_, "not_permitted", None, known.THRESHOLD, None, (why,))
    least = found.least_of(slot) if found.has_answer else known.THRESHOLD
    if found.odds[slot] == -np.inf:
        why = "it shares no word with this question, has no vector yet, or is of another kind"
        return Explanation(id_, "not_matched", None, least, None, (why,))
    slots, scores = ranked(parts, found, limit)
    where = np.flatnonzero(slots == slot)
    if not len(where):
        low = hit(parts, found, slot, alone(parts, found, slot))
        return Explanation(id_, "below_threshold", None, least, low, (_too_low(found, low, least),))
    at = int(where[0])
    verdict = "returned" if at < limit else "beyond_limit"
    why = f"rank {at + 1}, the first {limit} are shown"
    return Explanation(id_, verdict, at + 1, least, hit(parts, found, slot, float(scores[at])), (why,))


def _too_low(found: Found, low: Hit, least: float) -> str:
    if found.has_answer:
        return f"relevance {low.relevance:.2f} is below the threshold {least:.2f}"
    likely = fuse.likelihood(found.answered)
    moved = f"; calibrated for this vault by {found.shift:+.2f}" if found.shift else ""
    return (
        f"nothing is near enough: {likely:.2f} that anything answers, {known.THRESHOLD:.2f} is needed{moved}"
    )


def language_of(name: str) -> Language:
    return name if name in LANGUAGES else "other"
