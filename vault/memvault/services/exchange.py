"""Putting one set of vault files in the place of another: decided by one rename, finished after any kill.

Whoever makes new files (a restore, a rotation, a recovery) does so in a room of its own below the home. The
room then gets its final name in one rename: before it the home holds the old vault, after it the new one, and
the owner of the home moves the files into place (`finish`), after removing the old write-ahead log. So at any
moment exactly one key opens the one database. Knows nothing of what the files hold.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from memvault.errors import MemvaultError
from memvault.keys import header as header_codec
from memvault.keys import header_file
from memvault.keys.header import VaultHeader
from memvault.paths import HomeLayout
from memvault.services import backup
from memvault.store import archive

RESTORING, ROTATING, RECOVERING = ".restoring-", ".rotating-", ".recovering-"
"""How the names of rooms start."""
COMMITTED = ".restored"
"""The room's name once it is decided."""

_STALE = ("vault.db-wal", "vault.db-shm", "mark")
"""What belongs to the old database and must never meet the new one (SECURITY, trap 6)."""
_MOVED = ("vault.db", "mark", header_file.COPY_NAME, header_file.HEADER_NAME)


def commit(layout: HomeLayout, room: Path, header: VaultHeader) -> None:
    """Leave exactly the new vault's files in the room, durable, and give the room its final name.

    The room holds `vault.db`, closed, and `mark`. Raises DiskFull, ReadOnly: nothing was changed then.
    """
    raw = header_codec.encode(header)
    with archive.disk_errors("the new vault"):
        if (room / "vault.db-wal").exists():
            raise MemvaultError("the new database did not close")
        for name in (header_file.HEADER_NAME, header_file.COPY_NAME):
            with os.fdopen(archive.new_file(room / name), "wb") as out:
                out.write(raw)
        for path in room.iterdir():
            if path.name not in _MOVED:
                path.unlink()
        for name in _MOVED:
            archive.sync_file(room / name)
        archive.sync_folder(room)
        room.rename(layout.root / COMMITTED)
        archive.sync_folder(layout.root)


def finish(layout: HomeLayout) -> bool:
    """Move decided files into place; True when there were some. For the owner of the home, before it opens.

    Killed at any moment, it goes on where it was. Raises DiskFull, ReadOnly.
    """
    committed = layout.root / COMMITTED
    if committed.is_symlink() or not committed.is_dir():
        return False
    with archive.disk_errors("the new vault"):
        if (committed / layout.database.name).exists():
            for name in _STALE:
                (layout.root / name).unlink(missing_ok=True)
            archive.sync_folder(layout.root)
        for name in _MOVED:
            if (committed / name).exists():
                (committed / name).replace(layout.root / name)
        archive.sync_folder(layout.root)
    shutil.rmtree(committed, ignore_errors=True)
    return True


def sweep(layout: HomeLayout) -> None:
    """Remove what a kill left of work that was not decided. For the owner of the home."""
    with suppress(OSError):
        for path in layout.root.iterdir():
            if path.name.startswith((RESTORING, ROTATING, RECOVERING)):
                shutil.rmtree(path, ignore_errors=True)
        for path in layout.backups.iterdir():
            if path.name.startswith(backup.ROOM_PREFIX):
                shutil.rmtree(path, ignore_errors=True)
            elif path.name.startswith(".") and path.name.endswith(".part"):
                path.unlink()
