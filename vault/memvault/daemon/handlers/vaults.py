"""Handlers of the vault itself: hello, status, init, unlock, lock, presence, the chosen model, shutdown."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from memvault import PROTOCOL, __version__
from memvault.daemon import process, surroundings
from memvault.daemon.methods import Call, Methods, Who
from memvault.daemon.principal import Claimed
from memvault.errors import Damaged, Illegal, Locked, Usage, WrongKey
from memvault.keys import ring
from memvault.keys.envelope import VaultKey
from memvault.keys.header import VaultHeader
from memvault.keys.os_keyring import Keychain
from memvault.keys.slots import KeychainSlot, type_of
from memvault.paths import cache_dir
from memvault.rpc import versions, wire
from memvault.services.grant import token_hash
from memvault.store import memories
from memvault.store.connection import can_write
from memvault_models.manifest import load_manifest
from memvault_models.registry import RERANKER_HINT


def register(methods: Methods) -> None:
    methods.add("hello", wire.Hello, Who.ANYONE, hello)
    methods.add("status", wire.Nothing, Who.ANYONE, status)
    methods.add("vault.init", wire.Init, Who.ANYONE, init)
    methods.add("vault.unlock", wire.Key, Who.ANYONE, unlock)
    methods.add("vault.lock", wire.Nothing, Who.ANYONE, lock)
    methods.add("vault.keychain_probe", wire.Nothing, Who.ANYONE, keychain_probe)
    methods.add("presence.prove", wire.Key, Who.ANYONE, prove)
    methods.add("presence.drop", wire.Nothing, Who.ANYONE, drop)
    methods.add("models.use", wire.UseModel, Who.PERSON, use_model)
    methods.add("events.subscribe", wire.Nothing, Who.PERSON, subscribe)
    methods.add("shutdown", wire.Nothing, Who.ANYONE, shutdown)


async def hello(call: Call, params: wire.Hello) -> dict[str, Any]:
    spoken = versions.agree(params.protocol, params.oldest)
    call.session.client = params.client[:40]
    if params.agent is not None:
        call.session.claimed = Claimed(params.agent[:40], token_hash(params.token or ""))
    call.session.greeted = True
    return {
        "version": __version__,
        "protocol": spoken,
        "protocols": {"oldest": versions.OLDEST_PROTOCOL, "newest": PROTOCOL},
        "pid": os.getpid(),
        "state": call.keeper.state,
        "principal": call.session.principal(),
        "presence_s": round(call.presence.left_s(call.session.number, call.session.peer)),
    }


async def status(call: Call, _: wire.Nothing) -> dict[str, Any]:
    keeper = call.keeper
    state = keeper.state
    found: dict[str, Any] = {
        "state": state,
        "memories": None,
        "daemon": {"pid": os.getpid(), "version": __version__, "protocol": PROTOCOL},
        "vault": None,
        "locks_in_s": None,
        "model": None,
        "keychain": False,
        "read_only": False,
        "warnings": [],
    }
    if call.session.is_agent:
        return found
    if state != "absent":
        await _look_at_files(call, found)
    pid = call.session.peer.pid
    limiting = surroundings.said_to(pid, process.environment(pid), keychain=found["keychain"])
    found["warnings"] += [surroundings.sentence(limiting)] if limiting else []
    vault, worker = keeper.vault, keeper.embedding
    if vault is not None and worker is not None:
        try:
            found["memories"] = await keeper.read(lambda opened: memories.count(opened.reader))
        except Locked:  # it locked itself just now
            return await status(call, wire.Nothing())
        left = keeper.locks_in_s()
        found["locks_in_s"] = None if left is None else round(left)
        found["model"] = {"id": worker.model_id, "state": worker.state, "pending": len(vault.waiting)}
        found["warnings"] += [*vault.warnings, *keeper.opinion.warnings(), *keeper.reranking.warnings()]
    return found


async def _look_at_files(call: Call, found: dict[str, Any]) -> None:
    """What header and folder say of a vault; damage is a warning, never a failure of `status`."""
    try:
        header = await asyncio.to_thread(call.keeper.header)
    except Damaged as error:
        found["warnings"].append(f"{error.message}: `memvault recover`")
    else:
        found["vault"] = header.vault_id
        found["keychain"] = any(isinstance(slot, KeychainSlot) for slot in header.slots)
        database = call.keeper.layout.database
        if not database.exists() or not database.stat().st_size:
            found["warnings"].append("the vault's database is missing or empty: `memvault recover`")
        elif not can_write(database):
            found["read_only"] = True
            found["warnings"].append("nothing can be written where the vault lies: it can only be read")


async def init(call: Call, params: wire.Init) -> dict[str, Any]:
    if params.passphrase is None and not params.keychain:
        raise Usage("choose how the vault opens: a passphrase, the system keychain, or both")
    created = await call.keeper.create(params.passphrase, params.keychain)
    call.presence.shown(call.session.number, call.session.peer, params.passphrase or created.recovery_code)
    return {
        "vault": created.header.vault_id,
        "slots": [{"id": slot.id, "type": type_of(slot)} for slot in created.header.slots],
        "recovery_code": created.recovery_code,
        "warnings": list(created.warnings),
    }


def _find(params: wire.Key) -> tuple[str, Any]:
    """The one way given, as (name, secret). Raises Usage."""
    ways = [
        ("passphrase", params.passphrase),
        ("recovery_code", params.recovery_code),
        ("keychain", params.keychain),
    ]
    given = [(name, secret) for name, secret in ways if secret not in (None, False)]
    if len(given) != 1:
        raise Usage("give one of passphrase, recovery code or keychain")
    return given[0]


async def unlock(call: Call, params: wire.Key) -> dict[str, Any]:
    way, secret = _find(params)
    if way == "keychain" and call.session.is_agent:
        call.session.require_person()  # a passphrase is proof by itself, an open keychain is not
    if way != "keychain" and call.keeper.vault is not None:
        await prove(call, params)
        return await status(call, wire.Nothing())

    def find(header: VaultHeader) -> VaultKey:
        if way == "passphrase":
            return ring.open_with_passphrase(header, secret)
        return (
            ring.open_with_recovery(header, secret)
            if way == "recovery_code"
            else ring.open_with_keychain(header)
        )

    await call.keeper.unlock(find)
    if way != "keychain":
        call.presence.shown(call.session.number, call.session.peer, secret)
    return await status(call, wire.Nothing())


async def lock(call: Call, _: wire.Nothing) -> dict[str, Any]:
    await call.keeper.lock()
    return await status(call, wire.Nothing())


async def keychain_probe(call: Call, _: wire.Nothing) -> dict[str, Any]:
    probe = await asyncio.to_thread(Keychain().probe)
    return {"usable": probe.usable, "backend": probe.backend, "reason": probe.reason}


async def prove(call: Call, params: wire.Key) -> dict[str, Any]:
    call.keeper.require()
    way, secret = _find(params)
    if way == "keychain":
        raise Usage(
            "an open keychain does not show that a person is there", "Give the passphrase or recovery code."
        )
    header = call.keeper.header()

    def check(text: str) -> None:
        open_with = ring.open_with_passphrase if way == "passphrase" else ring.open_with_recovery
        if not open_with(header, text):
            raise WrongKey("it opens no slot")

    session, presence = call.session, call.presence
    valid_s = await asyncio.to_thread(presence.prove, session.number, session.peer, secret, check)
    call.keeper.used_by_person()
    return {"valid_s": round(valid_s)}


async def drop(call: Call, _: wire.Nothing) -> dict[str, Any]:
    call.presence.drop(call.session.number, call.session.peer)
    return {}


async def use_model(call: Call, params: wire.UseModel) -> Any:
    entry = await asyncio.to_thread(lambda: load_manifest(cache_dir()).get(params.id))
    if entry.pooling == "rank":
        raise Illegal(f"{params.id} is a reranker: it embeds nothing", RERANKER_HINT)
    if os.environ.get("MEMVAULT_EMBEDDER") == "fake":
        raise Illegal("the test embedder is in force")
    await call.keeper.use_model(params.id)
    return (await status(call, wire.Nothing()))["model"]


async def subscribe(call: Call, _: wire.Nothing) -> dict[str, Any]:
    call.session.listening = True
    return {}


async def shutdown(call: Call, _: wire.Nothing) -> dict[str, Any]:
    call.stop_daemon()
    return {}
