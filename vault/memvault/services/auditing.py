"""What an audit adds to a context (M3): evidence, earlier versions, what was replaced, events and approvals.

Reads through the caller's reach; versions and events are for a person. Runs in the reader's thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from memvault.compile.entry import Entry
from memvault.compile.fit import Rank, Unit
from memvault.compile.lines import history
from memvault.compile.plan import Plan
from memvault.model import Record, Status
from memvault.services.caller import Caller
from memvault.services.vault import Vault
from memvault.store import events, memories

MOST_AUDITED = 30
MOST_CHAIN = 20


def units(vault: Vault, mine: Caller, made: Plan) -> list[Unit]:
    """One unit for each memory that is about to be shown and has a past."""
    planned = [id_ for placed in made.stable for id_ in placed.unit.ids]
    planned += [id_ for unit in made.units if unit.rank is not Rank.INDEX for id_ in unit.ids]
    found: list[Unit] = []
    for number, memory in enumerate(dict.fromkeys(planned)):
        if number == MOST_AUDITED:
            break
        entry = made.entries[memory]
        forms = history(
            entry,
            memories.versions(vault.reader, memory) if not mine.is_agent else (),
            events.of_memory(vault.reader, memory) if not mine.is_agent else (),
            _replaced(vault, mine, entry),
        )
        if forms:
            found.append(Unit((memory,), "audit", forms, Rank.AUDIT, entry.score))
    return found


def _replaced(vault: Vault, mine: Caller, entry: Entry) -> Sequence[Record]:
    """Superseded memories about the same property, and the chain of what replaced what."""
    found: dict[str, Record] = {}
    claim = entry.record.claim
    key = vault.derive(claim).claim_key if claim.subject and claim.attribute else None
    if key is not None:
        ids = [record.id for record in memories.with_key(vault.reader, "claim_key", key)]
        found.update(memories.get(vault.reader, ids, mine.reach))
    before = entry.record.supersedes
    while before is not None and len(found) < MOST_CHAIN:
        older = before.partition("@")[0]
        record = memories.get(vault.reader, [older], mine.reach).get(older)
        if record is None or older in found:
            break
        found[older] = record
        before = record.supersedes
    return [record for record in found.values() if record.status is Status.SUPERSEDED]
