"""A scratch home for the real command and the real daemon, with the deterministic embedder."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import pytest

from memvault.cli import entry

MEMVAULT = Path(sys.executable).with_name("memvault")
PASSPHRASE = "a passphrase for tests only"
TIMEOUT_S = 30


@dataclass
class Home:
    """The command bound to one home below /tmp: socket paths are limited to about 100 bytes."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    passphrase = PASSPHRASE

    @property
    def path(self) -> Path:
        return Path(self.env["MEMVAULT_HOME"])

    def beside(self, name: str) -> Home:
        """Another home below the same folder."""
        return Home(self.root, {**self.env, "MEMVAULT_HOME": str(self.root / name)})

    @property
    def secret(self) -> Path:
        return self.root / "pass.txt"

    def run(
        self, *args: str, given: bytes = b"", env: dict[str, str] | None = None, exec_it: bool = False
    ) -> Finished:
        """Run without a terminal. `env` adds variables; an empty value removes one.

        The command runs in a forked child of this process, which saves the interpreter's start; `exec_it`
        starts the installed program instead.
        """
        with TemporaryFile() as fed, TemporaryFile() as out, TemporaryFile() as err:
            fed.write(given)
            fed.seek(0)
            if exec_it:
                done = subprocess.run(
                    [str(MEMVAULT), *args], env=self._env(env), cwd=self.root, timeout=TIMEOUT_S, check=False,
                    stdin=fed, stdout=out, stderr=err, start_new_session=True,
                )  # fmt: skip
                status = done.returncode
            else:
                status = _forked(list(args), self._env(env), self.root, (fed, out, err))
            out.seek(0)
            err.seek(0)
            return Finished(args, status, out.read().decode(), err.read().decode())

    def json(self, *args: str, status: int = 0, **how: Any) -> Any:
        """Run with --json and return the one document on stdout."""
        done = self.run(*args, "--json", **how)
        assert done.status == status, done
        return json.loads(done.out)

    def error(self, *args: str, status: int, **how: Any) -> dict[str, str]:
        """Run with --json and return the error document on stderr; stdout must be empty."""
        done = self.run(*args, "--json", **how)
        assert (done.status, done.out) == (status, ""), done
        return json.loads(done.err)["error"]

    def add(self, content: str, *more: str, **how: Any) -> Any:
        """Add a private fact; `how` as for `json`."""
        return self.json(
            "add", content, "--kind", "fact", "--scope", "private", "--source", "user:me", *more, **how
        )

    def on_terminal(
        self, *args: str, answers: Sequence[tuple[str, str]] = (), env: dict[str, str] | None = None
    ) -> Finished:
        """Run on a pseudo terminal of 100 columns, typing each answer when its question has appeared."""
        return _on_terminal([str(MEMVAULT), *args], self._env(env), self.root, list(answers))

    def stop(self) -> None:
        """End the daemon of this home by its own process id."""
        if not (self.path / "run" / "daemon.sock").exists():
            return
        done = self.run("status", "--json")
        pid = json.loads(done.out)["daemon"]["pid"] if done.status == 0 else None
        if pid:
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + TIMEOUT_S
            while _alive(pid) and time.monotonic() < deadline:
                time.sleep(0.02)

    def _env(self, more: dict[str, str] | None) -> dict[str, str]:
        merged = {**self.env, **(more or {})}
        return {name: value for name, value in merged.items() if value}


@dataclass(frozen=True)
class Finished:
    """What a command left: its arguments, exit status and both streams (one on a terminal)."""

    args: tuple[str, ...]
    status: int
    out: str
    err: str


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def _forked(args: list[str], env: dict[str, str], cwd: Path, streams: Sequence[IO[bytes]]) -> int:
    """Run one command line in a child with these streams and this environment; returns its exit status."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    status = 70
    try:
        os.setsid()
        os.chdir(cwd)
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        os.environ.clear()
        os.environ.update(env)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(fd, mode) for fd, mode in enumerate("rww"))
        signal.alarm(TIMEOUT_S)
        status = entry.run(args)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _on_terminal(
    command: list[str], env: dict[str, str], cwd: Path, answers: list[tuple[str, str]]
) -> Finished:
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(command[0], command, env)
    heard, seen_to, waiting = bytearray(), 0, list(answers)
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:
            break
        if not chunk:
            break
        heard += chunk
        while waiting and (at := heard.find(waiting[0][0].encode(), seen_to)) >= 0:
            question, answer = waiting.pop(0)
            seen_to = at + len(question.encode())
            os.write(terminal, answer.encode() + b"\n")
    os.close(terminal)
    _, state = os.waitpid(pid, 0)
    assert not waiting, f"never asked: {waiting[0][0]!r}, but: {heard.decode(errors='replace')}"
    return Finished(tuple(command[1:]), os.waitstatus_to_exitcode(state), heard.decode(errors="replace"), "")


def _make_home() -> Home:
    root = Path(tempfile.mkdtemp(prefix="mvc", dir="/tmp"))
    home = Home(root)
    (root / "u").mkdir(mode=0o700)
    home.secret.write_text(PASSPHRASE + "\n")
    home.secret.chmod(0o600)
    home.env.update(
        PATH=os.environ["PATH"],
        HOME=str(root / "u"),
        LANG="C.UTF-8",
        TERM="xterm",
        COLUMNS="100",
        MEMVAULT_HOME=str(root / "h"),
        MEMVAULT_CACHE_HOME=str(root / "c"),
        MEMVAULT_PASSPHRASE_FILE=str(home.secret),
        MEMVAULT_EMBEDDER="fake",
        XDG_RUNTIME_DIR=str(root / "u"),
    )
    return home


@contextlib.contextmanager
def _scratch(*, vault: bool) -> Iterator[Home]:
    """A scratch home, with an open vault if wanted; afterwards its daemon is stopped and all is removed."""
    home = _make_home()
    try:
        if vault:
            home.json("init", "--no-keychain")
        yield home
    finally:
        home.stop()
        shutil.rmtree(home.root, ignore_errors=True)


@pytest.fixture
def bare() -> Iterator[Home]:
    """A home without a vault."""
    with _scratch(vault=False) as home:
        yield home


@pytest.fixture
def fresh() -> Iterator[Home]:
    """A home with an open, empty vault of its own."""
    with _scratch(vault=True) as home:
        yield home


@pytest.fixture(scope="session")
def shared() -> Iterator[Home]:
    """One open vault for tests that stay within a project of their own and never lock it."""
    with _scratch(vault=True) as home:
        yield home
