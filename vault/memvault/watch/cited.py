"""Files that memories cite, read so that nobody can lead the reader elsewhere.

Owns which files may be read at all and what is known about them. A path comes from whoever writes a memory,
so it is hostile: links, devices, pipes, the kernel's own files, other users' files and what keeps secrets are
not opened, and what is hashed is what was read. Knows nothing of memories.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

MOST_BYTES = 8 * 1024 * 1024
"""Of a file that is read; a larger one is not text that a memory cites."""

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_SECRET_FOLDERS = frozenset({
    ".ssh", ".gnupg", ".aws", ".kube", ".docker", ".git", ".password-store", "keyrings",
})  # fmt: skip
_SECRET_NAME = re.compile(
    r"\.env(?:\..*|rc)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|id_[a-z0-9_]+|"
    r"\.?credentials(?:\.(?:json|toml|ini|ya?ml))?|secrets?\.(?:json|toml|ini|ya?ml)|"
    r".*\.(?:pem|key|p12|pfx|kdbx|jks|keystore|age|gpg)"
)

_KERNELS_OWN = frozenset({
    "proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "configfs", "devpts", "mqueue",
    "pstore", "bpf", "efivarfs", "fusectl", "autofs", "binfmt_misc", "nsfs", "rpc_pipefs", "selinuxfs",
})  # fmt: skip
_DISKS = frozenset({
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "reiserfs", "overlay", "tmpfs",
})  # fmt: skip
"""File systems whose times the kernel keeps itself; on a mounted FUSE or network one, its owner does."""

_FRAGMENT = re.compile(r"#.*$|:\d+(?:[-:,]\d+)*$", re.DOTALL)


class Lack(StrEnum):
    """Why there is no text."""

    MISSING = "missing"
    """Nothing lies at that path."""
    UNREADABLE = "unreadable"
    """Something does, and it is not read: too large, no text, not a plain file of ours, or kept secret."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A file as it was at one moment.

    `text`: NFC with `\\n` line ends. `sha256`: hex, of the bytes. `changed_at`: seconds since 1970 at which
    the kernel last saw content, name or owner change (ctime; no program can set it). `plain`: reached without
    a link, with one name only, on a disk of this machine, and not writable by everybody.
    """

    path: str
    text: str
    sha256: str
    changed_at: float
    plain: bool


def bare(ref: str) -> str:
    """The path in a reference: without `#anchor` and `:LINE`."""
    return _FRAGMENT.sub("", ref)


def normal(text: str) -> str:
    """NFC with `\\n` line ends, as memories keep their texts."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


def is_secret(path: str) -> bool:
    """Whether the path looks like one that keeps keys or passwords."""
    *folders, name = [part.casefold() for part in Path(path).parts]
    return not _SECRET_FOLDERS.isdisjoint(folders) or _SECRET_NAME.fullmatch(name) is not None


def read(path: str, forbidden: Sequence[Path] = ()) -> Cited | Lack:
    """The file at an absolute `path`, outside of the `forbidden` folders.

    Never raises, never waits for a pipe. Where a folder on the way is a link, what it leads to counts.
    """
    given = Path(path)
    if not given.is_absolute() or "\x00" in path or given.name in ("", ".."):
        return Lack.UNREADABLE
    try:
        real = Path(os.path.realpath(given.parent)) / given.name
        if is_secret(str(real)) or any(real.is_relative_to(place) for place in forbidden):
            return Lack.UNREADABLE
        handle = _open(real)
    except (FileNotFoundError, NotADirectoryError):
        return Lack.MISSING
    except (OSError, ValueError):
        return Lack.UNREADABLE
    if handle is None:
        return Lack.UNREADABLE
    try:
        return _whole(handle, str(real), straight=os.path.normpath(path) == str(real))
    except (OSError, UnicodeDecodeError):
        return Lack.UNREADABLE
    finally:
        os.close(handle)


def _open(real: Path) -> int | None:
    """A descriptor of a plain file of ours; each step refuses a link that was put there meanwhile."""
    here = os.open("/", _FOLDER)
    try:
        for part in real.parent.parts[1:]:
            below = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        # Looked at before it is opened: opening alone does something to a device.
        found = os.stat(real.name, dir_fd=here, follow_symlinks=False)
        if not _is_ours(found):
            return None
        handle = os.open(real.name, _FILE, dir_fd=here)
    finally:
        os.close(here)
    opened = os.fstat(handle)
    if _is_ours(opened) and (opened.st_dev, opened.st_ino) == (found.st_dev, found.st_ino):
        return handle
    os.close(handle)
    return None


def _is_ours(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and found.st_size <= MOST_BYTES


def _whole(handle: int, path: str, *, straight: bool) -> Cited | Lack:
    kind = _file_system(handle)
    if kind in _KERNELS_OWN:
        return Lack.UNREADABLE
    before = os.fstat(handle)
    data = b""
    while len(data) <= MOST_BYTES and (more := os.read(handle, 1_048_576)):
        data += more
    after = os.fstat(handle)
    if len(data) > MOST_BYTES or _stamp(before) != _stamp(after) or b"\x00" in data:
        return Lack.UNREADABLE
    plain = straight and kind in _DISKS and after.st_nlink == 1 and not after.st_mode & stat.S_IWOTH
    return Cited(path, normal(data.decode("utf-8")), hashlib.sha256(data).hexdigest(), after.st_ctime, plain)


def _stamp(found: os.stat_result) -> tuple[int, int, int, int, int]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def stamp(path: str) -> tuple[int, ...] | None:
    """What differs when the file at `path` was changed or replaced; None when there is none."""
    try:
        return _stamp(os.lstat(path))
    except (OSError, ValueError):
        return None


def _file_system(handle: int) -> str | None:
    """The type of the file system, by the mount it was opened through; None where the kernel does not say."""
    if sys.platform != "linux":
        return None
    info = Path(f"/proc/self/fdinfo/{handle}").read_text("ascii", "replace")
    mount = re.search(r"^mnt_id:\s*(\d+)", info, re.MULTILINE)
    if mount is None:
        return None
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines():
        fields = line.split()
        if fields[0] == mount[1]:
            return fields[fields.index("-") + 1]
    return None


def project_root(folder: Path) -> Path | None:
    """The nearest folder with a `.git`, from `folder` upwards; None without one, or when a home is in it."""
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    return None if root is None or Path.home().is_relative_to(root) else root
