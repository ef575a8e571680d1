"""Several lines of input; apart from the other fields, because its library costs time at the start."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from memvault.text import visible


class Area(TextArea):
    """Tab leaves it, as in every other field; what is pasted is made visible first."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "screen.cancel", show=False)]

    def __init__(self, text: str = "", *, id: str | None = None) -> None:  # noqa: A002 (the name Textual uses)
        super().__init__(text, id=id, soft_wrap=True, tab_behavior="focus", show_line_numbers=False)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        await super()._on_paste(events.Paste(visible(event.text)))
        event.stop()
