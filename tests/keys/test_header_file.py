"""vault.json on disk: whole after a kill, private, never through a link, never replaced unasked."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from memvault.errors import (
    DiskFull,
    ForeignFile,
    HeaderDamaged,
    Illegal,
    MemvaultError,
    ReadOnly,
    SchemaNewer,
    UnsafePath,
    VaultAbsent,
    WrongKey,
)
from memvault.keys import header as codec
from memvault.keys import header_file, ring
from memvault.keys.kdf import KdfProfile

PASSPHRASE = "correct horse battery"
SYSTEM_CALLS = ("open", "fchmod", "fsync", "rename", "link", "unlink")


def die_at(step: int, work: Callable[[], object]) -> bool:
    """Run `work` in a child that ends, as by kill -9, before or after its `step`-th system call.

    True when the child got through.
    """
    pid = os.fork()
    if pid == 0:
        count = 0

        def tick() -> None:
            nonlocal count
            count += 1
            if count == step:
                os._exit(9)

        def mortal(call: Callable[..., object]) -> Callable[..., object]:
            def run(*arguments: object, **options: object) -> object:
                tick()
                result = call(*arguments, **options)
                tick()
                return result

            return run

        for name in SYSTEM_CALLS:
            setattr(os, name, mortal(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(1 if sys.exc_info()[0] else 0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in {0, 9}
    return status == 0


def names(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_killed_at_any_step_of_a_change_the_header_is_the_old_or_the_new_one(home: Path, made: ring.Created):
    old, key = made.header, made.key
    new = codec.prove(replace(old, slots=old.slots[:1]), key)
    seen: list[bool] = []
    step = 1
    while True:
        finished = die_at(step, lambda: header_file.replace(home, new))
        found = header_file.read(home)
        assert found in (old, new)
        copy = header_file.restorable(home)
        assert copy in (old, new)
        assert not (found == old and copy == new), "the copy may lag, not lead"
        seen.append(found == new)
        if finished:
            break
        header_file.settle_copy(home)
        assert header_file.restorable(home) == found
        header_file.replace(home, old)
        assert names(home) == {"vault.json", "vault.json.bak"}, "left-overs are swept"
        step += 1
    assert step > 15
    assert seen == sorted(seen), "once the new one is there, it stays"
    assert False in seen
    assert seen.count(True) > 1


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_killed_at_any_step_of_creation_there_is_a_whole_vault_or_none(tmp_path: Path, made: ring.Created):
    outcomes: set[bool] = set()
    step = 1
    while True:
        home = tmp_path / f"home-{step}"
        home.mkdir(mode=0o700)
        finished = die_at(step, lambda home=home: header_file.create(home, made.header))
        try:
            assert header_file.read(home) == made.header
            outcomes.add(True)
        except VaultAbsent:
            outcomes.add(False)
        if finished:
            break
        step += 1
    assert outcomes == {True, False}


def test_a_second_vault_is_never_made_over_a_first(home: Path, made: ring.Created):
    before = (home / "vault.json").read_bytes()
    other = ring.draft(passphrase="another passphrase", use_keychain=False, profile=KdfProfile.test())
    for attempt in ("whole", "damaged", "gone", "emptied"):
        if attempt == "damaged":
            (home / "vault.json").write_bytes(b"x" + before[1:])
        elif attempt == "gone":
            (home / "vault.json").unlink()
        elif attempt == "emptied":
            (home / "vault.json").touch(0o600)
        with pytest.raises(Illegal):
            header_file.create(home, other.header)
        with pytest.raises(MemvaultError):
            header_file.replace(home, other.header)
    assert header_file.restorable(home) == made.header


def test_of_many_creations_at_once_one_wins(home: Path):
    drafts = [
        ring.draft(passphrase=f"passphrase {n}", use_keychain=False, profile=KdfProfile.test()).header
        for n in range(8)
    ]
    start = threading.Barrier(len(drafts))
    won: list[codec.VaultHeader] = []

    def attempt(header: codec.VaultHeader) -> None:
        start.wait()
        try:
            header_file.create(home, header)
        except Illegal:
            return
        won.append(header)

    threads = [threading.Thread(target=attempt, args=(header,)) for header in drafts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert won == [header_file.read(home)]
    assert names(home) == {"vault.json", "vault.json.bak"}


def test_nothing_there_is_absent_and_a_lost_header_beside_its_copy_is_damage(home: Path, tmp_path: Path):
    with pytest.raises(VaultAbsent):
        header_file.read(home)
    with pytest.raises(VaultAbsent):
        header_file.read(tmp_path / "nowhere")
    made = ring.create(home, passphrase=PASSPHRASE, use_keychain=False, profile=KdfProfile.test())
    (home / "vault.json").unlink()
    with pytest.raises(HeaderDamaged, match="gone") as caught:
        header_file.read(home)
    assert "memvault recover" in caught.value.hint
    assert header_file.restorable(home) == made.header


def test_wrong_key_foreign_file_damaged_newer_and_absent_are_five_errors(home: Path, made: ring.Created):
    path = home / "vault.json"
    whole = path.read_bytes()
    raised: list[MemvaultError] = []

    def attempt() -> None:
        with pytest.raises(MemvaultError) as caught:
            ring.open_with_passphrase(header_file.read(home), "not the passphrase")
        raised.append(caught.value)

    attempt()
    path.write_bytes(b"SQLite format 3\x00" + bytes(4080))
    attempt()
    path.write_bytes(whole.replace(b'"slots"', b'"slits"'))
    attempt()
    newer = hashlib.sha256(b'{"magic":"memvault-vault","format":2').hexdigest()
    path.write_bytes(b'{"magic":"memvault-vault","format":2,"checksum":"' + newer.encode() + b'"}\n')
    attempt()
    path.unlink()
    (home / "vault.json.bak").unlink()
    attempt()
    assert [type(error) for error in raised] == [
        WrongKey,
        ForeignFile,
        HeaderDamaged,
        SchemaNewer,
        VaultAbsent,
    ]
    assert len({error.code for error in raised}) == 5
    assert len({error.message for error in raised}) == 5
    assert [error.exit_status for error in raised] == [4, 8, 8, 8, 4]


def test_a_damaged_header_is_reported_as_restorable_and_restored_only_when_asked(
    home: Path, made: ring.Created
):
    path = home / "vault.json"
    with pytest.raises(Illegal):
        header_file.restore(home)
    damaged = path.read_bytes().replace(b"passphrase", b"passphrasf")
    path.write_bytes(damaged)
    for _ in range(3):
        with pytest.raises(HeaderDamaged) as caught:
            header_file.read(home)
        assert "memvault recover" in caught.value.hint
    assert path.read_bytes() == damaged
    assert header_file.restore(home) == made.header == header_file.read(home)
    assert (home / "vault.json.damaged").read_bytes() == damaged
    assert ring.open_with_passphrase(header_file.read(home), PASSPHRASE) == made.key


def test_without_a_whole_copy_damage_says_so_and_nothing_is_written(home: Path, made: ring.Created):
    for name in ("vault.json", "vault.json.bak"):
        (home / name).write_bytes((home / name).read_bytes()[:-9])
    before = {path.name: path.read_bytes() for path in home.iterdir()}
    for attempt in (header_file.read, header_file.restore, header_file.settle_copy):
        with pytest.raises(HeaderDamaged) as caught:
            attempt(home)
        assert "backup" in caught.value.hint
    with pytest.raises(HeaderDamaged):
        ring.new_recovery_code(home, made.key)
    assert {path.name: path.read_bytes() for path in home.iterdir()} == before


def test_the_copy_does_not_keep_a_replaced_passphrase(home: Path, made: ring.Created):
    ring.change_passphrase(home, made.key, PASSPHRASE, "a new passphrase", KdfProfile.test())
    copy = header_file.restorable(home)
    assert copy is not None
    with pytest.raises(WrongKey):
        ring.open_with_passphrase(copy, PASSPHRASE)


def test_files_are_private_whatever_the_umask(tmp_path: Path, made: ring.Created):
    for mask in (0o000, 0o777):
        home = tmp_path / f"home-{mask}"
        home.mkdir()
        home.chmod(0o700)
        before = os.umask(mask)
        try:
            header_file.create(home, made.header)
        finally:
            os.umask(before)
        for path in home.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_links_pipes_folders_and_loose_modes_are_refused(home: Path, tmp_path: Path, made: ring.Created):
    path = home / "vault.json"
    whole = path.read_bytes()
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_bytes(whole)
    elsewhere.chmod(0o600)

    def refused() -> None:
        with pytest.raises(UnsafePath):
            header_file.read(home)
        with pytest.raises(UnsafePath):
            ring.new_recovery_code(home, made.key)
        assert elsewhere.read_bytes() == whole

    for mode in (0o640, 0o604, 0o660, 0o777):
        path.chmod(mode)
        refused()
    for place in (lambda: path.symlink_to(elsewhere), lambda: os.mkfifo(path, 0o600), path.mkdir):
        path.rmdir() if path.is_dir() else path.unlink()
        place()
        refused()
    path.rmdir()
    (home / "vault.json.bak").unlink()
    (home / "vault.json.bak").symlink_to(elsewhere)
    refused()


def test_a_home_that_is_a_link_a_file_or_open_to_others_is_refused(
    home: Path, tmp_path: Path, made: ring.Created
):
    link = tmp_path / "link"
    link.symlink_to(home)
    for path in (link, home / "vault.json"):
        with pytest.raises(UnsafePath):
            header_file.read(path)
    for mode in (0o755, 0o770, 0o702):
        home.chmod(mode)
        with pytest.raises(UnsafePath, match="open to other users") as caught:
            header_file.read(home)
        assert "chmod 700" in caught.value.hint


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_foreign_owner_is_refused(home: Path, made: ring.Created):
    os.chown(home / "vault.json", 12345, -1)
    with pytest.raises(UnsafePath, match="another user"):
        header_file.read(home)
    os.chown(home / "vault.json", 0, -1)
    os.chown(home, 12345, -1)
    with pytest.raises(UnsafePath, match="another user"):
        header_file.read(home)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull), (errno.EROFS, ReadOnly), (errno.EIO, MemvaultError)],
)
def test_a_disk_that_refuses_leaves_the_old_header(
    home: Path, made: ring.Created, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[MemvaultError]
):
    def refuse(file: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refuse)
        with pytest.raises(kind) as caught:
            ring.new_recovery_code(home, made.key)
    assert type(caught.value) is kind
    assert header_file.read(home) == made.header
    assert names(home) == {"vault.json", "vault.json.bak"}


def test_a_file_system_without_hard_links_still_gets_its_vault(
    home: Path, made: ring.Created, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    plain = tmp_path / "plain"
    plain.mkdir(mode=0o700)
    monkeypatch.setattr(os, "link", refuse)
    header_file.create(plain, made.header)
    assert header_file.read(plain) == made.header
    assert names(plain) == {"vault.json", "vault.json.bak"}


def test_another_vaults_or_an_older_generations_header_does_not_replace_this_one(
    home: Path, made: ring.Created
):
    other = ring.draft(passphrase="another passphrase", use_keychain=False, profile=KdfProfile.test())
    with pytest.raises(ForeignFile):
        header_file.replace(home, other.header)
    ring.commit(home, ring.rewrap_all(made.header, made.key))
    with pytest.raises(Illegal):
        header_file.replace(home, made.header)


def test_an_endless_file_is_not_read_to_its_end(home: Path, made: ring.Created):
    with (home / "vault.json").open("r+b") as stream:
        stream.truncate(2**40)
    with pytest.raises(HeaderDamaged):
        header_file.read(home)
