"""Copies of the vault: making one while writes go on, remembering where it went, listing what there is.

Owns names, places and verification of backups. Knows nothing of sockets or presence; restoring is `restore`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memvault.clock import Clock, iso
from memvault.errors import MemvaultError, UnsafePath, Usage
from memvault.keys import header as header_codec
from memvault.keys import header_file
from memvault.keys.envelope import VaultKey
from memvault.paths import HomeLayout
from memvault.services.vault import Vault
from memvault.store import archive, backups, events, schema, snapshot
from memvault.store.archive import SUFFIX, Backup, Packed
from memvault.store.backups import Place

PURPOSE = "backup"
"""What the manifest's key is derived for."""
ROOM_PREFIX = ".making-"
ASIDE_SUFFIX = ".damaged"
"""A folder with the files of a vault that could not be opened when another was put in its place."""
MOST_TRIES = 3
"""So often a deletion may end a copy under way; after that, writes wait for the copy."""

Tell = Callable[[str, int, int], None]
"""Hears (stage, done, total); what it raises ends the work."""


class Disturbed(MemvaultError):
    """A deletion wants the log for itself: the copy starts anew from the moment after it."""

    code = "disturbed"


def stamp(at: datetime) -> str:
    """UTC to the second, fit for a file name."""
    return iso(at)[:19].replace("-", "").replace(":", "") + "Z"


def target_of(layout: HomeLayout, path: Path | None, clock: Clock, label: str = "") -> Path:
    """Where the backup goes: `path`, a name of its own in the folder `path`, or in the home's backups.

    Raises Usage when the place is taken or its folder is not there, UnsafePath for a link.
    """
    if path is None:
        return _free(own_folder(layout), clock, label)
    if path.is_symlink():
        raise UnsafePath("the place for the backup is a link", "Name the file itself.")
    if path.is_dir():
        return _free(path, clock, label)
    if path.exists():
        raise archive.occupied(path)
    if not path.parent.is_dir():
        raise Usage(f"there is no folder {path.parent}", "Make it first, or name another place.")
    return path


def own_folder(layout: HomeLayout) -> Path:
    """HOME/backups, made when it is missing, 0700. Raises UnsafePath, ReadOnly."""
    folder = layout.backups
    with archive.disk_errors("the folder of backups"):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if folder.is_symlink() or not folder.is_dir() or found.st_uid != os.getuid():
            raise UnsafePath("the folder of backups is a link, or not yours")
        if found.st_mode & 0o077:
            folder.chmod(0o700)
    return folder


def _free(folder: Path, clock: Clock, label: str, suffix: str = SUFFIX) -> Path:
    name = f"memvault-{stamp(clock.now())}{label}"
    numbers = ("", *(f"-{number}" for number in range(2, 1_000)))
    return next(path for number in numbers if not os.path.lexists(path := folder / f"{name}{number}{suffix}"))


def new_room(folder: Path, prefix: str) -> Path:
    """A folder to work in, 0700. Raises DiskFull, ReadOnly."""
    room = folder / f"{prefix}{secrets.token_hex(8)}"
    with archive.disk_errors("a working copy"):
        room.mkdir(mode=0o700)
    return room


@contextlib.contextmanager
def _workroom(folder: Path) -> Iterator[Path]:
    room = new_room(folder, ROOM_PREFIX)
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def make(layout: HomeLayout, key: VaultKey, target: Path, clock: Clock, tell: Tell) -> Packed:
    """A verified backup of the vault's files, still under a temporary name beside `target`.

    Needs no open vault: it reads through a connection of its own. Raises Damaged errors when the vault or the
    copy is not whole, Usage, DiskFull, ReadOnly, and whatever `tell` raises.
    """
    header = header_file.read(layout.root)
    folder = own_folder(layout) if os.access(layout.root, os.W_OK) else target.parent
    with _workroom(folder) as room:
        copy, at = room / "copy.db", iso(clock.now())
        snapshot.take(layout.database, key, copy, key, lambda done, total: tell("copying", done, total))
        tell("checking", 0, 0)
        held = snapshot.verify(copy, key, schema.CURRENT)
        return archive.pack(
            target,
            key.derive(PURPOSE),
            header_codec.encode(header),
            copy,
            lambda done, total: tell("writing", done, total),
            vault_id=header.vault_id,
            created_at=at,
            schema=held.schema,
            memories=held.memories,
            event_seq=held.head.seq,
            event_hash=held.head.hash,
        )


def place_of(backup: Backup) -> Place:
    held = backup.contents
    return Place(
        str(backup.path), held.created_at, held.event_seq, held.event_hash, held.memories, backup.size_bytes
    )


def keep(vault: Vault, packed: Packed, *, whatever: bool = False) -> bool:
    """Remember the backup, then give it its name; False when a deletion came after its moment.

    Runs in the writer's thread, so that no deletion comes in between. With `whatever` it is kept even then.
    A vault that cannot be written cannot remember it.
    """
    held = packed.backup.contents
    if not whatever and backups.deletions_since(vault.writer, held.event_seq):
        return False
    if vault.read_only:
        packed.place()
        return True
    with vault.writer.transaction():
        backups.put(vault.writer, place_of(packed.backup))
    try:
        packed.place()
    except MemvaultError:
        with vault.writer.transaction():
            backups.remove(vault.writer, str(packed.target))
        raise
    return True


@dataclass(frozen=True, slots=True)
class Listed:
    """One backup as `memvault backups` shows it. `problem` is empty for a whole one."""

    path: str
    at: str | None
    size_bytes: int | None
    memories: int | None
    vault: str | None
    problem: str
    before_deletion: bool | None
    """Whether something was deleted after it was made; None when that is not known."""

    def plain(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "created_at": self.at,
            "size_bytes": self.size_bytes,
            "memories": self.memories,
            "vault": self.vault,
            "whole": not self.problem,
            "problem": self.problem or None,
            "before_deletion": self.before_deletion,
        }


def in_home(layout: HomeLayout) -> list[Path]:
    """Backups in the home's own folder, and what was set aside there."""
    folder = layout.backups
    if folder.is_symlink() or not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if path.suffix in (SUFFIX, ASIDE_SUFFIX)]
    return sorted(path for path in found if not path.name.startswith("."))


def listing(
    layout: HomeLayout, places: list[Place], since: Callable[[int, bytes, str], bool]
) -> list[Listed]:
    """Every backup known, each read to its end, newest first. `places` come from the vault when it is open.

    `since` says whether something was deleted after (event number, its hash, time).
    """
    remembered = {place.path: place for place in places}
    paths = list(dict.fromkeys([*map(str, in_home(layout)), *remembered]))
    found = [_listed(Path(path), remembered.get(path), since) for path in paths]
    return sorted(found, key=lambda one: (one.at or "", one.path), reverse=True)


def _listed(path: Path, place: Place | None, since: Callable[[int, bytes, str], bool]) -> Listed:
    at, size_bytes, memories = (place.at, place.size_bytes, place.memories) if place else (None, None, None)
    later = since(place.event_seq, place.event_hash, place.at) if place else None
    if path.suffix == ASIDE_SUFFIX and path.is_dir():
        size_bytes = sum(one.stat().st_size for one in path.iterdir())
        return Listed(str(path), at, size_bytes, None, None, "files of a vault that did not open", None)
    try:
        found = archive.check(path, _unheard)
    except MemvaultError as error:
        with contextlib.suppress(OSError):
            size_bytes = path.lstat().st_size
        return Listed(str(path), at, size_bytes, memories, None, error.message, later)
    held = found.contents
    return Listed(
        str(path), held.created_at, found.size_bytes, held.memories, held.vault_id, "",
        since(held.event_seq, held.event_hash, held.created_at),
    )  # fmt: skip


def _unheard(_done: int, _total: int) -> None:
    pass


def of_vault(vault: Vault) -> list[Listed]:
    """The list as an open vault knows it. For the reader's thread."""
    db = vault.reader

    def since(seq: int, digest: bytes, at: str) -> bool:
        """By the chain when the backup is of this very history, else by the clock."""
        if seq == 0 or events.hash_at(db, seq) == digest:
            return backups.deletions_since(db, seq) > 0
        return backups.deleted_after(db, at)

    return listing(vault.layout, backups.every(db), since)


def without_vault(layout: HomeLayout) -> list[Listed]:
    """The list while the vault is closed or gone: what lies in the home's own folder."""
    found = listing(layout, [], lambda _seq, _digest, _at: False)
    return [
        Listed(one.path, one.at, one.size_bytes, one.memories, one.vault, one.problem, None) for one in found
    ]


def older(vault: Vault) -> list[str]:
    """Paths of the backups that hold what is deleted now: every one written before, as far as it is there.

    One on a disk that is not mounted counts as there; one that is gone from a folder that is there does not.
    """
    known = [*map(str, in_home(vault.layout)), *(place.path for place in backups.every(vault.writer))]
    return [path for path in dict.fromkeys(known) if os.path.lexists(path) or not Path(path).parent.is_dir()]


def newest_whole(layout: HomeLayout, places: list[Place]) -> Listed | None:
    """The newest backup that stands up to its checksum; older ones are not read."""
    remembered = {place.path: place.at for place in places}
    paths = dict.fromkeys([*map(str, in_home(layout)), *remembered])
    dated: list[tuple[str, str]] = []
    for path in paths:
        with contextlib.suppress(MemvaultError):
            dated.append((archive.read(Path(path)).contents.created_at, path))
    for _, path in sorted(dated, reverse=True):
        found = _listed(Path(path), None, lambda _seq, _digest, _at: False)
        if not found.problem:
            return found
    return None


def set_aside(layout: HomeLayout, clock: Clock, label: str) -> Path:
    """Keep the files of a vault that cannot be backed up, byte for byte, in a folder beside the backups.

    Raises DiskFull, ReadOnly.
    """
    folder = _free(own_folder(layout), clock, label, ASIDE_SUFFIX)
    with archive.disk_errors("the copy of what was there"):
        folder.mkdir(mode=0o700)
        for name in SET_ASIDE:
            source = layout.root / name
            if source.is_symlink() or not source.is_file():
                continue
            with source.open("rb") as raw, os.fdopen(archive.new_file(folder / name), "wb") as out:
                shutil.copyfileobj(raw, out)
                out.flush()
                os.fsync(out.fileno())
        archive.sync_folder(folder)
        archive.sync_folder(folder.parent)
    return folder


SET_ASIDE = (
    "vault.json", "vault.json.bak", "vault.json.damaged", "vault.db", "vault.db-wal", "vault.db-shm", "mark",
)  # fmt: skip
