"""Which columns a list shows at a width. Pure numbers of cells; knows neither text nor style."""

from __future__ import annotations

from dataclasses import dataclass

WORDS_FROM = 84
"""Cells from which kind and status are written out."""
PROJECT_FROM = 104
NOTE_FROM = 64
MARKERS = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells, one cell of space after each but the last; 0 means the column is not shown.

    `note` is room at the end of the claim that a remark may take.
    """

    kind: int
    status: int
    age: int
    sources: int
    project: int
    claim: int
    note: int
    words: bool

    @property
    def total(self) -> int:
        project = self.project + 1 if self.project else 0
        fixed = self.kind + self.status + self.age + self.sources + 4
        return MARKERS + fixed + project + self.claim + self.note


def columns_for(cells: int, letter_cells: int = 1, kind_cells: int = 12, status_cells: int = 10) -> Columns:
    """The columns of a list `cells` wide.

    `letter_cells` is the widest letter of the language (2 where letters are Han), `kind_cells` and
    `status_cells` the room for words. The claim takes what is left, at least ten cells.
    """
    words = cells >= WORDS_FROM
    kind = kind_cells if words else letter_cells
    status = status_cells if words else letter_cells
    age, sources = (5, 3)
    project = 12 if cells >= PROJECT_FROM else 0
    note = 15 if cells >= NOTE_FROM else 0
    left = cells - (MARKERS + kind + status + age + sources + 4 + (project + 1 if project else 0))
    claim = max(10, left - note)
    return Columns(kind, status, age, sources, project, claim, note, words)
