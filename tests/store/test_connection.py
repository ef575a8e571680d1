"""The encrypted file: what opens it, what it refuses, what a transaction keeps."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from memvault.errors import ForeignFile, MemvaultError, UnsafePath, VaultDamaged, VaultMissing
from memvault.keys.envelope import VaultKey
from memvault.store import settings
from memvault.store.connection import Database


def test_the_file_is_ours_alone_even_under_a_careless_umask(path: Path, key: VaultKey) -> None:
    before = os.umask(0)
    try:
        with_wal = Database(path, key, writable=True, create=True)
        with_wal.run("CREATE TABLE t(a)")
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.glob("vault.db*")}
        with_wal.close()
    finally:
        os.umask(before)
    assert set(modes) == {"vault.db", "vault.db-wal", "vault.db-shm"}
    assert set(modes.values()) == {0o600}


def test_the_settings_that_keep_data_safe_are_in_force(db: Database) -> None:
    wanted_of = {
        "journal_mode": "wal",
        "synchronous": 2,
        "secure_delete": 1,
        "foreign_keys": 1,
        "temp_store": 2,
        "busy_timeout": 5_000,
    }
    for pragma, wanted in wanted_of.items():
        found = db.one(f"PRAGMA {pragma}")[0]
        assert str(found) == str(wanted), pragma


def test_another_key_does_not_open_it(db: Database, path: Path) -> None:
    with pytest.raises(VaultDamaged):
        Database(path, VaultKey.random(), writable=False)


def test_no_byte_of_the_file_says_that_it_is_sqlite(db: Database, path: Path) -> None:
    db.truncate_log()
    raw = path.read_bytes()
    assert b"SQLite format" not in raw
    assert b"CREATE TABLE" not in raw


def test_a_missing_or_empty_file_is_never_made_into_a_new_vault(path: Path, key: VaultKey) -> None:
    with pytest.raises(VaultMissing):
        Database(path, key, writable=True)
    assert not path.exists()
    path.touch()
    with pytest.raises(VaultMissing):
        Database(path, key, writable=True)
    assert path.stat().st_size == 0


def test_a_link_in_its_place_is_refused(db: Database, path: Path, key: VaultKey, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with pytest.raises(UnsafePath):
        Database(link, key, writable=True)
    with pytest.raises(OSError):
        Database(link, key, writable=True, create=True)


def test_a_plain_database_in_its_place_is_named_as_foreign(path: Path, key: VaultKey) -> None:
    plain = sqlite3.connect(path)
    plain.execute("CREATE TABLE t(a)")
    plain.commit()
    plain.close()
    with pytest.raises(ForeignFile):
        Database(path, key, writable=True)


def test_an_existing_file_is_never_overwritten_by_a_new_one(db: Database, path: Path, key: VaultKey) -> None:
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        Database(path, key, writable=True, create=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize("failure", [ValueError("x"), KeyboardInterrupt()])
def test_whatever_interrupts_a_transaction_undoes_all_of_it(db: Database, failure: BaseException) -> None:
    settings.put(db, "a", b"1")
    with pytest.raises(type(failure)), db.transaction():
        settings.put(db, "a", b"2")
        settings.put(db, "b", b"2")
        raise failure
    assert (settings.get(db, "a"), settings.get(db, "b")) == (b"1", None)
    with db.transaction():
        settings.put(db, "c", b"3")


def test_a_reading_connection_cannot_write(db: Database, path: Path, key: VaultKey) -> None:
    reader = Database(path, key, writable=False)
    with pytest.raises(MemvaultError):
        settings.put(reader, "a", b"1")
    reader.close()


def test_an_error_never_quotes_the_values(db: Database) -> None:
    with pytest.raises(MemvaultError) as failure:
        db.run("INSERT INTO setting VALUES('zanzibar', NULL)")
    assert "zanzibar" not in failure.value.message + failure.value.hint
    assert failure.value.__cause__ is None


@pytest.mark.parametrize("part", [0.02, 0.35, 0.6, 0.95])
def test_a_flipped_byte_is_found(db: Database, path: Path, key: VaultKey, part: float) -> None:
    with db.transaction():
        for number in range(300):
            settings.put(db, f"name {number}", os.urandom(200))
    db.close()
    raw = bytearray(path.read_bytes())
    raw[int(len(raw) * part)] ^= 0xFF
    path.write_bytes(raw)
    try:
        opened = Database(path, key, writable=False)
        found = opened.damaged_pages()
        opened.close()
    except VaultDamaged:
        return
    assert found


def test_the_check_of_a_whole_file_finds_nothing(db: Database) -> None:
    with db.transaction():
        for number in range(100):
            settings.put(db, f"name {number}", os.urandom(200))
    assert db.damaged_pages() == []


def test_secrets_of_a_vault_are_made_once(db: Database) -> None:
    first = settings.secret(db, "secret:events")
    assert settings.secret(db, "secret:events") == first
    assert len({first, settings.secret(db, "secret:terms")}) == 2
    assert len(first) == 32
