"""Handlers of imports: run one in short steps with progress, and look what could be imported."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from memvault.daemon.methods import Call, Methods, Who
from memvault.errors import Usage
from memvault.importers import claude_code
from memvault.rpc import wire
from memvault.services.importing import ImportJob


def register(methods: Methods) -> None:
    methods.add("import.run", wire.Import, Who.PERSON, run)
    methods.add("import.found", wire.Nothing, Who.PERSON, found)


async def run(call: Call, params: wire.Import) -> dict[str, Any]:
    call.keeper.require()
    if not params.dry_run:
        call.session.require_person()
    path = Path(params.path)
    if not path.is_absolute():
        raise Usage("the path must be absolute")
    caller = call.session.caller
    job = await call.keeper.write(ImportJob, caller, params.kind, path, params.scope, params.project)
    try:
        while await call.keeper.write(lambda _: job.step(params.dry_run)):
            call.keeper.used_by_person()
            call.tell({"done": job.read, "total": job.total, "stage": "reading"})
    except asyncio.CancelledError:
        if call.keeper.vault is not None:
            await asyncio.shield(call.keeper.write(lambda _: job.stop()))
        raise
    return {**job.report.plain(), "dry_run": params.dry_run}


async def found(call: Call, _: wire.Nothing) -> Any:
    return await asyncio.to_thread(claude_code.discover, Path.home())
