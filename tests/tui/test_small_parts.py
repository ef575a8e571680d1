"""Themes can be read, the clipboard's way is chosen right, and odd answers are decoded safely."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.color import Color
from textual.theme import Theme

from memvault_tui import clipboard
from memvault_tui.answers import Deletion, Found, Report, Status
from memvault_tui.records import Facets, History, Memory, Page, Recall
from memvault_tui.screens.form import problem_of
from memvault_tui.themes import DARK, LIGHT, THEMES, wanted_theme

READABLE = 4.5
"""WCAG AA for text of normal size."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
NAMES = [
    "items",
    "total",
    "id",
    "content",
    "sources",
    "versions",
    "events",
    "results",
    "kinds",
    "failure",
    "model",
    "refused",
    "older_backups",
    "ids",
    "why",
    "score",
    "flags",
    "state",
    "added",
]


def _contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [part / 255 for part in Color.parse(colour).rgb]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_text_colour_is_readable_on_every_background(theme: Theme) -> None:
    texts = [
        theme.foreground,
        theme.primary,
        theme.accent,
        theme.warning,
        theme.error,
        theme.success,
        theme.variables["quiet"],
    ]
    grounds = [theme.background, theme.surface, theme.panel, theme.variables["cursor-line"]]
    weak = [
        (text, ground, round(_contrast(text, ground), 2))
        for text in texts
        for ground in grounds
        if text and ground and _contrast(text, ground) < READABLE
    ]
    assert weak == []


def test_the_theme_follows_wish_then_terminal() -> None:
    assert wanted_theme({}) == DARK.name
    assert wanted_theme({"COLORFGBG": "0;15"}) == LIGHT.name
    assert wanted_theme({"COLORFGBG": "15;0"}) == DARK.name
    assert wanted_theme({"COLORFGBG": "0;15", "MEMVAULT_THEME": "dark"}) == DARK.name
    assert wanted_theme({"MEMVAULT_THEME": "Light"}) == LIGHT.name


@pytest.mark.parametrize(
    ("environment", "tools", "chosen"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, {"wl-copy", "xclip"}, "wl-copy"),
        ({"DISPLAY": ":0"}, {"wl-copy", "xclip"}, "xclip"),
        ({"DISPLAY": ":0", "SSH_TTY": "/dev/pts/1"}, {"xclip"}, None),
        ({"DISPLAY": ":0", "SSH_TTY": "/dev/pts/1", "TMUX": "/tmp/x"}, {"xclip", "tmux"}, "tmux"),
        ({}, {"xclip", "tmux"}, None),
    ],
)
def test_the_nearest_clipboard_is_used(
    environment: dict[str, str], tools: set[str], chosen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def which(name: str) -> str | None:
        return f"/bin/{name}" if name in tools else None

    monkeypatch.setattr(clipboard.shutil, "which", which)
    command = clipboard.command_for(environment, "linux")
    assert (command[0] if command else None) == chosen


@given(st.dictionaries(st.sampled_from(NAMES), JSON))
def test_no_answer_of_a_daemon_breaks_the_interface(answer: dict[str, object]) -> None:
    readers: list[Callable[[dict[str, object]], object]] = [
        Memory.read,
        Page.read,
        Facets.read,
        History.read,
        Recall.read,
        Status.read,
        Deletion.read,
        Report.read,
    ]
    for read in readers:
        read(answer)
    Found.read_all(answer.get("items"))


@given(st.text())
def test_every_text_of_a_record_is_safe_to_draw(text: str) -> None:
    source = {"type": "user", "ref": text, "evidence": text}
    memory = Memory.read({"id": "1", "content": text, "why": text, "sources": [source], "flags": [text]})
    for shown in (memory.content, memory.why or "", memory.sources[0].ref, *memory.flags):
        assert not any(
            (ord(char) < 32 and char not in "\n\t") or char in "\x7f\x9b\u202e\u2028" for char in shown
        )


def test_a_form_is_checked_field_by_field() -> None:
    assert problem_of({"content": "a claim"}) is None
    assert (problem_of({"content": ""}) or ("",))[0] == "content"
    assert (problem_of({"content": "a" * 70_000}) or ("",))[0] == "content"
    assert (problem_of({"content": "a", "attribute": "b"}) or ("",))[0] == "subject"
    assert (problem_of({"content": "a", "value": "b"}) or ("",))[0] == "subject"
    assert (problem_of({"content": "a", "expires_at": "tomorrow"}) or ("",))[0] == "expires_at"
    assert problem_of({"content": "a", "expires_at": "2027-03-01", "subject": "x", "attribute": "y"}) is None
