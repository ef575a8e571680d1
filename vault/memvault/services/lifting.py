"""Lifting a tombstone: a person's word that what was deleted may be written again (SPEC 7).

Owns the run and its event. Nothing of a deleted memory comes back by it, and no rollback undoes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memvault.errors import NotFound
from memvault.services.caller import Caller
from memvault.services.change import change
from memvault.services.vault import Vault
from memvault.store import tombstones


@dataclass(frozen=True, slots=True)
class Lifted:
    """`ids`: the tombstones that stand no more: the one named, and others of the very same text or source."""

    ids: list[str]
    run: str


def listing(vault: Vault, limit: int, offset: int) -> dict[str, Any]:
    """What stands, newest first: id, at, run, memory (None: a source), by_source. For the reader's thread."""
    items, total = tombstones.page(vault.reader, limit, offset)
    return {"items": items, "total": total}


def lift(vault: Vault, caller: Caller, tombstone: str) -> Lifted:
    """Allow again what a tombstone refuses. Raises NotFound."""
    found = tombstones.standing(vault.writer, tombstone)
    if found is None:
        raise NotFound("no such tombstone", "`memvault tombstones list` shows those that stand.")
    with change(vault, "lift", caller.actor) as work:
        ids = tombstones.lift(vault.writer, tombstone, work.at)
        work.lifted(found[0], ids)
        work.summary["tombstones"] = len(ids)
    return Lifted(ids, work.run)
