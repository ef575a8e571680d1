"""Handlers of conflicts: list them, and carry out a person's verdict."""

from __future__ import annotations

from typing import Any

from memvault.daemon.methods import Call, Methods, Who
from memvault.rpc import wire
from memvault.services import plain, verdicts


def register(methods: Methods) -> None:
    methods.add("conflicts.list", wire.Page, Who.PERSON, listing)
    methods.add("conflicts.resolve", wire.Resolve, Who.PRESENT, resolve)


async def listing(call: Call, params: wire.Page) -> dict[str, Any]:
    return await call.keeper.read(verdicts.listing, call.session.caller, params.limit, params.offset)


async def resolve(call: Call, params: wire.Resolve) -> dict[str, Any]:
    asked = (params.conflict, params.keep, params.why, params.conditions)
    done = await call.keeper.write(verdicts.resolve, call.session.caller, *asked)
    return {
        "conflict": done.conflict,
        "verdict": done.verdict,
        "items": [plain.record(record) for record in done.records],
        "total": len(done.records),
        "deleted": list(done.deleted),
        "older_backups": list(done.older_backups),
        "run": done.run,
    }
