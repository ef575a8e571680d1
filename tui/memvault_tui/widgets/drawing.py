"""The base of widgets that draw their own lines from rows of (text, role) cells.

Owns turning roles into the theme's styles. Text is never parsed: what a row says is what is drawn.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memvault_tui.lines import ROLES, Row, width

_THEME_STYLES = {
    "dim": "$quiet",
    "strong": "bold",
    "accent": "$accent",
    "good": "$success",
    "warn": "$warning",
    "bad": "$error",
    "gone": "$quiet",
}


class LineDrawing(ScrollView):
    """A scrolling widget whose lines are rows of cells."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"role-{role}" for role in ROLES}

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id, classes=classes)
        self._styles_by_role: dict[str, Style] = {}

    def notify_style_update(self) -> None:
        self._styles_by_role.clear()
        super().notify_style_update()

    def role_style(self, role: str) -> Style:
        style = self._styles_by_role.get(role)
        if style is None:
            style = self.get_component_rich_style(f"role-{role}", partial=True)
            self._styles_by_role[role] = style
        return style

    def strip_of(self, row: Row, cells: int, line_role: str = "plain") -> Strip:
        """`row` drawn in exactly `cells`, padded with the style of `line_role`."""
        base = self.rich_style + self.role_style(line_role)
        segments = [Segment(text, base + self.role_style(role)) for text, role in row if text]
        used = sum(width(text) for text, _role in row)
        if used < cells:
            segments.append(Segment(" " * (cells - used), base))
        strip = Strip(segments, max(used, cells))
        return strip.crop(0, cells) if used > cells else strip


def content_of(row: Row) -> Content:
    """A row for widgets that take Textual content; roles become theme variables, text stays text."""
    return Content.assemble(*((text, _THEME_STYLES.get(role, "")) for text, role in row))
