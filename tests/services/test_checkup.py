"""SECURITY 3, 4 and 7: the complete check, a header's copy, a missing database, changes that are missing."""

from __future__ import annotations

from typing import Any

import pytest

from memvault.errors import HeaderDamaged, Illegal
from memvault.keys import header_file
from memvault.keys.envelope import VaultKey
from memvault.services import checkup, recovery
from memvault.services.caller import PERSON
from memvault.store.connection import Database

PAGE_BYTES = 4_096


def quiet(_stage: str, _done: int, _all: int) -> None:
    pass


def fill(house: Any, count: int) -> None:
    for number in range(count):
        house.desk.add(f"Ticket {number} is closed by the night shift. " + "It was long. " * 20)
    house.desk.embed()


def faults(house: Any) -> list[str]:
    return [one["name"] for one in checkup.complete(house.desk.vault, quiet) if not one["ok"]]


def lose_the_last(house: Any, count: int) -> None:
    """Acknowledged changes vanish from the vault, as with a damaged log."""
    house.desk.vault.close()
    older = house.layout.database.read_bytes()
    house.desk.open()
    for number in range(count):
        house.desk.add(f"Lost number {number}.")
    house.desk.vault.close()
    house.layout.database.write_bytes(older)
    house.desk.open()


def test_missing_changes_are_told_until_a_person_accepts_their_very_number(house: Any) -> None:
    fill(house, 3)
    lose_the_last(house, 4)
    vault = house.desk.vault
    assert "4 acknowledged changes are missing" in vault.warnings[0]
    for number in range(6):
        house.desk.add(f"Written meanwhile, number {number}.")
    house.desk.reopen()
    assert house.desk.vault.warnings, "later changes do not cover the loss up"
    (finding,) = recovery.examine(house.desk.vault.writer, house.desk.vault.mark)
    assert finding.what == "mark"
    assert finding.missing is not None
    with pytest.raises(Illegal):
        recovery.accept_missing(house.desk.vault, PERSON, finding.missing - 1)
    assert recovery.accept_missing(house.desk.vault, PERSON, finding.missing) == finding.missing
    assert house.desk.vault.warnings == []
    house.desk.add("And on.")
    house.desk.reopen()
    assert house.desk.vault.warnings == []
    assert faults(house) == []
    with pytest.raises(Illegal):
        recovery.accept_missing(house.desk.vault, PERSON, 0)


def test_the_complete_check_finds_each_kind_of_fault(house: Any) -> None:
    fill(house, 5)
    assert faults(house) == []
    db: Database = house.desk.vault.writer
    spoils = {
        "references": "INSERT INTO source(memory, type, ref) VALUES(9999, 'user', 'x')",
        "event log": "UPDATE event SET actor = 'somebody' WHERE seq = 3",
        "high-water mark": "DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)",
        "memories": "UPDATE memory SET status = 'nonsense' WHERE row = 2",
        "versions": "DELETE FROM version WHERE memory = 3",
        "vectors": "UPDATE vector SET value = x'0102' WHERE memory = 1",
        "index": "DELETE FROM memory WHERE row = 4",
    }
    for name, sql in spoils.items():
        db.run("PRAGMA foreign_keys = OFF")
        db.run("BEGIN IMMEDIATE")
        db.run(sql)
        db.run("COMMIT")
        assert name in faults(house), name
    house.layout.header.with_name("vault.json.bak").unlink()
    assert "header" in faults(house)
    house.desk.vault.writer.truncate_log()
    raw = bytearray(house.layout.database.read_bytes())
    raw[20 * PAGE_BYTES + 1_000] ^= 0x10
    house.layout.database.write_bytes(raw)
    house.desk.vault.writer.close()
    house.desk.vault.writer = Database(house.layout.database, house.desk.key, writable=True)
    assert "pages" in faults(house)


@pytest.mark.parametrize("gone", ["empty", "missing"])
def test_a_database_that_is_gone_is_never_made_anew(house: Any, gone: str) -> None:
    fill(house, 1)
    house.desk.vault.close()
    whole = house.layout.database.read_bytes()
    house.layout.database.write_bytes(b"") if gone == "empty" else house.layout.database.unlink()
    finding = recovery.missing_database(house.layout)
    assert finding is not None
    assert (finding.what, finding.mend) == ("database", False)
    assert gone in finding.detail
    assert "restore" in finding.fix
    house.layout.database.write_bytes(whole)
    house.layout.database.chmod(0o600)
    house.desk.open()


def test_the_copy_of_a_damaged_header_is_put_back_when_it_is_this_vaults(house: Any) -> None:
    raw = house.layout.header.read_bytes()
    house.layout.header.write_bytes(raw[:-40])
    header, finding = recovery.header_of(house.layout)
    assert header is not None
    assert finding is not None
    assert finding.mend
    with pytest.raises(HeaderDamaged):
        recovery.mend_header(house.layout, VaultKey.random())
    assert house.layout.header.read_bytes() == raw[:-40]
    recovery.mend_header(house.layout, house.desk.key)
    assert house.layout.header.read_bytes() == raw
    house.layout.header.unlink()
    assert recovery.header_of(house.layout)[1] is not None
    recovery.mend_header(house.layout, house.desk.key)
    assert recovery.header_of(house.layout) == (header_file.read(house.layout.root), None)
