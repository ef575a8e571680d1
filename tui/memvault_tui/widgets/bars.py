"""The lines at the top and the bottom of a screen."""

from __future__ import annotations

from textual.strip import Strip

from memvault_tui.lines import Cell, Row, cut, fit, width
from memvault_tui.widgets.drawing import LineDrawing


class Bar(LineDrawing, can_focus=False):
    """One line: cells at the left, and at the right as long as there is room."""

    def __init__(
        self,
        left: Row = (),
        right: Row = (),
        *,
        id: str | None = None,  # noqa: A002 (the name Textual uses)
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._left: Row = left
        self._right: Row = right

    def show(self, left: Row, right: Row = ()) -> None:
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    @property
    def text(self) -> str:
        return "".join(text for text, _role in (*self._left, *self._right))

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        if y:
            return self.strip_of((), cells)
        right_cells = sum(width(text) for text, _role in self._right)
        room = cells - right_cells - 2 if right_cells else cells
        if room < cells // 3:
            return self.strip_of(_cropped(self._left, cells), cells)
        left = _cropped(self._left, room)
        used = sum(width(text) for text, _role in left)
        gap: Cell = (" " * (cells - used - right_cells), "plain")
        return self.strip_of((*left, gap, *self._right), cells)


def _cropped(row: Row, cells: int) -> Row:
    out: list[Cell] = []
    left = cells
    for text, role in row:
        shown = text if width(text) <= left else fit(text, left)
        out.append((shown, role))
        left -= width(shown)
    return tuple(out)


class KeyBar(Bar):
    """The keys that matter here, as many as fit, never half of one."""

    def __init__(self, keys: list[tuple[str, str]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys = keys

    def show_keys(self, keys: list[tuple[str, str]]) -> None:
        self._keys = keys
        self.refresh()

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        row: list[Cell] = []
        used = 1
        for key, words in self._keys if y == 0 else []:
            size = width(key) + 1 + width(words) + 2
            if used + size > cells:
                continue
            row += [(cut(key, cells), "strong"), (f" {words}  ", "dim")]
            used += size
        return self.strip_of(((" ", "plain"), *row), cells)
