"""Runs (one a change or batch of changes) and what each found before it: the material of a rollback."""

from __future__ import annotations

import json
from typing import Any

from memvault.store import codec
from memvault.store.connection import Database


def start(db: Database, run: str, kind: str, actor: str, at: str) -> None:
    sql = "INSERT INTO run(id, kind, actor, started_at, status) VALUES(?, ?, ?, ?, 'running')"
    db.run(sql, (run, kind, actor, at))


def finish(db: Database, run: str, at: str, summary: dict[str, Any], status: str = "kept") -> None:
    """`status`: kept, interrupted, rolled_back."""
    sql = "UPDATE run SET finished_at = ?, status = ?, summary = ? WHERE id = ?"
    db.run(sql, (at, status, codec.canonical(summary), run))


def set_status(db: Database, run: str, status: str) -> None:
    db.run("UPDATE run SET status = ? WHERE id = ?", (status, run))


def close_unfinished(db: Database, at: str) -> int:
    """Mark runs that a crash cut short; what they committed stays and can be rolled back."""
    sql = "UPDATE run SET status = 'interrupted', finished_at = ? WHERE status = 'running'"
    return db.run(sql, (at,))


_COLUMNS = "id, kind, actor, started_at, finished_at, status, summary"


def _plain(row: tuple[Any, ...]) -> dict[str, Any]:
    run, kind, actor, started, finished, status, summary = row
    return {
        "run": run,
        "kind": kind,
        "actor": actor,
        "started_at": started,
        "finished_at": finished,
        "status": status,
        "summary": json.loads(summary),
    }


def get(db: Database, run: str) -> dict[str, Any] | None:
    row = db.maybe(f"SELECT {_COLUMNS} FROM run WHERE id = ?", (run,))
    return None if row is None else _plain(row)


def page(db: Database, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """Newest first, and how many there are."""
    total = int(db.one("SELECT count(*) FROM run")[0])
    sql = f"SELECT {_COLUMNS} FROM run ORDER BY id DESC LIMIT ? OFFSET ?"
    return [_plain(row) for row in db.all(sql, (limit, offset))], total


def newest_undoable(db: Database, actor: str) -> str | None:
    """The newest run of `actor` that still has something to restore; deletions leave nothing."""
    sql = (
        "SELECT id FROM run WHERE actor = ? AND status IN ('kept', 'interrupted')"
        " AND kind NOT IN ('rollback', 'restore')"
        " AND EXISTS (SELECT 1 FROM before_image WHERE run = id) ORDER BY id DESC LIMIT 1"
    )
    row = db.maybe(sql, (actor,))
    return None if row is None else str(row[0])


def keep_image(db: Database, run: str, memory: str, image: dict[str, Any] | None) -> None:
    """Remember what `memory` was before `run` first touched it; None when the run created it."""
    text = None if image is None else codec.canonical(image)
    db.run("INSERT INTO before_image VALUES(?, ?, ?) ON CONFLICT DO NOTHING", (run, memory, text))


def images(db: Database, run: str) -> list[tuple[str, dict[str, Any] | None]]:
    sql = "SELECT memory, image FROM before_image WHERE run = ? ORDER BY memory"
    return [(memory, None if image is None else json.loads(image)) for memory, image in db.all(sql, (run,))]


def forget_images(db: Database, memory: str) -> None:
    """A deleted memory leaves no image of itself in any run."""
    db.run("DELETE FROM before_image WHERE memory = ?", (memory,))
