"""A new vault key: the database written anew under it, the header beside it, both put in place as one.

Never `PRAGMA rekey` (SECURITY, trap 2): the copy goes into a new file, is read to its end and compared with
the old one before anything is decided. The secrets of the vault (tombstones, lookups, the event log) are rows
and come along. Knows nothing of sockets or presence; the caller has closed the vault and owns the home.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

from memvault.clock import Clock, iso
from memvault.errors import Busy, Usage, VaultDamaged
from memvault.keys import header_file, ring
from memvault.keys.envelope import VaultKey
from memvault.keys.header import VaultHeader
from memvault.keys.ring import Rotation
from memvault.paths import HomeLayout
from memvault.services import backup, exchange
from memvault.services.backup import Tell
from memvault.services.vault import check_mark
from memvault.store import events, schema, settings, snapshot
from memvault.store.connection import Database
from memvault.store.events import Event, Head
from memvault.store.mark import Mark

_DROPPED = {
    "passphrase": "a passphrase that was not given",
    "keychain": "the system keychain, which does not answer",
}


@dataclass(frozen=True, slots=True)
class Planned:
    """What a rotation will do. `before`: the header it was planned for."""

    before: VaultHeader
    old: VaultKey
    rotation: Rotation = field(repr=False)

    @property
    def dropped(self) -> list[dict[str, str]]:
        return [{"id": slot, "type": kind} for slot, kind in self.rotation.dropped]


def plan(
    layout: HomeLayout,
    key: VaultKey,
    passphrase: str | None,
    recovery_code: str | None,
    *,
    drop_others: bool,
) -> Planned:
    """A new key in the slots whose secrets are at hand. Nothing is written.

    Raises WrongKey for a secret that opens nothing, Usage when a slot would be lost without `drop_others`.
    """
    before = header_file.read(layout.root)
    rotation = ring.rewrap_all(before, key, passphrase_text=passphrase, recovery_code=recovery_code)
    if rotation.dropped and not drop_others:
        lost = sorted({_DROPPED[kind] for _, kind in rotation.dropped})
        raise Usage(
            f"under a new key the vault would no longer open by {' or '.join(lost)}",
            "Give its passphrase, or let such slots go and add them again afterwards: --drop-others.",
        )
    return Planned(before, key, rotation)


def rotate(layout: HomeLayout, planned: Planned, clock: Clock, actor: str, tell: Tell) -> int:
    """Write the vault anew under the planned key and put it in place; returns how many memories it holds.

    What `tell` raises ends the work before anything is decided. Raises VaultDamaged when the old file is
    not whole or the mark knows more than it, Busy when the slots changed since `plan`, DiskFull, ReadOnly.
    """
    room = backup.new_room(layout.root, exchange.ROTATING)
    try:
        held = _write(layout, HomeLayout(room), planned, clock, actor, tell)
        if header_file.read(layout.root) != planned.before:
            raise Busy("another change of the vault's keys came in between")
        tell("deciding", 0, 0)
        exchange.commit(layout, room, planned.rotation.header)
    finally:
        shutil.rmtree(room, ignore_errors=True)
    exchange.finish(layout)
    return held


def warnings(planned: Planned, older_backups: list[str]) -> list[str]:
    """What a person should know after a rotation, as sentences."""
    found = [f"it no longer opens by {_DROPPED[kind]}: add it again" for _, kind in planned.rotation.dropped]
    if older_backups:
        one = len(older_backups) == 1
        found.append(
            f"{len(older_backups)} older {'backup opens' if one else 'backups open'} as before, under the old"
            " key, by the passphrase and recovery code of their day: make a new one, remove what you distrust"
        )
    return found


def _write(
    layout: HomeLayout, room: HomeLayout, planned: Planned, clock: Clock, actor: str, tell: Tell
) -> int:
    """The new database and its mark, in the room."""
    old, new = planned.old, planned.rotation.key
    snapshot.take(
        layout.database,
        old,
        room.database,
        new,
        lambda done, all_: tell("copying", done, all_),
        with_tasks=True,
    )
    tell("checking", 0, 0)
    copied = snapshot.verify(room.database, new, schema.CURRENT)
    _compare(layout, room, planned)
    event = Event(
        "rotate_key", iso(clock.now()), actor, payload={"generation": planned.rotation.header.generation}
    )
    head = _note(room, new, event)
    if snapshot.verify(room.database, new, schema.CURRENT).head != head:
        raise VaultDamaged("the new database does not read back as it was written")
    mark = Mark(room.mark, new.derive("mark"))
    mark.settle(head)
    mark.close()
    return copied.memories


def _compare(layout: HomeLayout, room: HomeLayout, planned: Planned) -> None:
    """Raises VaultDamaged unless the copy holds what the old file holds, and that all it should."""
    mark = Mark(layout.mark, planned.old.derive("mark"))
    copy = Database(room.database, planned.rotation.key, writable=False)
    try:
        missing = check_mark(copy, mark)
    finally:
        copy.close()
        mark.close()
    if missing:
        raise VaultDamaged(f"the vault's key stays as it is: {missing[0]}", "`memvault recover` first.")
    before = snapshot.rows_of(layout.database, planned.old)
    after = snapshot.rows_of(room.database, planned.rotation.key)
    if before != after:
        wrong = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        raise VaultDamaged(f"the copy differs from the vault in {', '.join(wrong)}")


def _note(room: HomeLayout, key: VaultKey, event: Event) -> Head:
    db = Database(room.database, key, writable=True)
    try:
        with db.transaction():
            head = events.append(db, settings.secret(db, "secret:events"), event)
        db.truncate_log()
        return head
    finally:
        db.close()
