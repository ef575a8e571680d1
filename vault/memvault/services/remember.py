"""Write: add, correct, edit, confirm, reject, switch, verify. Every path meets the tombstones first.

Owns what a write becomes. Authority is computed here from the caller and the source, never taken from
either. Knows nothing of the socket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memvault.clock import iso, parse
from memvault.errors import Illegal, NotFound, Refused, Usage
from memvault.gate.compare import Comparison, Verdict, compare
from memvault.ids import new_id
from memvault.lifecycle import Move
from memvault.model import (
    CLAIM_FIELDS,
    Authority,
    Claim,
    Draft,
    Kind,
    Outcome,
    Record,
    Scope,
    Sensitivity,
    Source,
    SourceType,
    Status,
)
from memvault.services.caller import Caller
from memvault.services.change import Change, change, fetch
from memvault.services.intake import checked_claim, checked_source
from memvault.services.vault import Vault
from memvault.store import memories, settings, tombstones

CONFIDENCE = {
    Authority.SYSTEM: 0.99,
    Authority.FILE: 0.95,
    Authority.USER_CONFIRMED: 0.95,
    Authority.DOCUMENT: 0.8,
    Authority.CONVERSATION: 0.7,
    Authority.INFERRED: 0.5,
}
"""Confidence a claim starts with when its writer gives none."""

MOST_CONFIDENT = 0.99


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a write. `id` is None when it was refused."""

    outcome: Outcome
    id: str | None
    version: int | None
    reason: str
    run: str | None
    changed: bool = True
    """False when everything about the claim was known, its source included."""


def authority_of(caller: Caller, sources: Sequence[Source]) -> Authority:
    """Who stands behind a claim (SPEC 2)."""
    types = {source.type for source in sources}
    if types & {SourceType.IMPORT, SourceType.TEAM}:
        return Authority.DOCUMENT
    if caller.is_person:
        return Authority.USER_CONFIRMED
    return Authority.CONVERSATION if types == {SourceType.CONVERSATION} else Authority.INFERRED


def default_sensitivity(kind: Kind) -> Sensitivity:
    return Sensitivity.PERSONAL if kind is Kind.RELATIONSHIP else Sensitivity.INTERNAL


def add(vault: Vault, caller: Caller, draft: Draft, *, correct: bool) -> Written:
    """Write one claim as a run of its own. Raises TextUnusable, Usage; a refusal is an outcome."""
    draft = replace(
        draft,
        claim=checked_claim(draft.claim),
        sources=tuple(checked_source(source) for source in draft.sources),
    )
    refusal = tombstoned(vault, draft)
    if refusal is not None:
        with vault.writer.transaction():
            settings.count(vault.writer, "prevented_resurrections")
        return refusal if caller.is_person else replace(refusal, reason="refused by a rule of this vault")
    with change(vault, "add", caller.actor) as work:
        return write(work, caller, draft, correct=correct)


def tombstoned(vault: Vault, draft: Draft) -> Written | None:
    """A refusal when the claim, its content, its words or its source were deleted for good."""
    key = vault.secrets.tombstones
    names = [name for source in draft.sources for name in _names_of(source)]
    refs = [tombstones.source_print(key, name) for name in names]
    if tombstones.match(vault.writer, tombstones.prints(key, draft.claim), refs) is None:
        return None
    reason = "it was deleted for good; a person can lift the tombstone" if draft.sources else "it was deleted"
    return Written(Outcome.REFUSED, None, None, reason, None)


def _names_of(source: Source) -> list[str]:
    """What a person may have called this source, or its session, when deleting by it."""
    names = [source.ref, f"{source.type}:{source.ref}"]
    return names if source.task is None else [*names, source.task]


def write(work: Change, caller: Caller, draft: Draft, *, correct: bool = False) -> Written:
    """Place a checked draft inside an open change: new, merged, superseding, yielding or contradicting."""
    authority = authority_of(caller, draft.sources)
    if not caller.is_person:
        return _propose(work, draft, authority)
    known = _known(work.vault, draft.claim)
    found = compare(draft, authority, known, correct=correct)
    if found.verdict is Verdict.MERGE:
        return _merge(work, draft, authority, found)
    if found.verdict is Verdict.SUPERSEDE:
        return _supersede(work, draft, authority, found)
    if found.verdict is Verdict.CONTRADICT:
        return _contradict(work, draft, authority, found)
    if found.verdict is Verdict.YIELD:
        return _yield(work, draft, authority, found)
    record = _record(work, draft, authority, Status.ACTIVE)
    work.create(record, Move.CREATE, found.reason)
    return Written(Outcome.ACTIVE, record.id, 1, found.reason, work.run)


def _known(vault: Vault, claim: Claim) -> list[Record]:
    derived = vault.derive(claim)
    by_id: dict[str, Record] = {}
    if derived.claim_key is not None:
        by_id |= {r.id: r for r in memories.with_key(vault.writer, "claim_key", derived.claim_key)}
    by_id |= {r.id: r for r in memories.with_key(vault.writer, "content_key", derived.content_key)}
    return list(by_id.values())


def _record(
    work: Change, draft: Draft, authority: Authority, status: Status, supersedes: str | None = None
) -> Record:
    claim = draft.claim
    created = work.at if draft.created_at is None else iso(parse(draft.created_at))
    if claim.valid_from is None:
        claim = replace(claim, valid_from=created)
    return Record(
        id=new_id(),
        version=1,
        claim=claim,
        sources=tuple(replace(s, observed_at=s.observed_at or work.at) for s in draft.sources),
        authority=authority,
        confidence=CONFIDENCE[authority] if draft.confidence is None else draft.confidence,
        status=status,
        created_at=created,
        updated_at=work.at,
        supersedes=supersedes,
    )


def _propose(work: Change, draft: Draft, authority: Authority) -> Written:
    """A candidate changes nothing else (SPEC 4); it waits for a person."""
    record = _record(work, draft, authority, Status.CANDIDATE)
    reason = "proposed; a person confirms it"
    work.create(record, Move.PROPOSE, reason)
    return Written(Outcome.CANDIDATE, record.id, 1, reason, work.run)


def merged_confidence(one: float, other: float) -> float:
    """`1 - (1-c1)(1-c2)`, at most 0.99 (SPEC 6)."""
    return min(MOST_CONFIDENT, 1 - (1 - one) * (1 - other))


def _same_source(one: Source, other: Source) -> bool:
    return (one.type, one.ref, one.evidence) == (other.type, other.ref, other.evidence)


def _merge(work: Change, draft: Draft, authority: Authority, found: Comparison) -> Written:
    """One record, all sources kept. A source that is there already is no further observation.

    What is switched off, expired or archived comes back when the person says it again, not by a document.
    """
    (kept,) = found.others
    fresh = tuple(
        replace(source, observed_at=source.observed_at or work.at)
        for source in draft.sources
        if not any(_same_source(source, old) for old in kept.sources)
    )
    said_now = any(source.type is SourceType.USER for source in draft.sources)
    if not fresh and (kept.status in (Status.ACTIVE, Status.CONFLICT) or not said_now):
        return Written(
            Outcome.MERGED,
            kept.id,
            kept.version,
            "known already, from the same source",
            work.run,
            changed=False,
        )
    record = work.add_sources(kept, fresh) if fresh else kept
    more = CONFIDENCE[authority] if draft.confidence is None else draft.confidence
    trust = {
        "confidence": merged_confidence(kept.confidence, more),
        "observations": kept.observations + 1,
        "authority": max(kept.authority, authority, key=lambda level: level.rank),
    }
    if said_now and kept.status in (Status.EXPIRED, Status.ARCHIVED):
        record = work.move(record, Move.REVIVE, Status.ACTIVE, found.reason, **trust)
    elif said_now and kept.status is Status.DISABLED:
        record = work.move(record, Move.ENABLE, Status.ACTIVE, found.reason, **trust)
    else:
        record = work.trust(record, "merge", found.reason, **trust)
    return Written(Outcome.MERGED, record.id, record.version, found.reason, work.run)


def _retire(work: Change, old: Record, reason: str) -> None:
    """Close the validity of a claim and mark it as replaced."""
    closed = (
        old if old.claim.valid_to else work.revise(old, replace(old.claim, valid_to=work.at), "close", reason)
    )
    work.move(closed, Move.SUPERSEDE, Status.SUPERSEDED, reason)


def _supersede(work: Change, draft: Draft, authority: Authority, found: Comparison) -> Written:
    newest = found.others[-1]
    record = _record(work, draft, authority, Status.ACTIVE, f"{newest.id}@{newest.version}")
    work.create(record, Move.CREATE, found.reason)
    for old in found.others:
        _retire(work, old, found.reason)
    return Written(Outcome.SUPERSEDED, record.id, 1, found.reason, work.run)


def supersede(work: Change, caller: Caller, draft: Draft, old: Record, reason: str) -> Written:
    """Put a checked draft in the place of `old`, whose own source says it now. Opens no transaction."""
    found = Comparison(Verdict.SUPERSEDE, (old,), reason)
    return _supersede(work, draft, authority_of(caller, draft.sources), found)


def _yield(work: Change, draft: Draft, authority: Authority, found: Comparison) -> Written:
    """The new claim is kept for audit only: what stands has the higher authority."""
    record = _record(work, draft, authority, Status.ACTIVE)
    work.create(record, Move.CREATE, found.reason)
    _retire(work, record, found.reason)
    return Written(Outcome.REFUSED, record.id, 1, found.reason, work.run)


def _contradict(work: Change, draft: Draft, authority: Authority, found: Comparison) -> Written:
    """Two transitions in one transaction: the new one becomes active, then both are a conflict (SPEC 4)."""
    record = _record(work, draft, authority, Status.ACTIVE)
    work.create(record, Move.CREATE, found.reason)
    for side in (record, *(other for other in found.others if other.status is Status.ACTIVE)):
        work.move(side, Move.CONTRADICT, Status.CONFLICT, found.reason, confidence=side.confidence * 0.7)
    return Written(Outcome.CONFLICT, record.id, 1, found.reason, work.run)


EDITABLE = frozenset(CLAIM_FIELDS) - {"failure"}


def edit(
    vault: Vault,
    caller: Caller,
    memory: str,
    changes: dict[str, Any],
    expected: int | None,
    reason: str | None,
) -> Record:
    """Write a new version. Raises NotFound, Usage, Refused (tombstone), Illegal (someone else was faster)."""
    unknown = sorted(set(changes) - EDITABLE)
    if unknown:
        raise Usage(f"cannot be edited: {', '.join(unknown)}")
    if not changes:
        raise Usage("nothing to change")
    record = _readable(vault, caller, memory)
    if expected is not None and expected != record.version:
        raise Illegal(
            f"the memory is at version {record.version} by now, not {expected}", "Look at it again first."
        )
    kinds: dict[str, Any] = {"kind": Kind, "scope": Scope, "sensitivity": Sensitivity}
    try:
        typed = {name: kinds[name](value) if name in kinds else value for name, value in changes.items()}
    except ValueError as error:
        raise Usage("not a kind, scope or sensitivity") from error
    if typed.get("content", "") is None:
        raise Usage("the content cannot be empty")
    claim = checked_claim(replace(record.claim, **typed))
    if claim == record.claim:
        return record
    if claim.content != record.claim.content or claim.value != record.claim.value:
        refusal = tombstoned(vault, Draft(claim, ()))
        if refusal is not None:
            raise Refused(refusal.reason)
    with change(vault, "edit", caller.actor) as work:
        found = work.revise(record, claim, "edit", reason)
        if record.authority.rank >= Authority.USER_CONFIRMED.rank:
            return found
        trust = {
            "authority": Authority.USER_CONFIRMED,
            "confidence": max(record.confidence, CONFIDENCE[Authority.USER_CONFIRMED]),
        }
        return work.trust(found, "trust", "a person wrote this version", **trust)


def _readable(vault: Vault, caller: Caller, memory: str) -> Record:
    record = memories.get(vault.writer, [memory], caller.reach).get(memory)
    if record is None:
        raise NotFound("no such memory")
    return record


def verify(vault: Vault, caller: Caller, memory: str) -> Record:
    """Note that the claim was checked and holds; an expired or archived one is active again."""
    record = _readable(vault, caller, memory)
    with change(vault, "verify", caller.actor) as work:
        memories.set_verified(
            vault.writer, memory, work.at, [f for f in record.flags if f != "needs_verification"]
        )
        if record.status in (Status.EXPIRED, Status.ARCHIVED):
            work.move(record, Move.REVIVE, Status.ACTIVE, "verified again")
        else:
            work.note(memory, "verify", "verified", record.status, record.version)
    return fetch(vault, memory)


def switch(vault: Vault, caller: Caller, memory: str, *, on: bool) -> Record:
    """Disable without losing, or enable again. Raises Illegal."""
    record = _readable(vault, caller, memory)
    with change(vault, "enable" if on else "disable", caller.actor) as work:
        if on:
            return work.move(record, Move.ENABLE, Status.ACTIVE, "switched on")
        return work.move(record, Move.DISABLE, Status.DISABLED, "switched off")


def confirm(vault: Vault, caller: Caller, memory: str) -> Record:
    """A person confirms a candidate: it is weighed like a new claim of theirs. Raises Illegal, Refused."""
    record = _readable(vault, caller, memory)
    if record.status is not Status.CANDIDATE:
        raise Illegal(f"only a candidate can be confirmed, this memory is {record.status}")
    draft = Draft(record.claim, record.sources, None, record.created_at)
    refusal = tombstoned(vault, draft)
    if refusal is not None:
        raise Refused(refusal.reason)
    known = [other for other in _known(vault, record.claim) if other.id != memory]
    authority = Authority.USER_CONFIRMED
    found = compare(draft, authority, known, correct=False)
    with change(vault, "confirm", caller.actor) as work:
        if found.verdict is Verdict.MERGE:
            written = _merge(work, draft, authority, found)
            work.withdraw(record, "merged into the memory that says the same")
            return fetch(vault, str(written.id))
        trust = {"authority": authority, "confidence": max(record.confidence, CONFIDENCE[authority])}
        active = work.move(record, Move.CONFIRM, Status.ACTIVE, "confirmed", **trust)
        if found.verdict is Verdict.SUPERSEDE:
            for old in found.others:
                _retire(work, old, found.reason)
        if found.verdict is Verdict.CONTRADICT:
            for side in (active, *(other for other in found.others if other.status is Status.ACTIVE)):
                work.move(
                    side, Move.CONTRADICT, Status.CONFLICT, found.reason, confidence=side.confidence * 0.7
                )
    return fetch(vault, memory)


def reject(vault: Vault, caller: Caller, memory: str) -> None:
    """A person rejects a candidate; its tombstone keeps it from being proposed again."""
    record = _readable(vault, caller, memory)
    with change(vault, "reject", caller.actor) as work:
        work.erase(record, Move.REJECT, None, tombstone=True, source=None)
    vault.writer.truncate_log()
