"""What all tests share: a scrubbed environment, no network, a clock that can be set, and short scratch homes.

A vault made here derives its key without protection (`KdfProfile.test`), so that opening it costs nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from memvault import launch
from memvault.client import Client
from memvault.daemon import process
from memvault.errors import Busy, MemvaultError
from memvault.keys import header_file, ring
from memvault.keys.envelope import VaultKey
from memvault.keys.kdf import KdfProfile
from memvault.paths import HomeLayout, cache_dir
from memvault.rpc import framing
from memvault.services.vault import create_database

PASSPHRASE = "correct horse battery staple"
PATIENCE_S = 30.0

settings.register_profile("memvault", deadline=None, max_examples=60, database=None)
settings.load_profile("memvault")

_REAL_CACHE = cache_dir()
"""Where the real model lies, looked up before any test moves HOME."""
_REAL_CONNECT = socket.socket.connect


def _stay_home(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6):
        raise AssertionError(f"a test reached for the network: {address}")
    _REAL_CONNECT(self, address)


@pytest.fixture(scope="session", autouse=True)
def scrubbed_session() -> Iterator[None]:
    """Nothing of the developer's own settings, and no network, for fixtures of any scope."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("MEMVAULT_", "XDG_")) or name in process.AGENT_MARKS:
                patch.delenv(name)
        patch.setenv("MEMVAULT_EMBEDDER", "fake")
        patch.setenv("MEMVAULT_CACHE_HOME", str(_REAL_CACHE))
        patch.setattr(socket.socket, "connect", _stay_home)
        yield


@pytest.fixture(autouse=True)
def private_world(
    scrubbed_session: None,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A home of its own for each test, which does not exist yet; the fake embedder unless marked `model`."""
    scratch = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("HOME", str(scratch))
    monkeypatch.setenv("MEMVAULT_HOME", str(scratch / "vault"))
    if request.node.get_closest_marker("model") is not None:
        monkeypatch.delenv("MEMVAULT_EMBEDDER")


class FakeClock:
    """A clock that stands still until told otherwise."""

    def __init__(self) -> None:
        self.instant = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
        self.monotonic = 1_000.0

    def now(self) -> datetime:
        return self.instant

    def monotonic_s(self) -> float:
        return self.monotonic

    def advance(self, seconds: float) -> None:
        self.instant += timedelta(seconds=seconds)
        self.monotonic += seconds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def until() -> Callable[..., Any]:
    """Wait for a condition and return what it gave."""
    return wait_for


def wait_for(condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError(f"waited {patience_s:.0f} s in vain: {what}")


def alive(pid: int) -> bool:
    """Whether a process runs; a child of ours that ended is reaped here."""
    for child in list(launch._children):
        if child.pid == pid and child.poll() is not None:
            return False
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


class Wire:
    """A raw connection: whole lines or any bytes out, one message or the end in."""

    def __init__(self, layout: HomeLayout) -> None:
        sock = launch.try_connect(layout)
        assert sock is not None, "nobody listens"
        self.sock = sock
        self.sock.settimeout(PATIENCE_S)
        self._buffer = b""

    def send(self, raw: bytes) -> None:
        self.sock.sendall(raw)

    def ask(self, method: str, params: Any = None, number: Any = 1) -> dict[str, Any] | None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        self.send(json.dumps(message).encode() + b"\n")
        return self.read()

    def read(self) -> Any:
        """The next message or batch of answers; None when the daemon closed the connection."""
        while b"\n" not in self._buffer:
            try:
                chunk = self.sock.recv(65_536)
            except ConnectionError:
                return None
            if not chunk:
                return None
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return framing.parse(line)

    def close(self) -> None:
        self.sock.close()


def _admitted(client: Client) -> bool:
    try:
        client.connect()
    except Busy:
        return False
    return True


class DaemonHome:
    """One home below /tmp (socket paths are short), its daemon, and everybody connected to it."""

    passphrase = PASSPHRASE

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or Path(tempfile.mkdtemp(prefix="mvt", dir="/tmp"))
        self.layout = HomeLayout(self.root)
        self.recovery_code = ""
        self._open: list[Client | Wire] = []
        self._pids: set[int] = set()

    def make_vault(self) -> DaemonHome:
        """A locked vault whose passphrase derives in a millisecond."""
        self.root.mkdir(mode=0o700, exist_ok=True)
        made = ring.create(
            self.root, passphrase=self.passphrase, use_keychain=False, profile=KdfProfile.test()
        )
        create_database(self.layout, made.key)
        self.recovery_code = made.recovery_code
        return self

    def key(self) -> VaultKey:
        return ring.open_with_passphrase(header_file.read(self.root), self.passphrase)

    def connect(self, name: str = "cli", **how: Any) -> Client:
        """A connection that has shown nothing yet; starts the daemon."""
        client = Client(self.root, name=name, **how)
        wait_for(lambda: _admitted(client), "a free place among the daemon's connections")
        self._open.append(client)
        self._pids.add(client.hello["pid"])
        return client

    def person(self, name: str = "cli", **how: Any) -> Client:
        """A connection of somebody who has just unlocked the vault, and so has shown to be there."""
        client = self.connect(name, **how)
        assert client.hello["principal"]["kind"] == "person", "run the tests outside of an agent host"
        client.call("vault.unlock", {"passphrase": self.passphrase})
        return client

    def wire(self) -> Wire:
        """A raw connection; the daemon runs already."""
        wire = Wire(self.layout)
        self._open.append(wire)
        return wire

    def pid(self) -> int:
        pid = self.connect().hello["pid"]
        return int(pid)

    def kill(self, how: int = signal.SIGKILL) -> None:
        """End the daemon by its id and wait until it is gone."""
        self.end(self.pid(), how)

    def end(self, pid: int, how: int = signal.SIGTERM) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)
        wait_for(lambda: not alive(pid), "the daemon's end")

    def files(self) -> Iterator[tuple[Path, bytes]]:
        """Every plain file below the home with its bytes; files may vanish while the daemon works."""
        for path in sorted(self.root.rglob("*")):
            with contextlib.suppress(FileNotFoundError):
                if path.is_file() and not path.is_symlink():
                    yield path, path.read_bytes()

    def log(self) -> str:
        return self.layout.log.read_text() if self.layout.log.exists() else ""

    def hang_up(self) -> None:
        """Close every connection made through this home."""
        for connection in self._open:
            connection.close()
        self._open.clear()

    def discard(self) -> None:
        with (
            contextlib.suppress(MemvaultError, OSError),
            Client(self.root, autostart=False) as client,
        ):
            client.connect()
            self._pids.add(client.hello["pid"])
        self.hang_up()
        for pid in self._pids:
            if alive(pid):
                self.end(pid)
        shutil.rmtree(self.root, ignore_errors=True)


@pytest.fixture
def bare_home() -> Iterator[DaemonHome]:
    """A home without a vault and without a daemon."""
    home = DaemonHome()
    yield home
    home.discard()


@pytest.fixture
def daemon_home() -> Iterator[DaemonHome]:
    """A home of its own with a locked vault; the first client starts its daemon."""
    home = DaemonHome().make_vault()
    yield home
    home.discard()


@pytest.fixture(scope="module")
def shared_home(scrubbed_session: None) -> Iterator[DaemonHome]:
    """One home and daemon for a module's tests, which neither lock it nor end it."""
    home = DaemonHome().make_vault()
    yield home
    home.discard()


@pytest.fixture
def new_home() -> Iterator[Callable[..., DaemonHome]]:
    """Homes made on demand, for tests that need a place or a number of their own."""
    made: list[DaemonHome] = []

    def make(root: Path | None = None) -> DaemonHome:
        made.append(DaemonHome(root))
        return made[-1]

    yield make
    for home in made:
        home.discard()


def a_fact(content: str, **more: Any) -> dict[str, Any]:
    """Parameters of memory.add."""
    source = {"type": "user", "ref": more.pop("ref", "test")}
    return {"content": content, "kind": "fact", "scope": "private", "source": source, **more}


@pytest.fixture
def fact() -> Callable[..., dict[str, Any]]:
    return a_fact
