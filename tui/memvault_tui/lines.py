"""Drawing in terminal cells: fit, wrap and pad text, and draw one memory as one row. Pure.

Owns widths (wcwidth: CJK takes two cells, combining marks none) and the cut with an ellipsis. A cell
is (text, role); a role names a style, never a colour, and text is never markup. Knows no widget.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from wcwidth import iter_graphemes, wcswidth

from memvault.text import visible
from memvault_tui.columns import Columns
from memvault_tui.i18n import _
from memvault_tui.reasons import short_reason
from memvault_tui.records import Memory
from memvault_tui.words import KIND_WORDS, STATUS_WORDS, age, kind_letter, status_letter, word

Cell = tuple[str, str]
Row = tuple[Cell, ...]

ROLES = ("plain", "dim", "strong", "accent", "good", "warn", "bad", "added", "removed", "cursor", "gone")
"""Every style name a row may use."""

ELLIPSIS = "…"
MOST_CHARACTERS_PER_CELL = 8
"""A row never looks further into a text than this, so that a huge claim costs no more than a short one."""

_PIECES = re.compile(r"\s+|[^\s\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]+|.")
CJK_CELLS = 2
_NEVER_FIRST = set("，。、；：！？）》」』”’…,.;:!?)]}")


_UNSTEADY = re.compile("[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
"""Emoji presentation and skin tone: terminals disagree on their width, and no meaning is lost without."""


def steady(text: str, one_line: bool = False) -> str:
    """`text` made safe, without the characters whose width depends on the terminal."""
    shown = visible(text, one_line=one_line)
    return shown if shown.isascii() else _UNSTEADY.sub("", shown)


def width(text: str) -> int:
    """Cells that `text` takes; what cannot be measured counts one each."""
    if text.isascii():
        return len(text)
    cells = wcswidth(text)
    return cells if cells >= 0 else len(text)


def cut(text: str, cells: int) -> str:
    """The longest beginning of safe `text` within `cells`, never half a character."""
    if width(text) <= cells:
        return text
    if text.isascii():
        return text[: max(0, cells)]
    taken = 0
    out: list[str] = []
    for grapheme in iter_graphemes(text):
        size = width(grapheme)
        if taken + size > cells:
            break
        out.append(grapheme)
        taken += size
    return "".join(out)


def fit(text: str, cells: int, right: bool = False) -> str:
    """`text` made safe, on one line, in exactly `cells`: cut with an ellipsis or padded."""
    if cells <= 0:
        return ""
    shown = steady(text[: cells * MOST_CHARACTERS_PER_CELL], one_line=True)
    if width(shown) > cells:
        shown = _shortened(shown, cells)
    gap = " " * (cells - width(shown))
    return gap + shown if right else shown + gap


def _shortened(text: str, cells: int) -> str:
    """The beginning of `text` with an ellipsis, within `cells`: some marks grow beside what follows."""
    for room in range(cells - 1, -1, -1):
        short = cut(text, room) + ELLIPSIS
        if width(short) <= cells:
            return short
    return ""


def wrap(text: str, cells: int) -> list[str]:
    """Safe `text` in lines of at most `cells`, broken at spaces and between CJK characters."""
    cells = max(2, cells)
    lines: list[str] = []
    for paragraph in steady(text).expandtabs(4).split("\n"):
        lines.extend(_wrap_paragraph(paragraph, cells))
    return lines


def _wrap_paragraph(paragraph: str, cells: int) -> list[str]:
    lines: list[str] = []
    line, used = "", 0
    for match in _PIECES.finditer(paragraph):
        piece = match.group()
        size = width(piece)
        if used + size <= cells:
            line, used = line + piece, used + size
            continue
        if piece in _NEVER_FIRST and used > CJK_CELLS and not line.isascii():
            last = _last_grapheme(line)
            lines.append(line[: len(line) - len(last)])
            line, used = last + piece, width(last) + size
            continue
        if piece.isspace():
            continue
        if line.strip():
            lines.append(line.rstrip())
        while size > cells:
            head = cut(piece, cells)
            lines.append(head)
            piece = piece[len(head) :]
            size = width(piece)
        line, used = piece, size
    lines.append(line.rstrip())
    return lines


def _last_grapheme(line: str) -> str:
    last = ""
    for last in iter_graphemes(line):  # noqa: B007 (only the last one is wanted)
        pass
    return last


def row_text(row: Row) -> str:
    return "".join(text for text, _role in row)


@dataclass(frozen=True, slots=True)
class Marks:
    """How a row stands out: under the cursor, marked by the person, news since it was last looked at."""

    cursor: bool = False
    marked: bool = False
    expected: str = ""
    """The status that every row of the list has, which therefore needs no remark."""
    news: str = ""
    """Empty, `new` or `changed`."""


def note(memory: Memory, marks: Marks, written: bool) -> Cell:
    """The one thing to know about a row, as (words, role); `written`: the row has its status in words."""
    if memory.status == "conflict":
        return _("contradicts"), "bad"
    if reason := short_reason(memory):
        return reason, "warn"
    if memory.needs_check:
        return _("(verify first)"), "warn"
    if memory.status not in ("active", "", marks.expected) and not written:
        return word(STATUS_WORDS, memory.status), "warn" if memory.status == "candidate" else "dim"
    if marks.news:
        return (_("(new)") if marks.news == "new" else _("(changed)")), "accent"
    return "", "dim"


def memory_row(memory: Memory, columns: Columns, now: datetime, marks: Marks) -> Row:
    """One memory in exactly `columns.total` cells."""
    body = "gone" if memory.status in ("superseded", "expired", "archived", "disabled") else "plain"
    if columns.words:
        kind, status = word(KIND_WORDS, memory.kind), word(STATUS_WORDS, memory.status)
    else:
        kind, status = kind_letter(memory.kind), status_letter(memory.status)
    status_role = {"active": "good", "conflict": "bad", "candidate": "warn"}.get(memory.status, "dim")
    count = f"{len(memory.sources)}{'!' if memory.needs_check else ' '}"
    remark, remark_role = note(memory, marks, columns.words)
    remark = remark if columns.note else ""
    remark_cells = min(width(remark), columns.note)
    claim_cells = columns.claim + columns.note - (remark_cells + 1 if remark_cells else 0)
    row: list[Cell] = [
        ("▸" if marks.cursor else " ", "accent"),
        ("*" if marks.marked else "•" if marks.news else " ", "accent"),
        (fit(kind, columns.kind) + " ", "strong"),
        (fit(status, columns.status) + " ", status_role),
        (fit(age(memory.verified_at or memory.created_at, now), columns.age, right=True) + " ", "dim"),
        (fit(count, columns.sources, right=True) + " ", "warn" if memory.needs_check else "dim"),
    ]
    if columns.project:
        row.append((fit(memory.project or "", columns.project) + " ", "dim"))
    row.append((fit(memory.content, claim_cells), body))
    if remark_cells:
        row.append((" " + fit(remark, remark_cells), remark_role))
    return tuple(row)


def heading_row(columns: Columns) -> Row:
    """The names of the columns, aligned with `memory_row`."""
    kind = _("kind") if columns.words else fit(_("K"), columns.kind)
    status = _("status") if columns.words else fit(_("S"), columns.status)
    parts = [
        "  ",
        fit(kind, columns.kind) + " ",
        fit(status, columns.status) + " ",
        fit(_("age"), columns.age, right=True) + " ",
        fit(_("src"), columns.sources, right=True) + " ",
    ]
    if columns.project:
        parts.append(fit(_("project"), columns.project) + " ")
    parts.append(fit(_("claim"), columns.claim + columns.note))
    return (("".join(parts), "dim"),)
