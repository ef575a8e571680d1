"""What one actor has written and what became of it: read from events, sources and runs. SQL only."""

from __future__ import annotations

from memvault.store.connection import Database

_OWN = (
    "SELECT DISTINCT memory FROM event WHERE actor = ? AND type IN ('propose', 'create') AND memory NOT NULL"
)


def recent_runs(db: Database, actor: str, since: str, most: int) -> int:
    """How many of the vault's `most` newest runs are `actor`'s and began at or after `since` (ISO 8601)."""
    sql = (
        "SELECT count(*) FROM (SELECT actor, started_at FROM run ORDER BY id DESC LIMIT ?)"
        " WHERE actor = ? AND started_at >= ?"
    )
    return int(db.one(sql, (most, actor, since))[0])


def brought_in(db: Database, actor: str) -> int:
    """How many memories `actor` proposed or wrote first, the erased ones included."""
    return int(db.one(f"SELECT count(*) FROM ({_OWN})", (actor,))[0])


def judged(db: Database, actor: str) -> dict[str, int]:
    """Event type -> memories of `actor` that it happened to: confirm, promote, reject, lapse, delete, ..."""
    sql = (
        f"SELECT type, count(DISTINCT memory) FROM event WHERE memory IN ({_OWN}) GROUP BY type ORDER BY type"
    )
    return {str(word): int(count) for word, count in db.all(sql, (actor,))}


_BY = "EXISTS (SELECT 1 FROM source s JOIN run r ON r.id = s.run WHERE s.memory = m.row AND r.actor = ?)"
_BY_OTHERS = (
    "EXISTS (SELECT 1 FROM source s LEFT JOIN run r ON r.id = s.run"
    " WHERE s.memory = m.row AND r.actor IS NOT ?)"
)


def shares(db: Database, actor: str) -> list[tuple[str, str, str, bool]]:
    """(id, status, authority, whether others are its source as well) of what rests on `actor`'s sources."""
    sql = f"SELECT m.id, m.status, m.authority, {_BY_OTHERS} FROM memory m WHERE {_BY} ORDER BY m.row"
    return [(id_, status, level, bool(other)) for id_, status, level, other in db.all(sql, (actor, actor))]


def last_message(db: Database, ref: str, task: str | None) -> int:
    """The highest message number among the sources of one conversation; -1 when there is none."""
    sql = "SELECT max(message_index) FROM source WHERE type = 'conversation' AND ref = ? AND task IS ?"
    found = db.one(sql, (ref, task))[0]
    return -1 if found is None else int(found)


def drop_sources(db: Database, memory: str, actor: str) -> int:
    """Forget the sources that `actor` brought to a memory; returns how many are left."""
    where = "memory = (SELECT row FROM memory WHERE id = ?)"
    mine = f"DELETE FROM source WHERE {where} AND run IN (SELECT id FROM run WHERE actor = ?)"
    db.run(mine, (memory, actor))
    return int(db.one(f"SELECT count(*) FROM source WHERE {where}", (memory,))[0])
