"""Migrations: numbered, atomic, never downhill."""

from __future__ import annotations

from pathlib import Path

import pytest

from memvault.errors import MemvaultError, SchemaNewer
from memvault.keys.envelope import VaultKey
from memvault.store import schema
from memvault.store.connection import Database

MORE = (
    ("CREATE TABLE extra(a)", "INSERT INTO extra VALUES('kept')"),
    ("ALTER TABLE extra ADD COLUMN b", "CREATE INDEX extra_b ON extra(b)"),
)


def shape(db: Database) -> list[tuple[str, str, str]]:
    return [
        (kind, name, " ".join((sql or "").split()))
        for kind, name, sql in db.all("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2")
    ]


def version(db: Database) -> int:
    return int(db.one("PRAGMA user_version")[0])


def test_a_migrated_database_has_the_shape_of_a_fresh_one(
    tmp_path: Path, key: VaultKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = (*schema.MIGRATIONS, *MORE)
    old = Database(tmp_path / "old.db", key, writable=True, create=True)
    for number in range(1, len(steps) + 1):
        monkeypatch.setattr(schema, "MIGRATIONS", steps[:number])
        monkeypatch.setattr(schema, "CURRENT", number)
        schema.migrate(old)
        assert version(old) == number
    fresh = Database(tmp_path / "fresh.db", key, writable=True, create=True)
    schema.migrate(fresh)
    assert shape(old) == shape(fresh)
    assert old.all("SELECT a FROM extra") == [("kept",)]
    old.close()
    fresh.close()


def test_migrating_twice_changes_nothing(db: Database) -> None:
    before = shape(db)
    schema.migrate(db)
    assert (shape(db), version(db)) == (before, schema.CURRENT)


def test_a_newer_schema_is_refused_and_left_as_it_is(db: Database) -> None:
    db.run(f"PRAGMA user_version = {schema.CURRENT + 1}")
    before = shape(db)
    with pytest.raises(SchemaNewer):
        schema.migrate(db)
    assert (shape(db), version(db)) == (before, schema.CURRENT + 1)


def test_a_failing_migration_leaves_the_version_before_it(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shape(db)
    broken = ("CREATE TABLE half(a)", "INSERT INTO half VALUES(1)", "INSERT INTO missing VALUES(1)")
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
    monkeypatch.setattr(schema, "CURRENT", schema.CURRENT + 1)
    with pytest.raises(MemvaultError):
        schema.migrate(db)
    assert shape(db) == before
    assert version(db) == schema.CURRENT - 1
    db.run("INSERT INTO counter VALUES('still', 1)")
