"""A line of input that keeps hostile text off the terminal: what is pasted is made visible first."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from memvault.text import visible


class Field(Input):
    """One line of input."""

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        super()._on_paste(events.Paste(visible(event.text, one_line=True)))
        event.stop()
