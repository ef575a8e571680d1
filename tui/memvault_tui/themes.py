"""Two calm themes and the choice between them.

Owns the colours. Text on its background keeps a contrast of at least 4.5 to 1 (WCAG AA), quiet text
included; a test computes it.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

DARK = Theme(
    name="memvault-dark",
    primary="#8fb7d9",
    secondary="#9db0bd",
    accent="#e0b872",
    warning="#e3b062",
    error="#ef8f83",
    success="#93c694",
    foreground="#d9dcdf",
    background="#16191c",
    surface="#1d2125",
    panel="#262b30",
    dark=True,
    variables={
        "quiet": "#98a2aa",
        "cursor-line": "#2d3842",
        "added-line": "#1f3325",
        "removed-line": "#3b2424",
        "block-cursor-background": "#2d3842",
        "block-cursor-foreground": "#f2f4f5",
        "block-cursor-text-style": "none",
        "input-selection-background": "#3f5c75",
        "border": "#8fb7d9",
        "border-blurred": "#3a4148",
        "scrollbar": "#3a4148",
        "scrollbar-background": "#16191c",
        "scrollbar-corner-color": "#16191c",
    },
)

LIGHT = Theme(
    name="memvault-light",
    primary="#1f5b8a",
    secondary="#48606f",
    accent="#835400",
    warning="#8a5200",
    error="#a92f24",
    success="#2c6a33",
    foreground="#22272b",
    background="#fbfbf9",
    surface="#f1f2f0",
    panel="#e6e8e6",
    dark=False,
    variables={
        "quiet": "#59636a",
        "cursor-line": "#d8e4ee",
        "added-line": "#dcefdc",
        "removed-line": "#f6dedb",
        "block-cursor-background": "#d8e4ee",
        "block-cursor-foreground": "#101416",
        "block-cursor-text-style": "none",
        "input-selection-background": "#b7cfe4",
        "border": "#1f5b8a",
        "border-blurred": "#c3c8c6",
        "scrollbar": "#c3c8c6",
        "scrollbar-background": "#fbfbf9",
        "scrollbar-corner-color": "#fbfbf9",
    },
)

THEMES = (DARK, LIGHT)

_NAMES = {"dark": DARK.name, "light": LIGHT.name, DARK.name: DARK.name, LIGHT.name: LIGHT.name}


def wanted_theme(environment: Mapping[str, str]) -> str:
    """The theme to start with: MEMVAULT_THEME (dark, light), else what COLORFGBG tells, else dark."""
    chosen = _NAMES.get(environment.get("MEMVAULT_THEME", "").strip().lower())
    if chosen is not None:
        return chosen
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in {"7", "15"} else DARK.name
