"""What contexts are compiled from and what is kept of them: statements over standing and recent memories, the
stable zones of sessions, and blind comparisons.

Owns the statements only; every one that reads memories carries the caller's reach and uses an index. Knows
nothing of zones, modes or budgets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memvault.store import codec
from memvault.store.connection import MAX_VARIABLES, Database
from memvault.store.memories import SAID, Reach, reach_clause

KEPT_SESSIONS = 2_000
"""Stable zones remembered; the oldest go."""

_STANDING = "kind IN ('policy', 'preference')"
_CONSTRAINT = (
    "kind = 'fact' AND lower(attribute) IN"
    " ('constraint', 'constraints', 'requirement', 'requirements', '约束', '限制', '要求')"
)


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def standing(db: Database, reach: Reach, most: int) -> list[str]:
    """Ids of policies and preferences, then of constraints of a project, at most `most` of each."""
    clauses, values = reach_clause(reach)
    where = " AND ".join(clauses)
    order = "ORDER BY kind, subject, id LIMIT ?"
    found = db.all(
        f"SELECT id FROM memory INDEXED BY memory_standing WHERE {_STANDING} AND {where} {order}",
        [*values, most],
    )
    sql = (
        f"SELECT id FROM memory INDEXED BY memory_constraint WHERE {_CONSTRAINT} AND project IS NOT NULL"
        f" AND {where} {order}"
    )
    return [row[0] for row in (*found, *db.all(sql, [*values, most]))]


def recent(db: Database, reach: Reach, project: str | None, kind: str, most: int) -> list[tuple[str, str]]:
    """(changed at, id) of active memories of one kind and one project (None: of no project), newest first."""
    clauses, values = reach_clause(reach)
    sql = (
        "SELECT updated_at, id FROM memory INDEXED BY memory_recent WHERE project IS ? AND status = 'active'"
        f" AND kind = ? AND {' AND '.join(clauses)} ORDER BY updated_at DESC, row DESC LIMIT ?"
    )
    return [(at, memory) for at, memory in db.all(sql, [project, kind, *values, most])]


def said(db: Database, reach: Reach, project: str | None, most: int) -> list[str]:
    """Ids of candidates of one project (None: of no project) whose only flag is SAID, newest first."""
    clauses, values = reach_clause(reach)
    sql = (
        "SELECT id FROM memory INDEXED BY memory_recent WHERE project IS ? AND status = 'candidate'"
        f" AND flags = ? AND {' AND '.join(clauses)} ORDER BY updated_at DESC, row DESC LIMIT ?"
    )
    return [row[0] for row in db.all(sql, [project, codec.canonical([SAID]), *values, most])]


def open_conflicts(db: Database, reach: Reach, most: int) -> list[str]:
    """Ids of memories in conflict, the latest changed first."""
    clauses, values = reach_clause(reach)
    sql = (
        "SELECT id FROM memory INDEXED BY memory_status WHERE status = 'conflict'"
        f" AND {' AND '.join(clauses)}"
        " ORDER BY updated_at DESC, row DESC LIMIT ?"
    )
    return [row[0] for row in db.all(sql, [*values, most])]


def written_at(db: Database, ids: Sequence[str]) -> dict[str, str]:
    """When the current version of each memory was written; only of those that were ever corrected."""
    found: dict[str, str] = {}
    for start in range(0, len(ids), MAX_VARIABLES):
        part = list(ids[start : start + MAX_VARIABLES])
        sql = (
            "SELECT m.id, v.at FROM memory m JOIN version v ON v.memory = m.row AND v.version = m.version"
            f" WHERE m.version > 1 AND m.id IN ({_marks(part)})"
        )
        found.update(db.all(sql, part))
    return found


def activated_since(db: Database, ids: Sequence[str], seq: int) -> frozenset[str]:
    """Those of `ids` that came into force after event number `seq`."""
    found: set[str] = set()
    for start in range(0, len(ids), MAX_VARIABLES):
        part = list(ids[start : start + MAX_VARIABLES])
        sql = (
            f"SELECT DISTINCT memory FROM event WHERE memory IN ({_marks(part)}) AND seq > ?"
            " AND to_status = 'active' AND from_status IS NOT 'active'"
        )
        found.update(row[0] for row in db.all(sql, [*part, seq]))
    return frozenset(found)


def topic_sizes(db: Database, reach: Reach, least_chars: int) -> dict[str, int]:
    """Characters of content of each subject with more than `least_chars`. Reads every row in reach."""
    clauses, values = reach_clause(reach)
    sql = (
        "SELECT subject, sum(length(content)) FROM memory WHERE subject IS NOT NULL"
        f" AND {' AND '.join(clauses)} GROUP BY subject HAVING sum(length(content)) > ?"
    )
    return {subject: int(chars) for subject, chars in db.all(sql, [*values, least_chars])}


def held(db: Database, session: bytes, variant: str) -> list[list[Any]] | None:
    """What this session's stable zone held; None when nothing is known."""
    sql = "SELECT held FROM task_stable WHERE session = ? AND variant = ?"
    row = db.maybe(sql, (session, variant))
    return None if row is None else json.loads(row[0])


def began_at(db: Database, session: bytes) -> int | None:
    """The number of the newest event when the session's first context was compiled."""
    return db.one("SELECT min(seq) FROM task_stable WHERE session = ?", (session,))[0]


def hold(
    db: Database, session: bytes, variant: str, seq: int, at: str, found: Sequence[Sequence[Any]], since: str
) -> None:
    """Keep what a stable zone holds; zones not asked for since `since`, and more than KEPT_SESSIONS, go."""
    text = codec.canonical([list(one) for one in found])
    sql = (
        "INSERT INTO task_stable VALUES(?, ?, ?, ?, ?) ON CONFLICT(session, variant)"
        " DO UPDATE SET at = excluded.at, held = excluded.held"
    )
    db.run(sql, (session, variant, seq, at, text))
    lapse(db, since)
    db.run(
        "DELETE FROM task_stable WHERE at < (SELECT at FROM task_stable ORDER BY at DESC LIMIT 1 OFFSET ?)",
        (KEPT_SESSIONS - 1,),
    )


def lapse(db: Database, since: str) -> None:
    """Forget the stable zones of sessions that were not heard of since `since` (ISO 8601)."""
    db.run("DELETE FROM task_stable WHERE at < ?", (since,))


def open_comparison(db: Database, ident: str, at: str, query_hash: bytes, mode: str, first: str) -> None:
    """A comparison without a verdict yet."""
    db.run("INSERT INTO comparison VALUES(?, ?, ?, ?, ?, NULL)", (ident, at, query_hash, mode, first))


def comparison(db: Database, ident: str) -> tuple[str, str, str | None] | None:
    """(mode, what was shown as A, what was picked) of a comparison."""
    row = db.maybe("SELECT mode, first, picked FROM comparison WHERE id = ?", (ident,))
    return None if row is None else (row[0], row[1], row[2])


def decide_comparison(db: Database, ident: str, picked: str) -> None:
    db.run("UPDATE comparison SET picked = ? WHERE id = ?", (picked, ident))


def tally(db: Database) -> dict[str, int]:
    """How often each was picked."""
    sql = "SELECT picked, count(*) FROM comparison WHERE picked IS NOT NULL GROUP BY picked"
    return {str(name): int(number) for name, number in db.all(sql)}
