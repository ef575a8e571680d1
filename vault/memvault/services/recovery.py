"""A damaged vault: what is wrong with it, and the three repairs that a person may ask for.

The header's copy put back, readable rows salvaged into a new database under the same key, and the loss of
acknowledged changes accepted. What was there is always kept; nothing is made anew. A database that is gone is
refused here: only a backup brings it back. Knows nothing of sockets or presence.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memvault.clock import Clock, iso
from memvault.errors import Damaged, ForeignFile, HeaderDamaged, Illegal, VaultAbsent, VaultDamaged
from memvault.keys import header as header_codec
from memvault.keys import header_file
from memvault.keys.envelope import VaultKey
from memvault.keys.header import VaultHeader
from memvault.paths import HomeLayout
from memvault.services import backup, exchange
from memvault.services.backup import Tell
from memvault.services.caller import Caller
from memvault.services.change import EVERYTHING, change
from memvault.services.vault import Vault, check_mark
from memvault.store import events, integrity, memories, salvage, schema, settings, snapshot
from memvault.store.connection import Database, can_write
from memvault.store.events import Event, Head
from memvault.store.mark import Mark

LABEL = "-before-recovery"
_SECRETS = ("events", "tombstones", "lookup", "terms")
_TOMBSTONES = {"tombstone", "tombstone_print", "tombstone_band"}
_RESTORE = "`memvault backups` lists what `memvault restore` can bring back."
_SHOWN = 20
"""Of damaged pages so many are named."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong (`header`, `database`, `pages`, `mark`, `events`); whether it can be mended."""

    what: str
    detail: str
    fix: str
    mend: bool = False
    missing: int | None = None
    """Acknowledged changes that are lost, when that is what is wrong."""

    def plain(self) -> dict[str, Any]:
        found = {"what": self.what, "detail": self.detail, "fix": self.fix, "mend": self.mend}
        return found if self.missing is None else {**found, "missing": self.missing}


def header_of(layout: HomeLayout) -> tuple[VaultHeader | None, Finding | None]:
    """The header or else its whole copy, and what is wrong with it. Raises VaultAbsent, UnsafePath."""
    try:
        return header_file.read(layout.root), None
    except VaultAbsent:
        if not layout.database.exists():
            raise
        error: Damaged = HeaderDamaged("the vault's header is gone, its database is there")
    except (HeaderDamaged, ForeignFile) as damage:
        error = damage
    copy = header_file.restorable(layout.root)
    if copy is None:
        return None, Finding("header", f"{error.message}, and there is no whole copy of it", _RESTORE)
    return copy, Finding("header", error.message, "Its copy is whole and can be put back.", mend=True)


def mend_header(layout: HomeLayout, key: VaultKey) -> None:
    """Put the header's copy back, after it proved to be this key's. Raises Illegal, HeaderDamaged."""
    copy = header_file.restorable(layout.root)
    if copy is None or not header_codec.proved_by(copy, key):
        raise HeaderDamaged("the copy of the vault's header is not whole either", _RESTORE)
    header_file.restore(layout.root)


def missing_database(layout: HomeLayout) -> Finding | None:
    """The database is gone or empty: never made anew, only restored."""
    if layout.database.exists() and layout.database.stat().st_size:
        return None
    state = "empty" if layout.database.exists() else "missing"
    return Finding(
        "database", f"the vault's database is {state}, its header and key slots are there", _RESTORE
    )


def examine_closed(layout: HomeLayout, key: VaultKey) -> list[Finding]:
    """What is wrong with a database that nobody has open. Its log is brought into it first."""
    mark = Mark(layout.mark, key.derive("mark"), writable=False)
    try:
        db = Database(layout.database, key, writable=can_write(layout.database))
    except VaultDamaged as error:
        mark.close()
        detail = (
            f"{error.message}, and it is one that everything else hangs on, or the file is another vault's"
        )
        return [Finding("pages", detail, _RESTORE)]
    try:
        return examine(db, mark)
    finally:
        db.close()
        mark.close()


def examine(db: Database, mark: Mark) -> list[Finding]:
    """What is wrong with an open database: pages, the mark, the chain of events."""
    pages = _pages(db)
    if pages:
        more = "" if len(pages) <= _SHOWN else f" and {len(pages) - _SHOWN} more"
        detail = f"{len(pages)} pages are damaged: {'; '.join(pages[:_SHOWN])}{more}"
        fix = "What can be read is salvaged into a new file, the damaged one is kept. A backup may hold more."
        return [Finding("pages", detail, fix, mend=True)]
    found: list[Finding] = []
    for sentence in check_mark(db, mark):
        lost = max(0, mark.read().seq - events.head(db).seq)
        fix = "A newer backup may hold them; else accept the loss, and the vault goes on from here."
        found.append(Finding("mark", sentence, fix, mend=True, missing=lost))
    key = settings.get(db, "secret:events")
    broken = None if key is None else events.first_broken(db, key)
    if broken is not None:
        detail = f"event {broken} was edited, removed or put elsewhere"
        found.append(Finding("events", detail, f"Something changed it behind memvault's back. {_RESTORE}"))
    return found


def _pages(db: Database) -> list[str]:
    try:
        return db.damaged_pages()
    except VaultDamaged as error:
        return [error.message]


def require_seen(lost: int, missing: int | None) -> None:
    """Raises Illegal unless a person saw that so many changes are lost, or more."""
    if missing is None or lost > missing:
        raise Illegal(f"{lost} acknowledged changes are missing", "Look again: `memvault recover`.")


def accept_missing(vault: Vault, caller: Caller, missing: int | None) -> int:
    """Let the mark say what the database says; returns how many changes were given up.

    `missing` is what the person saw. Raises Illegal when nothing is missing, or more than that.
    """
    sentences = check_mark(vault.writer, vault.mark)
    if not sentences:
        raise Illegal("nothing acknowledged is missing")
    lost = max(0, vault.mark.read().seq - events.head(vault.writer).seq)
    require_seen(lost, missing)
    with change(vault, "recover", caller.actor) as work:
        work.beside("recover", {"reason": "accepted that acknowledged changes are missing", "missing": lost})
    vault.mark.settle(events.head(vault.writer))
    vault.warnings[:] = [warning for warning in vault.warnings if warning not in sentences]
    return lost


@dataclass(frozen=True, slots=True)
class Salvage:
    """What a recovery kept and lost. `lost`: ids of memories that must have been there."""

    memories: int
    lost: list[str]
    events_lost: int
    kept_copy: Path
    warnings: list[str]

    def plain(self) -> dict[str, Any]:
        return {
            "memories": self.memories,
            "lost": self.lost[:500],
            "lost_total": len(self.lost),
            "events_lost": self.events_lost,
            "kept_copy": str(self.kept_copy),
            "warnings": self.warnings,
        }


def mend_pages(layout: HomeLayout, key: VaultKey, clock: Clock, actor: str, tell: Tell) -> Salvage:
    """Salvage what can be read into a new database and put that in place. The caller has closed the vault.

    The damaged files are kept beside the backups, where a later deletion names them. Raises VaultDamaged when
    nothing, or not even the vault's own secrets, can be read: nothing was changed then; DiskFull, ReadOnly.
    """
    header = header_file.read(layout.root)
    room = backup.new_room(layout.root, exchange.RECOVERING)
    kept: Path | None = None
    try:
        found, head = _write(layout, HomeLayout(room), key, iso(clock.now()), actor, tell)
        mark = Mark(room / layout.mark.name, key.derive("mark"))
        mark.settle(head)
        mark.close()
        kept = backup.set_aside(layout, clock, LABEL)
        tell("deciding", 0, 0)
        exchange.commit(layout, room, header)
    except BaseException:
        if kept is not None:
            shutil.rmtree(kept, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(room, ignore_errors=True)
    exchange.finish(layout)
    return found(kept)


def _write(
    layout: HomeLayout, room: HomeLayout, key: VaultKey, at: str, actor: str, tell: Tell
) -> tuple[Callable[[Path], Salvage], Head]:
    """The new database in the room, verified; what there is to report of it, and its last event."""
    db = Database(room.database, key, writable=True, create=True)
    try:
        schema.migrate(db)
        done = salvage.salvage(layout.database, key, db, tell)
        secret = settings.get(db, "secret:events")
        if secret is None or any(settings.get(db, f"secret:{name}") is None for name in _SECRETS):
            raise VaultDamaged(
                "the page with the vault's own secrets is damaged: nothing is of use without", _RESTORE
            )
        here = set(memories.ids_of(db, EVERYTHING, memories.Filter()))
        lost = sorted(integrity.expected(db) - here)
        with db.transaction():
            _complete(db)
            gone = events.note_gaps(db)
            payload = {"reason": "salvaged from damaged pages", "lost": len(lost), "tables": list(done.hurt)}
            events.append(db, secret, Event("recover", at, actor, payload=payload))
            for memory in lost:
                events.append(db, secret, Event("lost", at, actor, memory=memory))
            head = events.head(db)
        db.truncate_log()
    finally:
        db.close()
    tell("checking", 0, 0)
    snapshot.verify(room.database, key, schema.CURRENT)
    warnings = _warnings(done)
    return lambda kept: Salvage(len(here), lost, gone, kept, warnings), head


def _complete(db: Database) -> None:
    """A memory whose present version was lost gets it from the memory itself."""
    for memory in integrity.without_version(db):
        record = memories.get(db, [memory], EVERYTHING)[memory]
        memories.add_version(db, memory, record.version, record.updated_at, "", record.claim)


def _warnings(done: salvage.Salvaged) -> list[str]:
    found: list[str] = []
    hurt = set(done.hurt)
    if hurt & _TOMBSTONES:
        found.append("tombstones may be lost: what was deleted could be written again")
    if "source" in hurt:
        found.append("some memories may have lost sources")
    if "version" in hurt:
        found.append("some older versions may be lost")
    rest = sorted(hurt - _TOMBSTONES - {"source", "version", "memory", "vector"})
    if rest:
        found.append(f"not everything could be read of: {', '.join(rest)}")
    return found
