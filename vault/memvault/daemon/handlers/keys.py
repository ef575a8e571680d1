"""Handlers of keys: who can open the vault, and a new vault key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from memvault.daemon.methods import Call, Methods, Who
from memvault.daemon.telling import replacing
from memvault.errors import ReadOnly
from memvault.rpc import key_wire, wire
from memvault.services import backup, rotation, slots


def register(methods: Methods) -> None:
    methods.add("keys.list", wire.Nothing, Who.PRESENT, listing)
    methods.add("keys.add_passphrase", key_wire.AddPassphrase, Who.PRESENT, add_passphrase)
    methods.add("keys.add_keychain", wire.Nothing, Who.PRESENT, add_keychain)
    methods.add("keys.remove", key_wire.OneSlot, Who.PRESENT, remove)
    methods.add("keys.change_passphrase", key_wire.ChangePassphrase, Who.PRESENT, change_passphrase)
    methods.add("keys.new_recovery_code", wire.Nothing, Who.PRESENT, new_recovery_code)
    methods.add("keys.rotate", key_wire.Rotate, Who.PRESENT, rotate)


async def listing(call: Call, _: wire.Nothing) -> dict[str, Any]:
    return slots.listing(await call.keeper.read(slots.present))


async def add_passphrase(call: Call, params: key_wire.AddPassphrase) -> dict[str, Any]:
    return await call.keeper.write(slots.add_passphrase, call.session.caller, params.passphrase)


async def add_keychain(call: Call, _: wire.Nothing) -> dict[str, Any]:
    return await call.keeper.write(slots.add_keychain, call.session.caller)


async def _changed(call: Call, change: Callable[..., dict[str, Any]], *given: str) -> dict[str, Any]:
    """Change slots; a secret that opened one until now is no proof of presence any more."""
    done = await call.keeper.write(change, call.session.caller, *given)
    call.presence.forget_secrets()
    return done


async def remove(call: Call, params: key_wire.OneSlot) -> dict[str, Any]:
    return await _changed(call, slots.remove, params.slot)


async def change_passphrase(call: Call, params: key_wire.ChangePassphrase) -> dict[str, Any]:
    return await _changed(call, slots.change_passphrase, params.old, params.new)


async def new_recovery_code(call: Call, _: wire.Nothing) -> dict[str, Any]:
    return await _changed(call, slots.new_recovery_code)


async def rotate(call: Call, params: key_wire.Rotate) -> dict[str, Any]:
    keeper, caller = call.keeper, call.session.caller
    vault = keeper.require()
    if vault.read_only:
        raise ReadOnly("the vault is open for reading only")
    planned = await asyncio.to_thread(
        rotation.plan,
        keeper.layout,
        vault.key,
        params.passphrase,
        params.recovery_code,
        drop_others=params.drop_others,
    )
    older = await keeper.write(backup.older)
    held = await replacing(
        keeper,
        lambda tell: rotation.rotate(keeper.layout, planned, keeper.clock, caller.actor, tell),
        planned.rotation.key,
        call.tell,
    )
    if secret := params.passphrase or params.recovery_code:
        call.presence.shown(call.session.number, call.session.peer, secret)
    return {
        **slots.listing(planned.rotation.header),
        "memories": held,
        "dropped": planned.dropped,
        "recovery_code": planned.rotation.recovery_code,
        "older_backups": older,
        "warnings": rotation.warnings(planned, older),
    }
