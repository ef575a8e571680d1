"""Why is this recalled: a question, what it brings back, with scores and reasons. Leaves no trace."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from memvault_tui.actions import bindings_of
from memvault_tui.i18n import _
from memvault_tui.screens.base import VaultScreen, state_cells
from memvault_tui.sheets import recall_answer
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.fields import Field
from memvault_tui.widgets.sheet import Sheet

RESULTS = 10


class WhyScreen(VaultScreen[None]):
    """Asks recall as an agent would; `memory_id` is the memory one came from."""

    PLACE = "why"
    BINDINGS = [*bindings_of("why")]  # noqa: RUF012 (Textual reads it)

    def __init__(self, memory_id: str | None, project: str | None) -> None:
        super().__init__()
        self._memory_id = memory_id
        self._project = project

    def compose(self) -> ComposeResult:
        note = _("project {name}").format(name=self._project) if self._project else ""
        yield Bar(self.title_cells(_("Why is it recalled?"), note), state_cells(self.memvault), id="head")
        yield Field(
            placeholder=_("a question or a task, as an agent would put it"), id="question", compact=True
        )
        yield Sheet(id="answer", focusable=True)
        yield self.key_bar()

    def begin(self) -> None:
        self.query_one("#question").focus()

    @on(Input.Submitted, "#question")
    def _asked(self, event: Input.Submitted) -> None:
        asked = event.value.strip()
        if asked:
            self.act(lambda: self._ask(asked), "ask", exclusive=True)

    async def _ask(self, asked: str) -> None:
        answer = await self.gateway.recall(asked, RESULTS, self._project)
        self.query_one("#answer", Sheet).show(lambda cells: recall_answer(answer, cells, self._memory_id))

    def action_back(self) -> None:
        self.dismiss()
