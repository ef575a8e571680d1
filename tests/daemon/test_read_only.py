"""SECURITY 6: where nothing can be written a vault is open for reading, says so, and is never made anew."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import MemvaultError, ReadOnly, UnsafePath
from memvault.paths import HomeLayout
from memvault.store.connection import Database

AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="needs root: to mount, or to become another user")
NOBODY = 65_534
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("keys.new_recovery_code", {}),
    ("keys.add_passphrase", {"passphrase": "a second passphrase"}),
    ("keys.rotate", {"passphrase": "correct horse battery staple"}),
]


@pytest.fixture
def frozen(new_home: Callable[..., Any], tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A home that is filled by `fill(home)` and then mounted for reading only."""
    mounted: list[Path] = []

    def freeze(fill: Callable[[Any], None]) -> Any:
        home = new_home(tmp_path / "ro").make_vault()
        fill(home)
        place = str(home.root)
        if subprocess.run(["mount", "--bind", place, place], check=False).returncode:
            pytest.skip("cannot mount here")
        mounted.append(home.root)
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        return home

    yield freeze
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


def filled(fact: Any, *, killed: bool) -> Callable[[Any], None]:
    """Three memories; the daemon ends in order, or leaves its log behind."""

    def fill(home: Any) -> None:
        client = home.person()
        for number in range(3):
            client.call("memory.add", fact(f"Ticket {number} is closed by the night shift."))
        home.hang_up()
        home.kill() if killed else home.end(home.pid())
        home.hang_up()

    return fill


@AS_ROOT
@pytest.mark.parametrize("killed", [False, True], ids=["closed", "killed"])
def test_a_vault_on_a_read_only_file_system_can_be_read_and_says_that_it_cannot_be_changed(
    frozen: Callable[..., Any], fact: Any, killed: bool
) -> None:
    home = frozen(filled(fact, killed=killed))
    before = {path: raw for path, raw in home.files() if path.name != "daemon.lock"}
    client = home.connect()
    assert client.call("status")["read_only"]
    client.call("vault.unlock", {"passphrase": home.passphrase})
    status = client.call("status")
    assert (status["state"], status["read_only"], status["memories"]) == ("unlocked", True, 3)
    assert any("can only be read" in warning for warning in status["warnings"])
    assert not any("missing" in warning for warning in status["warnings"]), "what the log holds is read too"
    assert client.call("memory.list")["total"] == 3
    found = client.call("recall", {"query": "ticket 1 night shift"})["results"]
    assert found
    memory = found[0]["id"]
    assert client.call("memory.get", {"id": memory})["content"].startswith("Ticket")
    assert client.call("memory.history", {"id": memory})["versions"]
    assert client.call("audit.verify")["ok"]
    for method, params in [
        *WRITES,
        ("memory.add", fact("One more.")),
        ("memory.edit", {"id": memory, "changes": {"why": "x"}}),
        ("memory.verify", {"id": memory}),
        ("memory.delete", {"ids": [memory]}),
        ("undo", {}),
    ]:
        with pytest.raises(ReadOnly) as refusal:
            client.call(method, params)
        assert (refusal.value.code, refusal.value.exit_status) == ("read_only", 1), method
        assert refusal.value.hint
    checks = {check["name"]: check["ok"] for check in client.call("doctor")["checks"]}
    assert checks["pages"]
    assert checks["event log"]
    assert client.call("vault.check")["ok"]
    client.call("vault.lock")
    assert {path: raw for path, raw in home.files() if path.name != "daemon.lock"} == before


@AS_ROOT
def test_a_backup_of_a_read_only_vault_goes_to_another_disk(
    frozen: Callable[..., Any], fact: Any, tmp_path: Path, new_home: Callable[..., Any]
) -> None:
    home = frozen(filled(fact, killed=False))
    target = tmp_path / "rescued.mvbackup"
    made = home.person().call("backup.make", {"path": str(target)})
    assert (made["memories"], Path(made["path"])) == (3, target)
    copy = new_home().connect()
    restored = copy.call("backup.restore", {"path": str(target), "recovery_code": home.recovery_code})
    assert restored["memories"] == 3


@AS_ROOT
def test_no_vault_is_made_on_a_read_only_file_system_with_or_without_one(
    frozen: Callable[..., Any], fact: Any
) -> None:
    def none(home: Any) -> None:
        for path in home.root.glob("*"):
            path.unlink()

    home = frozen(none)
    client = home.connect()
    assert client.call("status")["state"] == "absent"
    with pytest.raises(ReadOnly):
        client.call("vault.init", {"passphrase": home.passphrase})
    assert client.call("status")["state"] == "absent"
    assert list(home.root.iterdir()) == []


@AS_ROOT
def test_a_home_that_can_be_written_again_gets_its_writing_daemon_back(
    frozen: Callable[..., Any], fact: Any, until: Any
) -> None:
    home = frozen(filled(fact, killed=False))
    client = home.person()
    reading = client.hello["pid"]
    with pytest.raises(ReadOnly):
        client.call("memory.add", fact("One more."))
    client.close()
    subprocess.run(["mount", "-o", "remount,bind,rw", str(home.root)], check=True)
    client = home.person()
    assert client.hello["pid"] != reading
    assert not client.call("status")["read_only"]
    assert client.call("memory.add", fact("One more."))["outcome"] == "active"


def test_a_log_without_its_shared_memory_is_not_left_out_silently(daemon_home: Any, fact: Any) -> None:
    """`immutable=1` would ignore the log and show an older state."""
    filled(fact, killed=True)(daemon_home)
    database = daemon_home.layout.database
    database.with_name("vault.db-shm").unlink()
    place = str(daemon_home.root)
    if os.getuid() != 0 or subprocess.run(["mount", "--bind", place, place], check=False).returncode:
        pytest.skip("cannot mount here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        with pytest.raises(MemvaultError) as refusal:
            Database(database, daemon_home.key(), writable=False)
        assert refusal.value.code == "read_only"
        assert "log" in refusal.value.message
    finally:
        subprocess.run(["umount", "-l", place], check=True)
    assert daemon_home.person().call("memory.list")["total"] == 3


ASK = """
import json, sys
from pathlib import Path
from memvault.client import Client
from memvault.errors import MemvaultError
home, passphrase = Path(sys.argv[1]), sys.argv[2]
answers = {}
with Client(home) as client:
    client.connect()
    answers["pid"] = client.hello["pid"]
    client.call("vault.unlock", {"passphrase": passphrase})
    answers["status"] = client.call("status")
    answers["total"] = client.call("memory.list")["total"]
    try:
        client.call("memory.add", {"content": "One more.", "kind": "fact", "scope": "private",
                                   "source": {"type": "user", "ref": "t"}})
    except MemvaultError as error:
        answers["refused"] = error.code
    client.call("shutdown")
print(json.dumps(answers))
"""


def test_a_home_without_write_permission_can_be_read(daemon_home: Any, fact: Any, tmp_path: Path) -> None:
    filled(fact, killed=False)(daemon_home)
    without: list[str] = []
    if os.getuid() == 0:
        # Root may write whatever the permissions say, unless it gives that power up.
        without = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
        if shutil.which("setpriv") is None or subprocess.run([*without, "true"], check=False).returncode:
            pytest.skip("root cannot give up its power over permissions here")
    for path in sorted(daemon_home.root.rglob("*"), reverse=True):
        path.chmod(0o500 if path.is_dir() else 0o400)
    daemon_home.root.chmod(0o500)
    try:
        done = subprocess.run(
            [*without, sys.executable, "-P", "-c", ASK, str(daemon_home.root), daemon_home.passphrase],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answers = json.loads(done.stdout)
        assert answers["status"]["read_only"]
        assert (answers["total"], answers["refused"]) == (3, "read_only")
    finally:
        daemon_home.root.chmod(0o700)
        for path in daemon_home.root.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)


@AS_ROOT
def test_a_foreign_folder_in_the_place_of_the_socket_outside_is_refused(
    frozen: Callable[..., Any], fact: Any
) -> None:
    """The shared temporary folder is everybody's: whoever was there first must be us."""
    home = frozen(filled(fact, killed=False))
    outside = HomeLayout(home.root).outside
    outside.mkdir(mode=0o777)
    try:
        outside.chmod(0o777)
        os.chown(outside, NOBODY, NOBODY)
        with pytest.raises(UnsafePath):
            home.connect()
    finally:
        outside.rmdir()
