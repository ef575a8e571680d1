"""The list of agents: a few hundred rows at most, all held. Owns the cursor; never does I/O."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from memvault_tui.actions import bindings_of
from memvault_tui.agent_lines import agent_row
from memvault_tui.grants import Agent
from memvault_tui.lines import wrap
from memvault_tui.widgets.drawing import LineDrawing
from memvault_tui.words import utc_now


class AgentList(LineDrawing, can_focus=True):
    """The cursor stays on its agent when the list is read again."""

    BINDINGS = [*bindings_of("list")]  # noqa: RUF012 (Textual reads it)

    class CursorMoved(Message):
        """Another agent is under the cursor, or the list was read again."""

    class Opened(Message):
        """A row was double-clicked."""

    class LaidOut(Message):
        """The list has a new width."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self.agents: tuple[Agent, ...] = ()
        self.cursor = 0
        self._empty = ""

    def show(self, agents: Sequence[Agent], when_empty: str) -> None:
        before = self.current
        self.agents, self._empty = tuple(agents), when_empty
        self.virtual_size = Size(self.size.width, len(self.agents))
        names = [agent.name for agent in self.agents]
        if before is not None and before.name in names:
            self.cursor = names.index(before.name)
        self.cursor = max(0, min(self.cursor, len(names) - 1))
        self._show_cursor()
        self.refresh()
        self.post_message(self.CursorMoved())

    @property
    def current(self) -> Agent | None:
        return self.agents[self.cursor] if self.agents else None

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.agents))
        self._show_cursor()
        self.post_message(self.LaidOut())

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        if not self.agents:
            said = wrap(self._empty, max(10, cells - 4))
            return self.strip_of((("  " + said[y - 1], "dim"),) if 1 <= y <= len(said) else (), cells)
        index = self.scroll_offset.y + y
        if index >= len(self.agents):
            return self.strip_of((), cells)
        at_cursor = index == self.cursor
        role = "cursor" if at_cursor and self.has_focus else "plain"
        return self.strip_of(agent_row(self.agents[index], cells, utc_now(), at_cursor), cells, role)

    def move_to(self, index: int) -> None:
        index = max(0, min(index, len(self.agents) - 1))
        if index != self.cursor:
            self.cursor = index
            self._show_cursor()
            self.refresh()
            self.post_message(self.CursorMoved())

    def _show_cursor(self) -> None:
        height, top = self.size.height, self.scroll_offset.y
        if height > 0 and not top <= self.cursor < top + height:
            first = self.cursor if self.cursor < top else self.cursor - height + 1
            self.scroll_to(y=first, animate=False, force=True)

    def action_cursor_down(self) -> None:
        self.move_to(self.cursor + 1)

    def action_cursor_up(self) -> None:
        self.move_to(self.cursor - 1)

    def action_page_down(self) -> None:
        self.move_to(self.cursor + max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self.move_to(self.cursor - max(1, self.size.height - 1))

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(len(self.agents) - 1)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        index = self.scroll_offset.y + event.y
        if index < len(self.agents):
            self.move_to(index)
            if event.chain == 2:
                self.post_message(self.Opened())

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
