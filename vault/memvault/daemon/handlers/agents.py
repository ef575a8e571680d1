"""Handlers of agents' grants: asked for by an agent, given and changed by a person who is there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from memvault.daemon.methods import Call, Methods, Who
from memvault.daemon.process import AGENT_HOSTS
from memvault.errors import Usage
from memvault.rpc import agent_wire
from memvault.services import granting, pollution
from memvault.services.vault import Vault

T = TypeVar("T")


def register(methods: Methods) -> None:
    methods.add("agents.add", agent_wire.AddAgent, Who.ANYONE, add)
    methods.add("agents.list", agent_wire.Nothing, Who.PERSON, listing)
    methods.add("agents.approve", agent_wire.SetAgent, Who.PRESENT, approve)
    methods.add("agents.set", agent_wire.SetAgent, Who.PRESENT, change)
    methods.add("agents.rotate", agent_wire.OneAgent, Who.PRESENT, rotate)
    methods.add("agents.revoke", agent_wire.OneAgent, Who.PRESENT, revoke)
    methods.add("agents.quarantine", agent_wire.Quarantine, Who.PRESENT, quarantine)
    methods.add("agents.report", agent_wire.OneAgent, Who.PERSON, report)
    methods.add("agents.written", agent_wire.OneAgent, Who.PERSON, written)
    methods.add("agents.purge", agent_wire.Purge, Who.PRESENT, purge)
    methods.add("agents.remove", agent_wire.OneAgent, Who.PRESENT, remove)


def _rights(params: agent_wire.Rights) -> dict[str, Any]:
    found = granting.checked_rights(params.scopes, params.projects, params.verbs)
    return found if params.ceiling is None else {**found, "ceiling": params.ceiling}


def _spelled(vault: Vault, rights: dict[str, Any]) -> dict[str, Any]:
    projects: str | tuple[str, ...] | None = rights.get("projects")
    if projects is None or isinstance(projects, str):
        return rights
    return {**rights, "projects": tuple(vault.places.spelling(name) for name in projects)}


async def add(call: Call, params: agent_wire.AddAgent) -> dict[str, Any]:
    """A person who is there gives the grant at once; an agent's own wish waits, with the default rights."""
    call.keeper.require()
    session = call.session
    if params.host is not None and params.host not in AGENT_HOSTS.values():
        raise Usage(f"no such host: choose {', '.join(sorted(set(AGENT_HOSTS.values())))}")
    if session.is_agent:
        ask = functools.partial(
            granting.ask_for, actor=session.caller.actor, name=params.name, uid=session.peer.uid
        )
        grant = await _put(call, lambda vault: ask(vault, host=session.peer.agent_host))
        return {"name": grant.name, "state": grant.state, "token": None}
    session.require_person()
    named = params.name if params.name in AGENT_HOSTS.values() else None
    return await _give(call, params.name, params.host or named, _rights(params))


async def _put(call: Call, work: Callable[[Vault], T]) -> T:
    """Change grants, and let listeners hear of it: news of a run that changed no memory."""
    done = await call.keeper.write(work)
    call.keeper.news.changed((), "grant")
    return done


async def _give(call: Call, name: str, host: str | None, rights: dict[str, Any]) -> dict[str, Any]:
    actor, uid = call.session.caller.actor, call.session.peer.uid

    def give(vault: Vault) -> str:
        return granting.give(vault, actor, name, host, uid, _spelled(vault, rights))

    return {"name": name, "state": "active", "token": await _put(call, give)}


async def listing(call: Call, _: agent_wire.Nothing) -> dict[str, Any]:
    def look(vault: Vault) -> dict[str, Any]:
        items = [grant.plain() for grant in vault.grants.values()]
        for item in items:
            item["seen_at"] = vault.seen.get(item["name"], item["seen_at"])
        return {"items": items, "total": len(items)}

    return await call.keeper.read(look)


async def approve(call: Call, params: agent_wire.SetAgent) -> dict[str, Any]:
    await call.keeper.read(granting.found, params.name)
    return await _give(call, params.name, None, _rights(params))


async def _alter(call: Call, name: str, word: str, rights: dict[str, Any]) -> dict[str, Any]:
    actor = call.session.caller.actor
    altered = await _put(
        call, lambda vault: granting.alter(vault, actor, name, word, **_spelled(vault, rights))
    )
    return altered.plain()


async def change(call: Call, params: agent_wire.SetAgent) -> dict[str, Any]:
    return await _alter(call, params.name, "grant.changed", _rights(params))


async def rotate(call: Call, params: agent_wire.OneAgent) -> dict[str, Any]:
    actor = call.session.caller.actor
    token = await _put(call, lambda vault: granting.rotate(vault, actor, params.name))
    return {"name": params.name, "state": "active", "token": token}


async def revoke(call: Call, params: agent_wire.OneAgent) -> dict[str, Any]:
    return await _alter(call, params.name, "grant.revoked", {"state": "revoked", "token": None})


async def quarantine(call: Call, params: agent_wire.Quarantine) -> dict[str, Any]:
    altered = await _alter(call, params.name, "grant.quarantine", {"quarantined": params.on})
    if params.on:
        await call.keeper.write(pollution.silence, call.session.caller, params.name)
    return altered


async def report(call: Call, params: agent_wire.OneAgent) -> dict[str, Any]:
    return await call.keeper.write(pollution.report, params.name)


async def written(call: Call, params: agent_wire.OneAgent) -> dict[str, Any]:
    return (await call.keeper.write(pollution.share, params.name)).plain()


async def purge(call: Call, params: agent_wire.Purge) -> dict[str, Any]:
    return await call.keeper.write(
        pollution.purge, call.session.caller, params.name, confirmed=params.confirmed
    )


async def remove(call: Call, params: agent_wire.OneAgent) -> dict[str, Any]:
    actor = call.session.caller.actor
    await _put(call, lambda vault: granting.remove(vault, actor, params.name))
    return {"removed": params.name}
