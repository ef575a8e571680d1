"""The list of memories: any number of rows, drawn line by line, fetched by the page.

Owns cursor, marks and the pages it holds. Asks for what it lacks by posting PageWanted; never does
I/O. The list stays under the cursor: `replace_all` keeps the cursor's memory on its screen line.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from memvault_tui.actions import bindings_of
from memvault_tui.columns import Columns, columns_for
from memvault_tui.lines import Marks, Row, heading_row, memory_row, width, wrap
from memvault_tui.records import Memory
from memvault_tui.widgets.drawing import LineDrawing
from memvault_tui.words import KIND_WORDS, STATUS_WORDS, kind_letter, status_letter, utc_now, word

PAGE_ROWS = 100
MOST_PAGES = 60
"""Pages kept: enough to scroll about in, few enough that memory stays flat at any size."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place to come back to: the cursor's row and memory, and the first visible row."""

    index: int
    id: str | None
    top: int


class MemoryList(LineDrawing, can_focus=True):
    """Shows `total` rows of which any page may be missing."""

    BINDINGS = [*bindings_of("list")]  # noqa: RUF012 (Textual reads it)

    class PageWanted(Message):
        """Rows `offset`..`offset + PAGE_ROWS` are needed for the list of `generation`."""

        def __init__(self, generation: int, offset: int) -> None:
            self.generation = generation
            self.offset = offset
            super().__init__()

    class CursorMoved(Message):
        """Another row is under the cursor; `memory` is None while its page is on the way."""

        def __init__(self, memory: Memory | None) -> None:
            self.memory = memory
            super().__init__()

    class Opened(Message):
        """A row was double-clicked."""

    class LaidOut(Message):
        """The list has a new width, and with it other columns."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self.total = 0
        self.cursor = 0
        self.generation = 0
        self.marked: dict[str, None] = {}
        self.news: dict[str, str] = {}
        self.mark_anchor: int | None = None
        self.expected = ""
        self._empty = ""
        self._pages: OrderedDict[int, tuple[Memory, ...]] = OrderedDict()
        self._wanted: set[int] = set()
        self._columns: Columns | None = None

    # content

    def show_when_empty(self, words: str) -> None:
        """What the list says when it has no rows."""
        self._empty = words
        if not self.total:
            self.refresh()

    def forget(self) -> None:
        """Drop every row and mark, at once."""
        self.total, self.cursor, self.mark_anchor = 0, 0, None
        self.generation += 1
        self.marked.clear()
        self.news.clear()
        self._pages.clear()
        self._wanted.clear()
        self.virtual_size = Size(self.size.width, 0)
        self.refresh()

    def replace_all(
        self, total: int, offset: int, rows: Sequence[Memory], cursor: int = 0, top: int | None = None
    ) -> None:
        """Show another list of which `rows` from `offset` are known.

        `offset` is a multiple of PAGE_ROWS. The cursor goes to row `cursor`, and `top` becomes the
        first visible row; without it the view follows the cursor.
        """
        self.generation += 1
        self._wanted.clear()
        self._pages.clear()
        self.total = total
        self._keep(offset, rows)
        self.virtual_size = Size(self.size.width, total)
        self.cursor = max(0, min(cursor, total - 1))
        if top is not None:
            self.scroll_to(y=max(0, top), animate=False, force=True)
        self._show_cursor()
        self.refresh()
        self.post_message(self.CursorMoved(self.current))

    def deliver(self, generation: int, offset: int, rows: Sequence[Memory]) -> None:
        """Take a page that was asked for; one of an older list is dropped."""
        if generation != self.generation:
            return
        had_current = self.current is not None
        self._wanted.discard(offset // PAGE_ROWS)
        self._keep(offset, rows)
        self.refresh()
        if not had_current and self.current is not None:
            self.post_message(self.CursorMoved(self.current))

    def update_rows(self, rows: Iterable[Memory]) -> None:
        """Replace memories that are shown, where they stand."""
        fresh = {row.id: row for row in rows}
        for number, page in self._pages.items():
            if any(row.id in fresh for row in page):
                self._pages[number] = tuple(fresh.get(row.id, row) for row in page)
        self.refresh()

    def _keep(self, offset: int, rows: Sequence[Memory]) -> None:
        for start in range(0, len(rows), PAGE_ROWS):
            number = (offset + start) // PAGE_ROWS
            self._pages[number] = tuple(rows[start : start + PAGE_ROWS])
            self._pages.move_to_end(number)
        visible = self._visible_pages()
        while len(self._pages) > MOST_PAGES:
            oldest = next((number for number in self._pages if number not in visible), None)
            if oldest is None:
                break
            del self._pages[oldest]

    def _visible_pages(self) -> set[int]:
        top = self.scroll_offset.y
        last = top + max(1, self.size.height) - 1
        return {*range(top // PAGE_ROWS, last // PAGE_ROWS + 1), self.cursor // PAGE_ROWS}

    def memory_at(self, index: int) -> Memory | None:
        page = self._pages.get(index // PAGE_ROWS)
        place = index % PAGE_ROWS
        return page[place] if page is not None and place < len(page) else None

    @property
    def current(self) -> Memory | None:
        return self.memory_at(self.cursor) if self.total else None

    @property
    def position(self) -> Position:
        current = self.current
        return Position(self.cursor, current.id if current else None, self.scroll_offset.y)

    def held(self) -> dict[str, int]:
        """Row by id, for the rows that are held."""
        return {
            memory.id: number * PAGE_ROWS + place
            for number, page in self._pages.items()
            for place, memory in enumerate(page)
        }

    # drawing

    @property
    def columns(self) -> Columns:
        if self._columns is None or self._columns.total != max(self.size.width, 1):
            letters = max(
                width(letter) for letter in [*map(kind_letter, KIND_WORDS), *map(status_letter, STATUS_WORDS)]
            )
            kinds = max(width(word(KIND_WORDS, kind)) for kind in KIND_WORDS)
            statuses = max(width(word(STATUS_WORDS, status)) for status in STATUS_WORDS)
            self._columns = columns_for(self.size.width, letters, kinds, statuses)
        return self._columns

    def heading(self) -> Row:
        return heading_row(self.columns)

    def on_resize(self) -> None:
        self._columns = None
        self.post_message(self.LaidOut())
        self.virtual_size = Size(self.size.width, self.total)
        self._show_cursor()

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        index = self.scroll_offset.y + y
        if not self.total:
            said = wrap(self._empty, max(10, cells - 4))
            return self.strip_of((("  " + said[y - 1], "dim"),) if 1 <= y <= len(said) else (), cells)
        if index >= self.total:
            return self.strip_of((), cells)
        at_cursor = index == self.cursor
        line_role = "cursor" if at_cursor and self.has_focus else "plain"
        memory = self.memory_at(index)
        if memory is None:
            self._want(index // PAGE_ROWS)
            return self.strip_of((("▸ …" if at_cursor else "  …", "dim"),), cells, line_role)
        marks = Marks(at_cursor, memory.id in self.marked, self.expected, self.news.get(memory.id, ""))
        return self.strip_of(memory_row(memory, self.columns, utc_now(), marks), cells, line_role)

    def _want(self, page: int) -> None:
        if page not in self._wanted:
            self._wanted.add(page)
            self.call_later(self._ask_for, self.generation, page)

    def _ask_for(self, generation: int, page: int) -> None:
        """Post from the list's own turn: a message made while the screen paints would stop at the screen."""
        self.post_message(self.PageWanted(generation, page * PAGE_ROWS))

    def still_wanted(self, generation: int, offset: int) -> bool:
        """Whether the page is visible now; a page scrolled past is not worth fetching."""
        page = offset // PAGE_ROWS
        if generation != self.generation:
            return False
        if page in self._visible_pages():
            return True
        self._wanted.discard(page)
        return False

    # moving

    def move_to(self, index: int) -> None:
        if not self.total:
            return
        before, self.cursor = self.cursor, max(0, min(index, self.total - 1))
        if before == self.cursor:
            return
        self._show_cursor()
        self.refresh_lines(before)
        self.refresh_lines(self.cursor)
        current = self.current
        if current is not None:
            self.news.pop(current.id, None)
        elif self.total:
            self._want(self.cursor // PAGE_ROWS)
        self.post_message(self.CursorMoved(current))

    def _show_cursor(self) -> None:
        height, top = self.size.height, self.scroll_offset.y
        if height <= 0 or not self.total:
            return
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def action_cursor_down(self) -> None:
        self.move_to(self.cursor + 1)

    def action_cursor_up(self) -> None:
        self.move_to(self.cursor - 1)

    def action_page_down(self) -> None:
        self._turn(max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self._turn(-max(1, self.size.height - 1))

    def _turn(self, rows: int) -> None:
        top = max(0, min(self.scroll_offset.y + rows, self.total - self.size.height))
        self.scroll_to(y=top, animate=False, force=True)
        self.move_to(self.cursor + rows)

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(self.total - 1)

    def toggle_mark(self) -> None:
        """Mark or unmark the row under the cursor and go on to the next."""
        current = self.current
        if current is None:
            return
        if current.id in self.marked:
            del self.marked[current.id]
        else:
            self.marked[current.id] = None
        self.mark_anchor = self.cursor
        self.refresh_lines(self.cursor)
        self.move_to(self.cursor + 1)

    def mark(self, ids: Iterable[str]) -> None:
        self.marked.update(dict.fromkeys(ids))
        self.refresh()

    def unmark_all(self) -> None:
        self.marked.clear()
        self.mark_anchor = None
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        index = self.scroll_offset.y + event.y
        if index < self.total:
            self.move_to(index)
            if event.chain == 2:
                self.post_message(self.Opened())

    def on_focus(self) -> None:
        self.refresh_lines(self.cursor)

    def on_blur(self) -> None:
        self.refresh_lines(self.cursor)
