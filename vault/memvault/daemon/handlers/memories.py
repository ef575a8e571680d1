"""Handlers that change memories: add, edit, verify, switch, delete, confirm, reject."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import msgspec

from memvault.daemon import citations
from memvault.daemon.handlers.gates import second_opinions
from memvault.daemon.methods import Call, Methods, Who
from memvault.errors import NotGranted, Usage
from memvault.model import CLAIM_FIELDS, Claim, Draft, Failure, Source, SourceType
from memvault.rpc import wire
from memvault.services import candidates, erase, plain, remember, verification
from memvault.services.caller import Caller, Verb
from memvault.services.erase import Selection
from memvault.services.placing import Written
from memvault.services.trust import default_sensitivity
from memvault.services.vault import Vault
from memvault.text import fold


def register(methods: Methods) -> None:
    methods.add("memory.add", wire.Add, Who.READER, add, Verb.PROPOSE)
    methods.add("memory.edit", wire.Edit, Who.PRESENT, edit)
    methods.add("memory.verify", wire.Verify, Who.PRESENT, verify)
    methods.add("memory.disable", wire.OneMemory, Who.PRESENT, disable)
    methods.add("memory.enable", wire.OneMemory, Who.PRESENT, enable)
    methods.add("memory.delete_preview", wire.Delete, Who.PERSON, delete_preview)
    methods.add("memory.delete", wire.Delete, Who.PRESENT, delete)
    methods.add("review.confirm", wire.OneMemory, Who.PRESENT, confirm)
    methods.add("review.reject", wire.OneMemory, Who.PRESENT, reject)


def _draft(params: wire.Add) -> Draft:
    failure = params.failure
    fields = {name: getattr(params, name) for name in CLAIM_FIELDS if name not in ("failure", "sensitivity")}
    claim = Claim(
        **fields,
        sensitivity=params.sensitivity or default_sensitivity(params.kind),
        failure=None
        if failure is None
        else Failure(failure.symptom, failure.cause, failure.fix, failure.verification, failure.stop_rule),
    )
    given = params.source
    source = Source(
        given.type,
        given.ref,
        task=given.task,
        message_index=given.message_index,
        evidence=given.evidence,
        observed_at=given.observed_at,
    )
    return Draft(claim, (source,))


def _unproved(source: wire.SourceGiven) -> wire.SourceGiven:
    """A source as far as an agent can claim it: what the user said is only what a conversation reports."""
    claimed = {
        SourceType.USER: SourceType.CONVERSATION,
        SourceType.IMPORT: SourceType.TOOL,
        SourceType.TEAM: SourceType.TOOL,
    }
    return msgspec.structs.replace(source, type=claimed.get(source.type, source.type))


def _placed(caller: Caller, params: wire.Add) -> wire.Add:
    """An agent's claim belongs to the project it works in, or to none. Raises NotGranted."""
    foreign = params.project is not None and fold(params.project) != fold(caller.project or "")
    if foreign or params.scope not in caller.write_scopes or not (caller.here or params.everywhere):
        raise NotGranted("nothing there that you were granted")
    return msgspec.structs.replace(params, project=None if params.everywhere else caller.project)


def draft_for(call: Call, params: wire.Add) -> Draft:
    """What this caller may write of it. Raises NotGranted, PresenceRequired for a correction."""
    caller = call.session.writing_caller
    if caller.is_agent:
        params = _placed(caller, params)
    if not caller.is_person:
        params = msgspec.structs.replace(params, source=_unproved(params.source))
    if params.correct and not caller.is_person:
        call.session.require_person()
    return _draft(params)


async def add(call: Call, params: wire.Add) -> dict[str, Any]:
    draft, caller = draft_for(call, params), call.session.writing_caller
    draft = await citations.checked(call.keeper, call.session.peer, draft, bound=not caller.is_person)
    estimates = await second_opinions(call.keeper, draft, params.estimate, agent=caller.is_agent)
    written = await call.keeper.write(
        remember.add, caller, draft, correct=params.correct, estimates=estimates
    )
    return plain_outcome(written)


def plain_outcome(written: Written) -> dict[str, Any]:
    return {
        "outcome": written.outcome,
        "id": written.id,
        "version": written.version,
        "reason": written.reason,
        "run": written.run,
    }


async def edit(call: Call, params: wire.Edit) -> dict[str, Any]:
    found = await call.keeper.write(
        remember.edit, call.session.caller, params.id, dict(params.changes), params.version, params.reason
    )
    return plain.record(found)


async def verify(call: Call, params: wire.Verify) -> dict[str, Any]:
    keeper, caller = call.keeper, call.session.caller
    if params.sure and params.expire:
        raise Usage("either it holds, or it expires")
    record = await keeper.write(candidates.readable, caller, params.id)
    at, away = keeper.require().now(), citations.forbidden(keeper)
    given_up = threading.Event()
    look = partial(verification.examine, record, away, at, given_up.is_set)
    try:
        found = await citations.in_time(partial(keeper.jobs.files.submit, look))
    finally:
        given_up.set()
    examined = verification.unanswered(record) if found is None else found
    decided = {"sure": params.sure, "expire": params.expire}
    done = await keeper.write(verification.conclude, caller, examined, **decided)
    return {
        **plain.record(done.record),
        "verified": done.verified,
        "may_expire": done.may_expire,
        "checks": [{"what": c.what, "state": c.state, "detail": c.detail} for c in examined.checks],
    }


async def disable(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return plain.record(await call.keeper.write(remember.switch, call.session.caller, params.id, on=False))


async def enable(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return plain.record(await call.keeper.write(remember.switch, call.session.caller, params.id, on=True))


def _selection(call: Call, params: wire.Delete) -> Selection:
    project = call.keeper.require().places.spelling(params.project)
    return Selection(tuple(params.ids), params.source, params.session, project, params.subject)


async def delete_preview(call: Call, params: wire.Delete) -> dict[str, Any]:
    def look(vault: Vault) -> dict[str, Any]:
        ids = erase.select(vault, call.session.caller, _selection(call, params))
        return {"ids": ids[:500], "total": len(ids), "older_backups": erase.older_backups(vault)}

    return await call.keeper.write(look)


async def delete(call: Call, params: wire.Delete) -> dict[str, Any]:
    done = await call.keeper.write(erase.erase, call.session.caller, _selection(call, params), params.why)
    return {
        "deleted": done.ids,
        "tombstones": done.tombstones,
        "run": done.run,
        "older_backups": done.older_backups,
    }


async def confirm(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return plain.record(await call.keeper.write(candidates.confirm, call.session.caller, params.id))


async def reject(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    await call.keeper.write(candidates.reject, call.session.caller, params.id)
    return {"rejected": params.id}
