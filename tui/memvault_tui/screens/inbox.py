"""Inbox: what waits for the person, with the reason for each, decided one after another."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container

from memvault.errors import NotFound
from memvault_tui.actions import bindings_of
from memvault_tui.i18n import _, n_
from memvault_tui.reasons import can_be_confirmed, can_be_rejected
from memvault_tui.records import Memory
from memvault_tui.screens.acting import ActsOnMemories
from memvault_tui.screens.base import VaultScreen, state_cells
from memvault_tui.sheets import full_text, sources, summary, waiting
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.memory_list import PAGE_ROWS, MemoryList
from memvault_tui.widgets.sheet import Sheet
from memvault_tui.words import utc_now

WIDE_FROM = 120


class InboxScreen(ActsOnMemories, VaultScreen[None]):
    """After a decision the cursor is on the next candidate."""

    PLACE = "inbox"
    BINDINGS = [*bindings_of("inbox")]  # noqa: RUF012 (Textual reads it)

    def __init__(self) -> None:
        super().__init__()
        self._proposers: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        yield Bar(self.title_cells(_("Inbox")), id="head")
        with Container(id="body"):
            with Container(id="left"):
                yield Bar(id="heading")
                yield MemoryList(id="list")
            yield Sheet(id="detail", focusable=True)
        yield self.key_bar()

    def begin(self) -> None:
        self.listing.expected = "candidate"
        self.listing.focus()
        self.reload_here()

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

    async def _load(self) -> None:
        place = self.listing.position
        offset = place.index // PAGE_ROWS * PAGE_ROWS
        page = await self.gateway.inbox(offset, PAGE_ROWS)
        if offset and not page.items:
            offset = 0
            page = await self.gateway.inbox(0, PAGE_ROWS)
        found = next(
            (offset + number for number, row in enumerate(page.items) if row.id == place.id), place.index
        )
        self.listing.replace_all(page.total, offset, page.items, found, place.top + found - place.index)
        self.listing.show_when_empty(_("Nothing waits for you. What agents propose comes here first."))
        self._after_layout()
        self.connection_changed()

    @on(MemoryList.PageWanted)
    def _page_wanted(self, message: MemoryList.PageWanted) -> None:
        self.act(lambda: self._fetch(message.generation, message.offset), "pages")

    async def _fetch(self, generation: int, offset: int) -> None:
        if self.listing.still_wanted(generation, offset):
            page = await self.gateway.inbox(offset, PAGE_ROWS)
            self.listing.deliver(generation, offset, page.items)

    def memories_changed(self, ids: frozenset[str]) -> None:
        self.reload_here()

    def connection_changed(self) -> None:
        note = n_("{n} waits for you", "{n} wait for you", self.listing.total)
        self.query_one("#head", Bar).show(self.title_cells(_("Inbox"), note), state_cells(self.memvault))

    @on(MemoryList.CursorMoved)
    def _cursor_moved(self, message: MemoryList.CursorMoved) -> None:
        if self.standing:
            self._show_detail(message.memory)

    def _show_detail(self, memory: Memory | None) -> None:
        detail = self.query_one("#detail", Sheet)
        if memory is None:
            detail.show(None)
            return
        proposer = self._proposers.get(memory.id)
        if proposer is None:
            self.act(lambda: self._ask_proposer(memory.id), "proposer", exclusive=True)
        by = proposer or ""
        if self.has_class("wide"):
            detail.show(
                lambda cells: [
                    *waiting(memory, by, cells),
                    *full_text(memory, cells, utc_now()),
                    (),
                    *sources(memory, cells),
                ]
            )
        else:
            detail.show(lambda cells: [*waiting(memory, by, cells), *summary(memory, cells)])

    async def _ask_proposer(self, memory_id: str) -> None:
        """Who brought it in first, for the detail of the memory under the cursor."""
        try:
            history = await self.gateway.history(memory_id)
        except NotFound:
            return
        self._proposers[memory_id] = history.events[0].actor if history.events else ""
        current = self.listing.current
        if current is not None and current.id == memory_id:
            self._show_detail(current)

    @on(MemoryList.Opened)
    def action_open(self) -> None:
        from memvault_tui.screens.memory import MemoryScreen

        current = self.listing.current
        if current is not None:
            self.memvault.push_screen(MemoryScreen(current))

    def current_memory(self) -> Memory | None:
        return self.listing.current

    def changed_here(self, memories: list[Memory]) -> None:
        self.reload_here()

    def reload_here(self) -> None:
        self.act(self._load, "load", exclusive=True)

    def action_confirm(self) -> None:
        current = self.listing.current
        if current is None:
            return
        if can_be_confirmed(current):
            self.act(lambda: self._confirm(current.id))
        else:
            self.memvault.say(_("It is a memory already: v checks it, e corrects it."))

    async def _confirm(self, memory_id: str) -> None:
        await self.as_person(lambda: self.gateway.confirm(memory_id))
        self.memvault.say(_("Confirmed."))
        await self._load()

    def action_reject(self) -> None:
        current = self.listing.current
        if current is None:
            return
        if can_be_rejected(current):
            self.act(lambda: self._reject(current.id))
        else:
            self.memvault.say(
                _("It is a memory already: enter opens it, x there switches it off, D deletes it.")
            )

    async def _reject(self, memory_id: str) -> None:
        from memvault_tui.screens.dialogs import YesNo

        question = _("Reject this candidate? Its text is erased and it will not be proposed again.")
        if await self.memvault.push_screen_wait(YesNo(question, _("Reject"), _("Cancel"))):
            await self.as_person(lambda: self.gateway.reject(memory_id))
            self.memvault.say(_("Rejected."))
            await self._load()

    def action_skip(self) -> None:
        if self.listing.cursor + 1 < self.listing.total:
            self.listing.move_to(self.listing.cursor + 1)
        else:
            self.memvault.say(_("That was the last one."))

    def action_browse(self) -> None:
        self.dismiss()

    def action_agents(self) -> None:
        self.memvault.go("agents")

    def action_back(self) -> None:
        self.dismiss()
