"""What one agent wrote: the memories that rest on it, and how each stands."""

from __future__ import annotations

from dataclasses import replace

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container

from memvault_tui.actions import bindings_of
from memvault_tui.gateway import Filters
from memvault_tui.i18n import _, n_
from memvault_tui.records import Memory
from memvault_tui.screens.base import VaultScreen, state_cells
from memvault_tui.sheets import full_text, sources, summary
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.memory_list import PAGE_ROWS, MemoryList
from memvault_tui.widgets.sheet import Sheet
from memvault_tui.words import utc_now

WIDE_FROM = 120


class WrittenScreen(VaultScreen[None]):
    """What waits first, then what nobody reviewed, what the person confirmed, what others said too."""

    PLACE = "written"
    BINDINGS = [*bindings_of("written")]  # noqa: RUF012 (Textual reads it)

    def __init__(self, agent: str) -> None:
        super().__init__()
        self._agent = agent
        self._parts: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        yield Bar(self.title_cells(_("Written by {name}").format(name=self._agent)), id="head")
        with Container(id="body"):
            with Container(id="left"):
                yield Bar(id="heading")
                yield MemoryList(id="list")
            yield Sheet(id="detail", focusable=True)
        yield self.key_bar()

    def begin(self) -> None:
        self.listing.focus()
        self.act(self._load, "load", exclusive=True)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= WIDE_FROM, "wide")

    @property
    def listing(self) -> MemoryList:
        return self.query_one("#list", MemoryList)

    async def _load(self) -> None:
        place = self.listing.position
        self._parts = (await self.gateway.rests_on(self._agent)).parts
        ids = list(self._parts)
        at = ids.index(place.id) if place.id in self._parts else min(place.index, max(0, len(ids) - 1))
        offset = at // PAGE_ROWS * PAGE_ROWS
        rows = await self._page(offset)
        self.listing.replace_all(len(ids), offset, rows, at, max(0, place.top + at - place.index))
        self.listing.show_when_empty(_("Nothing rests on it now."))
        self._after_layout()
        self.connection_changed()

    async def _page(self, offset: int) -> list[Memory]:
        ids = list(self._parts)[offset : offset + PAGE_ROWS]
        if not ids:
            return []
        page = await self.gateway.page(Filters(), 0, PAGE_ROWS, ids)
        found = {memory.id: memory for memory in page.items}
        return [replace(found[name], because=self._parts[name]) for name in ids if name in found]

    @on(MemoryList.PageWanted)
    def _page_wanted(self, message: MemoryList.PageWanted) -> None:
        self.act(lambda: self._fetch(message.generation, message.offset), "pages")

    async def _fetch(self, generation: int, offset: int) -> None:
        if self.listing.still_wanted(generation, offset):
            self.listing.deliver(generation, offset, await self._page(offset))

    def memories_changed(self, ids: frozenset[str]) -> None:
        self.act(self._load, "load", exclusive=True)

    def connection_changed(self) -> None:
        title = _("Written by {name}").format(name=self._agent)
        note = n_("{n} memory", "{n} memories", self.listing.total)
        self.query_one("#head", Bar).show(self.title_cells(title, note), state_cells(self.memvault))

    @on(MemoryList.LaidOut)
    def _after_layout(self) -> None:
        if self.standing:
            self.query_one("#heading", Bar).show(self.listing.heading())
            self._show_detail(self.listing.current)

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

    def action_other_half(self) -> None:
        self.memvault.action_focus_next()

    def action_back(self) -> None:
        self.dismiss()
