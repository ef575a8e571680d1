"""The table of memories in the index: who they are, which shelf they stand on, how old they are.

Owns slots (positions shared with `lexical` and `semantic`) and the permission mask. Must not know scores.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.recall.query import Entry, Shelf

Mask = npt.NDArray[np.bool_]
Slots = npt.NDArray[np.int64]

NEVER = -(2**31)
"""Day of something that did not happen."""

_COLUMNS: tuple[tuple[str, type[np.generic]], ...] = (
    ("shelf", np.int32),
    ("kind", np.uint8),
    ("language", np.uint8),
    ("confidence", np.float32),
    ("created", np.int32),
    ("dated", np.int32),
    ("verified", np.int32),
    ("used", np.int32),
    ("used_before", np.int32),
    ("length", np.float32),
    ("thread", np.int64),
    ("place", np.int64),
)
_NO_SHELF = -1
_TIE_BITS = 20
_TIES = 1 << _TIE_BITS
_MOST_PLACES = (1 << 40) - 1


@dataclass(frozen=True, slots=True)
class Permitted:
    """What one caller may see: a mask over all slots and how many that is.

    The mask has one place more than there are slots, always false: slot -1 stands for dropped rows.
    `runs` are the begins and ends of permitted stretches among the ordered slots (dropped rows may lie in
    them), `late` the permitted slots behind those.
    """

    mask: Mask
    count: int
    runs: list[tuple[int, int]]
    late: Slots


class Names:
    """Small numbers for a small set of names."""

    def __init__(self) -> None:
        self._of: dict[str, int] = {}
        self.names: list[str] = []

    def number(self, name: str) -> int:
        found = self._of.get(name)
        if found is None:
            found = self._of[name] = len(self.names)
            self.names.append(name)
        return found

    def known(self, name: str) -> int | None:
        return self._of.get(name)


class Rows:
    """Columns by slot. A slot whose shelf is -1 is free or dropped."""

    def __init__(self) -> None:
        self.size = 0
        self.ordered = 0
        """Slots below this stand shelf by shelf."""
        self._blocks: list[tuple[int, int, int]] = []
        self.ids: list[str] = []
        self.slot_of: dict[str, int] = {}
        self.shelves: list[Shelf] = []
        self._shelf_number: dict[Shelf, int] = {}
        self.kinds, self.languages = Names(), Names()
        self._columns: dict[str, npt.NDArray[Any]] = {name: np.zeros(0, dtype) for name, dtype in _COLUMNS}

    def __len__(self) -> int:
        return len(self.slot_of)

    def column(self, name: str) -> npt.NDArray[Any]:
        """The used part of a column; a view, so writing to it writes the table."""
        return self._columns[name][: self.size]

    def reserve(self, more: int) -> None:
        """Make room for `more` rows behind the last one."""
        need = self.size + more
        have = len(self._columns["shelf"])
        if need <= have:
            return
        room = max(need, have + have // 2, 1024)
        for name, dtype in _COLUMNS:
            grown = np.zeros(room, dtype)
            grown[: self.size] = self._columns[name][: self.size]
            self._columns[name] = grown

    def extend(self, entries: Sequence[Entry], lengths: npt.NDArray[np.float32]) -> range:
        """Add rows and give their slots; none of the ids may be in the table, or appear twice."""
        self.reserve(len(entries))
        slots = range(self.size, self.size + len(entries))
        self.size = slots.stop
        self.ids.extend(entry.id for entry in entries)
        self.slot_of.update(zip((entry.id for entry in entries), slots, strict=True))
        self._set(slots, "shelf", (self._shelf(entry.shelf) for entry in entries))
        self._set(slots, "kind", (self.kinds.number(entry.kind) for entry in entries))
        self._set(slots, "language", (self.languages.number(entry.language) for entry in entries))
        self._set(slots, "confidence", (entry.confidence for entry in entries))
        self._set(slots, "created", (entry.created_day for entry in entries))
        self._set(slots, "dated", (_day(entry.dated_day) for entry in entries))
        self._set(slots, "verified", (_day(entry.verified_day) for entry in entries))
        self._set(slots, "used", (_day(entry.used_day) for entry in entries))
        self._set(slots, "used_before", (_day(entry.used_before_day) for entry in entries))
        self._set(slots, "thread", (_fingerprint(entry.thread) for entry in entries))
        self._set(slots, "place", (_place(entry) for entry in entries))
        self._columns["length"][slots.start : slots.stop] = lengths
        return slots

    def _set(self, slots: range, name: str, values: Iterator[float]) -> None:
        column = self._columns[name]
        column[slots.start : slots.stop] = np.fromiter(values, column.dtype, len(slots))

    def use(self, slot: int, day: int) -> None:
        """Note a use on a day; of earlier ones the last on another day stays known."""
        used = self.column("used")
        if day > used[slot]:
            self.column("used_before")[slot] = used[slot]
            used[slot] = day

    def used(self, slots: Slots, today: int) -> npt.NDArray[np.int32]:
        """The day of the last use before `today`, or NEVER: a use counts from the next day on, so that asking
        changes nothing for the rest of the day."""
        last = self.column("used")[slots]
        return np.where(last < today, last, self.column("used_before")[slots])

    def drop(self, id_: str) -> int | None:
        """Clear a row; gives its slot, or None when there is no such row."""
        slot = self.slot_of.pop(id_, None)
        if slot is None:
            return None
        self.ids[slot] = ""
        for column in self._columns.values():
            column[slot] = 0
        self._columns["shelf"][slot] = _NO_SHELF
        return slot

    def permitted(self, allow: Callable[[Shelf], bool]) -> Permitted:
        """Which slots a caller may see, decided shelf by shelf before anything is scored."""
        is_open = np.zeros(len(self.shelves) + 1, dtype=np.bool_)  # the last one stands for "no shelf"
        for number, shelf in enumerate(self.shelves):
            is_open[number] = allow(shelf)
        mask = np.append(is_open[self.column("shelf")], False)
        runs: list[tuple[int, int]] = []
        for number, start, stop in self._blocks:
            if not is_open[number]:
                continue
            if runs and runs[-1][1] == start:
                runs[-1] = (runs[-1][0], stop)
            else:
                runs.append((start, stop))
        late = self.ordered + np.flatnonzero(mask[self.ordered :])
        return Permitted(mask, int(np.count_nonzero(mask)), runs, late)

    def of_kinds(self, kinds: Iterable[str]) -> Mask:
        """Which slots hold one of the kinds."""
        wanted = [number for number in map(self.kinds.known, kinds) if number is not None]
        return np.isin(self.column("kind"), wanted)

    def order(self) -> Slots:
        """The living slots, shelf by shelf, within a shelf in the order they came."""
        living = np.flatnonzero(self.column("shelf") != _NO_SHELF)
        return living[np.argsort(self.column("shelf")[living], kind="stable")]

    def reorder(self, order: Slots) -> None:
        """Move row `order[i]` to slot i and forget the others."""
        for name, dtype in _COLUMNS:
            self._columns[name] = self.column(name)[order].astype(dtype)
        self.ids = [self.ids[slot] for slot in order.tolist()]
        self.slot_of = dict(zip(self.ids, range(len(self.ids)), strict=True))
        self.size = self.ordered = len(self.ids)
        self._blocks = _blocks(self.column("shelf"))

    def _shelf(self, shelf: Shelf) -> int:
        found = self._shelf_number.get(shelf)
        if found is None:
            found = self._shelf_number[shelf] = len(self.shelves)
            self.shelves.append(shelf)
        return found


def _blocks(shelves: npt.NDArray[Any]) -> list[tuple[int, int, int]]:
    """Shelf number, begin and end of every run of one shelf."""
    if not len(shelves):
        return []
    starts = np.concatenate(([0], np.flatnonzero(shelves[1:] != shelves[:-1]) + 1))
    stops = np.append(starts[1:], len(shelves))
    return list(zip(shelves[starts].tolist(), starts.tolist(), stops.tolist(), strict=True))


def _day(day: int | None) -> int:
    return NEVER if day is None else day


def _place(entry: Entry) -> int:
    """The position with a number of the id behind it, so that equal ones keep one order for good."""
    return (
        0
        if entry.thread is None
        else min(entry.place, _MOST_PLACES) << _TIE_BITS | zlib.crc32(entry.id.encode()) % _TIES
    )


def _fingerprint(text: str | None) -> int:
    """A number for comparing, salted per process; 0 stands for none."""
    return 0 if text is None else hash(text.casefold()) or 1
