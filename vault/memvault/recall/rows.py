"""The table of memories in the index: who they are, which shelf they stand on, how old they are.

Owns slots (positions shared with `lexical` and `semantic`) and the permission mask. Must not know scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    ("authority", np.uint8),
    ("confidence", np.float32),
    ("created", np.int32),
    ("verified", np.int32),
    ("used", np.int32),
    ("length", np.float32),
    ("subject", np.int64),
    ("attribute", np.int64),
)
_NO_SHELF = -1


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
        self.ids: list[str] = []
        self.slot_of: dict[str, int] = {}
        self.shelves: list[Shelf] = []
        self._shelf_number: dict[Shelf, int] = {}
        self.kinds, self.languages, self.authorities = Names(), Names(), Names()
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

    def append(self, entry: Entry, length: float) -> int:
        """Add a row and give its slot; the id must not be in the table."""
        self.reserve(1)
        slot = self.size
        self.size += 1
        self.ids.append(entry.id)
        self.slot_of[entry.id] = slot
        cells = self._columns
        cells["shelf"][slot] = self._shelf(entry.shelf)
        cells["kind"][slot] = self.kinds.number(entry.kind)
        cells["language"][slot] = self.languages.number(entry.language)
        cells["authority"][slot] = self.authorities.number(entry.authority)
        cells["confidence"][slot] = entry.confidence
        cells["created"][slot] = entry.created_day
        cells["verified"][slot] = NEVER if entry.verified_day is None else entry.verified_day
        cells["used"][slot] = NEVER if entry.used_day is None else entry.used_day
        cells["length"][slot] = length
        cells["subject"][slot] = _fingerprint(entry.subject)
        cells["attribute"][slot] = _fingerprint(entry.attribute)
        return slot

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

    def permitted(self, allow: Callable[[Shelf], bool], kinds: Iterable[str] | None) -> Mask:
        """Which slots a caller may see, decided shelf by shelf before anything is scored."""
        open_shelf = np.zeros(len(self.shelves) + 1, dtype=np.bool_)  # the last one stands for "no shelf"
        for number, shelf in enumerate(self.shelves):
            open_shelf[number] = allow(shelf)
        mask = open_shelf[self.column("shelf")]
        if kinds is not None:
            wanted = [n for n in map(self.kinds.known, kinds) if n is not None]
            mask &= np.isin(self.column("kind"), wanted)
        return mask

    def exact(self, slots: Slots, subject: str | None, attribute: str | None) -> Mask:
        """Which of the slots are about exactly this subject (and attribute, when given)."""
        if subject is None:
            return np.zeros(len(slots), dtype=np.bool_)
        found = self.column("subject")[slots] == _fingerprint(subject)
        if attribute is not None:
            found &= self.column("attribute")[slots] == _fingerprint(attribute)
        return found

    def order(self) -> Slots:
        """The living slots, shelf by shelf, within a shelf in the order they came."""
        living = np.flatnonzero(self.column("shelf") != _NO_SHELF)
        return living[np.argsort(self.column("shelf")[living], kind="stable")]

    def reorder(self, order: Slots) -> None:
        """Move row `order[i]` to slot i and forget the others."""
        for name, dtype in _COLUMNS:
            self._columns[name] = self.column(name)[order].astype(dtype)
        self.ids = [self.ids[slot] for slot in order.tolist()]
        self.slot_of = {id_: slot for slot, id_ in enumerate(self.ids)}
        self.size = len(self.ids)

    def _shelf(self, shelf: Shelf) -> int:
        found = self._shelf_number.get(shelf)
        if found is None:
            found = self._shelf_number[shelf] = len(self.shelves)
            self.shelves.append(shelf)
        return found


def _fingerprint(text: str | None) -> int:
    """A number for comparing, salted per process; 0 stands for none."""
    return 0 if text is None else hash(text.casefold()) or 1
