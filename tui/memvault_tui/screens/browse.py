"""Browse: all memories, narrowed and searched as one types, with the detail of the one at the cursor."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.timer import Timer
from textual.widgets import Input

from memvault.errors import MemvaultError
from memvault_tui.actions import bindings_of
from memvault_tui.gateway import MOST_ROWS, Filters
from memvault_tui.i18n import _, n_
from memvault_tui.lines import Cell, Row
from memvault_tui.records import Memory
from memvault_tui.screens.acting import ActsOnMemories
from memvault_tui.screens.base import VaultScreen, state_cells
from memvault_tui.screens.narrowing import Narrowing, filter_words
from memvault_tui.sheets import full_text, sources, summary
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.fields import Field
from memvault_tui.widgets.memory_list import PAGE_ROWS, MemoryList, Position
from memvault_tui.widgets.sheet import Sheet
from memvault_tui.words import utc_now

WIDE_FROM = 120
"""Cells from which the detail stands beside the list."""
TYPING_PAUSE_S = 0.12
NEWS_PAUSE_S = 0.25
RECALLED = 20
"""Memories found by meaning that lead the answer to a search."""


class BrowseScreen(ActsOnMemories, Narrowing, VaultScreen[None]):
    """The list and its detail."""

    PLACE = "browse"
    BINDINGS = [*bindings_of("browse")]  # noqa: RUF012 (Textual reads it)

    def __init__(self) -> None:
        super().__init__()
        self.filters = Filters()
        self.home: Position | None = None
        self._typing: Timer | None = None
        self._news_timer: Timer | None = None
        self._news: set[str] = set()
        self._mine: set[str] = set()
        self._loaded = False
        self._cut_short = 0

    def compose(self) -> ComposeResult:
        yield Bar(self.title_cells(_("Browse")), id="head")
        yield Bar(id="narrowed")
        yield Field(placeholder=_("search by meaning or letters"), id="search", compact=True)
        with Container(id="body"):
            with Container(id="left"):
                yield Bar(id="heading")
                yield MemoryList(id="list")
            yield Sheet(id="detail", focusable=True)
        yield self.key_bar()

    def begin(self) -> None:
        self.query_one("#search").display = False
        self.query_one("#narrowed").display = False
        self._say_if_empty(loading=True)
        self.listing.focus()
        self.load()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= WIDE_FROM, "wide")

    @on(MemoryList.LaidOut)
    def _after_layout(self) -> None:
        if not self.standing:
            return
        self.query_one("#heading", Bar).show(self.listing.heading())
        self._show_detail(self.listing.current)

    @property
    def listing(self) -> MemoryList:
        return self.query_one("#list", MemoryList)

    # loading

    def load(self, place: Position | None = None) -> None:
        """Read the list; with a place, come back to its memory and screen line."""
        self.act(lambda: self._load(place), "load", exclusive=True)

    async def _load(self, place: Position | None) -> None:
        self.listing.expected = self.filters.status or ""
        if self.filters.text:
            await self._load_search(place)
        else:
            await self._load_page(place)
        self._loaded = True
        self._say_if_empty()
        self._after_layout()
        self.connection_changed()

    async def _load_page(self, place: Position | None) -> None:
        self._cut_short = 0
        if place is None:
            page = await self.gateway.page(self.filters, 0, PAGE_ROWS)
            self.listing.replace_all(page.total, 0, page.items, 0, 0)
            return
        offset = max(0, place.index // PAGE_ROWS - 2) * PAGE_ROWS
        page = await self.gateway.page(self.filters, offset, MOST_ROWS)
        self._come_back(place, page.total, offset, page.items)

    def _come_back(self, place: Position, total: int, offset: int, rows: tuple[Memory, ...]) -> None:
        found = next((offset + number for number, row in enumerate(rows) if row.id == place.id), place.index)
        self.listing.replace_all(total, offset, rows, found, max(0, place.top + found - place.index))

    async def _load_search(self, place: Position | None) -> None:
        """Recall and plain substring together: what is recalled leads, in its order."""
        typed = self.filters.text or ""
        by_letters, recalled = await asyncio.gather(
            self.gateway.page(self.filters, 0, MOST_ROWS), self._recalled_ids(typed)
        )
        rest = list(by_letters.items)
        leading: list[Memory] = []
        if recalled:
            meant = await self.gateway.page(replace(self.filters, text=None), 0, MOST_ROWS, recalled)
            known = {row.id: row for row in meant.items}
            leading = [known[found] for found in recalled if found in known]
        led = {row.id for row in leading}
        rows = (*leading, *(row for row in rest if row.id not in led))
        self._cut_short = max(0, by_letters.total - len(rest))
        if place is None:
            self.listing.replace_all(len(rows), 0, rows, 0, 0)
        else:
            self._come_back(place, len(rows), 0, rows)

    async def _recalled_ids(self, typed: str) -> list[str]:
        try:
            answer = await self.gateway.recall(typed, RECALLED, self.filters.project)
        except MemvaultError as error:
            self.log(error.code)
            return []
        return [hit.id for hit in answer.hits]

    @on(MemoryList.PageWanted)
    def _page_wanted(self, message: MemoryList.PageWanted) -> None:
        self.act(lambda: self._fetch(message.generation, message.offset), "pages")

    async def _fetch(self, generation: int, offset: int) -> None:
        if not self.listing.still_wanted(generation, offset):
            return
        page = await self.gateway.page(self.filters, offset, PAGE_ROWS)
        self.listing.deliver(generation, offset, page.items)

    # news

    def memories_changed(self, ids: frozenset[str]) -> None:
        self._news |= ids
        if self._news_timer is None:
            self._news_timer = self.set_timer(NEWS_PAUSE_S, self._take_news)

    def _take_news(self) -> None:
        self._news_timer = None
        self.act(self._refresh, "news", exclusive=True)

    async def _refresh(self) -> None:
        ids, self._news = self._news, set()
        before = self.listing.held()
        await self._load(self.listing.position if self._loaded and self.listing.total else None)
        for memory_id in ids - self._mine:
            self.listing.news[memory_id] = "changed" if memory_id in before else "new"
        self._mine.clear()
        self.listing.refresh()
        self.memvault.refresh_status()

    def connection_changed(self) -> None:
        status = self.memvault.status
        listed = self.listing.total + self._cut_short
        known = status.memories if status is not None else None
        if not self._loaded:
            note = ""
        elif self.filters.narrowed and known is not None:
            note = _("{n} of {all} memories").format(n=f"{listed:,}", all=f"{known:,}")
        else:
            note = n_("{n} memory", "{n} memories", listed)
        title = self.title_cells(_("Browse"), note)
        marked = len(self.listing.marked)
        if marked:
            title = (*title, ("  " + n_("{n} marked", "{n} marked", marked), "accent"))
        self.query_one("#head", Bar).show(title, state_cells(self.memvault))
        self._show_filters()

    def _show_filters(self) -> None:
        bar = self.query_one("#narrowed", Bar)
        cells: list[Cell] = [(" ", "plain")]
        typing = self.query_one("#search").display
        shown = replace(self.filters, text=None) if typing else self.filters
        for name, value in filter_words(shown):
            cells += [(f"{name} ", "dim"), (value + "   ", "accent")]
        narrowed = len(cells) > 1
        bar.display = narrowed
        if self._cut_short:
            more = n_(
                "{n} more has these letters; type on", "{n} more have these letters; type on", self._cut_short
            )
            cells.append((more, "dim"))
        right: Row = ((_("esc shows all") + " ", "dim"),) if narrowed else ()
        bar.show(tuple(cells), right)

    def _say_if_empty(self, loading: bool = False) -> None:
        if loading:
            words = _("Reading…")
        elif self.filters.narrowed:
            words = _("Nothing fits. esc shows all memories again; / searches for something else.")
        else:
            words = _(
                "Nothing is remembered yet. a writes a memory by hand, i brings some in from elsewhere."
            )
        self.listing.show_when_empty(words)

    # cursor and detail

    @on(MemoryList.CursorMoved)
    def _cursor_moved(self, message: MemoryList.CursorMoved) -> None:
        if self.standing:
            self._show_detail(message.memory)

    def _show_detail(self, memory: Memory | None) -> None:
        detail = self.query_one("#detail", Sheet)
        if memory is None:
            detail.show(None)
        elif self.has_class("wide"):
            detail.show(lambda cells: [*full_text(memory, cells, utc_now()), (), *sources(memory, cells)])
        else:
            detail.show(lambda cells: summary(memory, cells))

    @on(MemoryList.Opened)
    def action_open(self) -> None:
        from memvault_tui.screens.memory import MemoryScreen

        current = self.listing.current
        if current is not None:
            self.memvault.push_screen(MemoryScreen(current))

    # acting

    def current_memory(self) -> Memory | None:
        return self.listing.current

    def targets(self) -> list[str]:
        return list(self.listing.marked) or super().targets()

    def changed_here(self, memories: list[Memory]) -> None:
        self._mine |= {memory.id for memory in memories}
        self.listing.update_rows(memories)
        self.listing.unmark_all()
        self._show_detail(self.listing.current)
        self.connection_changed()

    def gone_here(self, ids: list[str]) -> None:
        self._mine |= set(ids)
        self.listing.unmark_all()
        self.load(self.listing.position)
        self.memvault.refresh_status()

    def reload_here(self) -> None:
        self.load(self.listing.position)
        self.memvault.refresh_status()

    def action_reload(self) -> None:
        self.listing.news.clear()
        self.reload_here()

    def action_mark(self) -> None:
        self.listing.toggle_mark()
        self.connection_changed()

    def action_mark_range(self) -> None:
        self.act(self._mark_range)

    async def _mark_range(self) -> None:
        anchor = self.listing.mark_anchor if self.listing.mark_anchor is not None else self.listing.cursor
        first, last = sorted((anchor, self.listing.cursor))
        rows = [self.listing.memory_at(index) for index in range(first, min(last + 1, first + MOST_ROWS))]
        if any(row is None for row in rows):
            rows = list((await self.gateway.page(self.filters, first, len(rows))).items)
        self.listing.mark(row.id for row in rows if row is not None)
        self.connection_changed()
        if last - first >= MOST_ROWS:
            self.memvault.say(
                _("Marked the first {n}; more than that at once is not done.").format(n=MOST_ROWS)
            )

    def action_add(self) -> None:
        self.act(self._add)

    async def _add(self) -> None:
        from memvault_tui.screens.form import AddForm

        added = await self.memvault.push_screen_wait(AddForm(self.filters.project))
        if added is not None:
            self._mine.add(added)
            await self._load(Position(0, added, 0))
            self.memvault.refresh_status()

    def action_import(self) -> None:
        from memvault_tui.screens.importing import ImportScreen

        self.memvault.push_screen(ImportScreen(), self._imported)

    def _imported(self, done: bool | None) -> None:
        if done:
            self.load()
            self.memvault.refresh_status()

    def action_inbox(self) -> None:
        self.memvault.go("inbox")

    def action_agents(self) -> None:
        self.memvault.go("agents")

    # searching

    def action_search(self) -> None:
        search = self.query_one("#search", Field)
        if self.home is None and not self.filters.narrowed:
            self.home = self.listing.position
        search.display = True
        search.focus()

    @on(Input.Changed, "#search")
    def _typed(self) -> None:
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPING_PAUSE_S, self._search)

    def _search(self) -> None:
        if not self.standing:
            return
        typed = self.query_one("#search", Field).value.strip() or None
        if typed != self.filters.text:
            self.filters = replace(self.filters, text=typed)
            place = None if self.filters.narrowed else self.home
            self.load(place)

    @on(Input.Submitted, "#search")
    def _searched(self) -> None:
        self._search()
        if not self.filters.text:
            self.query_one("#search").display = False
        self.listing.focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("down", "pagedown") and isinstance(self.focused, Field):
            event.stop()
            self.listing.focus()

    def action_unfilter(self) -> None:
        """Step back: out of the search line, then marks, then filters."""
        search = self.query_one("#search", Field)
        if self.listing.marked and self.focused is not search:
            self.listing.unmark_all()
            self.connection_changed()
            return
        if self._typing is not None:
            self._typing.stop()
        with search.prevent(Input.Changed):
            search.clear()
        search.display = False
        self.listing.focus()
        if self.filters.narrowed:
            self.filters = Filters(sort=self.filters.sort)
            place, self.home = self.home, None
            self.load(place)
        self.home = None
