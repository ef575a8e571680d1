"""Private files in the cache: atomic writes, locks, hashes. Must not know what the files hold."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memvault_models.port import Progress

_CHUNK_BYTES = 1 << 20
PART_SUFFIX = ".part"


def make_private_dir(path: Path) -> None:
    """Create a directory and its missing parents, each 0700."""
    missing: list[Path] = []
    current = path
    while not current.exists():
        missing.append(current)
        current = current.parent
    for directory in reversed(missing):
        with suppress(FileExistsError):
            directory.mkdir(mode=0o700)


def sha256_of(path: Path, progress: Progress | None = None) -> str:
    """Hash a file, hexadecimal. Raises OSError."""
    digest = hashlib.sha256()
    done, total = 0, path.stat().st_size
    with path.open("rb") as source:
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress(done, total)
    return digest.hexdigest()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path` (0600, kept afterwards), waiting for others; the kernel frees it on
    death."""
    make_private_dir(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace_file(path: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write a part file beside `path`, then sync it and rename it over `path`.

    The part file is made 0600 before anything is written, and removed when `fill` raises. After a kill it
    stays, under a name that nothing reads, until `remove_parts`.
    """
    make_private_dir(path.parent)
    part = path.with_name(f"{path.name}.{os.getpid()}{PART_SUFFIX}")
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
    try:
        fill(part)
        _sync(part)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the content of `path`, 0600, at once or not at all."""

    def fill(part: Path) -> None:
        part.write_bytes(data)

    replace_file(path, fill)


def remove_parts(path: Path) -> None:
    """Remove what killed writers of `path` left; call only while holding its lock."""
    for part in path.parent.glob(f"{path.name}.*{PART_SUFFIX}"):
        part.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
