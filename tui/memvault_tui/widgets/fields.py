"""Input widgets that keep hostile text off the terminal: what is pasted is made visible first."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, RadioButton, TextArea

from memvault.text import visible


class Field(Input):
    """One line of input."""

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        super()._on_paste(events.Paste(visible(event.text, one_line=True)))
        event.stop()


class Radio(RadioButton):
    """A radio button that shows its state by shape, not by colour alone."""

    @property
    def _button(self) -> Content:
        return Content("(•)" if self.value else "( )")


class Area(TextArea):
    """Several lines of input; tab leaves it, as in every other field."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "screen.cancel", show=False)]

    def __init__(self, text: str = "", *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(text, id=id, soft_wrap=True, tab_behavior="focus", show_line_numbers=False)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        await super()._on_paste(events.Paste(visible(event.text)))
        event.stop()
