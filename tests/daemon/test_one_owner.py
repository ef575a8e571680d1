"""SECURITY 13 to 17: one process owns a vault, in a place that is safe, and nobody else gets in."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault import launch
from memvault.client import Client
from memvault.errors import DaemonDown, MemvaultError, UnsafePath

AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="needs root: to become another user, or to mount")


def run_daemon(home: Any, timeout_s: float = 20) -> subprocess.CompletedProcess[str]:
    """Run a daemon in the foreground until it ends by itself."""
    command = [sys.executable, "-P", "-m", "memvault.daemon.main", "--home", str(home.root)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)


def test_a_second_daemon_leaves_the_first_alone_and_ends_well(daemon_home: Any) -> None:
    pid = daemon_home.pid()
    done = run_daemon(daemon_home)
    assert (done.returncode, done.stderr) == (0, "")
    assert daemon_home.pid() == pid


def test_twenty_clients_at_once_start_one_daemon(daemon_home: Any) -> None:
    pids: list[int] = []
    failures: list[MemvaultError] = []

    def start() -> None:
        try:
            with Client(daemon_home.root) as client:
                pids.append(client.call("status")["daemon"]["pid"])
        except MemvaultError as error:
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(pids) == 20
    assert pids == [daemon_home.pid()] * 20


def test_a_socket_left_by_a_killed_daemon_is_replaced(daemon_home: Any) -> None:
    first = daemon_home.pid()
    daemon_home.kill(signal.SIGKILL)
    assert daemon_home.layout.socket.is_socket()
    second = daemon_home.pid()
    assert second != first
    daemon_home.person().call("status")


def test_a_clean_end_takes_the_socket_along(daemon_home: Any, until: Callable[..., Any]) -> None:
    pid = daemon_home.pid()
    daemon_home.connect().call("shutdown")
    daemon_home.end(pid)
    assert not daemon_home.layout.socket.exists()
    assert daemon_home.log() == ""


def test_a_client_that_comes_while_a_daemon_is_leaving_gets_the_next_one(daemon_home: Any) -> None:
    daemon_home.layout.run.mkdir(mode=0o700)
    leaving = os.open(daemon_home.layout.owner_lock, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(leaving, fcntl.LOCK_EX)
    timer = threading.Timer(1.0, lambda: os.close(leaving))
    timer.start()
    assert daemon_home.connect().call("status")["state"] == "locked"
    timer.join()


def test_without_autostart_nothing_is_started(daemon_home: Any) -> None:
    with pytest.raises(DaemonDown):
        Client(daemon_home.root, autostart=False).connect()
    assert not daemon_home.layout.run.exists()


def test_a_daemon_whose_socket_was_stolen_ends(daemon_home: Any) -> None:
    pid = daemon_home.pid()
    daemon_home.layout.socket.unlink()
    thief = socket.socket(socket.AF_UNIX)
    thief.bind(str(daemon_home.layout.socket))
    daemon_home.end(pid, 0)
    assert daemon_home.layout.socket.exists(), "what the thief put there is not ours to remove"
    thief.close()


@pytest.mark.parametrize("what", ["link", "dangling link", "file", "folder"])
def test_whatever_is_no_socket_in_its_place_is_refused(
    daemon_home: Any, tmp_path: Path, request: pytest.FixtureRequest, what: str
) -> None:
    place = daemon_home.layout.socket
    place.parent.mkdir(mode=0o700)
    if what == "file":
        place.touch()
    elif what == "folder":
        place.mkdir()
    else:
        elsewhere = socket.socket(socket.AF_UNIX)
        with launch.short_path(tmp_path / "s") as name:
            elsewhere.bind(name)
        elsewhere.listen()
        request.addfinalizer(elsewhere.close)
        place.symlink_to(tmp_path / ("s" if what == "link" else "nowhere"))
    with pytest.raises(UnsafePath):
        daemon_home.connect()
    assert run_daemon(daemon_home).returncode == 1
    assert place.is_symlink() or place.exists()


@pytest.mark.parametrize("name", ["daemon.lock", "start.lock"])
def test_a_link_in_place_of_a_lock_is_refused_and_its_target_untouched(
    daemon_home: Any, tmp_path: Path, name: str
) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    daemon_home.layout.run.mkdir(mode=0o700)
    (daemon_home.layout.run / name).symlink_to(target)
    with pytest.raises(MemvaultError) as refusal:
        daemon_home.connect()
    assert "link" in refusal.value.message or isinstance(refusal.value, UnsafePath)
    assert target.read_text() == "precious"


@pytest.mark.parametrize("name", ["vault.json", "vault.db", "mark"])
def test_a_link_in_place_of_a_file_of_the_vault_is_refused(
    daemon_home: Any, tmp_path: Path, name: str
) -> None:
    place = daemon_home.root / name
    if name == "mark":
        (tmp_path / name).write_bytes(b"precious")
    else:
        place.rename(tmp_path / name)
    before = (tmp_path / name).read_bytes()
    place.symlink_to(tmp_path / name)
    with pytest.raises(UnsafePath):
        daemon_home.person()
    assert (tmp_path / name).read_bytes() == before


def test_a_linked_run_folder_is_refused(daemon_home: Any, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    daemon_home.layout.run.symlink_to(tmp_path / "run")
    with pytest.raises(MemvaultError):
        daemon_home.connect()
    assert list((tmp_path / "run").glob("*.sock")) == []


def test_a_home_that_others_can_write_is_not_trusted(daemon_home: Any) -> None:
    daemon_home.root.chmod(0o777)
    with pytest.raises(MemvaultError, match="written by others"):
        daemon_home.connect()
    daemon_home.root.chmod(0o700)


def test_files_are_private_even_under_a_careless_umask(new_home: Callable[..., Any]) -> None:
    before = os.umask(0)
    try:
        home = new_home()
        shutil.rmtree(home.root)
        client = home.connect()
        client.call("vault.init", {"passphrase": home.passphrase})
        source = {"type": "user", "ref": "x"}
        client.call("memory.add", {"content": "x", "kind": "fact", "scope": "private", "source": source})
    finally:
        os.umask(before)
    modes = {p.relative_to(home.root): stat.S_IMODE(p.lstat().st_mode) for p in home.root.rglob("*")}
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    for path, mode in modes.items():
        wanted = 0o700 if (home.root / path).is_dir() else 0o600
        assert mode == wanted, path
    assert {"daemon.sock", "daemon.lock", "start.lock", "vault.db", "vault.json", "mark", "reserve"} <= {
        path.name for path in modes
    }


@AS_ROOT
def test_another_users_process_is_turned_away_whatever_the_files_allow(daemon_home: Any) -> None:
    daemon_home.person()
    daemon_home.root.chmod(0o711)
    daemon_home.layout.run.chmod(0o711)
    daemon_home.layout.socket.chmod(0o666)
    code = (
        "import os, socket, sys\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1])\n"
        'try:\n    s.sendall(b\'{"jsonrpc":"2.0","id":1,"method":"status"}\\n\')\n    print(s.recv(100))\n'
        "except ConnectionError:\n    print(b'')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(daemon_home.layout.socket)],
        capture_output=True, text=True, timeout=20, check=True,
    )  # fmt: skip
    daemon_home.root.chmod(0o700)
    assert done.stdout.strip() == "b''"
    assert "another user" in daemon_home.log()
    assert daemon_home.connect().call("status")["state"] == "unlocked"


def test_a_socket_path_longer_than_the_system_takes_works_all_the_same(
    new_home: Callable[..., Any], tmp_path: Path
) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    home = new_home(deep / "home").make_vault()
    assert len(str(home.layout.socket)) > 120
    assert home.person().call("status")["state"] == "unlocked"


def test_the_daemon_lets_no_crash_write_its_memory_to_disk(daemon_home: Any) -> None:
    limits = Path(f"/proc/{daemon_home.pid()}/limits").read_text()
    (line,) = [line for line in limits.splitlines() if line.startswith("Max core file size")]
    assert line.split()[4:6] == ["0", "0"]


def test_the_daemon_inherits_no_secrets_and_no_agent_marks(daemon_home: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-zanzibar")
    monkeypatch.setenv("MEMVAULT_PASSPHRASE_FILE", "/nowhere")
    environment = Path(f"/proc/{daemon_home.pid()}/environ").read_text()
    assert "zanzibar" not in environment
    assert "CLAUDECODE" not in environment
    assert "PASSPHRASE" not in environment


def test_there_is_no_tcp_port(daemon_home: Any) -> None:
    pid = daemon_home.pid()
    inodes = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        link = str(fd.readlink())
        if link.startswith("socket:["):
            inodes.add(link[8:-1])
    for table in ("tcp", "tcp6", "udp", "udp6"):
        rows = Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        assert not [row for row in rows if row.split()[9] in inodes], table
