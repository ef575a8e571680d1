"""The texts of memories in which a subject may be named, and where each memory belongs. Reads only.

Knows nothing of what counts as a mention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memvault.store.connection import Database

FIELDS = ("subject", "about", "content", "value", "why", "how_to_apply", "conditions", "context")
"""Searched, beside the evidence of sources; the first two are who or what a memory is about."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What one memory says, by field, and its kind, scope, status and project (empty: none)."""

    id: str
    kind: str
    scope: str
    status: str
    project: str
    fields: dict[str, str]


def texts(db: Database, ids: Sequence[str]) -> list[Texts]:
    """Of the memories among `ids` (at most MAX_VARIABLES), in the order of their creation."""
    marks = ", ".join("?" * len(ids))
    rows = db.all(
        f"SELECT id, kind, scope, status, coalesce(project, ''), {', '.join(FIELDS)},"
        " (SELECT group_concat(evidence, char(10)) FROM source WHERE source.memory = memory.row)"
        f" FROM memory WHERE id IN ({marks}) ORDER BY row",
        ids,
    )
    names = (*FIELDS, "evidence")
    return [
        Texts(
            id=id_,
            kind=kind,
            scope=scope,
            status=status,
            project=project,
            fields={name: text for name, text in zip(names, said, strict=True) if text},
        )
        for id_, kind, scope, status, project, *said in rows
    ]
