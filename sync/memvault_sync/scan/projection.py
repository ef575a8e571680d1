"""A text as it appears through a view, and the way back to the bytes it was made from.

Owns position mapping; knows nothing of rules or of how a view is made.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from memvault_sync.scan.finding import View


class Edits:
    """Replacements that turned one byte string into another, in order."""

    __slots__ = ("_in_from", "_in_to", "_out_from", "_out_to")

    def __init__(self) -> None:
        self._out_from: list[int] = []
        self._out_to: list[int] = []
        self._in_from: list[int] = []
        self._in_to: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._out_from)

    def note(self, out_from: int, out_to: int, in_from: int, in_to: int) -> None:
        """`source[in_from:in_to]` has become `result[out_from:out_to]`."""
        self._out_from.append(out_from)
        self._out_to.append(out_to)
        self._in_from.append(in_from)
        self._in_to.append(in_to)

    def around(self, reach: int, size: int) -> list[tuple[int, int]]:
        """The parts of the result, of `size` bytes, that lie within `reach` of a replacement."""
        found: list[tuple[int, int]] = []
        for first, last in zip(self._out_from, self._out_to, strict=True):
            start, stop = max(0, first - reach), min(size, last + reach)
            if found and start <= found[-1][1]:
                found[-1] = (found[-1][0], stop)
            else:
                found.append((start, stop))
        return found

    def start(self, position: int) -> int:
        """Where the byte at `position` of the result comes from."""
        at = bisect_right(self._out_from, position) - 1
        if at < 0:
            return position
        if position < self._out_to[at]:
            return self._in_from[at]
        return self._in_to[at] + position - self._out_to[at]

    def end(self, position: int) -> int:
        """Where the source of everything before `position` of the result ends (at least one byte)."""
        last = position - 1
        at = bisect_right(self._out_from, last) - 1
        if at < 0:
            return position
        if last < self._out_to[at]:
            return self._in_to[at]
        return self._in_to[at] + position - self._out_to[at]


@dataclass(frozen=True, slots=True)
class Scale:
    """Evenly encoded bytes: every `coded` characters of the source stand for `plain` bytes."""

    begin: int
    finish: int
    coded: int
    plain: int

    def start(self, position: int) -> int:
        """Where the first character of the source is that carries this byte."""
        return min(self.finish, self.begin + position * self.coded // self.plain)

    def end(self, position: int) -> int:
        """Where the last character of the source ends that carries a byte before `position`."""
        return min(self.finish, self.begin - (-position * self.coded // self.plain))


@dataclass(frozen=True, slots=True)
class Projection:
    """`data` as seen through `view`; `back` leads to the data of `parent`, None is no change."""

    data: bytes = field(repr=False)
    view: View
    parent: Projection | None = None
    back: Edits | Scale | None = None

    def changed(self, reach: int) -> list[tuple[int, int]]:
        """The parts that can show what the parent does not: near a replacement, or all of it."""
        if isinstance(self.back, Edits) and self.parent is not None and self.parent.view is View.RAW:
            return self.back.around(reach, len(self.data))
        return [(0, len(self.data))]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The span of the bytes that were given to the scan."""
        here: Projection | None = self
        while here is not None:
            if here.back is not None:
                start, end = here.back.start(start), max(here.back.end(end), here.back.start(start) + 1)
            here = here.parent
        return start, end
