"""Memories that were said one after the other. Owns their order and what the ones around tell of each.

A turn of a conversation often says little by itself ("Yes, in May!"): the turns beside it and the whole
conversation tell what it is about. The weights are in `calibration`. Order and neighbours are those of the
rows a caller may see: a turn between two others that is not permitted changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.recall import calibration as known
from memvault.recall import fuse
from memvault.recall.lexical import TermMatch, inverse_frequency
from memvault.recall.rows import Mask, Rows, Slots

Floats = npt.NDArray[np.float32]
_NONE = 0


class Threads:
    """The slots of memories that belong to a thread, thread by thread, in the order they were said."""

    def __init__(self) -> None:
        self._slots = np.zeros(0, np.int64)
        self._threads = np.zeros(0, np.int64)
        self._places = np.zeros(0, np.int64)

    def put(self, slot: int, thread: int, place: int) -> None:
        """Add one row; thread 0 stands for none."""
        if thread == _NONE:
            return
        first, last = (int(np.searchsorted(self._threads, thread, side)) for side in ("left", "right"))
        at = first + int(np.searchsorted(self._places[first:last], place, "right"))
        self._slots = np.insert(self._slots, at, slot)
        self._threads = np.insert(self._threads, at, thread)
        self._places = np.insert(self._places, at, place)

    def rebuild(self, rows: Rows) -> None:
        """Take the order from the table, after its slots have changed."""
        threads, places = rows.column("thread"), rows.column("place")
        mine = np.flatnonzero(threads != _NONE)
        order = mine[np.lexsort((places[mine], threads[mine]))]
        self._slots, self._threads, self._places = order, threads[order], places[order]

    def view(self, mask: Mask) -> View | None:
        """The permitted rows of threads of which more than one row is permitted; None without any."""
        seen = mask[self._slots]
        slots, threads = self._slots[seen], self._threads[seen]
        if len(slots) < 2:
            return None
        follows = threads[1:] == threads[:-1]
        alone = ~(np.append(follows, False) | np.append(False, follows))
        if alone.any():
            slots, threads = slots[~alone], threads[~alone]
            follows = threads[1:] == threads[:-1]
        if not len(slots):
            return None
        number = np.append(0, np.cumsum(~follows)).astype(np.int64)
        return View(slots, number, threads[2:] == threads[:-2])


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Permitted rows of threads. Arrays run along `slots`; `number` counts the threads from 0."""

    slots: Slots
    number: Slots
    follows_by_two: Mask

    def before(self, values: Floats) -> Floats:
        """What the row before holds, 0 at the beginning of a thread."""
        out = np.zeros_like(values)
        np.multiply(values[:-1], self.number[1:] == self.number[:-1], out=out[1:])
        return out

    def after(self, values: Floats) -> Floats:
        """What the row behind holds, 0 at the end of a thread."""
        out = np.zeros_like(values)
        np.multiply(values[1:], self.number[1:] == self.number[:-1], out=out[:-1])
        return out

    def two_before(self, values: Floats) -> Floats:
        """What the row before the one before holds."""
        out = np.zeros_like(values)
        np.multiply(values[:-2], self.follows_by_two, out=out[2:])
        return out

    def window(self, values: Floats) -> Floats:
        """The sum over a row and the two before and behind it."""
        out = values + self.before(values) + self.after(values) + self.two_before(values)
        out[:-2] += values[2:] * self.follows_by_two
        return out

    def whole(self, values: Floats) -> Floats:
        """The sum over each thread, one number a thread."""
        return np.bincount(self.number, values, int(self.number[-1]) + 1).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """What is known of the rows of a view. Arrays run along its slots.

    `words` and `lengths` are those of the rows themselves; `asks` and `named` are 0 or 1: the row ends in a
    question; the question names who says it.
    """

    words: Floats
    lengths: Floats
    asks: Floats
    named: Floats


def lexical(view: View, around: Around, matches: Sequence[TermMatch], size: int) -> Floats:
    """What words tell of each row: its own, those of its neighbours and of its whole thread."""
    some = [found for found in matches if len(found.slots)][: known.THREAD_TERMS]
    place = np.full(size, -1, np.int64)
    place[view.slots] = np.arange(len(view.slots))
    spread = list(_occurrences(view, some, place))
    near = _near(view, around, some, matches, spread)
    whole = _whole(view, around, some, matches, spread)
    answers = view.before(around.words * around.asks)
    out = known.NEAR_WORDS * near + known.THREAD_WORDS * whole[view.number] + known.ANSWER_WORDS * answers
    return out.astype(np.float32)


def _occurrences(view: View, some: Sequence[TermMatch], place: Slots) -> Iterator[Floats]:
    for found in some:
        counts = np.zeros(len(view.slots), np.float32)
        at = place[found.slots]
        inside = at >= 0
        counts[at[inside]] = found.counts[inside]
        yield counts


def _near(
    view: View,
    around: Around,
    some: Sequence[TermMatch],
    matches: Sequence[TermMatch],
    spread: Sequence[Floats],
) -> Floats:
    """BM25 over windows of five rows, with the document frequencies of single rows."""
    lengths = view.window(around.lengths)
    norm = _norm(lengths)
    out = np.zeros(len(view.slots), np.float32)
    asked = _asked([found.information for found in matches], [found.term.weight for found in matches])
    if asked <= 0.0:
        return out
    for found, counts in zip(some, spread, strict=True):
        counted = view.window(counts)
        out += np.float32(found.information / asked * (known.SATURATION + 1.0)) * counted / (counted + norm)
    return out


def _whole(
    view: View,
    around: Around,
    some: Sequence[TermMatch],
    matches: Sequence[TermMatch],
    spread: Sequence[Floats],
) -> Floats:
    """BM25 over whole threads, with the frequencies of terms among threads; one number a thread."""
    lengths = view.whole(around.lengths)
    norm = _norm(lengths)
    sums = [view.whole(counts) for counts in spread]
    rare = [
        found.term.weight * inverse_frequency(int(np.count_nonzero(counted)), len(lengths))
        for found, counted in zip(some, sums, strict=True)
    ]
    absent = [
        found.term.weight * inverse_frequency(0, len(lengths)) for found in matches if not len(found.slots)
    ]
    out = np.zeros(len(lengths), np.float32)
    weights = [found.term.weight for found in some]
    weights += [found.term.weight for found in matches if not len(found.slots)]
    asked = _asked(rare + absent, weights)
    if asked <= 0.0:
        return out
    for information, counted in zip(rare, sums, strict=True):
        out += np.float32(information / asked * (known.SATURATION + 1.0)) * counted / (counted + norm)
    return out


def _asked(information: Sequence[float], weights: Sequence[float]) -> float:
    """How much a question asks for, as in `lexical.score`."""
    if not information:
        return 0.0
    most = sum(sorted(information, reverse=True)[: known.ASKED_TERMS])
    return max([most, *(told / weight for told, weight in zip(information, weights, strict=True))])


def _norm(lengths: Floats) -> Floats:
    mean = max(float(lengths.mean()), 1.0)
    share = known.LENGTH_SHARE
    return (known.SATURATION * (1.0 - share + share * lengths / mean)).astype(np.float32)


def manner(around: Around) -> Floats:
    """What speaks for a row whatever it says: that the person asked about says it, that it tells and does
    not ask, that it is long."""
    out = known.NAMED * around.named - known.ASKING * around.asks
    return (out + known.LENGTH * np.log1p(around.lengths)).astype(np.float32)


def joined(view: View, around: Around, meaning: Floats, words: Floats, foreign: Mask) -> Floats:
    """Words and meaning of rows in threads, on the scale of rows that stand alone (see `fuse`).

    Rows in another language than the question (`foreign`) count the words they are taken to share.
    """
    told = meaning + known.BEFORE * view.before(meaning) + known.AFTER * view.after(meaning)
    told += known.TWO_BEFORE * view.two_before(meaning)
    own = np.float32(known.OWN_WORDS) * around.words + words
    shared = np.float32(known.OWN_WORDS + known.NEAR_WORDS + known.THREAD_WORDS) * fuse.expected_words(
        meaning
    )
    told += np.maximum(own, np.where(foreign, shared, np.float32(0.0))) + manner(around)
    return (np.float32(known.THREAD_SCALE) * told - np.float32(known.THREAD_SHIFT)).astype(np.float32)


def by_words(around: Around, words: Floats) -> Floats:
    """The words of rows in threads, on the scale of the words of a row that stands alone."""
    told = np.float32(known.OWN_WORDS) * around.words + words + manner(around)
    scale = np.float32(known.THREAD_WORDS_SCALE)
    return (scale * told - np.float32(known.THREAD_WORDS_SHIFT)).astype(np.float32)
