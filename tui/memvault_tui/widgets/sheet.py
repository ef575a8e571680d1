"""A page of text drawn from rows, rebuilt for every width. Owns scrolling; knows nothing of memories."""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Size
from textual.strip import Strip

from memvault_tui.actions import bindings_of
from memvault_tui.lines import Row
from memvault_tui.widgets.drawing import LineDrawing

Builder = Callable[[int], list[Row]]
"""Rows for a width in cells."""


class Sheet(LineDrawing, can_focus=False):
    """Shows what `builder` gives for the current width; takes keys only when `focusable`."""

    BINDINGS = [*bindings_of("sheet")]  # noqa: RUF012 (Textual reads it)

    def __init__(
        self,
        builder: Builder | None = None,
        *,
        id: str | None = None,  # noqa: A002 (the name Textual uses)
        focusable: bool = False,
    ) -> None:
        super().__init__(id=id)
        self.can_focus = focusable
        self._builder = builder
        self._rows: list[Row] = []
        self._built_for = -1

    def show(self, builder: Builder | None) -> None:
        """Draw other rows, from their top; None clears the sheet."""
        self._builder = builder
        self._rows, self._built_for = [], -1
        self._build()
        self.scroll_to(y=0, animate=False, force=True)

    @property
    def rows(self) -> list[Row]:
        return self._rows

    def _build(self) -> None:
        cells = self.size.width
        if cells <= 0:
            return
        self._built_for = cells
        self._rows = self._builder(cells) if self._builder is not None else []
        self.virtual_size = Size(cells, len(self._rows))
        self.refresh()

    def on_resize(self) -> None:
        if self.size.width != self._built_for:
            self._build()

    def render_line(self, y: int) -> Strip:
        index = self.scroll_offset.y + y
        row: Row = self._rows[index] if index < len(self._rows) else ()
        return self.strip_of(row, self.size.width)

    def _go(self, y: int) -> None:
        self.scroll_to(y=y, animate=False, force=True)

    def action_cursor_down(self) -> None:
        self._go(self.scroll_offset.y + 1)

    def action_cursor_up(self) -> None:
        self._go(self.scroll_offset.y - 1)

    def action_page_down(self) -> None:
        self._go(self.scroll_offset.y + max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self._go(self.scroll_offset.y - max(1, self.size.height - 1))

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(len(self._rows))
