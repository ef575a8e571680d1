"""Reach the daemon's socket, starting the daemon when nobody owns it. Standard library only.

Owns the start lock (twenty clients start one daemon), the clean environment a daemon gets, and Unix
socket paths longer than the system's limit. Knows nothing of messages but the one that ends a daemon.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator

from memvault.errors import DaemonDown, ReadOnly, UnsafePath
from memvault.paths import HomeLayout
from memvault.rpc import framing

START_TIMEOUT_S = 20.0
LONGEST_SOCKET_PATH = 100
"""Bytes that fit in sockaddr_un on every platform (104 on macOS, 108 on Linux)."""

_KEPT = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY", "WAYLAND_DISPLAY", "SystemRoot",
)  # fmt: skip
_KEPT_PREFIXES = ("LC_", "XDG_", "OPENBLAS_", "OMP_", "MEMVAULT_")
_DROPPED = {"MEMVAULT_PASSPHRASE_FILE"}

_children: list[subprocess.Popen[bytes]] = []
"""Started daemons, kept so that they are reaped when they end before us."""


@contextlib.contextmanager
def short_path(path: os.PathLike[str]) -> Iterator[str]:
    """A name for `path` that fits into a socket address while the block runs.

    Long paths go through /proc/self/fd on Linux. Raises DaemonDown where there is no such way.
    """
    text = os.fspath(path)
    if len(os.fsencode(text)) <= LONGEST_SOCKET_PATH:
        yield text
        return
    if not os.path.isdir("/proc/self/fd"):
        raise DaemonDown("the path of the vault's socket is too long", "Choose a shorter MEMVAULT_HOME.")
    folder = os.open(os.path.dirname(text), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{os.path.basename(text)}"
    finally:
        os.close(folder)


def try_connect(layout: HomeLayout) -> socket.socket | None:
    """A connected socket, or None when nobody listens. Raises UnsafePath for what is no socket of ours."""
    try:
        found = os.lstat(layout.socket)
        _check_outside(layout)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        raise UnsafePath("something else lies where the vault's socket belongs")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_path(layout.socket) as name:
            sock.connect(name)
    except OSError as error:
        sock.close()
        if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTSOCK):
            return None
        if error.errno in (errno.EAGAIN, errno.EACCES):
            raise DaemonDown("the vault's socket does not take connections") from error
        raise
    return sock


def _check_outside(layout: HomeLayout) -> None:
    """Raises UnsafePath when the folder that stands in for HOME/run is not this user's alone."""
    folder = layout.run
    if folder.parent == layout.root:
        return
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise UnsafePath(f"{folder}, where the vault's socket belongs, is not yours alone")


def clean_environment() -> dict[str, str]:
    """What a daemon inherits: no agent marks, no secrets, no editor settings."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name in _KEPT or name.startswith(_KEPT_PREFIXES)) and name not in _DROPPED
    }


def _spawn(layout: HomeLayout) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "memvault.daemon.main", "--home", os.fspath(layout.root)]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
        env=clean_environment(),
    )


@contextlib.contextmanager
def _starting(layout: HomeLayout, deadline: float) -> Iterator[None]:
    """Hold the start lock, so that one client starts the daemon and the others wait for it."""
    for folder in (layout.root, layout.run):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_outside(layout)
    flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        lock = os.open(layout.start_lock, flags, 0o600)
    except OSError as error:
        if error.errno in (errno.EROFS, errno.EACCES):
            raise
        raise UnsafePath("the start lock cannot be opened safely") from error
    try:
        os.fchmod(lock, 0o600)
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise DaemonDown("another start of the daemon does not finish") from error
                time.sleep(0.01)
        yield
    finally:
        os.close(lock)


def connect(layout: HomeLayout, *, autostart: bool) -> socket.socket:
    """A connected socket; starts the daemon when nobody listens and `autostart`. Raises DaemonDown."""
    sock = try_connect(layout)
    if sock is not None:
        return sock
    if not autostart:
        raise DaemonDown("the daemon is not running", "`memvault status` starts it.")
    deadline = time.monotonic() + START_TIMEOUT_S
    try:
        with _starting(layout, deadline):
            return try_connect(layout) or _start(layout, deadline)
    except OSError as error:
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise ReadOnly("the vault's home cannot be written") from error
        raise DaemonDown(f"the vault's home cannot be used: {os.strerror(error.errno or 0)}") from error


def _start(layout: HomeLayout, deadline: float) -> socket.socket:
    child = _spawn(layout)
    try:
        while time.monotonic() < deadline:
            sock = try_connect(layout)
            if sock is not None:
                return sock
            if child.poll() == 0:
                # Another daemon owned the vault and may be on its way out.
                _let_go(child)
                child = _spawn(layout)
            if child.poll() not in (None, 0):
                raise DaemonDown(f"the daemon stopped while starting: {_last_words(child)}")
            time.sleep(0.005)
    finally:
        _let_go(child)
    raise DaemonDown("the daemon did not answer in time")


def _let_go(child: subprocess.Popen[bytes]) -> None:
    """Stop listening to a started daemon, and reap those that have ended."""
    if child.stderr is not None:
        child.stderr.close()
    _children[:] = [one for one in (*_children, child) if one.poll() is None]


def _last_words(child: subprocess.Popen[bytes]) -> str:
    """What a daemon that could not start said; it names files and rules, never memories."""
    said = child.stderr.read(2_000).decode("utf-8", "replace").strip() if child.stderr else ""
    silent = "it gave no reason" if (child.returncode or 0) >= 0 else f"signal {-child.returncode} ended it"
    return said.rpartition("\n")[2].removeprefix("memvault: ") or silent


def replace(layout: HomeLayout) -> None:
    """End a daemon that speaks another protocol version, and wait until it is gone."""
    sock = try_connect(layout)
    if sock is None:
        return
    with sock:
        sock.settimeout(START_TIMEOUT_S)
        sock.sendall(framing.request(1, "shutdown", {}))
        while sock.recv(4096):
            pass
