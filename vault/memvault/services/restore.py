"""Putting a backup in the place of a vault, or where none is.

A restore is prepared in a room of its own below the home: unpacked, verified, given the tombstones made
since, rid of what they forbid. Then it is put in place by `exchange`. Knows nothing of sockets or presence.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memvault.clock import Clock
from memvault.errors import (
    BackupDamaged,
    Busy,
    Damaged,
    ForeignFile,
    HeaderDamaged,
    Illegal,
    SchemaNewer,
    VaultAbsent,
    VaultDamaged,
    WrongKey,
)
from memvault.keys import header as header_codec
from memvault.keys import header_file, ring
from memvault.keys.envelope import VaultKey
from memvault.keys.header import VaultHeader
from memvault.paths import HomeLayout
from memvault.services import backup, exchange
from memvault.services.backup import PURPOSE, Tell
from memvault.services.change import change
from memvault.services.reburial import bury, opened
from memvault.services.vault import Vault, open_vault
from memvault.store import archive, backups, events, memories, schema, snapshot
from memvault.store.archive import Backup
from memvault.store.events import Event
from memvault.store.snapshot import Learned
from memvault_models.means import neutral_means

LABEL = "-before-restore"


@dataclass(frozen=True, slots=True)
class Secret:
    """One way to open a header."""

    text: str
    is_recovery_code: bool

    def open(self, header: VaultHeader) -> VaultKey:
        """Raises WrongKey, HeaderDamaged."""
        find = ring.open_with_recovery if self.is_recovery_code else ring.open_with_passphrase
        return find(header, self.text)


@dataclass(frozen=True, slots=True)
class Present:
    """What the home holds now. Without a header that can be read there is no key either."""

    exists: bool
    header: VaultHeader | None = None
    key: VaultKey | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """A backup unpacked, verified and under the key that the vault will have."""

    layout: HomeLayout
    room: Path
    source: Backup
    header: VaultHeader
    key: VaultKey


@dataclass(frozen=True, slots=True)
class Restored:
    memories: int
    removed_by_tombstones: int
    kept_copy: Path | None
    warnings: list[str]
    held: int = 0
    """Memories that resemble something deleted since: switched off until a person confirms them."""


def look(layout: HomeLayout, key: VaultKey | None, secrets: Sequence[Secret]) -> Present:
    """What is there. `key` is that of the open vault; a closed one must open with one of `secrets`.

    A damaged header is as good as its copy. Raises WrongKey, SchemaNewer, UnsafePath.
    """
    exists, header = _glance(layout)
    if header is None:
        return Present(exists)
    if key is not None:
        return Present(True, header, key)
    for secret in secrets:
        try:
            return Present(True, header, secret.open(header))
        except WrongKey:
            continue
        except HeaderDamaged:
            return Present(True)
    raise WrongKey(
        "the vault that is there does not open with what was given",
        "`memvault unlock` it first, or give the backup's own passphrase by --backup-passphrase-file.",
    )


def _glance(layout: HomeLayout) -> tuple[bool, VaultHeader | None]:
    """Whether a vault is there, and its header or the copy of it, if one of the two is whole."""
    try:
        return True, header_file.read(layout.root)
    except VaultAbsent:
        return os.path.lexists(layout.database), None
    except (HeaderDamaged, ForeignFile):
        return True, header_file.restorable(layout.root)


def prepare(
    layout: HomeLayout, room: Path, path: Path, secret: Secret, present: Present, tell: Tell
) -> Ready:
    """Unpack and verify the backup at `path` in `room`. The home is not touched.

    An existing vault keeps its header, so that passphrases stay those of today; its key, if it was changed
    since the backup, is the one that the copy is put under. Raises BackupDamaged, ForeignFile, SchemaNewer,
    WrongKey, Illegal (the backup of another vault), NotFound, UnsafePath, DiskFull.
    """
    found, raw = archive.header_of(path)
    header = _header(found, raw)
    if present.header is not None and present.header.vault_id != header.vault_id:
        raise Illegal(
            "the backup is of another vault than the one that is there",
            "Restore it into a home of its own: --home DIR.",
        )
    key = secret.open(header)
    if not found.proved_by(key.derive(PURPOSE)):
        raise BackupDamaged(
            "the backup's manifest was changed by something that does not hold the vault's key"
        )
    incoming, database = room / "incoming.db", room / layout.database.name
    found, unpacked = archive.unpack(path, incoming, lambda done, total: tell("reading", done, total))
    tell("checking", 0, 0)
    _check(found, incoming, key, same=unpacked == raw)
    if present.header is None or present.key is None or present.key == key:
        incoming.rename(database)
    else:
        with archive.disk_errors("the restored vault"):
            snapshot.take(
                incoming, key, database, present.key, lambda done, all_: tell("copying", done, all_)
            )
            incoming.unlink()
    if present.header is None or present.key is None:
        return Ready(layout, room, found, header, key)
    return Ready(layout, room, found, present.header, present.key)


def _header(found: Backup, raw: bytes) -> VaultHeader:
    if found.contents.schema > schema.CURRENT:
        raise SchemaNewer(
            f"the backup has schema {found.contents.schema}, this program knows {schema.CURRENT}",
            "The backup was made by a newer memvault. Upgrade the program.",
        )
    try:
        header = header_codec.decode(raw)
    except SchemaNewer:
        raise
    except Damaged:
        raise BackupDamaged("the backup is damaged: its header is not whole") from None
    if header.vault_id != found.contents.vault_id:
        raise BackupDamaged("the backup is damaged: its header is that of another vault")
    return header


def _check(found: Backup, database: Path, key: VaultKey, *, same: bool) -> None:
    """Raises BackupDamaged unless the database is whole and what the manifest says."""
    try:
        held = snapshot.verify(database, key, schema.CURRENT)
    except VaultDamaged as error:
        raise BackupDamaged(f"the backup is damaged: {error.message}") from None
    said = found.contents
    fits = (held.head.seq, held.head.hash, held.memories, held.schema) == (
        said.event_seq,
        said.event_hash,
        said.memories,
        said.schema,
    )
    if not (same and fits):
        raise BackupDamaged("the backup is damaged: its database is not the one its manifest describes")


def put_in_place(ready: Ready, present: Present, clock: Clock, actor: str, tell: Tell) -> Restored:
    """Replace what is there. The caller has closed the vault and owns the home.

    A copy of what was there is made first. Raises DiskFull, ReadOnly, ForeignFile (the tombstone keys
    differ), Busy (the vault's keys changed since `look`): nothing was changed then.
    """
    exists, header = _glance(ready.layout)
    if exists != present.exists or (present.header is not None and header != present.header):
        raise Busy("another change of the vault came in between")
    kept, warnings = _keep(ready, present, clock, tell)
    try:
        known = _learn(ready, warnings) if present.exists else None
        found = _settle(ready, known, kept, clock, actor, tell)
        exchange.commit(ready.layout, ready.room, ready.header)
    except BaseException:
        _forget(kept)
        raise
    exchange.finish(ready.layout)
    return replace(found, warnings=warnings)


def _keep(ready: Ready, present: Present, clock: Clock, tell: Tell) -> tuple[Path | None, list[str]]:
    """A backup of what is there, or its bare files when it does not stand up to being copied."""
    layout = ready.layout
    if not present.exists:
        return None, []
    if present.key is not None:
        target = backup.target_of(layout, None, clock, LABEL)
        try:
            packed = backup.make(layout, present.key, target, clock, tell)
        except Damaged:
            pass
        else:
            try:
                packed.place()
            finally:
                packed.discard()
            return target, []
    kept = backup.set_aside(layout, clock, LABEL)
    return kept, ["the vault that was there is damaged: its files were kept as they are, not as a backup"]


def _forget(kept: Path | None) -> None:
    if kept is None:
        return
    if kept.is_dir():
        shutil.rmtree(kept, ignore_errors=True)
    else:
        kept.unlink(missing_ok=True)


def _learn(ready: Ready, warnings: list[str]) -> Learned | None:
    """What the vault that is there has learned; None when it cannot be read any more."""
    try:
        with opened(ready.layout.database, ready.key) as before:
            schema.migrate(before)
            return snapshot.learned(before)
    except SchemaNewer:
        raise
    except Damaged:
        warnings.append(
            "tombstones made since the backup could not be read: what was deleted since may be back"
        )
        return None


def _settle(
    ready: Ready, known: Learned | None, kept: Path | None, clock: Clock, actor: str, tell: Tell
) -> Restored:
    """Open the restored database in its room: migrate, carry tombstones over, remove what they forbid."""
    room = HomeLayout(ready.room)
    vault = open_vault(room, ready.key, clock, "", neutral_means("", 1), lambda _ids, _reason: None)
    scratch = room.root / "carried.db"
    try:
        with opened(scratch, ready.key, create=True) as carried:
            schema.migrate(carried)
            with carried.transaction(), change(vault, "restore", actor) as work:
                fresh = 0 if known is None else snapshot.carry_over(known, vault.writer, carried)
                buried = (ready.layout.database, ready.key, carried, tell)
                removed, held = bury(work, *buried) if fresh else (0, 0)
                _note_places(vault, ready, kept)
                said = ready.source.contents.created_at
                work.summary |= {"backup": said, "tombstones": fresh, "removed": removed, "held": held}
                payload = {"reason": f"restored the backup of {said}"}
                event = Event("restore", work.at, actor, run=work.run, payload=payload)
                work.head = events.append(vault.writer, vault.secrets.events, event)
        return Restored(memories.count(vault.writer), removed, kept, [], held)
    finally:
        vault.close()
        scratch.unlink(missing_ok=True)


def _note_places(vault: Vault, ready: Ready, kept: Path | None) -> None:
    """The restored vault knows the backup it comes from and the copy of what it replaced."""
    backups.put(vault.writer, backup.place_of(ready.source))
    if kept is not None and kept.is_file():
        backups.put(vault.writer, backup.place_of(archive.read(kept)))
