"""SPEC 7, SECURITY traps 2 and 6: a backup is whole, closed and verified; restoring never loses, never mixes."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import (
    BackupDamaged,
    ForeignFile,
    Illegal,
    MemvaultError,
    NotFound,
    SchemaNewer,
    UnsafePath,
    Usage,
    WrongKey,
)
from memvault.ids import new_id
from memvault.keys import header as header_codec
from memvault.keys import header_file, passphrase, recovery, ring
from memvault.keys.envelope import VaultKey
from memvault.keys.kdf import KdfProfile, calibrate
from memvault.model import Outcome
from memvault.paths import HomeLayout
from memvault.services import backup, restore
from memvault.services.caller import PERSON
from memvault.services.restore import Secret
from memvault.services.vault import create_database, open_vault
from memvault.store import archive, memories, runs, schema
from memvault.store.connection import Database
from memvault_models.means import neutral_means

PASSPHRASE = "a passphrase for tests only"
SECRET = Secret(PASSPHRASE, False)
WORDS = ("The spare key hangs behind the red door.", "部署脚本只在周五上午运行。")


def unheard(_stage: str, _done: int, _total: int) -> None:
    pass


class House:
    """A vault with a header of its own, and the short names for what is done with its backups."""

    def __init__(self, desk: Any) -> None:
        self.desk, self.layout, self.clock = desk, desk.layout, desk.clock
        self.code = recovery.new_code()
        vault_id, now = new_id(), desk.clock.now()
        slots = (
            recovery.make(vault_id, 1, desk.key, self.code, now),
            passphrase.make(vault_id, 1, desk.key, PASSPHRASE, calibrate(KdfProfile.test()), now),
        )
        header_file.create(self.layout.root, header_codec.new(vault_id, desk.key, slots, now))

    def back_up(self, path: Path | None = None) -> Path:
        target = backup.target_of(self.layout, path, self.clock)
        packed = backup.make(self.layout, self.desk.key, target, self.clock, unheard)
        assert backup.keep(self.desk.vault, packed)
        return target

    def restore(self, path: Path, secret: Secret = SECRET) -> Any:
        """Put a backup in the place of this vault, as the daemon does, and open what is there then."""
        self.desk.vault.close()
        try:
            done = put_back(self.layout, path, secret, self.clock, key=self.desk.key)
        finally:
            self.desk.open()
        return done

    def contents(self) -> dict[str, str]:
        return everything(self.desk.vault)


def everything(vault: Any) -> dict[str, str]:
    found = memories.ids_of(vault.reader, PERSON.reach, memories.Filter())
    return dict(memories.contents(vault.reader, found))


def put_back(
    layout: HomeLayout, path: Path, secret: Secret, clock: Any, *, key: VaultKey | None = None
) -> Any:
    present = restore.look(layout, key, [secret])
    room = backup.new_room(layout.root, restore.ROOM_PREFIX)
    try:
        ready = restore.prepare(layout, room, path, secret, present, unheard)
        return restore.put_in_place(ready, present, clock, "person", unheard)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def opened(layout: HomeLayout, key: VaultKey, clock: Any) -> Any:
    return open_vault(layout, key, clock, "", neutral_means("", 1), lambda _ids, _why: None)


def picture(root: Path) -> dict[str, bytes]:
    """Every file below `root` with its bytes."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def house(desk: Any) -> House:
    return House(desk)


@pytest.fixture
def new_layout(tmp_path: Path) -> HomeLayout:
    home = tmp_path / "new"
    home.mkdir(mode=0o700)
    return HomeLayout(home)


# ------------------------------------------------------------------------------------------------- making one


def test_a_backup_restores_into_an_absent_home_with_the_recovery_code(
    house: House, new_layout: HomeLayout
) -> None:
    for text in WORDS:
        house.desk.add(text)
    house.desk.embed()
    path = house.back_up()
    done = put_back(new_layout, path, Secret(house.code, True), house.clock)
    assert (done.memories, done.removed_by_tombstones, done.kept_copy, done.warnings) == (2, 0, None, [])
    key = ring.open_with_passphrase(header_file.read(new_layout.root), PASSPHRASE)
    vault = opened(new_layout, key, house.clock)
    assert everything(vault) == house.contents()
    assert vault.warnings == []
    assert vault.secrets == house.desk.vault.secrets
    vault.close()
    names = {path.name for path in new_layout.root.iterdir()}
    assert names == {"vault.json", "vault.json.bak", "vault.db", "mark", "reserve"}


def test_no_word_and_no_vector_of_it_can_be_read(house: House) -> None:
    for text in WORDS:
        house.desk.add(text, project="moonraker", evidence="said so by Obsidianferret")
    house.desk.embed()
    raw = house.back_up().read_bytes()
    needles = [text.encode() for text in ("spare", "red door", "部署脚本", "moonraker", "Obsidianferret")]
    for text in WORDS:
        vector = house.desk.embedder.embed_passages([text])[0][0]
        needles += [vector.astype("<f4").tobytes()[:32], vector.astype("<f2").tobytes()[:32]]
    assert not [needle for needle in needles if needle in raw]
    assert b"CREATE TABLE" not in raw
    assert b"SQLite format" not in raw


def test_with_any_umask_the_backup_is_0600_and_its_folder_0700(house: House) -> None:
    before = os.umask(0)
    try:
        path = house.back_up()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_it_never_overwrites_and_refuses_links(house: House, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_bytes(b"mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Usage):
        house.back_up(there)
    with pytest.raises(UnsafePath):
        house.back_up(link)
    with pytest.raises(Usage):
        house.back_up(tmp_path / "no folder" / "x.mvbackup")
    assert there.read_bytes() == b"mine"
    first, second = house.back_up(), house.back_up()
    assert first != second
    inside = house.back_up(tmp_path)
    assert (inside.parent, inside.suffix) == (tmp_path, ".mvbackup")


def test_a_name_that_is_taken_meanwhile_is_not_overwritten(house: House, tmp_path: Path) -> None:
    target = tmp_path / "b.mvbackup"
    packed = backup.make(house.layout, house.desk.key, target, house.clock, unheard)
    target.write_bytes(b"mine")
    with pytest.raises(Usage):
        backup.keep(house.desk.vault, packed)
    packed.discard()
    assert target.read_bytes() == b"mine"
    assert backup.older(house.desk.vault) == []
    assert {one.name for one in tmp_path.iterdir()} == {"h", "b.mvbackup"}


def test_a_linked_folder_of_backups_is_refused(house: House, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    house.layout.backups.symlink_to(tmp_path / "other")
    with pytest.raises(UnsafePath):
        house.back_up()
    assert list((tmp_path / "other").iterdir()) == []


def test_notes_of_running_tasks_are_outside_backup(house: House, new_layout: HomeLayout) -> None:
    db = house.desk.vault.writer
    db.run("CREATE TABLE task_note(task TEXT, body TEXT)")
    db.run("INSERT INTO task_note VALUES('t', 'half done')")
    path = house.back_up()
    put_back(new_layout, path, SECRET, house.clock)
    copy = Database(new_layout.database, house.desk.key, writable=False)
    assert copy.all("SELECT * FROM task_note") == []
    copy.close()
    assert db.all("SELECT * FROM task_note") == [("t", "half done")]


def test_a_backup_under_way_does_not_hold_up_the_log_of_a_deletion(house: House) -> None:
    """The copy is told that a deletion waits, ends at its next step, and leaves nothing behind."""
    gone = house.desk.add("Gone soon.").id
    started = threading.Event()
    ended: list[str] = []

    def tell(_stage: str, _done: int, _total: int) -> None:
        started.set()
        assert house.desk.vault.clearing.wait(20)
        raise backup.Disturbed("a deletion goes first")

    def work() -> None:
        try:
            backup.make(house.layout, house.desk.key, house.layout.root / "x.mvbackup", house.clock, tell)
        except backup.Disturbed as error:
            ended.append(error.code)

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(20)
    house.desk.delete(gone)
    thread.join()
    assert ended == ["disturbed"]
    assert list(house.layout.backups.iterdir()) == []
    assert (house.layout.root / "vault.db-wal").stat().st_size == 0


def test_a_backup_made_before_a_deletion_is_not_kept_as_if_it_knew_of_it(house: House) -> None:
    gone = house.desk.add("Gone soon.").id
    target = backup.target_of(house.layout, None, house.clock)
    packed = backup.make(house.layout, house.desk.key, target, house.clock, unheard)
    house.desk.delete(gone)
    assert not backup.keep(house.desk.vault, packed)
    packed.discard()
    assert list(house.layout.backups.iterdir()) == []


def test_a_vault_that_is_damaged_gives_no_backup(house: House) -> None:
    house.desk.add(WORDS[0])
    house.desk.vault.writer.run("UPDATE event SET actor = 'somebody else' WHERE seq = 1")
    with pytest.raises(MemvaultError, match="event log"):
        house.back_up()
    assert list(house.layout.backups.iterdir()) == []


# ---------------------------------------------------------------------------------------------------- knowing


def test_backups_made_earlier_are_listed_by_a_deletion_wherever_they_are(
    house: House, tmp_path: Path
) -> None:
    """SPEC 7: backups made earlier still hold it: the command says so and lists them."""
    memory = house.desk.add("Gone.").id
    outside, stick = tmp_path / "disk", tmp_path / "stick"
    outside.mkdir()
    stick.mkdir()
    inside = house.back_up()
    paths = [house.back_up(outside / "a.mvbackup"), house.back_up(stick / "b.mvbackup")]
    thrown_away = house.back_up(outside / "c.mvbackup")
    thrown_away.unlink()
    stick.rename(tmp_path / "unplugged")
    assert set(house.desk.delete(memory).older_backups) == {str(inside), *map(str, paths)}


def test_the_list_tells_whole_from_damaged_and_what_was_made_before_a_deletion(
    house: House, tmp_path: Path
) -> None:
    memory = house.desk.add("Gone.").id
    house.desk.add("Stays.")
    early = house.back_up()
    house.clock.advance(60)
    house.desk.delete(memory)
    late = house.back_up()
    hurt = house.back_up(tmp_path / "hurt.mvbackup")
    raw = bytearray(hurt.read_bytes())
    raw[-1] ^= 1
    hurt.write_bytes(raw)
    found = {one.path: one for one in backup.of_vault(house.desk.vault)}
    assert set(found) == {str(early), str(late), str(hurt)}
    assert (found[str(early)].before_deletion, found[str(late)].before_deletion) == (True, False)
    assert (found[str(early)].memories, found[str(late)].memories) == (2, 1)
    assert found[str(early)].size_bytes == early.stat().st_size
    assert found[str(late)].problem == ""
    assert "damaged" in found[str(hurt)].problem
    newest = backup.newest_whole(house.layout, [])
    assert newest is not None
    assert newest.path == str(late)
    closed = backup.without_vault(house.layout)
    assert [one.path for one in closed] == [str(late), str(early)]
    assert {one.before_deletion for one in closed} == {None}


# -------------------------------------------------------------------------------------------------- tombstones


def test_deleted_text_stays_gone_after_restoring_an_older_backup(house: House) -> None:
    """SPEC 7: tombstones are carried along by backup and restore."""
    gone = house.desk.add("The contractor Wexelblatt is paid on the first Monday.").id
    stays = house.desk.add("The office opens at nine.").id
    path = house.back_up()
    house.desk.delete(gone)
    later = house.desk.add("The printer is on the second floor.").id
    done = house.restore(path)
    assert (done.memories, done.removed_by_tombstones) == (1, 1)
    assert set(house.contents()) == {stays}
    assert later not in house.contents()
    again = house.desk.add("the contractor wexelblatt is paid on the first monday")
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


def test_the_removal_is_one_run_of_kind_restore(house: House) -> None:
    gone = house.desk.add("Gone.").id
    path = house.back_up()
    house.desk.delete(gone)
    house.restore(path)
    (run, *_), _ = runs.page(house.desk.vault.reader, 10, 0)
    assert (run["kind"], run["summary"]["removed"], run["summary"]["tombstones"]) == ("restore", 1, 1)
    kinds = {event["type"] for event in house.desk.events(gone)} if gone in house.contents() else set()
    assert not kinds
    house.desk.whole()


def test_what_was_deleted_by_its_source_stays_gone(house: House) -> None:
    house.desk.add("Told in the chat.", source="conversation:chat-1")
    kept = house.desk.add("Told elsewhere.", source="conversation:chat-2").id
    path = house.back_up()
    house.desk.delete(source="chat-1")
    assert house.restore(path).removed_by_tombstones == 1
    assert set(house.contents()) == {kept}


def test_what_was_edited_and_then_deleted_stays_gone(house: House) -> None:
    from memvault.services import remember

    memory = house.desk.add("The first wording.").id
    path = house.back_up()
    remember.edit(house.desk.vault, PERSON, memory, {"content": "Quite another wording."}, None, None)
    house.desk.delete(memory)
    assert house.restore(path).removed_by_tombstones == 1
    assert house.contents() == {}


def test_what_shares_its_words_with_a_deleted_memory_and_stayed_then_stays_now(house: House) -> None:
    text = "The gate closes at ten."
    gone = house.desk.add(text, project="alpha").id
    stays = house.desk.add(text, project="beta").id
    path = house.back_up()
    house.desk.delete(gone)
    assert house.restore(path).removed_by_tombstones == 1
    assert set(house.contents()) == {stays}


def test_tombstones_survive_two_restores_in_a_row(house: House) -> None:
    gone = house.desk.add("Gone for good.").id
    first = house.back_up()
    house.desk.delete(gone)
    assert house.restore(first).removed_by_tombstones == 1
    assert house.restore(first).removed_by_tombstones == 1
    assert house.contents() == {}


def test_a_restored_vault_still_knows_every_backup(house: House, tmp_path: Path) -> None:
    memory = house.desk.add("Here before.").id
    first = house.back_up()
    second = house.back_up(tmp_path / "second.mvbackup")
    kept = house.restore(first).kept_copy
    listed = house.desk.delete(memory).older_backups
    assert set(listed) == {str(first), str(second), str(kept)}


# ---------------------------------------------------------------------------------------------------- replacing


def test_what_was_there_is_kept_as_a_backup_of_its_own(house: House) -> None:
    house.desk.add("In both.")
    path = house.back_up()
    house.desk.add("Only in the newer vault.")
    newer = house.contents()
    done = house.restore(path)
    assert len(house.contents()) == 1
    assert done.kept_copy.parent == house.layout.backups
    house.restore(done.kept_copy)
    assert house.contents() == newer


def test_a_stale_log_is_not_mixed_in(house: House, tmp_path: Path) -> None:
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
    put_back(wiped, path, SECRET, house.clock)
    vault = opened(wiped, house.desk.key, house.clock)
    assert everything(vault) == before
    assert vault.writer.damaged_pages() == []
    assert vault.warnings == []
    vault.close()
    house.desk.open()


def test_the_backup_of_another_vault_is_refused_unless_the_home_is_absent(
    house: House, new_layout: HomeLayout
) -> None:
    made = ring.create(new_layout.root, passphrase=PASSPHRASE, use_keychain=False, profile=KdfProfile.test())
    create_database(new_layout, made.key)
    house.desk.add("Mine.")
    path = house.back_up()
    before = picture(new_layout.root)
    with pytest.raises(Illegal, match="another vault"):
        put_back(new_layout, path, SECRET, house.clock)
    assert picture(new_layout.root) == before


def test_a_passphrase_that_was_replaced_since_does_not_come_back(house: House) -> None:
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


def test_a_backup_from_before_a_rotation_comes_back_under_the_key_of_today(house: House) -> None:
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


def test_a_closed_vault_that_does_not_open_with_the_secret_is_left_alone(house: House) -> None:
    path = house.back_up()
    ring.change_passphrase(
        house.layout.root, house.desk.key, PASSPHRASE, "quite another one", KdfProfile.test()
    )
    house.desk.vault.close()
    before = picture(house.layout.root)
    with pytest.raises(WrongKey):
        put_back(house.layout, path, SECRET, house.clock)
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
def test_a_damaged_vault_is_set_aside_and_replaced(house: House, hurt: Callable[[Path], None]) -> None:
    """SECURITY 3 and 7: damage, or a missing database beside its header, is mended by a backup."""
    house.desk.add(WORDS[0])
    path = house.back_up()
    before = house.contents()
    house.desk.vault.close()
    hurt(house.layout.root)
    damaged = {name: raw for name, raw in picture(house.layout.root).items() if "/" not in name}
    done = put_back(house.layout, path, SECRET, house.clock)
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


# ----------------------------------------------------------------------------------------------------- refusing


def test_a_wrong_passphrase_or_code_opens_no_backup(house: House, new_layout: HomeLayout) -> None:
    path = house.back_up()
    for secret in (Secret("something else", False), Secret(recovery.new_code(), True)):
        with pytest.raises(WrongKey):
            put_back(new_layout, path, secret, house.clock)
    assert picture(new_layout.root) == {}


def test_what_is_no_backup_is_told_apart(house: House, tmp_path: Path, new_layout: HomeLayout) -> None:
    path = house.back_up()
    foreign = tmp_path / "letter.txt"
    foreign.write_text("Dear Sir or Madam, this is a letter and no backup at all.")
    link = tmp_path / "link.mvbackup"
    link.symlink_to(path)
    for wrong, error in ((foreign, ForeignFile), (tmp_path / "no", NotFound), (link, UnsafePath)):
        with pytest.raises(error):
            put_back(new_layout, wrong, SECRET, house.clock)
    with pytest.raises(UnsafePath):
        put_back(new_layout, tmp_path, SECRET, house.clock)
    assert picture(new_layout.root) == {}


def test_a_newer_backup_is_refused(house: House, new_layout: HomeLayout, monkeypatch: Any) -> None:
    path = house.back_up()
    monkeypatch.setattr(schema, "CURRENT", schema.CURRENT - 1)
    with pytest.raises(SchemaNewer):
        put_back(new_layout, path, SECRET, house.clock)
    assert picture(new_layout.root) == {}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A small backup and a folder to spoil copies of it in."""
    folder = tmp_path_factory.mktemp("sample")
    key = VaultKey.random()
    (folder / "db").write_bytes(os.urandom(20_000))
    target = folder / "whole.mvbackup"
    archive.pack(
        target, key.derive("backup"), b"header" * 30, folder / "db", lambda _done, _total: None,
        vault_id=new_id(), created_at="2026-03-02T09:00:00.000Z", schema=1, memories=3, event_seq=9,
        event_hash=bytes(32),
    ).place()  # fmt: skip
    return target, folder


def spoiled(sample: tuple[Path, Path], raw: bytes) -> None:
    target, folder = sample
    copy = folder / "spoiled.mvbackup"
    copy.write_bytes(raw)
    with pytest.raises((BackupDamaged, ForeignFile, SchemaNewer)):
        archive.check(copy, lambda _done, _total: None)
    archive.check(target, lambda _done, _total: None)


@given(at=st.integers(0, 21_203), bit=st.integers(0, 7))
def test_any_flipped_bit_is_found(sample: tuple[Path, Path], at: int, bit: int) -> None:
    raw = bytearray(sample[0].read_bytes())
    assert len(raw) == 21_204
    raw[at] ^= 1 << bit
    spoiled(sample, bytes(raw))


@given(length=st.integers(0, 21_203))
def test_any_cut_is_found(sample: tuple[Path, Path], length: int) -> None:
    spoiled(sample, sample[0].read_bytes()[:length])


@given(more=st.binary(min_size=1, max_size=64))
def test_anything_appended_is_found(sample: tuple[Path, Path], more: bytes) -> None:
    spoiled(sample, sample[0].read_bytes() + more)


@pytest.mark.parametrize("name", ["seq", "count", "id"])
def test_a_manifest_that_was_forged_with_its_checksum_is_refused(
    house: House, new_layout: HomeLayout, name: str
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
        put_back(new_layout, forged, SECRET, house.clock)
    assert picture(new_layout.root) == {}


# ------------------------------------------------------------------------------------------------------ killing

_CALLS = ("rename", "replace", "unlink", "fsync", "mkdir", "link")


def killed_at(number: int, work: Callable[[], None]) -> bool:
    """Run `work` in a child that dies, as by kill -9, before its `number`th change of the file system."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    left = [number]

    def armed(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **how: Any) -> Any:
            left[0] -= 1
            if left[0] <= 0:
                os._exit(9)
            return real(*args, **how)

        return call

    for name in _CALLS:
        setattr(os, name, armed(getattr(os, name)))
    try:
        work()
        os._exit(0)
    finally:
        os._exit(70)


def test_killed_at_any_step_of_a_restore_the_home_holds_the_old_or_the_new_vault_whole(
    house: House, tmp_path: Path
) -> None:
    gone = house.desk.add("Deleted between the two.").id
    house.desk.add("In both.")
    path = house.back_up()
    house.desk.delete(gone)
    house.desk.add("Only in the newer one.")
    old = set(house.contents().values())
    new = {"In both."}
    house.desk.vault.close()
    safe = tmp_path / "safe"
    shutil.copytree(house.layout.root, safe)
    outcomes: list[bool] = []
    for number in range(1, 200):
        home = HomeLayout(tmp_path / f"k{number}")
        shutil.copytree(safe, home.root)
        died = killed_at(number, lambda home=home: put_back(home, path, SECRET, house.clock))
        restore.finish(home)
        restore.sweep(home)
        vault = opened(home, house.desk.key, house.clock)
        found = set(everything(vault).values())
        assert found in (old, new), number
        assert vault.warnings == [], number
        assert vault.writer.damaged_pages() == [], number
        vault.close()
        leftovers = [one.name for one in home.root.iterdir() if one.name.startswith(".")]
        leftovers += [one.name for one in home.backups.iterdir() if one.name.startswith(".")]
        assert leftovers == [], number
        shutil.rmtree(home.root)
        outcomes.append(found == new)
        if not died:
            break
    assert outcomes[0] is False
    assert outcomes[-1] is True
    assert outcomes == sorted(outcomes)
    assert 20 < len(outcomes) < 199
    house.desk.open()
