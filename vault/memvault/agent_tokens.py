"""The files that hold agents' tokens: one each, for its owner alone, never part of any configuration.

Owns their place and permissions. Standard library only: the hook reads one at every prompt. Knows nothing of
what a token allows.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from memvault.errors import UnsafePath
from memvault.paths import HomeLayout

MOST_BYTES = 256


def path_of(layout: HomeLayout, name: str) -> Path:
    return layout.tokens / f"{name}.token"


def keep(layout: HomeLayout, name: str, token: str) -> Path:
    """Write the token in place of an older one, in one step. Raises UnsafePath, OSError."""
    layout.tokens.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_own(layout.tokens)
    path = path_of(layout, name)
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(fresh, flags, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as opened:
        opened.write(token + "\n")
        opened.flush()
        os.fsync(opened.fileno())
    fresh.replace(path)
    return path


def read(layout: HomeLayout, name: str) -> str | None:
    """The agent's token; None when there is none. Raises UnsafePath when others may read it."""
    path = path_of(layout, name)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnsafePath("the agent's token file is no plain file") from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise UnsafePath("the agent's token file is no plain file")
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise UnsafePath("the agent's token file can be read by others", "chmod 600 it, then rotate it.")
        return os.read(handle, MOST_BYTES).decode("ascii", "replace").strip() or None
    finally:
        os.close(handle)


def drop(layout: HomeLayout, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        path_of(layout, name).unlink()


def _require_own(folder: Path) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise UnsafePath("the folder of agents' tokens is a link, or not yours alone")
