"""Candidates as the pool asks for them: who proposed what from where, and what waited too long. SQL only."""

from __future__ import annotations

from typing import Any

from memvault.model import Source, Status
from memvault.store.connection import Database


def proposed_from(db: Database, actor: str, source: Source, since: str) -> list[str]:
    """Ids of memories that `actor` proposed from this very source: reference, task and message.

    What another proposed before it counts as well: how many there are tells nothing of others. With `since`
    (ISO 8601), only those that still wait and were proposed later.
    """
    sql = (
        "SELECT DISTINCT m.id FROM source s JOIN memory m ON m.row = s.memory LEFT JOIN run r ON r.id = s.run"
        " WHERE s.type = ? AND s.ref = ? AND s.task IS ? AND s.message_index IS ? AND (r.actor = ?"
        " OR EXISTS (SELECT 1 FROM event WHERE memory = m.id AND type = 'propose' AND actor = ?))"
    )
    values: list[Any] = [source.type, source.ref, source.task, source.message_index, actor, actor]
    if since:
        sql += " AND m.status = ? AND max(m.created_at, ifnull(r.started_at, '')) >= ?"
        values += [Status.CANDIDATE, since]
    return [row[0] for row in db.all(sql, values)]


def waiting_since(db: Database, before: str) -> list[str]:
    """Ids of candidates that nothing happened to since `before` (ISO 8601)."""
    sql = "SELECT id FROM memory WHERE status = ? AND updated_at < ? ORDER BY row"
    return [row[0] for row in db.all(sql, (Status.CANDIDATE, before))]
