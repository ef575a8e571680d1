"""Delete for good: by id, source, session, project or subject (SPEC 7).

Owns the selection, the tombstones' run and the checkpoint that makes the erasure physical. A full disk
gives up the reserve file first, so that deleting always works.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from memvault.errors import Busy, DiskFull, NotFound, Usage
from memvault.lifecycle import Move
from memvault.services import aliasing, backup, graves
from memvault.services.caller import Caller
from memvault.services.change import change
from memvault.services.vault import Vault, keep_reserve
from memvault.store import memories, tombstones
from memvault.store.memories import Filter

CHECKPOINT_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Selection:
    """What to delete; what is given must all hold."""

    ids: tuple[str, ...] = ()
    source: str | None = None
    session: str | None = None
    project: str | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Erased:
    ids: list[str]
    tombstones: int
    run: str
    older_backups: list[str]


def select(vault: Vault, caller: Caller, wanted: Selection) -> list[str]:
    """Ids of the memories that would go. Raises Usage for an empty selection, NotFound for an unknown id."""
    if wanted == Selection():
        raise Usage("say what to delete: ids, --source, --session, --project or --subject")
    found: list[str] = []
    chunks = [wanted.ids[n : n + 500] for n in range(0, len(wanted.ids), 500)] or [None]
    for chunk in chunks:
        asked = Filter(
            ids=chunk,
            source=wanted.source,
            task=wanted.session,
            project=wanted.project,
            subject=wanted.subject,
        )
        found += memories.ids_of(vault.writer, caller.reach, asked)
    missing = set(wanted.ids) - set(found)
    if missing and wanted == Selection(ids=wanted.ids):
        raise NotFound(f"{len(missing)} of {len(wanted.ids)} ids are not there")
    return found


def older_backups(vault: Vault) -> list[str]:
    """Backups that still hold what is deleted now: every one made before it, wherever it was written."""
    return backup.older(vault)


def erase(vault: Vault, caller: Caller, wanted: Selection, why: str | None) -> Erased:
    """Remove everything of the selection and return when no page and no log holds it any more."""
    try:
        return _erase(vault, caller, wanted, why)
    except DiskFull:
        vault.layout.reserve.unlink(missing_ok=True)
        return _erase(vault, caller, wanted, why)


def _erase(vault: Vault, caller: Caller, wanted: Selection, why: str | None) -> Erased:
    """A source is forbidden as far as it goes: all of it, or what of it belongs to a project or subject.

    Single ids beside it say nothing of the source.
    """
    found = select(vault, caller, wanted)
    named = graves.source_name(wanted.source, wanted.session, wanted.project, wanted.subject)
    with change(vault, "delete", caller.actor) as work:
        for start in range(0, len(found), 500):
            batch = memories.get(vault.writer, found[start : start + 500], caller.reach)
            for record in batch.values():
                work.erase(record, Move.DELETE, why, tombstone=True, source=named)
        if found and named and not wanted.ids:
            graves.bury_source(vault, named, work.at, work.run)
        if wanted == Selection(project=wanted.project):
            aliasing.erase(work, wanted.project)
    empty_log(vault)
    keep_reserve(vault.layout)
    left = tombstones.count_of_run(vault.writer, work.run)
    return Erased(found, left, work.run, older_backups(vault))


def empty_log(vault: Vault) -> None:
    """Checkpoint until the write-ahead log is truncated. Raises Busy when a reader stays in the way."""
    deadline = time.monotonic() + CHECKPOINT_TIMEOUT_S
    vault.clearing.set()
    try:
        while not vault.writer.truncate_log():
            if time.monotonic() > deadline:
                raise Busy(
                    "a reader keeps the deleted pages alive",
                    "Deleted already; ask again to finish the erasure.",
                )
            time.sleep(0.01)
    finally:
        vault.clearing.clear()
