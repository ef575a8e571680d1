"""A whole copy of the database at one moment, made while writes go on, and the proof that it is whole.

Owns the copy, what it leaves out, its verification, and what a restored copy takes over from the vault it
replaces. Knows nothing of backup files, headers or who asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memvault.errors import ForeignFile, SchemaNewer, VaultDamaged
from memvault.keys.envelope import VaultKey
from memvault.store import backups, events, memories, settings, tombstones
from memvault.store.backups import Place
from memvault.store.connection import Database
from memvault.store.events import Head
from memvault.store.tombstones import Kept

Progress = Callable[[int, int], None]

_CACHE_KIB = 8_192
"""A copy reads every page once: a large cache would only take memory."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a copy holds: the head of its event log, its schema, and how many memories."""

    head: Head
    schema: int
    memories: int


def take(
    source: Path,
    key: VaultKey,
    copy: Path,
    copy_key: VaultKey,
    progress: Progress,
    *,
    with_tasks: bool = False,
) -> None:
    """Copy the database `source` as it is now into the new file `copy`, without notes of tasks if not asked.

    A read transaction holds the moment, so that writers neither wait nor start the copy anew. What
    `progress` raises ends it. Raises VaultMissing, VaultDamaged, DiskFull, ReadOnly.
    """
    reader = _narrow(source, key, writable=False)
    try:
        reader.run("BEGIN")
        memories.count(reader)
        target = _narrow(copy, copy_key, writable=True, create=True)
        try:
            reader.copy_to(target, progress)
            if not with_tasks:
                _leave_out(target)
            target.truncate_log()
        finally:
            target.close()
    finally:
        reader.close()


def _narrow(path: Path, key: VaultKey, *, writable: bool, create: bool = False) -> Database:
    db = Database(path, key, writable=writable, create=create)
    db.run(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return db


def _leave_out(db: Database) -> None:
    """Empty the tables of running tasks."""
    with db.transaction():
        for table in _tables(db, "task_"):
            db.run(f'DELETE FROM "{table}"')


def _tables(db: Database, prefix: str) -> list[str]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, ?) = ? ORDER BY name"
    return [str(row[0]) for row in db.all(sql, (len(prefix), prefix))]


def counts(db: Database) -> dict[str, int]:
    """How many rows each table holds."""
    return {table: int(db.one(f'SELECT count(*) FROM "{table}"')[0]) for table in _tables(db, "")}


def rows_of(path: Path, key: VaultKey) -> dict[str, int]:
    """As `counts`, for a database that is closed. Raises VaultMissing, VaultDamaged."""
    db = _narrow(path, key, writable=False)
    try:
        return counts(db)
    finally:
        db.close()


def verify(copy: Path, key: VaultKey, newest_schema: int) -> Snapshot:
    """Open the copy and read all of it: every page, and the event log from end to end.

    Raises VaultDamaged naming what is wrong (also for a wrong key), SchemaNewer.
    """
    db = _narrow(copy, key, writable=False)
    try:
        schema = int(db.one("PRAGMA user_version")[0])
        if schema > newest_schema:
            raise SchemaNewer(f"the copy has schema {schema}, this program knows {newest_schema}")
        pages = db.damaged_pages()
        if pages:
            raise VaultDamaged(f"the copy is not whole: {pages[0]}")
        event_key = settings.get(db, "secret:events")
        broken = None if event_key is None else events.first_broken(db, event_key)
        if broken is not None:
            raise VaultDamaged(f"the event log in the copy is broken at event {broken}")
        return Snapshot(events.head(db), schema, memories.count(db))
    finally:
        db.close()


@dataclass(frozen=True, slots=True)
class Learned:
    """What a vault knows that no copy of it may lose: its tombstones and where its backups went."""

    tombstone_key: bytes | None
    tombstones: list[Kept]
    places: list[Place]


def learned(before: Database) -> Learned:
    """Read it from `before`, which has the current schema. Raises VaultDamaged."""
    kept = tombstones.everything(before)
    return Learned(settings.get(before, "secret:tombstones"), kept, backups.every(before))


def carry_over(known: Learned, after: Database, carried: Database) -> int:
    """Give `after`, a restored copy, what the vault it replaces had learned.

    The tombstones that are new to it are written to `carried` as well; returns their number. Inside the
    caller's transaction on `after`. Raises ForeignFile when the two do not share their tombstone key.
    """
    if known.tombstone_key != settings.get(after, "secret:tombstones"):
        raise ForeignFile("the backup keeps its tombstones under another key than this vault")
    for place in known.places:
        backups.put(after, place)
    held = tombstones.ids(after)
    fresh = [kept for kept in known.tombstones if kept.id not in held]
    for kept in fresh:
        for db in (after, carried):
            tombstones.carry(kept, db)
    for kept in known.tombstones:
        if kept.lifted and kept.id in held:
            tombstones.lift_as(kept, after)
    return len(fresh)
