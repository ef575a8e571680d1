"""The log of recalls that reached a context, and the usage that follows from them. Holds no query text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memvault.store import codec
from memvault.store.connection import MAX_VARIABLES, Database

KEPT_ROWS = 20_000
"""Recalls kept; older ones go."""


def log(db: Database, at: str, actor: str, query_hash: bytes, results: Sequence[dict[str, Any]]) -> None:
    """One recall: ids, scores and components, never words."""
    sql = "INSERT INTO recall_log(at, actor, query_hash, results) VALUES(?, ?, ?, ?)"
    db.run(sql, (at, actor, query_hash, codec.canonical(list(results))))
    db.run("DELETE FROM recall_log WHERE seq <= (SELECT max(seq) FROM recall_log) - ?", (KEPT_ROWS,))


def use(db: Database, at: str, ids: Sequence[str]) -> None:
    """Count one use of each memory; neither a version nor an event (SPEC 2)."""
    for start in range(0, len(ids), MAX_VARIABLES):
        part = list(ids[start : start + MAX_VARIABLES])
        marks = ", ".join("?" * len(part))
        sql = f"UPDATE memory SET usage_count = usage_count + 1, last_used_at = ? WHERE id IN ({marks})"
        db.run(sql, [at, *part])
