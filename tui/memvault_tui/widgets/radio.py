"""A radio button that shows its state by shape, not by colour alone."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import RadioButton


class Radio(RadioButton):
    """`(•)` when chosen, `( )` when not."""

    @property
    def _button(self) -> Content:
        return Content("(•)" if self.value else "( )")
