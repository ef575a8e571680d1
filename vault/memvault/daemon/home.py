"""The home folder as a safe place: its folders, the owner lock and the socket (SECURITY, checks 13 to 17).

Owns creating and checking them. One process holds the lock and with it the right to remove a stale socket.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import stat
from pathlib import Path

from memvault.errors import MemvaultError, ReadOnly, UnsafePath
from memvault.launch import short_path
from memvault.paths import HomeLayout

_OTHERS = 0o077
_OTHERS_WRITE = 0o022


class OwnedAlready(MemvaultError):
    """Another daemon owns this vault."""

    code = "owned"


def prepare(layout: HomeLayout) -> None:
    """Make the folders, 0700 and ours. Raises UnsafePath, ReadOnly."""
    for folder in (layout.root, layout.run):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except FileExistsError as error:
            raise UnsafePath(f"{folder.name} is not a folder") from error
        except OSError as error:
            raise ReadOnly("the vault's home cannot be made") from error
        _check_folder(folder, may_link=folder == layout.root)


def _check_folder(folder: Path, *, may_link: bool) -> None:
    found = folder.stat() if may_link else folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafePath(f"{folder.name} is a link or not a folder")
    if found.st_uid != os.getuid():
        raise UnsafePath(f"{folder.name} belongs to somebody else")
    if not found.st_mode & _OTHERS:
        return
    if found.st_mode & _OTHERS_WRITE and any(folder.iterdir()):
        raise UnsafePath(f"{folder.name} can be written by others, so what is in it cannot be trusted")
    try:
        folder.chmod(0o700)
    except OSError as error:
        raise UnsafePath(f"{folder.name} is open to other users, and that cannot be changed") from error


def lock_owner(layout: HomeLayout) -> int:
    """Hold the owner lock for the life of the process; returns the descriptor. Raises OwnedAlready."""
    _ask_below(layout)
    flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        handle = os.open(layout.owner_lock, flags, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR):
            raise UnsafePath("the owner lock is a link or a folder") from error
        raise ReadOnly("the owner lock cannot be made") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise OwnedAlready("another daemon owns this vault") from error
    with contextlib.suppress(
        OSError
    ):  # a full disk must not keep anybody from deleting; the number is for people
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle


def _ask_below(layout: HomeLayout) -> None:
    """For a home that cannot be written, whose lock lies outside: hold the one inside too, if it is there.

    Whoever holds it since the home could still be written owns the vault. Raises OwnedAlready.
    """
    inside = layout.root / "run" / layout.owner_lock.name
    if inside == layout.owner_lock:
        return
    try:
        handle = os.open(inside, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise OwnedAlready("another daemon owns this vault") from error


def listen(layout: HomeLayout) -> socket.socket:
    """Bind the socket, 0600. The caller holds the owner lock, so a socket that is there is stale.

    Raises UnsafePath when something else than a socket lies there.
    """
    try:
        found = layout.socket.lstat()
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
            raise UnsafePath("something else lies where the socket belongs")
        layout.socket.unlink()
    except FileNotFoundError:
        pass
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with short_path(layout.socket) as name:
            sock.bind(name)
    finally:
        os.umask(before)
    sock.listen(128)
    return sock


def identity(path: Path) -> tuple[int, int] | None:
    """(device, inode) of what lies at `path`, to notice that the socket was taken away."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
