"""Handlers that change memories: add, edit, verify, switch, delete, confirm, reject."""

from __future__ import annotations

from typing import Any

import msgspec

from memvault.daemon.methods import Call, Methods, Who
from memvault.model import CLAIM_FIELDS, Claim, Draft, Failure, Source, SourceType
from memvault.rpc import wire
from memvault.services import candidates, erase, plain, remember
from memvault.services.erase import Selection
from memvault.services.trust import default_sensitivity
from memvault.services.vault import Vault


def register(methods: Methods) -> None:
    methods.add("memory.add", wire.Add, Who.READER, add)
    methods.add("memory.edit", wire.Edit, Who.PRESENT, edit)
    methods.add("memory.verify", wire.OneMemory, Who.PRESENT, verify)
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


async def add(call: Call, params: wire.Add) -> dict[str, Any]:
    caller = call.session.writing_caller
    if not caller.is_person:
        params = msgspec.structs.replace(params, source=_unproved(params.source))
    if params.correct and not caller.is_person:
        call.session.require_person()
    written = await call.keeper.write(remember.add, caller, _draft(params), correct=params.correct)
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


async def verify(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return plain.record(await call.keeper.write(remember.verify, call.session.caller, params.id))


async def disable(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return plain.record(await call.keeper.write(remember.switch, call.session.caller, params.id, on=False))


async def enable(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return plain.record(await call.keeper.write(remember.switch, call.session.caller, params.id, on=True))


def _selection(params: wire.Delete) -> Selection:
    return Selection(tuple(params.ids), params.source, params.session, params.project, params.subject)


async def delete_preview(call: Call, params: wire.Delete) -> dict[str, Any]:
    def look(vault: Vault) -> dict[str, Any]:
        ids = erase.select(vault, call.session.caller, _selection(params))
        return {"ids": ids[:500], "total": len(ids), "older_backups": erase.older_backups(vault)}

    return await call.keeper.write(look)


async def delete(call: Call, params: wire.Delete) -> dict[str, Any]:
    done = await call.keeper.write(erase.erase, call.session.caller, _selection(params), params.why)
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
