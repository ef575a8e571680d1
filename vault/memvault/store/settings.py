"""Small named values of one vault: secrets of its own, chosen model, counters."""

from __future__ import annotations

import secrets

from memvault.store.connection import Database


def get(db: Database, name: str) -> bytes | None:
    row = db.maybe("SELECT value FROM setting WHERE name = ?", (name,))
    return None if row is None else bytes(row[0])


def put(db: Database, name: str, value: bytes) -> None:
    db.run(
        "INSERT INTO setting VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def drop(db: Database, name: str) -> None:
    """Forget a value; nothing happens when there is none."""
    db.run("DELETE FROM setting WHERE name = ?", (name,))


def secret(db: Database, name: str) -> bytes:
    """A 32-byte secret made once per vault and never rotated (SPEC 7: carried along by rekey and backup)."""
    found = get(db, name)
    if found is None:
        found = secrets.token_bytes(32)
        put(db, name, found)
    return found


def count(db: Database, name: str, more: int = 1) -> None:
    """Add `more` to a counter (refusals, prevented resurrections)."""
    db.run(
        "INSERT INTO counter VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
        (name, more),
    )


def counters(db: Database) -> dict[str, int]:
    return {str(name): int(value) for name, value in db.all("SELECT name, value FROM counter ORDER BY name")}
