"""What is shown until the daemon has answered: one quiet line."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.screen import Screen

from memvault_tui.i18n import _
from memvault_tui.lines import Row, wrap
from memvault_tui.widgets.sheet import Sheet


class OpeningScreen(Screen[None]):
    """Lies below every other screen; holds no content."""

    AUTO_FOCUS = ""

    def compose(self) -> ComposeResult:
        yield Sheet(lambda cells: [((" " + _("Opening memvault…"), "dim"),)], id="opening")

    def show_trouble(self, reason: str, hint: str) -> None:
        """Say calmly why there is no connection yet; attempts go on."""

        def rows(cells: int) -> list[Row]:
            lines = [
                (line, "plain")
                for line in wrap(_("memvault's daemon does not answer yet; trying again."), cells)
            ]
            lines += [(line, "warn") for line in wrap(reason, cells)]
            lines += [(line, "dim") for line in wrap(hint, cells) if line]
            return [(line,) for line in lines]

        self.query_one("#opening", Sheet).show(rows)
