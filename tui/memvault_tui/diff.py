"""Word-level difference between two versions of a text. Pure; a CJK character counts as a word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from memvault_tui.lines import Cell, steady, wrap

_TOKENS = re.compile(r"\s+|[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]|[^\W_]+|.", re.UNICODE)
MOST_TOKENS = 4_000
"""Beyond this many words the texts are shown as replaced whole: comparing would stall the screen."""


def word_diff(before: str, after: str) -> list[Cell]:
    """Cells of both texts in reading order, with the roles plain, removed and added."""
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    if max(len(old), len(new)) > MOST_TOKENS:
        return [(before, "removed"), (" ", "plain"), (after, "added")]
    cells: list[Cell] = []
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            cells.append(("".join(old[old_from:old_to]), "plain"))
            continue
        if old_to > old_from:
            cells.append(("".join(old[old_from:old_to]), "removed"))
        if new_to > new_from:
            cells.append(("".join(new[new_from:new_to]), "added"))
    return cells


def wrap_cells(cells: list[Cell], width: int) -> list[tuple[Cell, ...]]:
    """Break styled text into rows of `width` cells, at word boundaries, keeping the roles."""
    cells = [(steady(part).expandtabs(4), role) for part, role in cells]
    text = "".join(part for part, _role in cells)
    roles = [role for part, role in cells for _char in part]
    rows: list[tuple[Cell, ...]] = []
    at = 0
    for line in wrap(text, width):
        row: list[Cell] = []
        if line and (found := text.find(line, at)) >= 0:
            at = found
        for char in line:
            role = roles[min(at, len(roles) - 1)] if roles else "plain"
            at += 1
            if row and row[-1][1] == role:
                row[-1] = (row[-1][0] + char, role)
            else:
                row.append((char, role))
        rows.append(tuple(row))
    return rows
