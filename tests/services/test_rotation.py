"""SPEC 12, SECURITY trap 2, check 8: a new vault key; killed anywhere, exactly one key opens the vault."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import Busy, Locked, MemvaultError, Usage, VaultDamaged, WrongKey
from memvault.keys import header_file, ring
from memvault.keys.envelope import VaultKey
from memvault.keys.kdf import KdfProfile
from memvault.model import Outcome
from memvault.paths import HomeLayout
from memvault.services import exchange, rotation
from memvault.store import archive, schema, snapshot
from memvault.store.connection import Database

pytestmark = pytest.mark.slow

PASSPHRASE = "a passphrase for tests only"
STEPS = [
    "room made", "copy begun", "copied", "copy read", "compared", "noted", "mark written", "header checked",
    "header in room", "room synced", "decided", "log removed", "database moved", "mark moved", "copy moved",
    "header moved", "room removed",
]  # fmt: skip
"""What a rotation has done, in order; `interrupt` dies right behind each."""


def quiet(_stage: str, _done: int, _all: int) -> None:
    pass


def plan(layout: HomeLayout, key: VaultKey, **more: Any) -> rotation.Planned:
    given = {"passphrase": PASSPHRASE, "recovery_code": None, "drop_others": False, **more}
    passphrase, code = given.pop("passphrase"), given.pop("recovery_code")
    return rotation.plan(layout, key, passphrase, code, **given)


def rotated(house: Any, **more: Any) -> rotation.Planned:
    """Rotate the key of the house's vault and open it anew."""
    planned = plan(house.layout, house.desk.key, **more)
    house.desk.vault.close()
    try:
        rotation.rotate(house.layout, planned, house.clock, "person", quiet)
        house.desk.key = planned.rotation.key
    finally:
        house.desk.open()
    return planned


def opens(database: Path, key: VaultKey) -> bool:
    try:
        Database(database, key, writable=False).close()
    except VaultDamaged:
        return False
    return True


def rows(vault: Any) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table but the events' head."""
    names = [row[0] for row in vault.reader.all("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: sorted(vault.reader.all(f'SELECT * FROM "{name}"'), key=repr)
        for name in names
        if name not in ("event", "event_payload")
    }


def furnish(house: Any) -> str:
    """A vault with everything that must come along; returns text that was deleted for good."""
    gone = house.desk.add("The contractor Wexelblatt starts on the first Monday.").id
    house.desk.add("Deploy with npm.", subject="app", attribute="deploy", value="npm")
    house.desk.add("Deploy by script.", subject="app", attribute="deploy", value="script", correct=True)
    house.desk.add("部署前先备份数据库。")
    house.desk.embed()
    house.desk.recall("how to deploy")
    house.desk.delete(gone)
    house.desk.reopen()  # what is written when a vault closes is written
    return "the contractor wexelblatt starts on the first monday"


def test_a_rotation_gives_the_same_vault_under_a_new_key_and_the_old_key_opens_it_no_more(house: Any) -> None:
    gone = furnish(house)
    before, old, head = rows(house.desk.vault), house.desk.key, house.desk.vault.mark.read()
    inode = house.layout.database.stat().st_ino
    planned = rotated(house)
    assert planned.rotation.key != old
    assert rows(house.desk.vault) == before
    assert house.desk.vault.warnings == []
    assert house.desk.vault.mark.read().seq == head.seq + 1
    house.desk.whole()
    assert house.desk.add(gone).outcome is Outcome.REFUSED, "tombstones hold under the new key"
    assert house.desk.recall("部署前")
    assert house.desk.vault.reader.one("PRAGMA user_version")[0] == schema.CURRENT
    house.desk.vault.close()
    assert house.layout.database.stat().st_ino != inode
    assert not opens(house.layout.database, old)
    assert opens(house.layout.database, planned.rotation.key)
    assert sorted(path.name for path in house.layout.root.iterdir()) == [
        "mark", "reserve", "vault.db", "vault.json", "vault.json.bak",
    ]  # fmt: skip
    header = header_file.read(house.layout.root)
    assert ring.open_with_passphrase(header, PASSPHRASE) == planned.rotation.key
    assert header.generation == 2
    house.desk.open()


def test_nothing_of_the_old_key_or_the_old_pages_is_left_in_any_file(house: Any) -> None:
    furnish(house)
    house.desk.vault.writer.truncate_log()
    old = house.desk.key
    raw = house.layout.database.read_bytes()
    pages = {raw[at : at + 4_096] for at in range(0, len(raw), 4_096)}
    seals = header_file.read(house.layout.root)
    rotated(house)
    for path in house.layout.root.rglob("*"):
        if path.is_file():
            found = path.read_bytes()
            assert not pages & {found[at : at + 4_096] for at in range(0, len(found), 4_096)}, path.name
            assert not any(slot.seal.wrapped in found for slot in seals.slots), path.name
            assert old.sqlcipher_key()[2:-1] not in found


def test_notes_of_running_tasks_come_along(house: Any) -> None:
    """A backup leaves them out; a new key is no reason to lose them."""
    with house.desk.vault.writer.transaction():
        house.desk.vault.writer.run("CREATE TABLE IF NOT EXISTS task_probe(a TEXT)")
        house.desk.vault.writer.run("INSERT INTO task_probe VALUES('an open question')")
    rotated(house)
    assert house.desk.vault.reader.all("SELECT a FROM task_probe") == [("an open question",)]


def test_a_slot_whose_secret_is_not_at_hand_is_not_dropped_unasked(house: Any) -> None:
    ring.add_passphrase(house.layout.root, house.desk.key, "a second passphrase", KdfProfile.test())
    with pytest.raises(Usage, match="a passphrase that was not given"):
        plan(house.layout, house.desk.key)
    planned = rotated(house, drop_others=True)
    assert [one["type"] for one in planned.dropped] == ["passphrase"]
    with pytest.raises(WrongKey):
        ring.open_with_passphrase(header_file.read(house.layout.root), "a second passphrase")
    assert "no longer opens" in rotation.warnings(planned, [])[0]


def test_the_recovery_code_is_kept_when_it_is_given_and_new_when_it_is_not(house: Any) -> None:
    planned = rotated(house, recovery_code=house.code)
    assert planned.rotation.recovery_code is None
    assert ring.open_with_recovery(header_file.read(house.layout.root), house.code) == house.desk.key
    code = rotated(house).rotation.recovery_code
    assert code is not None
    header = header_file.read(house.layout.root)
    assert ring.open_with_recovery(header, code) == house.desk.key
    with pytest.raises(WrongKey):
        ring.open_with_recovery(header, house.code)


@pytest.mark.parametrize("given", [{"passphrase": "not the passphrase"}, {"recovery_code": "x"}])
def test_a_wrong_secret_changes_nothing(house: Any, given: dict[str, Any]) -> None:
    before = house.layout.header.read_bytes()
    with pytest.raises(WrongKey):
        rotated(house, **given)
    assert house.layout.header.read_bytes() == before


def test_an_older_backup_opens_as_before_and_comes_back_under_the_new_key(house: Any) -> None:
    gone = furnish(house)
    before = house.contents()
    path = house.back_up()
    planned = rotated(house)
    (warning,) = rotation.warnings(planned, [str(path)])
    assert "1 older backup opens as before" in warning
    house.desk.add("Only in the newer one.")
    house.restore(path)
    assert house.contents() == before
    assert house.desk.key == planned.rotation.key
    assert house.desk.add(gone).outcome is Outcome.REFUSED


def test_a_rotation_that_is_given_up_or_finds_damage_leaves_the_vault_as_it_was(house: Any) -> None:
    for number in range(200):
        house.desk.add(f"Shelf {number} holds box {number}.")
    before, old = house.contents(), house.desk.key
    planned = plan(house.layout, old)
    house.desk.vault.close()

    def given_up(stage: str, _done: int, _all: int) -> None:
        if stage == "checking":
            raise Locked("enough")

    with pytest.raises(Locked):
        rotation.rotate(house.layout, planned, house.clock, "person", given_up)
    whole = house.layout.database.read_bytes()
    hurt = bytearray(whole)
    hurt[len(hurt) // 2] ^= 1
    house.layout.database.write_bytes(hurt)
    with pytest.raises(VaultDamaged):
        rotation.rotate(house.layout, planned, house.clock, "person", quiet)
    house.layout.database.write_bytes(whole)
    ring.add_passphrase(house.layout.root, old, "a second passphrase", KdfProfile.test())
    with pytest.raises(Busy):
        rotation.rotate(house.layout, planned, house.clock, "person", quiet)
    assert [path.name for path in house.layout.root.iterdir() if path.name.startswith(".")] == []
    house.desk.open()
    assert house.contents() == before


def test_a_vault_that_lost_acknowledged_changes_keeps_its_key_until_a_person_saw_that(house: Any) -> None:
    """The new mark would hide the loss."""
    house.desk.add("One.")
    house.desk.vault.close()
    older = house.layout.database.read_bytes()
    house.desk.open()
    house.desk.add("Two.")
    house.desk.vault.close()
    house.layout.database.write_bytes(older)
    with pytest.raises(VaultDamaged, match="acknowledged changes are missing"):
        rotation.rotate(house.layout, plan(house.layout, house.desk.key), house.clock, "person", quiet)
    house.desk.open()


# ------------------------------------------------------------------------------------------- kill -9


def interrupt(step: str) -> None:
    """Make this process die, as by kill -9, right behind `step` of a rotation."""

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def behind(owner: Any, name: str, *, when: Callable[..., bool] = lambda *_: True) -> None:
        real = getattr(owner, name)

        def call(*args: Any, **how: Any) -> Any:
            found = real(*args, **how)
            if when(*args):
                die()
            return found

        setattr(owner, name, call)

    def moved(name: str) -> None:
        behind(Path, "replace", when=lambda path, _to: path.name == name)

    verified: list[int] = []

    def nth(number: int) -> Callable[..., bool]:
        return lambda *_: verified.append(0) or len(verified) == number

    steps: dict[str, Callable[[], None]] = {
        "room made": lambda: behind(rotation.backup, "new_room"),
        "copy begun": lambda: behind(
            Database, "__init__", when=lambda _db, path, *_: ".rotating" in str(path)
        ),
        "copied": lambda: behind(snapshot, "take"),
        "copy read": lambda: behind(snapshot, "verify", when=nth(1)),
        "compared": lambda: behind(rotation, "_compare"),
        "noted": lambda: behind(rotation, "_note"),
        "mark written": lambda: behind(rotation, "_write"),
        "header checked": lambda: behind(header_file, "read"),
        "header in room": lambda: behind(archive, "sync_file", when=nth(1)),
        "room synced": lambda: behind(archive, "sync_folder", when=nth(1)),
        "decided": lambda: behind(Path, "rename", when=lambda path, _to: ".rotating" in path.name),
        "log removed": lambda: behind(Path, "unlink", when=lambda path: path.name == "mark"),
        "database moved": lambda: moved("vault.db"),
        "mark moved": lambda: moved("mark"),
        "copy moved": lambda: moved("vault.json.bak"),
        "header moved": lambda: moved("vault.json"),
        "room removed": lambda: behind(exchange, "finish"),
    }
    assert list(steps) == STEPS
    steps[step]()


def in_child(work: Callable[[], Any]) -> int:
    """Run `work` in a child; its exit status, or minus the signal that ended it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        work()
        os._exit(0)
    finally:
        os._exit(70)


def test_killed_at_any_step_exactly_one_key_opens_the_vault_and_nothing_is_missing(
    house: Any, tmp_path: Path
) -> None:
    gone = furnish(house)
    before, old = rows(house.desk.vault), house.desk.key
    house.desk.vault.close()
    safe = tmp_path / "safe"
    shutil.copytree(house.layout.root, safe)
    generations: list[int] = []
    for step in STEPS:
        home = HomeLayout(tmp_path / step.replace(" ", "-"))
        shutil.copytree(safe, home.root)
        planned = plan(home, old)
        new = planned.rotation.key

        def work(home: HomeLayout = home, planned: rotation.Planned = planned, step: str = step) -> None:
            interrupt(step)
            rotation.rotate(home, planned, house.clock, "person", quiet)

        assert in_child(work) == -signal.SIGKILL, step
        exchange.finish(home)
        exchange.sweep(home)
        header = header_file.read(home.root)
        key = ring.open_with_passphrase(header, PASSPHRASE)
        assert [opens(home.database, one) for one in (old, new)] == [key == old, key == new], step
        vault = house.opened(home, key)
        assert rows(vault) == before, step
        assert vault.warnings == [], step
        assert vault.writer.damaged_pages() == [], step
        vault.close()
        assert header_file.restorable(home.root) == header, step
        assert not [one.name for one in home.root.iterdir() if one.name.startswith(".")], step
        generations.append(header.generation)
    assert generations == [1 if STEPS.index(step) < STEPS.index("decided") else 2 for step in STEPS]
    house.desk.open()
    assert house.desk.add(gone).outcome is Outcome.REFUSED


CHILD = """
import sys
from pathlib import Path
from memvault.clock import SystemClock
from memvault.keys import header_file, ring
from memvault.paths import HomeLayout
from memvault.services import rotation

home = HomeLayout(Path(sys.argv[1]))
key = ring.open_with_passphrase(header_file.read(home.root), sys.argv[2])
planned = rotation.plan(home, key, sys.argv[2], None, drop_others=False)
print("ready", flush=True)
rotation.rotate(home, planned, SystemClock(), "person", lambda *_: None)
print("done", flush=True)
"""


@pytest.mark.parametrize("rounds", [4, pytest.param(60, marks=pytest.mark.long)])
def test_kill_9_at_any_moment_of_a_rotation_leaves_one_whole_vault(house: Any, rounds: int) -> None:
    """Moments inside SQLite's own writing as well: by time, not by step."""
    furnish(house)
    before = rows(house.desk.vault)
    house.desk.vault.close()
    generations: set[int] = set()
    for number in range(rounds):
        command = [sys.executable, "-P", "-c", CHILD, str(house.layout.root), PASSPHRASE]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            try:
                child.wait(0.3 * number / rounds)
            except subprocess.TimeoutExpired:
                child.kill()
        exchange.finish(house.layout)
        exchange.sweep(house.layout)
        header = header_file.read(house.layout.root)
        key = ring.open_with_passphrase(header, PASSPHRASE)
        vault = house.opened(house.layout, key)
        try:
            assert rows(vault) == before, number
            assert vault.warnings == []
            assert vault.writer.damaged_pages() == []
        finally:
            vault.close()
        generations.add(header.generation)
    house.desk.key = key
    house.desk.open()
    assert min(generations) < max(generations) or rounds < 10


def test_a_full_disk_leaves_the_old_key_in_force(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(house)
    before, old = house.contents(), house.desk.key
    planned = plan(house.layout, old)
    house.desk.vault.close()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(archive, "sync_file", full)
        with pytest.raises(MemvaultError) as error:
            rotation.rotate(house.layout, planned, house.clock, "person", quiet)
    assert error.value.code == "disk_full"
    house.desk.open()
    assert house.contents() == before
    assert not [one.name for one in house.layout.root.iterdir() if one.name.startswith(".")]
