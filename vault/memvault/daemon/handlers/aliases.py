"""Handlers of other names: list, set and remove them."""

from __future__ import annotations

from typing import Any

from memvault.daemon.methods import Call, Methods, Who
from memvault.rpc import alias_wire as wire
from memvault.services import aliasing
from memvault.services.aliasing import Changed


def register(methods: Methods) -> None:
    methods.add("aliases.list", wire.AliasPage, Who.PERSON, listing)
    methods.add("aliases.set", wire.AliasNames, Who.PRESENT, add)
    methods.add("aliases.remove", wire.AliasNames, Who.PRESENT, remove)


async def listing(call: Call, params: wire.AliasPage) -> dict[str, Any]:
    return await call.keeper.read(
        aliasing.listing, params.name, params.origin, min(params.limit, 500), params.offset
    )


async def add(call: Call, params: wire.AliasNames) -> dict[str, Any]:
    project = call.keeper.require().places.spelling(params.project)
    return _plain(await call.keeper.write(aliasing.add, call.session.caller, params.names, project))


async def remove(call: Call, params: wire.AliasNames) -> dict[str, Any]:
    project = call.keeper.require().places.spelling(params.project)
    return _plain(await call.keeper.write(aliasing.remove, call.session.caller, params.names, project))


def _plain(done: Changed) -> dict[str, Any]:
    return {"ids": done.ids, "switched": done.switched, "run": done.run}
