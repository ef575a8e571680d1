"""One memory on the whole screen: its text, sources, versions and events."""

from __future__ import annotations

from textual.app import ComposeResult

from memvault.errors import NotFound
from memvault_tui.actions import bindings_of
from memvault_tui.i18n import N_, _
from memvault_tui.lines import Cell
from memvault_tui.records import History, Memory
from memvault_tui.screens.acting import ActsOnMemories
from memvault_tui.screens.base import VaultScreen, state_cells
from memvault_tui.sheets import events, full_text, sources, versions
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.sheet import Builder, Sheet
from memvault_tui.words import utc_now

PARTS = (N_("text"), N_("sources"), N_("versions"), N_("events"))


class MemoryScreen(ActsOnMemories, VaultScreen[None]):
    """Tab walks through the parts; escape goes back to the list."""

    PLACE = "memory"
    BINDINGS = [*bindings_of("memory")]  # noqa: RUF012 (Textual reads it)

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self._memory = memory
        self._history: History | None = None
        self._part = 0

    def compose(self) -> ComposeResult:
        yield Bar(id="head")
        yield Bar(id="parts")
        yield Sheet(id="sheet", focusable=True)
        yield self.key_bar()

    def begin(self) -> None:
        self.query_one("#sheet").focus()
        self._show()
        self.act(self._read, "read", exclusive=True)

    async def _read(self) -> None:
        try:
            self._memory = await self.gateway.memory(self._memory.id)
        except NotFound:
            self.memvault.say(_("This memory is no longer there."))
            self.dismiss()
            return
        self._history = await self.gateway.history(self._memory.id)
        self._show(keep_place=True)

    def _show(self, keep_place: bool = False) -> None:
        cells: list[Cell] = [(" ", "plain")]
        for number, name in enumerate(PARTS):
            here = number == self._part
            cells += [
                (f"[{_(name)}]" if here else f" {_(name)} ", "strong" if here else "dim"),
                (" ", "plain"),
            ]
        self.query_one("#parts", Bar).show(tuple(cells))
        self.connection_changed()
        memory, history = self._memory, self._history or History((), ())
        builders: tuple[Builder, ...] = (
            lambda cells: full_text(memory, cells, utc_now()),
            lambda cells: sources(memory, cells),
            lambda cells: versions(history, cells),
            lambda cells: events(history, cells),
        )
        sheet = self.query_one("#sheet", Sheet)
        top = sheet.scroll_offset.y
        sheet.show(builders[self._part])
        if keep_place:
            sheet.scroll_to(y=top, animate=False, force=True)

    def connection_changed(self) -> None:
        self.query_one("#head", Bar).show(self.title_cells(_("Memory")), state_cells(self.memvault))

    def memories_changed(self, ids: frozenset[str]) -> None:
        if not ids or self._memory.id in ids:
            self.act(self._read, "read", exclusive=True)

    def current_memory(self) -> Memory | None:
        return self._memory

    def changed_here(self, memories: list[Memory]) -> None:
        self._memory = memories[0]
        self.act(self._read, "read", exclusive=True)

    def gone_here(self, ids: list[str]) -> None:
        self.dismiss()

    def reload_here(self) -> None:
        self.act(self._read, "read", exclusive=True)

    def action_next_part(self) -> None:
        self._part = (self._part + 1) % len(PARTS)
        self._show()

    def action_back(self) -> None:
        self.dismiss()
