"""Reading the memories a context is made of: standing ones, the index, what the objective recalls, conflicts.

Owns the entries that `compile` works with. Everything is read through the caller's reach, in the reader's
thread. Knows nothing of zones, budgets or sessions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memvault.compile.entry import Entry, confirmed
from memvault.compile.task import Mode, Task, is_unspecific
from memvault.model import Kind, Record, Status
from memvault.recall.query import Hit, Query
from memvault.services import plain
from memvault.services.caller import Caller, shelves
from memvault.services.dates import ended_at
from memvault.services.graves import is_held
from memvault.services.recollect import POOLS, is_said
from memvault.services.vault import Vault
from memvault.store import ageing, contexts, memories
from memvault.store.connection import Database
from memvault.store.memories import Reach
from memvault.text import fold

MOST_RECALLED = 16
MOST_FACTS = 12
"""Facts of the project that a context offers when its objective says nothing of what the work is."""
MOST_STANDING = 1_000
MOST_INDEXED = 60
MOST_OPEN = 20
MOST_SAID = 5
"""Unconfirmed statements that a context holds whatever its objective, the newest."""


def standing_entries(vault: Vault, reach: Reach) -> tuple[Entry, ...]:
    """Policies, preferences and constraints in force, in the order of the stable zone."""
    active = replace(reach, statuses=tuple(s for s in reach.statuses if s == Status.ACTIVE), said=())

    def load() -> tuple[Entry, ...]:
        ids = contexts.standing(vault.reader, active, MOST_STANDING)
        found = memories.get(vault.reader, ids, active)
        return tuple(entries(vault.reader, (found[memory] for memory in ids if memory in found)))

    return vault.standing.get(("standing", active), load)


def index_entries(
    db: Database, vault: Vault, reach: Reach, project: str | None, most: int = MOST_INDEXED
) -> tuple[Entry, ...]:
    """What the index names, read through `db`: procedures first, then the rest, the latest changed first."""

    def load() -> tuple[Entry, ...]:
        places = dict.fromkeys(p for p in (project, None) if reach.projects is None or p in reach.projects)
        ranked: list[tuple[bool, str, str]] = []
        for kind in Kind:
            for place in places:
                rows = contexts.recent(db, reach, place, kind, most)
                ranked += [(kind is Kind.PROCEDURE, at, memory) for at, memory in rows]
        ids = [memory for _, _, memory in sorted(ranked, reverse=True)[:most]]
        found = memories.get(db, ids, reach)
        return tuple(entries(db, (found[memory] for memory in ids if memory in found)))

    return vault.standing.get(("index", reach, project, most), load)


def entries(db: Database, records: Iterable[Record], hits: dict[str, Hit] | None = None) -> list[Entry]:
    """Records with what the vault knows beside them; what resembles something deleted is passed over."""
    kept = [record for record in records if not is_held(record)]
    written = contexts.written_at(db, [record.id for record in kept if record.version > 1])
    scores = hits or {}
    return [
        Entry(
            record=record,
            written_at=written.get(record.id, record.created_at),
            ends_at=_ends_at(db, record),
            verify_first=plain.verify_first(record),
            stale=plain.NEEDS_VERIFICATION in record.flags,
            score=round(scores[record.id].score, 6) if record.id in scores else 0.0,
        )
        for record in kept
    ]


def _ends_at(db: Database, record: Record) -> str | None:
    """Its date, unless it was brought back after that."""
    end = ended_at(record.claim)
    back = None if end is None else ageing.brought_back_at(db, record.id)
    return end if back is None or (end is not None and back < end) else None


def recalled(vault: Vault, mine: Caller, task: Task, query: Query) -> tuple[tuple[Entry, ...], list[Entry]]:
    """What the objective recalls, best first: what stands, and what is contradicted."""
    pools = POOLS | {"resting"} if task.mode is Mode.AUDIT else POOLS
    hits = vault.index.search(query, shelves(mine, task.project, pools), MOST_RECALLED)
    scores = {hit.id: hit for hit in hits}
    wanted = [*scores, *(memory for memory in _said(vault, mine, task) if memory not in scores)]
    found = memories.get(vault.reader, wanted, mine.reach)
    every = entries(vault.reader, (found[memory] for memory in wanted if memory in found), scores)
    shown = {Status.ACTIVE, Status.CONFLICT}
    if task.mode is Mode.AUDIT:
        shown |= {Status.EXPIRED, Status.ARCHIVED}
    every = [entry for entry in every if entry.record.status in shown or is_said(entry.record)]
    standing = tuple(entry for entry in every if entry.record.status is not Status.CONFLICT)
    return standing, [entry for entry in every if entry.record.status is Status.CONFLICT]


def project_facts(vault: Vault, mine: Caller, task: Task) -> tuple[Entry, ...]:
    """What is known of the project itself, the latest changed first: for a task that names no work."""
    if task.project is None or task.mode is Mode.MINIMAL or not is_unspecific(task.objective, task.project):
        return ()
    named = index_entries(vault.reader, vault, mine.reach, task.project)
    here = fold(task.project)
    facts = [
        entry
        for entry in named
        if entry.record.claim.kind is Kind.FACT
        and fold(entry.record.claim.project or "") == here
        and confirmed(entry)
        and not entry.stale
    ]
    # The score only keeps their order, below whatever has any relevance.
    return tuple(
        replace(entry, score=1e-9 * (MOST_FACTS - at)) for at, entry in enumerate(facts[:MOST_FACTS])
    )


def _said(vault: Vault, mine: Caller, task: Task) -> list[str]:
    """What the user said lately in this project and nobody confirmed yet; nothing where little is loaded."""
    if task.mode is Mode.MINIMAL:
        return []
    return contexts.said(vault.reader, mine.reach, task.project, MOST_SAID)


def conflicts(
    vault: Vault, mine: Caller, task: Task, found: list[Entry]
) -> tuple[tuple[tuple[Entry, ...], ...], tuple[str, ...]]:
    """Whole conflicts, and members of those that the caller may not see whole."""
    if task.mode in (Mode.CONTINUITY, Mode.AUDIT):
        known = {entry.id for entry in found}
        ids = contexts.open_conflicts(vault.reader, mine.reach, MOST_OPEN)
        others = memories.get(vault.reader, [memory for memory in ids if memory not in known], mine.reach)
        found = [*found, *entries(vault.reader, (others[memory] for memory in ids if memory in others))]
    sets: list[tuple[Entry, ...]] = []
    hidden: list[str] = []
    seen: set[str] = set()
    for entry in found:
        if entry.id in seen:
            continue
        sides, whole = _sides(vault, mine, entry)
        seen.update(side.id for side in sides)
        if whole:
            sets.append(sides)
        else:
            hidden += [side.id for side in sides]
    return tuple(sets), tuple(hidden)


def _sides(vault: Vault, mine: Caller, entry: Entry) -> tuple[tuple[Entry, ...], bool]:
    """All sides of a conflict that the caller may read, and whether that is all of it."""
    key = vault.derive(entry.record.claim).claim_key
    if key is None:
        return (entry,), False
    every = [r for r in memories.with_key(vault.reader, "claim_key", key) if r.status is Status.CONFLICT]
    allowed = memories.get(vault.reader, [record.id for record in every], mine.reach)
    readable = entries(vault.reader, (allowed[record.id] for record in every if record.id in allowed))
    sides = tuple(replace(side, score=entry.score) for side in readable)
    return sides or (entry,), len(sides) == len(every) > 1
