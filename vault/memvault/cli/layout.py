"""Text in columns: widths as a terminal counts them, cutting, wrapping. Knows neither styles nor memories."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memvault.text import visible

_CJK = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_ATOM = re.compile(rf"\s+|[{_CJK}]|[^\s{_CJK}]+")
"""White space, one CJK character, or a run of other characters: what a line may break between."""


def width(text: str) -> int:
    """Columns of a text as it will be shown; two for a CJK character."""
    if text.isascii():
        return len(text)
    # The width tables take tens of milliseconds to import; plain ASCII does without.
    from wcwidth import wcswidth

    columns = wcswidth(text)
    return columns if columns >= 0 else len(text)


def cut(text: str, columns: int) -> str:
    """One line of at most `columns` columns, with an ellipsis where something was left out."""
    text = visible(text, one_line=True)
    if len(text) * 2 <= columns or width(text) <= columns:
        return text
    used, out = 0, ""
    for char in text:
        used += width(char)
        if used > columns - 1:
            break
        out += char
    return out.rstrip() + "…"


def pad(text: str, columns: int) -> str:
    return text + " " * max(0, columns - width(text))


def wrap(text: str, columns: int) -> list[str]:
    """Lines of at most `columns` columns; CJK text may break between any two characters."""
    lines: list[str] = []
    for paragraph in visible(text).expandtabs(4).split("\n"):
        lines += _wrap_paragraph(paragraph, columns)
    return lines


def _wrap_paragraph(paragraph: str, columns: int) -> list[str]:
    if width(paragraph) <= columns:
        return [paragraph]
    lines: list[str] = []
    line, used = "", 0
    for atom in _ATOM.findall(paragraph):
        for piece in _pieces(atom, columns):
            size = width(piece)
            if used + size > columns:
                lines += [line.rstrip()] if line.strip() else []
                line, used = "", 0
                if piece.isspace():
                    continue
            line, used = line + piece, used + size
    return [*lines, line.rstrip()] if line.strip() else lines


def _pieces(atom: str, columns: int) -> list[str]:
    """Split what is longer than a whole line."""
    if width(atom) <= columns:
        return [atom]
    pieces: list[str] = []
    piece = ""
    for char in atom:
        if width(piece + char) > columns:
            pieces.append(piece)
            piece = ""
        piece += char
    return [*pieces, piece]


def table(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Label and text pairs, labels padded to one width; rows without a text are left out."""
    shown = [(label, text) for label, text in rows if text]
    widest = max((width(label) for label, _ in shown), default=0)
    return [(pad(label, widest), text) for label, text in shown]
