"""Write: add, edit, verify, switch. Every path meets the tombstones first.

Owns what a person or an agent changes directly. What a claim becomes beside others is `placing`, what waits
is `candidates`. Knows nothing of the socket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memvault.errors import Illegal, Refused, Usage
from memvault.gate.estimate import NONE, Estimates
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
    Status,
)
from memvault.services import candidates, dates, graves, pollution
from memvault.services.caller import Caller, Verb
from memvault.services.candidates import readable
from memvault.services.change import Change, change, fetch
from memvault.services.held import let_back
from memvault.services.intake import checked_claim, checked_source
from memvault.services.placing import Written, is_known, known_about, newcomer, place, settle
from memvault.services.plain import NEEDS_VERIFICATION, SOURCE_CHANGED
from memvault.services.screening import count_refusal, credential, require_clean, screen
from memvault.services.trust import CONFIDENCE, authority_of, lowered
from memvault.services.vault import Vault
from memvault.store import memories


def add(
    vault: Vault,
    caller: Caller,
    draft: Draft,
    *,
    correct: bool,
    estimates: Estimates = NONE,
    flags: Sequence[str] = (),
    setting: str | None = None,
) -> Written:
    """Write one claim as a run of its own. Raises TextUnusable, Usage; a refusal is an outcome.

    `flags`: of the candidate, when it becomes one. `setting`: what the gate is told of how it was said, and
    what is not kept.
    """
    written = _add(vault, caller, draft, correct, estimates, flags, setting)
    if written.outcome is Outcome.REFUSED and caller.is_agent:
        with vault.writer.transaction():
            pollution.count_refused(vault, caller)
    return written


def _add(
    vault: Vault,
    caller: Caller,
    draft: Draft,
    correct: bool,
    estimates: Estimates,
    flags: Sequence[str],
    setting: str | None,
) -> Written:
    draft = replace(
        draft,
        claim=checked_claim(vault.places.spelt(draft.claim)),
        sources=tuple(checked_source(source) for source in draft.sources),
    )
    grave = graves.tombstoned(vault, draft)
    if grave is not None and grave.forbids:
        with vault.writer.transaction():
            graves.count_refusal(vault)
        reason = grave.reason if caller.is_person else "refused by a rule of this vault"
        return Written(Outcome.REFUSED, None, None, reason, None)
    weighed = draft if setting is None else replace(draft, claim=replace(draft.claim, context=setting))
    screened = screen(weighed, agent=caller.is_agent, imported=False, theta=vault.theta, estimates=estimates)
    if screened.refusal is not None:
        with vault.writer.transaction():
            count_refusal(vault, screened)
        return Written(Outcome.REFUSED, None, None, screened.refusal, None)
    if not caller.is_person:
        reason = pollution.refusal(vault, caller) or candidates.refusal(vault, caller, draft)
        if reason is not None:
            return Written(Outcome.REFUSED, None, None, reason, None)
    with change(vault, "add", caller.actor) as work:
        written = write(work, caller, draft, correct=correct, held=grave is not None, flags=flags)
    return (
        written
        if screened.warning is None
        else replace(written, reason=f"{written.reason}; {screened.warning}")
    )


def write(
    work: Change,
    caller: Caller,
    draft: Draft,
    *,
    correct: bool = False,
    held: bool = False,
    flags: Sequence[str] = (),
) -> Written:
    """Place a checked draft inside an open change; what is not a person's is only proposed.

    `held`: it resembles something deleted, so that a person confirms it unless it is known already.
    """
    if held and not is_known(work.vault, draft.claim):
        return candidates.hold(work, caller, draft)
    if not caller.is_person and not _may_write(work.vault, caller, draft):
        return candidates.propose(work, caller, draft, flags)
    return place(work, newcomer(draft, authority_of(caller, draft.sources)), correct=correct)


def _may_write(vault: Vault, caller: Caller, draft: Draft) -> bool:
    """An agent that was granted writing adds what stands alone; what touches another memory it proposes."""
    granted = Verb.WRITE in caller.verbs and caller.is_agent and draft.claim.kind in WRITABLE
    return granted and not known_about(vault, draft.claim)


WRITABLE = frozenset({Kind.FACT, Kind.EPISODE, Kind.REFLECTION})
"""Kinds that an agent with the right to write makes active; the others wait for a person (SPEC 2)."""

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
    record = readable(vault, caller, memory)
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
    claim = checked_claim(vault.places.spelt(replace(record.claim, **typed)))
    if claim == record.claim:
        return record
    require_clean("reason", reason)
    resembles = _admitted(vault, record, claim)
    with change(vault, "edit", caller.actor) as work:
        found = work.revise(record, claim, "edit", reason)
        found = work.flag(found, graves.RESEMBLES) if resembles else found
        if record.authority.rank < Authority.USER_CONFIRMED.rank:
            found = work.trust(found, "trust", "a person wrote this version", **_own(record))
        return settle(work, found, correct=True) if record.status is Status.ACTIVE else found


def _admitted(vault: Vault, record: Record, claim: Claim) -> bool:
    """Whether an edited candidate resembles something deleted; what is active may not. Raises Refused."""
    secret = credential(claim)
    if secret is not None:
        raise Refused(secret)
    grave = graves.newly_met(vault, record.claim, claim)
    if grave is not None and (grave.forbids or record.status is not Status.CANDIDATE):
        graves.refuse(vault, grave)
    return grave is not None


def _own(record: Record) -> dict[str, Any]:
    """Trust in what a person wrote; a contradicted memory stays lowered."""
    own = CONFIDENCE[Authority.USER_CONFIRMED]
    own = lowered(own) if record.status is Status.CONFLICT else own
    return {"authority": Authority.USER_CONFIRMED, "confidence": max(record.confidence, own)}


def verify(vault: Vault, caller: Caller, memory: str) -> Record:
    """Note that the claim was checked and holds; an expired or archived one is active again.

    An explicit date that has passed is taken off in a new version: it holds longer than that date said.
    Raises Illegal when another memory has taken its place.
    """
    record = readable(vault, caller, memory)
    with change(vault, "verify", caller.actor) as work:
        attest(work, record)
    return fetch(vault, memory)


def attest(work: Change, record: Record) -> None:
    """Carry out `verify` inside an open change."""
    flags = [flag for flag in record.flags if flag not in (NEEDS_VERIFICATION, SOURCE_CHANGED)]
    memories.set_verified(work.vault.writer, record.id, work.at, flags)
    record = dates.take_off(work, record)
    if record.status in (Status.EXPIRED, Status.ARCHIVED):
        settle(work, work.move(record, Move.REVIVE, Status.ACTIVE, "verified again"))
    else:
        work.note(record.id, "verify", "verified", record.status, record.version)


def switch(vault: Vault, caller: Caller, memory: str, *, on: bool) -> Record:
    """Disable without losing, or enable again.

    Raises Illegal, also when another memory has taken its place meanwhile.
    """
    record = readable(vault, caller, memory)
    with change(vault, "enable" if on else "disable", caller.actor) as work:
        if on:
            if graves.is_held(record):
                return let_back(work, record, "switched on")
            return settle(work, work.move(record, Move.ENABLE, Status.ACTIVE, "switched on"))
        return work.move(record, Move.DISABLE, Status.DISABLED, "switched off")
