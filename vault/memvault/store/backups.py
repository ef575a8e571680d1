"""Where copies of this vault were written. Knows nothing of what is in them or whether they still exist."""

from __future__ import annotations

from dataclasses import dataclass

from memvault.store.connection import Database


@dataclass(frozen=True, slots=True)
class Place:
    """One backup as it was written: `path` absolute, `event_seq` the newest event it holds."""

    path: str
    at: str
    event_seq: int
    event_hash: bytes
    memories: int
    size_bytes: int


_COLUMNS = "path, at, event_seq, event_hash, memories, size_bytes"


def put(db: Database, place: Place) -> None:
    db.run(
        f"INSERT OR REPLACE INTO backup({_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?)",
        (place.path, place.at, place.event_seq, place.event_hash, place.memories, place.size_bytes),
    )


def remove(db: Database, path: str) -> None:
    db.run("DELETE FROM backup WHERE path = ?", (path,))


def every(db: Database) -> list[Place]:
    """All places, newest first."""
    rows = db.all(f"SELECT {_COLUMNS} FROM backup ORDER BY at DESC, path")
    return [Place(path, at, seq, bytes(digest), held, size) for path, at, seq, digest, held, size in rows]


def deletions_since(db: Database, seq: int) -> int:
    """How many memories were erased by events after `seq`; those taken back with their run count as well."""
    sql = "SELECT count(*) FROM event WHERE seq > ? AND to_status = 'deleted'"
    return int(db.one(sql, (seq,))[0])


def deleted_after(db: Database, at: str) -> bool:
    """Whether a memory was erased after the instant `at`, by the clock."""
    return db.maybe("SELECT 1 FROM event WHERE to_status = 'deleted' AND at > ? LIMIT 1", (at,)) is not None
