"""SPEC 7, SECURITY traps 2 and 6: restoring never loses, never mixes, and brings nothing deleted back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import BackupDamaged, ForeignFile, Illegal, NotFound, SchemaNewer, UnsafePath, WrongKey
from memvault.keys import header_file, recovery, ring
from memvault.keys.kdf import KdfProfile
from memvault.model import Outcome
from memvault.paths import HomeLayout
from memvault.services import backup, graves, lifting, remember
from memvault.services.caller import PERSON
from memvault.services.restore import Secret
from memvault.services.vault import create_database
from memvault.store import archive, runs, schema, tombstones
from memvault.store.connection import Database

PASSPHRASE = "a passphrase for tests only"
TEXT = "The spare key hangs behind the red door."


def picture(root: Path) -> dict[str, bytes]:
    """Every file below `root` with its bytes."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_deleted_text_stays_gone_after_restoring_an_older_backup(house: Any) -> None:
    """SPEC 7: tombstones are carried along by backup and restore."""
    gone = house.desk.add("The contractor Wexelblatt starts on the first Monday.").id
    stays = house.desk.add("The office opens at nine.").id
    path = house.back_up()
    house.desk.delete(gone)
    later = house.desk.add("The printer is on the second floor.").id
    done = house.restore(path)
    assert (done.memories, done.removed_by_tombstones) == (1, 1)
    assert set(house.contents()) == {stays}
    assert later not in house.contents()
    again = house.desk.add("the contractor wexelblatt starts on the first monday")
    assert again.outcome is Outcome.REFUSED
    assert house.desk.vault.warnings == []
    house.desk.vault.close()
    pages = Database(house.layout.database, house.desk.key, writable=False)
    dump = " ".join(str(row) for table in tables(pages) for row in pages.all(f'SELECT * FROM "{table}"'))
    pages.close()
    house.desk.open()
    assert "office" in dump
    assert "Wexelblatt" not in dump
    (run, *_), _ = runs.page(house.desk.vault.reader, 1, 0)
    assert run["kind"] == "add" or run["summary"]["removed"] == 1


def tables(db: Database) -> list[str]:
    return [row[0] for row in db.all("SELECT name FROM sqlite_master WHERE type = 'table'")]


def test_the_removal_is_one_run_of_kind_restore(house: Any) -> None:
    gone = house.desk.add("Gone.").id
    path = house.back_up()
    house.desk.delete(gone)
    house.restore(path)
    (run, *_), _ = runs.page(house.desk.vault.reader, 10, 0)
    assert (run["kind"], run["summary"]["removed"], run["summary"]["tombstones"]) == ("restore", 1, 1)
    kinds = {event["type"] for event in house.desk.events(gone)} if gone in house.contents() else set()
    assert not kinds
    house.desk.whole()


def test_what_was_deleted_by_its_source_stays_gone(house: Any) -> None:
    house.desk.add("Told in the chat.", source="conversation:chat-1")
    kept = house.desk.add("Told elsewhere.", source="conversation:chat-2").id
    path = house.back_up()
    house.desk.delete(source="chat-1")
    assert house.restore(path).removed_by_tombstones == 1
    assert set(house.contents()) == {kept}


def test_what_was_edited_and_then_deleted_stays_gone(house: Any) -> None:
    memory = house.desk.add("The first wording.").id
    path = house.back_up()
    remember.edit(house.desk.vault, PERSON, memory, {"content": "Quite another wording."}, None, None)
    house.desk.delete(memory)
    assert house.restore(path).removed_by_tombstones == 1
    assert house.contents() == {}


def test_what_shares_its_words_with_a_deleted_memory_and_stayed_then_stays_now(house: Any) -> None:
    text = "The gate closes at ten."
    gone = house.desk.add(text, project="alpha").id
    stays = house.desk.add(text, project="beta").id
    path = house.back_up()
    house.desk.delete(gone)
    assert house.restore(path).removed_by_tombstones == 1
    assert set(house.contents()) == {stays}


def test_what_only_resembles_something_deleted_is_held_for_a_person(house: Any) -> None:
    """SPEC 7: one that matches only the sketch is held as "resembles something you deleted"."""
    text = "Deploy the billing service with the blue script on the staging machine."
    alike = house.desk.add(f"Please remember: {text} Thanks!", project="alpha")
    gone = house.desk.add(text, project="beta").id
    other = house.desk.add("The office opens at nine.", project="beta").id
    path = house.back_up()
    house.desk.roll_back(alike.run)
    house.desk.delete(gone)
    assert house.restore(path).removed_by_tombstones == 1
    assert set(house.contents()) == {alike.id, other}
    assert house.desk.get(alike.id).flags == (graves.RESEMBLES,)
    assert house.desk.get(other).flags == ()


def test_a_memory_that_resembles_a_deleted_one_and_stayed_then_is_not_flagged(house: Any) -> None:
    text = "Deploy the billing service with the blue script on the staging machine."
    alike = house.desk.add(f"Please remember: {text}", project="alpha").id
    gone = house.desk.add(text, project="beta").id
    path = house.back_up()
    house.desk.delete(gone)
    assert house.restore(path).removed_by_tombstones == 1
    assert set(house.contents()) == {alike}
    assert house.desk.get(alike).flags == ()


def test_a_tombstone_that_was_lifted_since_stays_lifted(house: Any) -> None:
    gone = house.desk.add("The yard gate closes at 22:40.").id
    house.desk.delete(gone)
    path = house.back_up()
    ((grave,), _) = tombstones.page(house.desk.vault.reader, 10, 0)
    lifting.lift(house.desk.vault, PERSON, grave["id"])
    assert house.restore(path).removed_by_tombstones == 0
    assert tombstones.count(house.desk.vault.reader) == 0
    assert house.desk.add("The yard gate closes at 22:40.").outcome is Outcome.ACTIVE


def test_tombstones_survive_two_restores_in_a_row(house: Any) -> None:
    gone = house.desk.add("Gone for good.").id
    first = house.back_up()
    house.desk.delete(gone)
    assert house.restore(first).removed_by_tombstones == 1
    assert house.restore(first).removed_by_tombstones == 1
    assert house.contents() == {}


def test_a_restored_vault_still_knows_every_backup(house: Any, tmp_path: Path) -> None:
    memory = house.desk.add("Here before.").id
    first = house.back_up()
    second = house.back_up(tmp_path / "second.mvbackup")
    kept = house.restore(first).kept_copy
    listed = house.desk.delete(memory).older_backups
    assert set(listed) == {str(first), str(second), str(kept)}


def test_what_was_there_is_kept_as_a_backup_of_its_own(house: Any) -> None:
    house.desk.add("In both.")
    path = house.back_up()
    house.desk.add("Only in the newer vault.")
    newer = house.contents()
    done = house.restore(path)
    assert len(house.contents()) == 1
    assert done.kept_copy.parent == house.layout.backups
    house.restore(done.kept_copy)
    assert house.contents() == newer


def test_a_stale_log_is_not_mixed_in(house: Any, tmp_path: Path) -> None:
    """SECURITY, trap 6: a backup restored beside a stale `-wal` was mixed in silently."""
    house.desk.add("Before the backup.")
    path = house.back_up()
    before = house.contents()
    for number in range(40):
        house.desk.add(f"Ticket {number} came after the backup.")
    log = (house.layout.root / "vault.db-wal").read_bytes()
    assert log
    house.restore(path)
    assert house.contents() == before
    house.desk.vault.close()

    wiped = HomeLayout(tmp_path / "wiped")
    wiped.root.mkdir(mode=0o700)
    (wiped.root / "vault.db-wal").write_bytes(log)
    (wiped.root / "mark").write_bytes(house.layout.mark.read_bytes())
    house.put_back(wiped, path)
    vault = house.opened(wiped, house.desk.key)
    assert house.everything(vault) == before
    assert vault.writer.damaged_pages() == []
    assert vault.warnings == []
    vault.close()
    house.desk.open()


def test_the_backup_of_another_vault_is_refused_unless_the_home_is_absent(
    house: Any, new_layout: HomeLayout
) -> None:
    made = ring.create(new_layout.root, passphrase=PASSPHRASE, use_keychain=False, profile=KdfProfile.test())
    create_database(new_layout, made.key)
    house.desk.add("Mine.")
    path = house.back_up()
    before = picture(new_layout.root)
    with pytest.raises(Illegal, match="another vault"):
        house.put_back(new_layout, path)
    assert picture(new_layout.root) == before


def test_a_passphrase_that_was_replaced_since_does_not_come_back(house: Any) -> None:
    house.desk.add("Kept.")
    path = house.back_up()
    ring.change_passphrase(
        house.layout.root, house.desk.key, PASSPHRASE, "quite another one", KdfProfile.test()
    )
    house.restore(path)
    header = header_file.read(house.layout.root)
    assert ring.open_with_passphrase(header, "quite another one") == house.desk.key
    with pytest.raises(WrongKey):
        ring.open_with_passphrase(header, PASSPHRASE)


def test_a_backup_from_before_a_rotation_comes_back_under_the_key_of_today(house: Any) -> None:
    """SECURITY, trap 2: never rekey in place; the copy is written anew under the other key."""
    house.desk.add("From before the rotation.")
    path = house.back_up()
    before = house.contents()
    turned = ring.rewrap_all(header_file.read(house.layout.root), house.desk.key, passphrase_text=PASSPHRASE)
    house.desk.vault.close()
    fresh = house.layout.root / "fresh.db"
    old = Database(house.layout.database, house.desk.key, writable=True)
    new = Database(fresh, turned.key, writable=True, create=True)
    old.copy_to(new)
    new.close()
    old.close()
    fresh.replace(house.layout.database)
    ring.commit(house.layout.root, turned)
    house.layout.mark.unlink()
    house.desk.key = turned.key
    house.desk.open()
    house.desk.add("From after it.")
    house.restore(path)
    assert house.contents() == before
    assert header_file.read(house.layout.root) == turned.header


def test_a_closed_vault_that_does_not_open_with_the_secret_is_left_alone(house: Any) -> None:
    path = house.back_up()
    ring.change_passphrase(
        house.layout.root, house.desk.key, PASSPHRASE, "quite another one", KdfProfile.test()
    )
    house.desk.vault.close()
    before = picture(house.layout.root)
    with pytest.raises(WrongKey):
        house.put_back(house.layout, path)
    assert picture(house.layout.root) == before
    house.desk.open()


def _no_header(root: Path) -> None:
    (root / "vault.json").unlink()
    (root / "vault.json.bak").unlink()


def _spoiled_header(root: Path) -> None:
    for name in ("vault.json", "vault.json.bak"):
        raw = bytearray((root / name).read_bytes())
        raw[40] ^= 1
        (root / name).write_bytes(raw)


def _no_database(root: Path) -> None:
    (root / "vault.db").unlink()


def _empty_database(root: Path) -> None:
    (root / "vault.db").write_bytes(b"")


def _spoiled_pages(root: Path) -> None:
    raw = bytearray((root / "vault.db").read_bytes())
    for at in range(0, len(raw), 4_096):
        raw[at + 100] ^= 0xFF
    (root / "vault.db").write_bytes(raw)


@pytest.mark.parametrize("hurt", [_no_header, _spoiled_header, _no_database, _empty_database, _spoiled_pages])
def test_a_damaged_vault_is_set_aside_and_replaced(house: Any, hurt: Callable[[Path], None]) -> None:
    """SECURITY 3 and 7: damage, or a missing database beside its header, is mended by a backup."""
    house.desk.add(TEXT)
    path = house.back_up()
    before = house.contents()
    house.desk.vault.close()
    hurt(house.layout.root)
    damaged = {name: raw for name, raw in picture(house.layout.root).items() if "/" not in name}
    done = house.put_back(house.layout, path)
    house.desk.open()
    assert house.contents() == before
    if done.kept_copy.is_dir():
        kept = picture(done.kept_copy)
        assert all(raw == damaged[name] for name, raw in kept.items() if name != "vault.db-shm")
        assert done.warnings
        listed = {one.path: one for one in backup.of_vault(house.desk.vault)}
        assert "did not open" in listed[str(done.kept_copy)].problem
    else:
        archive.check(done.kept_copy, lambda _done, _total: None)


def test_a_wrong_passphrase_or_code_opens_no_backup(house: Any, new_layout: HomeLayout) -> None:
    path = house.back_up()
    for secret in (Secret("something else", False), Secret(recovery.new_code(), True)):
        with pytest.raises(WrongKey):
            house.put_back(new_layout, path, secret)
    assert picture(new_layout.root) == {}


def test_what_is_no_backup_is_told_apart(house: Any, tmp_path: Path, new_layout: HomeLayout) -> None:
    path = house.back_up()
    foreign = tmp_path / "letter.txt"
    foreign.write_text("Dear Sir or Madam, this is a letter and no backup at all.")
    link = tmp_path / "link.mvbackup"
    link.symlink_to(path)
    for wrong, error in ((foreign, ForeignFile), (tmp_path / "no", NotFound), (link, UnsafePath)):
        with pytest.raises(error):
            house.put_back(new_layout, wrong)
    with pytest.raises(UnsafePath):
        house.put_back(new_layout, tmp_path)
    assert picture(new_layout.root) == {}


def test_a_newer_backup_is_refused(house: Any, new_layout: HomeLayout, monkeypatch: Any) -> None:
    path = house.back_up()
    monkeypatch.setattr(schema, "CURRENT", schema.CURRENT - 1)
    with pytest.raises(SchemaNewer):
        house.put_back(new_layout, path)
    assert picture(new_layout.root) == {}


@pytest.mark.parametrize("name", ["seq", "count", "id"])
def test_a_manifest_that_was_forged_with_its_checksum_is_refused(
    house: Any, new_layout: HomeLayout, name: str
) -> None:
    """Who holds no key can make the checksum fit, not the HMAC."""
    path = house.back_up()
    found = archive.read(path).contents
    more = {
        "seq": {"event_seq": 7},
        "count": {"memories": 1_000},
        "id": {"created_at": "2020-01-01T00:00:00.000Z"},
    }
    about = {
        name: getattr(found, name)
        for name in ("vault_id", "created_at", "schema", "memories", "event_seq", "event_hash")
    } | more[name]
    database = new_layout.root / "db"
    _, header = archive.unpack(path, database, lambda _done, _total: None)
    forged = path.with_name("forged.mvbackup")
    archive.pack(forged, bytes(32), header, database, lambda _done, _total: None, **about).place()
    database.unlink()
    with pytest.raises(BackupDamaged, match="does not hold"):
        house.put_back(new_layout, forged)
    assert picture(new_layout.root) == {}
