"""Handlers of tombstones: list them without any text, and lift one."""

from __future__ import annotations

from typing import Any

from memvault.daemon.methods import Call, Methods, Who
from memvault.rpc import wire
from memvault.services import lifting


def register(methods: Methods) -> None:
    methods.add("tombstones.list", wire.Page, Who.PERSON, listing)
    methods.add("tombstones.lift", wire.OneTombstone, Who.PRESENT, lift)


async def listing(call: Call, params: wire.Page) -> dict[str, Any]:
    return await call.keeper.read(lifting.listing, params.limit, params.offset)


async def lift(call: Call, params: wire.OneTombstone) -> dict[str, Any]:
    done = await call.keeper.write(lifting.lift, call.session.caller, params.id)
    return {"lifted": done.ids, "run": done.run}
