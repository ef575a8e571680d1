"""Handlers of upkeep: runs, rollback, undo, doctor."""

from __future__ import annotations

from typing import Any

from memvault.daemon import process, surroundings
from memvault.daemon.methods import Call, Methods, Who
from memvault.rpc import wire
from memvault.services import maintain
from memvault.services.maintain import RolledBack
from memvault.services.vault import Vault
from memvault.store import runs


def register(methods: Methods) -> None:
    methods.add("runs.list", wire.Page, Who.PERSON, listing)
    methods.add("runs.show", wire.OneRun, Who.PERSON, show)
    methods.add("runs.rollback", wire.RollBack, Who.PRESENT, roll_back)
    methods.add("undo", wire.Nothing, Who.PRESENT, undo)
    methods.add("audit.verify", wire.Nothing, Who.PERSON, verify_audit)
    methods.add("doctor", wire.Nothing, Who.PERSON, doctor)


async def listing(call: Call, params: wire.Page) -> dict[str, Any]:
    def page(vault: Vault) -> dict[str, Any]:
        items, total = runs.page(vault.reader, min(params.limit, 500), params.offset)
        return {"items": items, "total": total}

    return await call.keeper.read(page)


async def show(call: Call, params: wire.OneRun) -> dict[str, Any]:
    return await call.keeper.read(maintain.show_run, params.run)


def _plain(done: RolledBack) -> dict[str, Any]:
    return {"restored": done.restored, "removed": done.removed, "run": done.run}


async def roll_back(call: Call, params: wire.RollBack) -> dict[str, Any]:
    asked = {"with_dependents": params.with_dependents}
    return _plain(await call.keeper.write(maintain.roll_back, call.session.caller, params.run, **asked))


async def undo(call: Call, _: wire.Nothing) -> dict[str, Any]:
    return _plain(await call.keeper.write(maintain.undo, call.session.caller))


async def doctor(call: Call, _: wire.Nothing) -> dict[str, Any]:
    checks = await call.keeper.write(maintain.examine)
    models = [*call.keeper.opinion.check(), *call.keeper.reranking.check()]
    return {"checks": [*checks, *models, surroundings.check(_limiting(call))]}


def _limiting(call: Call) -> list[str]:
    pid = call.session.peer.pid
    return surroundings.said_to(pid, process.environment(pid))


async def verify_audit(call: Call, _: wire.Nothing) -> dict[str, Any]:
    return await call.keeper.write(maintain.verify_audit)
