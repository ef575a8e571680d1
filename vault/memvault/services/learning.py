"""Other names that memories teach, and the groups of an unlocked vault.

Owns when a memory is read for names: with every version it gets, and all of them once the patterns changed.
Inside the caller's transaction. Knows nothing of callers.
"""

from __future__ import annotations

from collections.abc import Mapping

from memvault.model import Claim
from memvault.recall.aliases import Aliases, Group
from memvault.recall.query import Shelf
from memvault.recall.teaching import RULES, taught
from memvault.store import aliases, settings
from memvault.store.connection import Database

READ_BY = "aliases:rules"


def read(db: Database, memory: str, claim: Claim) -> None:
    """Keep what the present version of a memory teaches."""
    parts = (claim.content, claim.why, claim.how_to_apply, claim.conditions, claim.context, claim.about)
    aliases.teach(db, memory, taught([part for part in parts if part]))


def catch_up(db: Database) -> None:
    """Read every memory anew when the patterns are not those it was read by."""
    if settings.get(db, READ_BY) == RULES:
        return
    for memory, texts in list(_teaching(db)):
        aliases.teach(db, memory, texts)
    settings.put(db, READ_BY, RULES)


def _teaching(db: Database) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    known = set(aliases.teachers(db))
    found = ((memory, taught(texts)) for memory, texts in aliases.texts(db))
    return [(memory, pairs) for memory, pairs in found if pairs or memory in known]


def teachers(db: Database) -> list[str]:
    """Ids of the memories that taught something."""
    return aliases.teachers(db)


def follow(db: Database, into: Aliases, shelves: Mapping[str, Shelf]) -> None:
    """What these memories teach now, each on its shelf."""
    taught_by = aliases.taught_by(db, list(shelves))
    for memory, shelf in shelves.items():
        into.learn(memory, shelf, taught_by.get(memory, ()))


def settle(db: Database, into: Aliases) -> None:
    """What a person set and switched off."""
    groups = [Group(ident, "set", names, project) for ident, project, names in aliases.every(db)]
    into.settle(groups, aliases.switched_off(db))
