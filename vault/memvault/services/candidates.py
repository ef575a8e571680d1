"""Candidates: proposed, seen again, promoted, confirmed, rejected, lapsed (SPEC 4 and 5).

Owns what waits for a person or for a second observation. A candidate itself changes no other memory. What an
agent is told never depends on what it may not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from memvault.clock import iso, parse
from memvault.errors import Illegal, NotFound
from memvault.gate.compare import same_claim
from memvault.gate.score import MOST_CANDIDATES
from memvault.lifecycle import Move
from memvault.model import Authority, Draft, Kind, Outcome, Record, Source, SourceType, Status
from memvault.services import graves, held, told
from memvault.services.caller import PERSON, Caller
from memvault.services.change import Change, change, fetch
from memvault.services.placing import (
    REVIEW_REPLACEMENT,
    Newcomer,
    Written,
    fresh_sources,
    known_about,
    newcomer,
    place,
    record_of,
)
from memvault.services.trust import CONFIDENCE, authority_of, merged_confidence, stronger
from memvault.services.vault import Vault
from memvault.store import memories, proposals, settings
from memvault.watch.cited import bare

PROMOTABLE = frozenset({Kind.FACT, Kind.EPISODE})
"""Kinds that a second observation makes active; every other kind waits for a person."""

SIGHTINGS = 2
"""Independent observations that promote."""

LAPSE_AFTER = timedelta(days=30)
"""A candidate that nobody confirmed, and no independent source bore out, goes, without a tombstone."""

TURN = timedelta(minutes=10)
"""How long a source that names no turn counts as one."""

PENDING = "proposed; a person confirms it"


def refusal(vault: Vault, caller: Caller, draft: Draft) -> str | None:
    """Why this proposal is not even held: an echo of memvault itself, or one too many of its turn."""
    if _echo(vault, caller, draft):
        name, reason = "refused:echo", "it came from memvault itself and is no new observation"
    elif _crowded(vault, caller, draft):
        name = "refused:too_many"
        reason = (
            f"{MOST_CANDIDATES} proposals of this turn and source are held already: only conclusions count"
        )
    else:
        return None
    with vault.writer.transaction():
        settings.count(vault.writer, name)
    return reason


def _echo(vault: Vault, caller: Caller, draft: Draft) -> bool:
    # A process without a terminal reads as the person and writes as a script.
    actors = (caller.actor, PERSON.actor) if caller.reach is PERSON.reach else (caller.actor,)
    with vault.writer.transaction():
        vault.told.keep(vault.writer, vault.now())
    if vault.told.echoed(vault.writer, vault.now(), actors, draft):
        return True
    ids = told.carried_ids(draft)
    return bool(ids) and bool(memories.get(vault.writer, ids, caller.reach))


def _crowded(vault: Vault, caller: Caller, draft: Draft) -> bool:
    waiting = _waiting_twin(vault, draft)
    for source in draft.sources:
        turn = source.task is not None or source.message_index is not None
        since = "" if turn else iso(parse(vault.now()) - TURN)
        held = proposals.proposed_from(vault.writer, caller.actor, source, since)
        if len([id_ for id_ in held if waiting is None or id_ != waiting.id]) >= MOST_CANDIDATES:
            return True
    return False


def _waiting_twin(vault: Vault, draft: Draft) -> Record | None:
    """The candidate that proposes the same claim already."""
    for record in known_about(vault, draft.claim):
        if record.status is Status.CANDIDATE and same_claim(draft.claim, record.claim):
            return record
    return None


def propose(work: Change, caller: Caller, draft: Draft, flags: Sequence[str] = ()) -> Written:
    """Hold a checked draft, or add its source to the candidate that says the same.

    What was seen twice is promoted. The answer is the same in every case. `flags` say what a person should
    look at: they rule promotion out, but for SAID.
    """
    authority = authority_of(caller, draft.sources)
    twin = _waiting_twin(work.vault, draft)
    if twin is None:
        record = record_of(work, newcomer(draft, authority), Status.CANDIDATE)
        work.create(record, Move.PROPOSE, PENDING)
    else:
        record = _seen_again(work, twin, draft, authority)
    for name in flags:
        record = work.flag(record, name)
    held = set(record.flags) - {memories.SAID}
    if record.claim.kind in PROMOTABLE and not held and sightings(record.sources) >= SIGHTINGS:
        promote(work, work.unflag(record, memories.SAID) if record.flags else record)
    return Written(Outcome.CANDIDATE, record.id, 1, PENDING, work.run, changed=record is not twin)


def hold(work: Change, caller: Caller, draft: Draft, flags: Sequence[str] = ()) -> Written:
    """Keep for a person what resembles something deleted: it never becomes active by itself (SPEC 7)."""
    graves.count_held(work.vault)
    written = propose(work, caller, draft, (*flags, graves.RESEMBLES))
    return replace(written, reason=graves.HELD) if caller.is_person else written


def _seen_again(work: Change, twin: Record, draft: Draft, authority: Authority) -> Record:
    """Keep the further sources; only an independent one is an observation."""
    fresh = fresh_sources(twin.sources, draft.sources, work.at)
    if not fresh:
        return twin
    record = work.add_sources(twin, fresh)
    before, after = sightings(twin.sources), sightings(record.sources)
    if after <= before:
        return record
    more = CONFIDENCE[authority]
    return work.trust(
        record,
        "observe",
        "an independent source says the same",
        observations=max(1, after),
        confidence=merged_confidence(record.confidence, more) if before else max(record.confidence, more),
        authority=stronger(record.authority, authority),
    )


def sightings(sources: Sequence[Source]) -> int:
    """Independent observations among `sources`: user messages and files that vouch by themselves.

    Two that share a reference, a task or a file's content are one.
    """
    groups: list[set[tuple[str, str]]] = []
    for source in sources:
        vouches = source.type is SourceType.FILE and source.verified
        if source.type is not SourceType.USER and not vouches:
            continue
        names = {(str(source.type), bare(source.ref) if vouches else source.ref.split("#", 1)[0])}
        if vouches:
            names.add(("content", str(source.content_hash)))
        if source.task is not None:
            names.add(("task", source.task))
        joined = [group for group in groups if group & names]
        groups = [group for group in groups if not group & names]
        groups.append(names.union(*joined))
    return len(groups)


def promote(work: Change, candidate: Record) -> Written:
    """Seen twice: weighed like any new claim (SPEC 6)."""
    draft = Draft(candidate.claim, candidate.sources, candidate.confidence, candidate.created_at)
    return place(work, Newcomer(draft, candidate.authority, candidate.confidence, candidate, Move.PROMOTE))


def readable(vault: Vault, caller: Caller, memory: str) -> Record:
    """A record within the caller's reach. Raises NotFound."""
    record = memories.get(vault.writer, [memory], caller.reach).get(memory)
    if record is None:
        raise NotFound("no such memory")
    return record


def confirm(vault: Vault, caller: Caller, memory: str) -> Record:
    """A person confirms a candidate: it is weighed like a new claim of theirs.

    A replacement that waits for a look is thereby seen. Raises Illegal, Refused.
    """
    record = readable(vault, caller, memory)
    if REVIEW_REPLACEMENT in record.flags:
        return _accept(vault, caller, record)
    if graves.is_held(record):
        with change(vault, "confirm", caller.actor) as work:
            return held.let_back(work, record, "a person confirmed it")
    if record.status is not Status.CANDIDATE:
        raise Illegal(f"only a candidate can be confirmed, this memory is {record.status}")
    draft = Draft(record.claim, record.sources, None, record.created_at)
    grave = graves.tombstoned(vault, draft)
    if grave is not None and grave.forbids:
        graves.refuse(vault, grave)
    authority = stronger(record.authority, Authority.USER_CONFIRMED)
    confidence = max(record.confidence, CONFIDENCE[authority])
    with change(vault, "confirm", caller.actor) as work:
        for name in record.flags:
            record = work.unflag(record, name)  # what held it is settled: a person looked
        written = place(work, Newcomer(draft, authority, confidence, record, Move.CONFIRM))
    return fetch(vault, str(written.id))


def _accept(vault: Vault, caller: Caller, record: Record) -> Record:
    with change(vault, "confirm", caller.actor) as work:
        kept = work.unflag(record, REVIEW_REPLACEMENT)
        work.note(record.id, "accept", "the replacement was seen and kept", record.status, record.version)
    return replace(kept, updated_at=fetch(vault, record.id).updated_at)


def reject(vault: Vault, caller: Caller, memory: str) -> None:
    """A person rejects a candidate, or what is held; its tombstone keeps it from being proposed again."""
    record = readable(vault, caller, memory)
    move = Move.DELETE if graves.is_held(record) else Move.REJECT
    with change(vault, "reject", caller.actor) as work:
        work.erase(record, move, None, tombstone=True, source=None)
    vault.writer.truncate_log()


def lapse_candidates(vault: Vault) -> list[str]:
    """Delete, without tombstone, what nobody confirmed for thirty days. Returns the ids."""
    before = iso(parse(vault.now()) - LAPSE_AFTER)
    found = proposals.waiting_since(vault.writer, before)
    if not found:
        return []
    with change(vault, "lapse", "memvault") as work:
        for memory in found:
            work.erase(fetch(vault, memory), Move.LAPSE, None, tombstone=False, source=None)
    vault.writer.truncate_log()
    return found
