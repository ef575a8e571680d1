"""SECURITY 3 to 7: a vault that cannot be opened says why in its own words, and is never made anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from memvault.errors import (
    ForeignFile,
    HeaderDamaged,
    Illegal,
    Locked,
    MemvaultError,
    SchemaNewer,
    VaultAbsent,
    VaultDamaged,
    VaultMissing,
    WrongKey,
)
from memvault.store.connection import Database


def picture(home: Any) -> dict[str, bytes]:
    """The vault's own files, without what a running daemon changes at any time."""
    return {path.name: raw for path, raw in home.files() if path.name.startswith("vault.")}


def opening(home: Any, key: dict[str, Any] | None = None) -> type[MemvaultError] | None:
    try:
        home.connect().call("vault.unlock", key or {"passphrase": home.passphrase})
    except MemvaultError as error:
        return type(error)
    return None


def test_a_vault_goes_from_absent_over_unlocked_to_locked_and_back(bare_home: Any, fact: Any) -> None:
    client = bare_home.connect()
    assert client.call("status")["state"] == "absent"
    for method, params in (("recall", {"query": "x"}), ("memory.add", fact("x"))):
        with pytest.raises(VaultAbsent):
            client.call(method, params)
    made = client.call("vault.init", {"passphrase": bare_home.passphrase})
    assert {slot["type"] for slot in made["slots"]} == {"passphrase", "recovery"}
    assert client.call("status")["state"] == "unlocked"
    client.call("memory.add", fact("Port 3000."))
    client.call("vault.lock")
    assert client.call("status") | {"vault": 0, "daemon": 0} == {
        "state": "locked", "memories": None, "daemon": 0, "vault": 0, "locks_in_s": None, "model": None,
        "keychain": False, "read_only": False, "warnings": [],
    }  # fmt: skip
    with pytest.raises(Locked):
        client.call("recall", {"query": "port"})
    client.call("vault.unlock", {"recovery_code": made["recovery_code"]})
    assert client.call("memory.list")["total"] == 1
    with pytest.raises(Illegal):
        client.call("vault.init", {"passphrase": "another passphrase"})


def test_what_only_looks_like_a_vault_is_told_apart(daemon_home: Any) -> None:
    before = picture(daemon_home)
    assert opening(daemon_home, {"passphrase": "not the passphrase"}) is WrongKey
    assert opening(daemon_home, {"recovery_code": daemon_home.recovery_code[:-4] + "AAAA"}) is WrongKey
    header = daemon_home.layout.header
    whole = header.read_bytes()
    header.write_bytes(b'{"some": "other program"}\n')
    assert opening(daemon_home) is ForeignFile
    header.write_bytes(whole.replace(b'"generation":1', b'"generation":2'))
    assert opening(daemon_home) is HeaderDamaged
    header.write_bytes(whole[: len(whole) // 2])
    assert opening(daemon_home) is HeaderDamaged
    header.write_bytes(whole)
    assert opening(daemon_home) is None
    assert picture(daemon_home)["vault.json"] == before["vault.json"]


def test_an_empty_or_missing_database_is_never_taken_for_a_new_vault(daemon_home: Any) -> None:
    database = daemon_home.layout.database
    whole = database.read_bytes()
    database.write_bytes(b"")
    assert opening(daemon_home) is VaultMissing
    assert database.read_bytes() == b""
    database.unlink()
    assert opening(daemon_home) is VaultMissing
    assert not database.exists()
    with pytest.raises(Illegal):
        daemon_home.connect().call("vault.init", {"passphrase": "another passphrase"})
    assert not database.exists()
    database.write_bytes(whole)
    database.chmod(0o600)
    assert opening(daemon_home) is None


def test_a_database_without_its_header_is_kept_for_its_header_to_come_back(daemon_home: Any) -> None:
    away = {path: path.read_bytes() for path in daemon_home.root.glob("vault.json*")}
    database = daemon_home.layout.database.read_bytes()
    for path in away:
        path.unlink()
    client = daemon_home.connect()
    assert client.call("hello", {"client": "t", "version": "0", "protocol": 1})["state"] == "locked"
    assert opening(daemon_home) is HeaderDamaged
    with pytest.raises(Illegal):
        client.call("vault.init", {"passphrase": "another passphrase"})
    assert daemon_home.layout.database.read_bytes() == database
    assert not list(daemon_home.root.glob("vault.json*"))
    for path, raw in away.items():
        path.write_bytes(raw)
        path.chmod(0o600)
    assert opening(daemon_home) is None


def test_a_database_of_another_vault_or_program_is_refused_and_left_as_it_is(
    daemon_home: Any, new_home: Callable[..., Any]
) -> None:
    database = daemon_home.layout.database
    other = new_home().make_vault()
    database.write_bytes(other.layout.database.read_bytes())
    before = database.read_bytes()
    assert opening(daemon_home) is VaultDamaged
    assert database.read_bytes() == before
    database.unlink()
    plain = sqlite3.connect(database)
    plain.execute("CREATE TABLE t(a)")
    plain.commit()
    plain.close()
    assert opening(daemon_home) is ForeignFile


def test_a_vault_of_a_newer_program_is_refused_untouched(daemon_home: Any) -> None:
    db = Database(daemon_home.layout.database, daemon_home.key(), writable=True)
    db.run("PRAGMA user_version = 999")
    db.close()
    before = daemon_home.layout.database.read_bytes()
    assert opening(daemon_home) is SchemaNewer
    assert daemon_home.layout.database.read_bytes() == before


def write_some(home: Any, fact: Any, count: int) -> None:
    client = home.person()
    for number in range(count):
        client.call("memory.add", fact(f"Ticket {number} is closed."))


def test_a_damaged_log_is_told_by_the_mark(daemon_home: Any, fact: Any) -> None:
    write_some(daemon_home, fact, 12)
    daemon_home.kill()
    wal = daemon_home.layout.database.with_name("vault.db-wal")
    raw = bytearray(wal.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    wal.write_bytes(raw)
    client = daemon_home.person()
    (warning,) = client.call("status")["warnings"]
    assert "acknowledged changes are missing" in warning
    failed = [check["name"] for check in client.call("doctor")["checks"] if not check["ok"]]
    assert "high-water mark" in failed


def test_a_missing_log_is_told_by_the_mark(daemon_home: Any, fact: Any) -> None:
    write_some(daemon_home, fact, 5)
    daemon_home.kill()
    daemon_home.layout.database.with_name("vault.db-wal").unlink()
    (warning,) = daemon_home.person().call("status")["warnings"]
    assert "missing" in warning


def test_an_older_copy_put_back_is_told_by_the_mark(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()
    client.call("memory.add", fact("One."))
    client.call("vault.lock")
    older = daemon_home.layout.database.read_bytes()
    write_some(daemon_home, fact, 3)
    daemon_home.kill()
    for name in ("vault.db-wal", "vault.db-shm"):
        daemon_home.layout.database.with_name(name).unlink(missing_ok=True)
    daemon_home.layout.database.write_bytes(older)
    (warning,) = daemon_home.person().call("status")["warnings"]
    assert "3 acknowledged changes are missing" in warning


def test_a_stale_log_of_another_vault_is_not_mixed_in(
    daemon_home: Any, new_home: Callable[..., Any], fact: Any
) -> None:
    other = new_home().make_vault()
    write_some(other, fact, 5)
    other.kill()
    stale = other.layout.database.with_name("vault.db-wal").read_bytes()
    assert stale
    wal = daemon_home.layout.database.with_name("vault.db-wal")
    wal.write_bytes(stale)
    wal.chmod(0o600)
    failure = opening(daemon_home)
    assert failure in (None, VaultDamaged)
    if failure is None:
        client = daemon_home.person()
        assert client.call("memory.list")["total"] == 0
        assert all(check["ok"] for check in client.call("doctor")["checks"])


def test_a_new_vault_is_not_mixed_with_the_log_of_a_removed_one(
    new_home: Callable[..., Any], fact: Any
) -> None:
    other = new_home().make_vault()
    write_some(other, fact, 5)
    other.kill()
    home = new_home()
    for name in ("vault.db-wal", "vault.db-shm"):
        left = home.root / name
        left.write_bytes((other.root / name).read_bytes())
        left.chmod(0o600)
    client = home.connect()
    client.call("vault.init", {"passphrase": home.passphrase})
    assert client.call("memory.list")["total"] == 0
    client.call("memory.add", fact("Port 3000."))
    home.kill()
    client = home.person()
    assert client.call("memory.list")["total"] == 1
    assert all(check["ok"] for check in client.call("doctor")["checks"])


@pytest.mark.parametrize("part", [0.05, 0.4, 0.8])
def test_a_damaged_page_is_reported_and_costs_nothing_else(daemon_home: Any, fact: Any, part: float) -> None:
    write_some(daemon_home, fact, 40)
    daemon_home.connect().call("vault.lock")
    database = daemon_home.layout.database
    raw = bytearray(database.read_bytes())
    raw[int(len(raw) * part)] ^= 0xFF
    database.write_bytes(raw)
    failure = opening(daemon_home)
    if failure is not None:
        assert failure is VaultDamaged
    else:
        checks = {check["name"]: check for check in daemon_home.person().call("doctor")["checks"]}
        assert not checks["pages"]["ok"]
    assert daemon_home.connect().call("hello", {"client": "t", "version": "0", "protocol": 1})["state"]


def test_bad_settings_are_named_when_the_daemon_does_not_start(daemon_home: Any) -> None:
    daemon_home.layout.config.write_text("[lock]\nidle_minuts = 3\n")
    with pytest.raises(MemvaultError) as refusal:
        daemon_home.connect()
    assert "config.toml" in refusal.value.message + refusal.value.hint
