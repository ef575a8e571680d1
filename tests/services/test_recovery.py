"""SECURITY 3, 4 and 7: damage is named, what can be read is saved, and nothing is made anew or hidden."""

from __future__ import annotations

import os
import shutil
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from memvault.errors import VaultDamaged
from memvault.model import Outcome
from memvault.paths import HomeLayout
from memvault.services import backup, checkup, exchange, maintain, recovery
from memvault.store import events, integrity, salvage

pytestmark = pytest.mark.slow

PAGE_BYTES, RESERVED = 4_096, 80
LEAVES, INTERIOR = (0x0A, 0x0D), (0x02, 0x05)


def quiet(_stage: str, _done: int, _all: int) -> None:
    pass


def fill(house: Any, count: int) -> dict[str, str]:
    for number in range(count):
        house.desk.add(f"Ticket {number} is closed by the night shift. " + "It was long. " * 20)
    house.desk.embed()
    return house.contents()


def pages_of(house: Any, *names: str) -> list[int]:
    """Numbers (from 1) of the leaf pages of these tables or indexes, in the order of their keys."""
    vault = house.desk.vault
    vault.writer.truncate_log()
    key = bytes.fromhex(house.desk.key.sqlcipher_key()[2:-1].decode())
    raw = house.layout.database.read_bytes()
    places = ", ".join(f"'{name}'" for name in names)
    roots = vault.reader.all(f"SELECT rootpage FROM sqlite_master WHERE name IN ({places}) ORDER BY name")
    return [leaf for (root,) in roots for leaf in leaves_below(raw, key, int(root))]


def leaves_below(raw: bytes, key: bytes, number: int) -> list[int]:
    """Walk a b-tree through its decrypted interior pages (SQLite's file format, section 1.6)."""
    page = raw[(number - 1) * PAGE_BYTES : number * PAGE_BYTES]
    start = PAGE_BYTES - RESERVED
    cipher = Cipher(algorithms.AES(key), modes.CBC(page[start : start + 16])).decryptor()
    plain = cipher.update(page[:start])
    if plain[0] in LEAVES:
        return [number]
    assert plain[0] in INTERIOR, plain[0]
    cells = [
        int.from_bytes(plain[12 + 2 * at : 14 + 2 * at], "big") for at in range(plain[3] << 8 | plain[4])
    ]
    children = [int.from_bytes(plain[at : at + 4], "big") for at in cells]
    children.append(int.from_bytes(plain[8:12], "big"))
    return [leaf for child in children for leaf in leaves_below(raw, key, child)]


def hurt(database: Path, *pages: int) -> None:
    raw = bytearray(database.read_bytes())
    for page in pages:
        raw[(page - 1) * PAGE_BYTES + 1_000] ^= 0x10
    database.write_bytes(raw)


def salvaged(house: Any) -> recovery.Salvage:
    try:
        return recovery.mend_pages(house.layout, house.desk.key, house.clock, "person", quiet)
    finally:
        house.desk.open()


def faults(house: Any) -> list[str]:
    return [one["name"] for one in checkup.complete(house.desk.vault, quiet) if not one["ok"]]


def found(house: Any) -> list[recovery.Finding]:
    return recovery.examine_closed(house.layout, house.desk.key)


def test_a_damaged_page_of_memories_is_named_and_costs_only_its_own_rows(house: Any) -> None:
    before = fill(house, 60)
    third = pages_of(house, "memory")[3]
    house.desk.vault.close()
    damaged = house.layout.database.read_bytes()
    hurt(house.layout.database, third)
    (finding,) = found(house)
    assert (finding.what, finding.mend) == ("pages", True)
    assert f"page {third}" in finding.detail
    done = salvaged(house)
    now = house.contents()
    assert now.items() <= before.items()
    assert done.lost == sorted(before.keys() - now.keys()), "what is lost is told by its id"
    assert 0 < len(done.lost) < 10
    assert done.memories == len(now)
    assert done.events_lost == 0
    assert faults(house) == []
    house.desk.whole()
    kept = done.kept_copy / "vault.db"
    hurt(kept, third)
    assert kept.read_bytes() == damaged, "the damaged file is kept as it was"
    assert str(done.kept_copy) in backup.older(house.desk.vault), "and a deletion will name it"
    assert house.desk.recall("ticket 59 night shift")
    assert house.desk.add("Goes on from here.").outcome is Outcome.ACTIVE


def test_damage_in_indexes_alone_costs_no_memory(house: Any) -> None:
    before = fill(house, 60)
    pages = pages_of(house, "memory_content", "memory_updated", "memory_status", "event_memory")
    house.desk.vault.close()
    hurt(house.layout.database, *pages)
    done = salvaged(house)
    assert house.contents() == before
    assert (done.lost, done.events_lost, done.warnings) == ([], 0, [])
    assert faults(house) == []


def test_rows_between_two_damaged_pages_are_found(house: Any) -> None:
    before = fill(house, 80)
    leaves = pages_of(house, "memory")
    house.desk.vault.close()
    hurt(house.layout.database, *leaves[1:-1:2])
    done = salvaged(house)
    now = house.contents()
    assert len(now) > len(before) / 3
    assert done.lost == sorted(before.keys() - now.keys())
    assert faults(house) == []


def test_the_first_and_the_last_page_of_a_table_may_be_the_damaged_ones(house: Any) -> None:
    before = fill(house, 60)
    leaves = pages_of(house, "memory")
    house.desk.vault.close()
    hurt(house.layout.database, leaves[0], leaves[-1])
    salvaged(house)
    assert len(before) - 20 < len(house.contents()) < len(before)
    assert faults(house) == []


def test_a_gap_in_the_event_log_is_noted_and_the_chain_goes_on_behind_it(house: Any) -> None:
    before = fill(house, 60)
    leaves = pages_of(house, "event")
    house.desk.vault.close()
    hurt(house.layout.database, leaves[1])
    done = salvaged(house)
    assert house.contents() == before
    assert done.events_lost > 0
    db, key = house.desk.vault.writer, house.desk.vault.secrets.events
    assert events.first_broken(db, key) is None
    told = maintain.verify_audit(house.desk.vault)
    assert told["ok"]
    assert f"{done.events_lost} events that damage took" in told["detail"]
    assert faults(house) == []
    (first, last), *_ = events.gaps(db)
    with db.transaction():
        db.run("DELETE FROM event WHERE seq = ?", (last + 2,))
    assert events.first_broken(db, key) == last + 2, "no other event may be missing"
    with db.transaction():
        db.run("UPDATE event SET actor = 'somebody' WHERE seq = ?", (first - 1,))
    assert events.first_broken(db, key) == first - 1


def test_tables_without_row_numbers_are_walked_by_their_keys(house: Any) -> None:
    fill(house, 120)
    before = house.desk.vault.reader.all("SELECT id FROM run")
    leaves = pages_of(house, "run")
    assert len(leaves) > 2
    house.desk.vault.close()
    hurt(house.layout.database, leaves[1])
    done = salvaged(house)
    now = house.desk.vault.reader.all("SELECT id FROM run")
    assert len(before) / 2 < len(now) < len(before)
    assert set(now) <= set(before)
    assert "run" in done.warnings[-1]
    assert faults(house) == []


def test_a_lost_version_or_vector_is_made_from_the_memory(house: Any) -> None:
    before = fill(house, 40)
    pages = [*pages_of(house, "version"), *pages_of(house, "vector")]
    house.desk.vault.close()
    hurt(house.layout.database, *pages)
    done = salvaged(house)
    assert house.contents() == before
    assert "some older versions may be lost" in done.warnings
    assert integrity.without_version(house.desk.vault.reader) == []
    house.desk.whole()


def test_a_deleted_memory_is_not_told_as_lost_and_its_tombstone_holds(house: Any) -> None:
    fill(house, 40)
    gone = house.desk.add("The contractor Wexelblatt starts on the first Monday.").id
    house.desk.delete(gone)
    leaf = pages_of(house, "memory")[0]
    house.desk.vault.close()
    hurt(house.layout.database, leaf)
    done = salvaged(house)
    assert done.lost
    assert gone not in done.lost
    assert house.desk.add("the contractor wexelblatt starts on the first monday").outcome is Outcome.REFUSED
    again = salvage_again(house)
    assert again.lost == [], "what was told as lost once is not told again"


def salvage_again(house: Any) -> recovery.Salvage:
    house.desk.vault.close()
    return salvaged(house)


def test_nothing_is_salvaged_when_the_vaults_own_secrets_are_gone(house: Any) -> None:
    fill(house, 10)
    pages = pages_of(house, "setting")
    house.desk.vault.close()
    whole = house.layout.database.read_bytes()
    hurt(house.layout.database, *pages)
    damaged = house.layout.database.read_bytes()
    with pytest.raises(VaultDamaged, match="secrets"):
        recovery.mend_pages(house.layout, house.desk.key, house.clock, "person", quiet)
    assert house.layout.database.read_bytes() == damaged
    assert not list(house.layout.root.glob(".*"))
    house.layout.database.write_bytes(whole)
    house.desk.open()


def test_a_damaged_first_page_is_told_as_what_only_a_backup_helps_against(house: Any) -> None:
    fill(house, 5)
    house.desk.vault.close()
    whole = house.layout.database.read_bytes()
    hurt(house.layout.database, 1)
    (finding,) = found(house)
    assert (finding.what, finding.mend) == ("pages", False)
    assert "restore" in finding.fix
    house.layout.database.write_bytes(whole)
    house.desk.open()


def test_a_recovery_killed_at_any_change_of_the_file_system_leaves_the_old_or_the_new_file(
    house: Any, tmp_path: Path
) -> None:
    before = fill(house, 12)
    leaf = pages_of(house, "memory")[1]
    house.desk.vault.close()
    hurt(house.layout.database, leaf)
    safe = tmp_path / "safe"
    shutil.copytree(house.layout.root, safe)
    outcomes: list[bool] = []
    for number in range(1, 200):
        home = HomeLayout(tmp_path / f"k{number}")
        shutil.copytree(safe, home.root)
        died = killed_at(
            number,
            lambda home=home: recovery.mend_pages(home, house.desk.key, house.clock, "person", quiet),
        )
        exchange.finish(home)
        exchange.sweep(home)
        left = recovery.examine_closed(home, house.desk.key)
        outcomes.append(not left)
        if not left:
            vault = house.opened(home, house.desk.key)
            assert house.everything(vault).items() <= before.items()
            vault.close()
            assert list(home.backups.glob("*.damaged/vault.db")), "never without the copy of what was there"
        shutil.rmtree(home.root)
        if not died:
            break
    assert outcomes[0] is False
    assert outcomes[-1] is True
    assert outcomes == sorted(outcomes)
    house.layout.database.write_bytes((safe / "vault.db").read_bytes())
    salvaged(house)


def killed_at(number: int, work: Callable[[], Any]) -> bool:
    """Run `work` in a child that is killed before its `number`th change of the file system."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    left = [number]

    def armed(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **how: Any) -> Any:
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **how)

        return call

    for name in ("rename", "replace", "unlink", "fsync", "mkdir", "link"):
        setattr(os, name, armed(getattr(os, name)))
    try:
        work()
        os._exit(0)
    finally:
        os._exit(70)


@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.long)])
def test_every_single_page_may_be_damaged_and_the_outcome_is_told_truly(
    house: Any, tmp_path: Path, stride: int
) -> None:
    """What is kept is as it was, what is lost is told, and what cannot be saved is refused untouched."""
    before = fill(house, 12)
    house.desk.vault.close()
    whole = house.layout.database.read_bytes()
    count = len(whole) // PAGE_BYTES
    refused = 0
    for page in range(1, count + 1, stride):
        home = HomeLayout(tmp_path / f"p{page}")
        shutil.copytree(house.layout.root, home.root)
        hurt(home.database, page)
        try:
            done = recovery.mend_pages(home, house.desk.key, house.clock, "person", quiet)
        except VaultDamaged:
            refused += 1
            assert not list(home.root.glob(".*")), page
            shutil.rmtree(home.root)
            continue
        vault = house.opened(home, house.desk.key)
        now = house.everything(vault)
        assert now.items() <= before.items(), page
        assert set(done.lost) <= before.keys() - now.keys(), page
        assert len(done.lost) == len(before) - len(now) or done.events_lost or "event" in str(done.warnings)
        wrong = [one for one in checkup.complete(vault, quiet) if not one["ok"]]
        assert not wrong, page
        vault.close()
        shutil.rmtree(home.root)
    assert refused <= count / stride / 3
    house.desk.open()


def test_a_search_gives_up_in_the_end(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(house, 30)
    leaves = pages_of(house, "memory")
    house.desk.vault.close()
    hurt(house.layout.database, *leaves)
    monkeypatch.setattr(salvage, "MOST_PROBES", 50)
    assert len(salvaged(house).lost) == 30
