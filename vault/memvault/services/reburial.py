"""What a restored copy may not bring back: memories that were deleted for good since it was made (SPEC 7).

What only resembles them is held for a person. Owns the comparison of a copy with the tombstones that it
did not have. Knows nothing of backup files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from memvault.errors import VaultDamaged
from memvault.keys.envelope import VaultKey
from memvault.lifecycle import Move
from memvault.model import Claim, Draft, Record
from memvault.services import graves, held
from memvault.services.backup import Tell
from memvault.services.change import EVERYTHING, Change
from memvault.services.graves import Grave
from memvault.services.vault import Vault
from memvault.store import codec, memories, tombstones
from memvault.store.connection import Database

_BATCH = 500


@contextmanager
def opened(path: Path, key: VaultKey, *, create: bool = False) -> Iterator[Database]:
    """A writable database for the length of a block."""
    db = Database(path, key, writable=True, create=create)
    try:
        yield db
    finally:
        db.close()


def bury(work: Change, replaced: Path, key: VaultKey, carried: Database, tell: Tell) -> tuple[int, int]:
    """Erase what the tombstones in `carried` forbid, hold what resembles it; returns how many of each.

    The tombstones stay, so no further ones are needed. `replaced` is the database that the restored one
    takes the place of.
    """
    gone = tombstones.memories_of(carried)
    door = replace(work.vault, writer=carried)
    db, removed, kept_back = work.vault.writer, 0, 0
    ids = memories.ids_of(db, EVERYTHING, memories.Filter())
    with opened(replaced, key) as before:
        for start in range(0, len(ids), _BATCH):
            tell("comparing with what was deleted", start, len(ids))
            for record in memories.get(db, ids[start : start + _BATCH], EVERYTHING).values():
                grave = None if record.id in gone else _met(door, record, db, before)
                if record.id in gone or (grave is not None and grave.forbids):
                    work.erase(record, Move.DELETE, None, tombstone=False, source=None)
                    removed += 1
                elif grave is not None:
                    graves.count_held(work.vault)
                    held.hold(work, record)
                    kept_back += 1
    return removed, kept_back


def _met(door: Vault, record: Record, db: Database, before: Database) -> Grave | None:
    """The strictest tombstone that a version of the record meets, unless the replaced vault had that still.

    A memory that shares its words with a deleted one, and stayed when that was deleted, stays. What stayed
    is asked first: most of a vault did, and comparing words costs more.
    """
    stayed = _stayed(before, record.id)
    returning = [claim for claim in _claims(db, record) if claim not in stayed]
    met = [graves.tombstoned(door, Draft(claim, record.sources)) for claim in returning]
    found = [grave for grave in met if grave is not None]
    return max(found, key=lambda grave: grave.forbids, default=None)


def _stayed(before: Database, memory: str) -> set[Claim]:
    """What the replaced vault still knows of a memory; nothing when it cannot be read."""
    try:
        living = memories.get(before, [memory], EVERYTHING).get(memory)
        return set() if living is None else _claims(before, living)
    except VaultDamaged:
        return set()


def _claims(db: Database, record: Record) -> set[Claim]:
    """The claim in every version that is kept."""
    return {record.claim, *(codec.claim_of(version) for version in memories.versions(db, record.id))}
