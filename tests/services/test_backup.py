"""SPEC 7, SECURITY trap 2: a backup is consistent, closed and verified, and the vault knows where it went."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import MemvaultError, UnsafePath, Usage
from memvault.keys import header_file, ring
from memvault.paths import HomeLayout
from memvault.services import backup
from memvault.services.restore import Secret

PASSPHRASE = "a passphrase for tests only"
WORDS = ("The spare key hangs behind the red door.", "部署脚本只在周五上午运行。")


def unheard(_stage: str, _done: int, _total: int) -> None:
    pass


def test_a_backup_restores_into_an_absent_home_with_the_recovery_code(
    house: Any, new_layout: HomeLayout
) -> None:
    for text in WORDS:
        house.desk.add(text)
    house.desk.embed()
    path = house.back_up()
    done = house.put_back(new_layout, path, Secret(house.code, True))
    assert (done.memories, done.removed_by_tombstones, done.kept_copy, done.warnings) == (2, 0, None, [])
    key = ring.open_with_passphrase(header_file.read(new_layout.root), PASSPHRASE)
    vault = house.opened(new_layout, key)
    assert house.everything(vault) == house.contents()
    assert vault.warnings == []
    assert vault.secrets == house.desk.vault.secrets
    vault.close()
    names = {path.name for path in new_layout.root.iterdir()}
    assert names == {"vault.json", "vault.json.bak", "vault.db", "mark", "reserve"}


def test_no_word_and_no_vector_of_it_can_be_read(house: Any) -> None:
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


def test_with_any_umask_the_backup_is_0600_and_its_folder_0700(house: Any) -> None:
    before = os.umask(0)
    try:
        path = house.back_up()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_it_never_overwrites_and_refuses_links(house: Any, tmp_path: Path) -> None:
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


def test_a_name_that_is_taken_meanwhile_is_not_overwritten(house: Any, tmp_path: Path) -> None:
    target = tmp_path / "b.mvbackup"
    packed = backup.make(house.layout, house.desk.key, target, house.clock, unheard)
    target.write_bytes(b"mine")
    with pytest.raises(Usage):
        backup.keep(house.desk.vault, packed)
    packed.discard()
    assert target.read_bytes() == b"mine"
    assert backup.older(house.desk.vault) == []
    assert {one.name for one in tmp_path.iterdir()} == {"h", "b.mvbackup"}


def test_a_linked_folder_of_backups_is_refused(house: Any, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    house.layout.backups.symlink_to(tmp_path / "other")
    with pytest.raises(UnsafePath):
        house.back_up()
    assert list((tmp_path / "other").iterdir()) == []


def test_a_backup_under_way_does_not_hold_up_the_log_of_a_deletion(house: Any) -> None:
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


def test_a_backup_made_before_a_deletion_is_not_kept_as_if_it_knew_of_it(house: Any) -> None:
    gone = house.desk.add("Gone soon.").id
    target = backup.target_of(house.layout, None, house.clock)
    packed = backup.make(house.layout, house.desk.key, target, house.clock, unheard)
    house.desk.delete(gone)
    assert not backup.keep(house.desk.vault, packed)
    packed.discard()
    assert list(house.layout.backups.iterdir()) == []


def test_a_vault_that_is_damaged_gives_no_backup(house: Any) -> None:
    house.desk.add(WORDS[0])
    house.desk.vault.writer.run("UPDATE event SET actor = 'somebody else' WHERE seq = 1")
    with pytest.raises(MemvaultError, match="event log"):
        house.back_up()
    assert list(house.layout.backups.iterdir()) == []


def test_backups_made_earlier_are_listed_by_a_deletion_wherever_they_are(house: Any, tmp_path: Path) -> None:
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
    house: Any, tmp_path: Path
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
