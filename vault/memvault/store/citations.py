"""Which memories cite which files: sources of type file that the daemon has read.

Owns the statements only. Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Sequence

from memvault.store.connection import MAX_VARIABLES, Database

_CITED = "type = 'file' AND content_hash IS NOT NULL"
"""Word for word the condition of the index `source_file`."""


def references(db: Database, statuses: Sequence[str], limit: int) -> list[str]:
    """References to read files in memories of these states, the newest citation first, at most `limit`."""
    marks = ", ".join("?" * len(statuses))
    sql = (
        f"SELECT ref, max(s.row) FROM source s INDEXED BY source_file JOIN memory m ON m.row = s.memory"
        f" WHERE {_CITED} AND m.status IN ({marks}) GROUP BY ref ORDER BY 2 DESC LIMIT ?"
    )
    return [ref for ref, _ in db.all(sql, [*statuses, limit])]


def citing(db: Database, refs: Sequence[str], statuses: Sequence[str]) -> list[str]:
    """Ids of memories of these states that cite one of `refs`, oldest first."""
    found: dict[str, None] = {}
    states = ", ".join("?" * len(statuses))
    size = MAX_VARIABLES - len(statuses)
    for start in range(0, len(refs), size):
        part = refs[start : start + size]
        marks = ", ".join("?" * len(part))
        sql = (
            f"SELECT id FROM memory WHERE status IN ({states}) AND row IN"
            f" (SELECT memory FROM source WHERE {_CITED} AND ref IN ({marks})) ORDER BY row"
        )
        found.update((row[0], None) for row in db.all(sql, [*statuses, *part]))
    return list(found)
