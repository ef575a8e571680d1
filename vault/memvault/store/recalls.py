"""The log of what was recalled, reached a context, and was said to be used or wrong; the usage that follows.

Holds ids, numbers and keyed hashes, never a word of a question or of a memory.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

from memvault.clock import iso, parse
from memvault.store import codec
from memvault.store.connection import MAX_VARIABLES, Database

KEPT_ROWS = 20_000
"""Rows kept; older ones go."""
KEPT = timedelta(days=180)
"""As long as the longest clock of decay: what is older says nothing of how memory is used now."""


_FEW = 8
_NAMING_FEW = (
    "SELECT DISTINCT seq, results FROM recall_log, json_each(?) AS gone WHERE instr(results, gone.value)"
)
"""Faster than the other for a few memories, and hopeless for many."""
_NAMING = (
    "SELECT DISTINCT seq, results FROM recall_log, json_each(recall_log.results) AS one"
    " WHERE json_extract(one.value, '$.id') IN (SELECT value FROM json_each(?))"
)


def log(db: Database, at: str, actor: str, query_hash: bytes, results: Sequence[dict[str, Any]]) -> None:
    """One recall, context or word on a memory's worth: ids, scores and components, never words."""
    known = _known(db, [str(one["id"]) for one in results])
    kept = [one if one["id"] in known else _unnamed(one) for one in results]
    sql = "INSERT INTO recall_log(at, actor, query_hash, results) VALUES(?, ?, ?, ?)"
    db.run(sql, (at, actor, query_hash, codec.canonical(kept)))
    db.run("DELETE FROM recall_log WHERE seq <= (SELECT max(seq) FROM recall_log) - ?", (KEPT_ROWS,))
    first = "SELECT seq FROM recall_log WHERE at >= ? ORDER BY seq LIMIT 1"
    db.run(f"DELETE FROM recall_log WHERE seq < ({first})", (iso(parse(at) - KEPT),))


def forget(db: Database, memories: Collection[str]) -> None:
    """Take deleted memories out of the log: the rows stay for the counts, and name them no more."""
    if not memories:
        return
    rows = db.all(_NAMING_FEW if len(memories) <= _FEW else _NAMING, (codec.canonical(sorted(memories)),))
    for seq, text in rows:
        kept = [_unnamed(one) if one.get("id") in memories else one for one in json.loads(text)]
        db.run("UPDATE recall_log SET results = ? WHERE seq = ?", (codec.canonical(kept), seq))


def _known(db: Database, ids: Sequence[str]) -> frozenset[str]:
    """Those that are still there: a recall is logged a moment after it was answered."""
    found: set[str] = set()
    for start in range(0, len(ids), MAX_VARIABLES):
        part = list(ids[start : start + MAX_VARIABLES])
        marks = ", ".join("?" * len(part))
        found.update(row[0] for row in db.all(f"SELECT id FROM memory WHERE id IN ({marks})", part))
    return frozenset(found)


def _unnamed(one: dict[str, Any]) -> dict[str, Any]:
    return {name: one[name] for name in _MARKS if name in one}


_MARKS = ("context", "hook", "feedback")
"""Of a deleted memory only this stays: by which way something reached a context, or was judged."""


def use(db: Database, at: str, ids: Sequence[str]) -> None:
    """Count one use of each memory; neither a version nor an event (SPEC 2).

    The first one of a day keeps the one before, which is what counts until the day is over.
    """
    for start in range(0, len(ids), MAX_VARIABLES):
        part = list(ids[start : start + MAX_VARIABLES])
        marks = ", ".join("?" * len(part))
        sql = (
            "UPDATE memory SET usage_count = usage_count + 1, last_used_at = ?, used_before = CASE WHEN"
            " substr(last_used_at, 1, 10) < substr(?, 1, 10) THEN last_used_at ELSE used_before END"
            f" WHERE id IN ({marks})"
        )
        db.run(sql, [at, at, *part])
