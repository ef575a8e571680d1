"""What a write becomes beside what is known (SPEC 6): merged, superseding, yielding, in conflict, beside it.

Owns carrying out a comparison inside an open change, for new claims and for candidates that become active.
Knows nothing of who may write or of the gate, of tombstones only what they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memvault.clock import iso, parse
from memvault.errors import Illegal
from memvault.gate.compare import COMPARABLE, IN_FORCE, Comparison, Verdict, compare, same_claim
from memvault.ids import new_id
from memvault.lifecycle import Move
from memvault.model import Authority, Claim, Draft, Outcome, Record, Source, SourceType, Status
from memvault.services import dates, graves
from memvault.services.change import Change, fetch
from memvault.services.trust import CONFIDENCE, lowered, merged_confidence, restored, stronger
from memvault.services.vault import Vault
from memvault.store import memories

REVIEW_REPLACEMENT = "review_replacement"
"""Flag of a memory that replaced another because it is newer and nothing else: the inbox shows it."""


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


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A claim about to become active: a draft, or a candidate that `move` (confirm, promote) takes in."""

    draft: Draft
    authority: Authority
    confidence: float
    candidate: Record | None = None
    move: Move = Move.CREATE


def newcomer(draft: Draft, authority: Authority) -> Newcomer:
    """A draft that nobody proposed before."""
    given = draft.confidence
    return Newcomer(draft, authority, CONFIDENCE[authority] if given is None else given)


def known_about(vault: Vault, claim: Claim) -> list[Record]:
    """Memories with the claim's subject and attribute in its scope and project, or with its very content."""
    derived = vault.derive(claim)
    by_id: dict[str, Record] = {}
    if derived.claim_key is not None:
        by_id |= {r.id: r for r in memories.with_key(vault.writer, "claim_key", derived.claim_key)}
    by_id |= {r.id: r for r in memories.with_key(vault.writer, "content_key", derived.content_key)}
    return list(by_id.values())


def is_known(vault: Vault, claim: Claim) -> bool:
    """Whether a memory that stands, and is not held itself, says the same: saying it again is nothing new."""
    known = [r for r in known_about(vault, claim) if r.status in COMPARABLE and not graves.is_held(r)]
    return any(same_claim(claim, record.claim) for record in known)


def place(work: Change, new: Newcomer, *, correct: bool = False) -> Written:
    """Weigh a claim against what is known and carry out what SPEC 6 says."""
    own = None if new.candidate is None else new.candidate.id
    known = [record for record in known_about(work.vault, new.draft.claim) if record.id != own]
    found = compare(new.draft, new.authority, known, correct=correct, at=work.at)
    match found.verdict:
        case Verdict.MERGE:
            return _merge(work, new, found)
        case Verdict.SUPERSEDE:
            return supersede(work, new, found)
        case Verdict.CONTRADICT:
            return _contradict(work, new, found)
        case Verdict.YIELD:
            return _yield(work, new, found)
        case Verdict.NEW | Verdict.SPLIT:
            record = _arrive(work, new, found)
            _set_apart(work, found)
            return Written(Outcome.ACTIVE, record.id, record.version, found.reason, work.run)


def record_of(work: Change, new: Newcomer, status: Status, claim: Claim | None = None) -> Record:
    """A new record of a draft. What is said to have been seen later than now was seen now."""
    draft, found = new.draft, new.draft.claim if claim is None else claim
    created = work.at if draft.created_at is None else iso(parse(draft.created_at))
    if found.valid_from is None:
        found = replace(found, valid_from=created)
    return Record(
        id=new_id(),
        version=1,
        claim=found,
        sources=tuple(dated(source, work.at) for source in draft.sources),
        authority=new.authority,
        confidence=new.confidence,
        status=status,
        created_at=created,
        updated_at=work.at,
    )


def dated(source: Source, at: str) -> Source:
    """The source with the time it was observed, at the latest `at`."""
    return replace(source, observed_at=min(source.observed_at or at, at))


def _arrive(work: Change, new: Newcomer, found: Comparison, supersedes: str | None = None) -> Record:
    """Make the newcomer active, under the condition that the sources name for it."""
    claim = new.draft.claim
    if found.condition is not None and claim.conditions is None:
        claim = replace(claim, conditions=found.condition)
    if new.candidate is None:
        record = replace(record_of(work, new, Status.ACTIVE, claim), supersedes=supersedes)
        work.create(record, Move.CREATE, found.reason)
    else:
        waiting = new.candidate
        if claim != waiting.claim:
            waiting = work.revise(waiting, claim, "split", found.reason)
        trust = {
            "authority": new.authority,
            "confidence": new.confidence,
            "supersedes": supersedes or waiting.supersedes,
        }
        record = work.move(waiting, new.move, Status.ACTIVE, found.reason, **trust)
    return work.flag(record, REVIEW_REPLACEMENT) if found.review else record


def _set_apart(work: Change, found: Comparison) -> None:
    """Write into each sibling the condition that the sources name for it."""
    for record, condition in found.apart:
        if record.claim.conditions is None:
            work.revise(record, replace(record.claim, conditions=condition), "split", found.reason)


def _same_source(one: Source, other: Source) -> bool:
    """One place and one excerpt; when it was observed and how the file's bytes hashed is no difference."""
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("type", "ref", "task", "message_index", "evidence")
    )


def fresh_sources(known: Sequence[Source], more: Sequence[Source], at: str) -> tuple[Source, ...]:
    """Those of `more` that are not known yet."""
    return tuple(dated(s, at) for s in more if not any(_same_source(s, old) for old in known))


def _merge(work: Change, new: Newcomer, found: Comparison) -> Written:
    """One record, all sources kept. A source that is there already is no further observation.

    What is switched off, expired or archived comes back when the person says it again, not by a document.
    """
    (kept,) = found.others
    fresh = fresh_sources(kept.sources, new.draft.sources, work.at)
    said_now = any(source.type is SourceType.USER for source in new.draft.sources)
    if new.candidate is not None:
        work.withdraw(new.candidate, "merged into the memory that says the same")
    elif not fresh and not (said_now and (kept.status not in IN_FORCE or dates.is_past(kept.claim, work.at))):
        reason = "known already, from the same source"
        return Written(Outcome.MERGED, kept.id, kept.version, reason, work.run, changed=False)
    record = work.add_sources(kept, fresh) if fresh else kept
    trust: dict[str, Any] = {
        "confidence": _agreed(kept, new.confidence),
        "observations": kept.observations + 1,
        "authority": stronger(kept.authority, new.authority),
    }
    back = {Status.EXPIRED: Move.REVIVE, Status.ARCHIVED: Move.REVIVE, Status.DISABLED: Move.ENABLE}
    returns = said_now and kept.status in back and not _yields(work, record, new.authority)
    if returns or (said_now and kept.status in IN_FORCE):
        record = dates.take_off(work, record, until=new.draft.claim.expires_at)
    if returns:
        record = work.unflag(record, graves.RESEMBLES) if graves.is_held(record) else record
        record = work.move(record, back[kept.status], Status.ACTIVE, found.reason, **trust)
        record = settle(work, record)
    else:
        record = work.trust(record, "merge", found.reason, **trust)
    return Written(Outcome.MERGED, record.id, record.version, found.reason, work.run)


def _agreed(kept: Record, more: float) -> float:
    """Confidence after a further sighting; a contradicted memory stays lowered."""
    if kept.status is Status.CONFLICT:
        return lowered(merged_confidence(restored(kept.confidence), more))
    return merged_confidence(kept.confidence, more)


def _closed(work: Change, old: Record, reason: str) -> Record:
    if old.claim.valid_to:
        return old
    return work.revise(old, replace(old.claim, valid_to=work.at), "close", reason)


def retire(work: Change, old: Record, reason: str, *, decided: bool = False) -> None:
    """Close the validity of a claim and mark it as replaced.

    `decided`: a person said so, which lets a side of a conflict become active first (SPEC 4).
    """
    if old.status is Status.CONFLICT and decided:
        old = work.move(old, Move.RESOLVE, Status.ACTIVE, reason, confidence=restored(old.confidence))
    work.move(_closed(work, old, reason), Move.SUPERSEDE, Status.SUPERSEDED, reason)


def supersede(work: Change, new: Newcomer, found: Comparison) -> Written:
    """The newcomer becomes active, then those it replaces are closed."""
    newest = found.others[-1]
    record = _arrive(work, new, found, f"{newest.id}@{newest.version}")
    for old in found.others:
        retire(work, old, found.reason, decided=True)
    _set_apart(work, found)
    return Written(Outcome.SUPERSEDED, record.id, record.version, found.reason, work.run)


def take_place(work: Change, new: Newcomer, old: Record, reason: str) -> Written:
    """Put the newcomer in the place of `old`, whose own source says it now."""
    return supersede(work, new, Comparison(Verdict.SUPERSEDE, (old,), reason))


def _yield(work: Change, new: Newcomer, found: Comparison) -> Written:
    """The new claim is kept for audit only: what stands outranks it."""
    if new.candidate is not None and new.move is Move.PROMOTE:
        closed = _closed(work, new.candidate, found.reason)
        record = work.move(closed, new.move, Status.SUPERSEDED, found.reason)
    else:
        record = _arrive(work, new, found)
        retire(work, record, found.reason)
    return Written(Outcome.REFUSED, record.id, record.version, found.reason, work.run)


def _contradict(work: Change, new: Newcomer, found: Comparison) -> Written:
    """Two transitions in one transaction: the new one becomes active, then both are a conflict (SPEC 4)."""
    record = _arrive(work, new, found)
    _dispute(work, (record, *found.others), found.reason)
    _set_apart(work, found)
    return Written(Outcome.CONFLICT, record.id, record.version, found.reason, work.run)


def _dispute(work: Change, sides: Sequence[Record], reason: str) -> None:
    for side in sides:
        if side.status is Status.ACTIVE:
            work.move(side, Move.CONTRADICT, Status.CONFLICT, reason, confidence=lowered(side.confidence))


def _weighed(work: Change, record: Record, authority: Authority, *, correct: bool = False) -> Comparison:
    """A memory that stands, or is about to, weighed against the others that are in force."""
    known = [r for r in known_about(work.vault, record.claim) if r.id != record.id and r.status in IN_FORCE]
    disputed = any(other.status is Status.CONFLICT for other in known)
    draft = Draft(record.claim, record.sources, record.confidence, record.created_at)
    return compare(draft, authority, known, correct=correct and not disputed, at=work.at)


def _yields(work: Change, record: Record, authority: Authority) -> bool:
    return _weighed(work, record, stronger(record.authority, authority)).verdict is Verdict.YIELD


def settle(work: Change, record: Record, *, correct: bool = False) -> Record:
    """Weigh a memory that just became active, or was edited, so that no two contradict each other unseen.

    Raises Illegal when another memory has taken its place meanwhile.
    """
    found = _weighed(work, record, record.authority, correct=correct)
    if found.verdict is Verdict.YIELD:
        raise Illegal(
            "another memory has taken its place since",
            f"`memvault get {found.others[0].id}` shows it; correct or disable that one first.",
        )
    if found.verdict is Verdict.CONTRADICT:
        _dispute(work, (record, *found.others), found.reason)
    elif found.verdict is Verdict.SUPERSEDE or (found.verdict is Verdict.MERGE and _may_close(found)):
        fresh = fresh_sources(record.sources, found.others[0].sources, work.at)
        if found.verdict is Verdict.MERGE and fresh:
            record = work.add_sources(record, fresh)
        for old in found.others:
            retire(work, old, found.reason)
    if found.condition is not None and record.claim.conditions is None:
        work.revise(record, replace(record.claim, conditions=found.condition), "split", found.reason)
    _set_apart(work, found)
    return fetch(work.vault, record.id)


def _may_close(found: Comparison) -> bool:
    return all(other.status is Status.ACTIVE for other in found.others)
