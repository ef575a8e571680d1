"""Handlers of backups: make one while writes go on, list them, restore one."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memvault.daemon.jobs import Stopped
from memvault.daemon.methods import Call, Methods, Who
from memvault.errors import Locked, Usage
from memvault.rpc import wire
from memvault.services import backup, exchange, restore
from memvault.services.backup import Disturbed, Tell
from memvault.services.restore import Ready, Restored, Secret
from memvault.services.vault import Vault
from memvault.store.archive import Packed


def register(methods: Methods) -> None:
    methods.add("backup.make", wire.MakeBackup, Who.PRESENT, make)
    methods.add("backup.list", wire.Nothing, Who.PERSON, listing)
    methods.add("backup.restore", wire.Restore, Who.PERSON, bring_back)


def _absolute(text: str) -> Path:
    path = Path(text)
    if "\x00" in text or not path.is_absolute():
        raise Usage("the path must be absolute")
    return path


def _teller(call: Call, checks: Callable[[], None]) -> Tell:
    """Tell progress from a thread; `checks` raises to end the work."""
    loop = asyncio.get_running_loop()

    def tell(stage: str, done: int, total: int) -> None:
        checks()
        loop.call_soon_threadsafe(call.tell, {"stage": stage, "done": done, "total": total})

    return tell


def _unless(stopped: Stopped) -> None:
    if stopped():
        raise Locked("the vault was locked meanwhile")


async def make(call: Call, params: wire.MakeBackup) -> dict[str, Any]:
    keeper = call.keeper
    vault, clock = keeper.require(), keeper.clock
    asked = None if params.path is None else _absolute(params.path)
    target = await asyncio.to_thread(backup.target_of, keeper.layout, asked, clock)

    def aside(stopped: Stopped) -> Packed:
        def checks() -> None:
            _unless(stopped)
            if vault.clearing.is_set():
                raise Disturbed("a deletion goes first")

        return backup.make(keeper.layout, vault.key, target, clock, _checked(tell, checks))

    def within(opened: Vault) -> Packed:
        packed = backup.make(opened.layout, opened.key, target, clock, tell)
        backup.keep(opened, packed, whatever=True)
        return packed

    tell = _teller(call, lambda: None)
    for _ in range(backup.MOST_TRIES):
        try:
            packed = await keeper.jobs.run(aside)
        except Disturbed:
            continue
        if await _kept(call, packed):
            return _made(packed)
    return _made(await keeper.write(within))


def _checked(tell: Tell, checks: Callable[[], None]) -> Tell:
    def told(stage: str, done: int, total: int) -> None:
        checks()
        tell(stage, done, total)

    return told


async def _kept(call: Call, packed: Packed) -> bool:
    """Give a finished backup its name, unless a deletion came after its moment."""
    kept = False
    try:
        kept = await call.keeper.write(backup.keep, packed)
    finally:
        if not kept:
            packed.discard()
    return kept


def _made(packed: Packed) -> dict[str, Any]:
    held = packed.backup.contents
    return {
        "path": str(packed.target),
        "memories": held.memories,
        "size_bytes": packed.backup.size_bytes,
        "sha256": packed.file_sha256.hex(),
        "created_at": held.created_at,
    }


async def listing(call: Call, _: wire.Nothing) -> dict[str, Any]:
    keeper = call.keeper
    if keeper.vault is None:
        found = await asyncio.to_thread(backup.without_vault, keeper.layout)
    else:
        found = await keeper.read(backup.of_vault)
    return {"items": [one.plain() for one in found], "total": len(found)}


def _secret(params: wire.Restore) -> Secret:
    given = [
        Secret(text, code)
        for text, code in ((params.passphrase, False), (params.recovery_code, True))
        if text is not None
    ]
    if len(given) != 1:
        raise Usage("give the passphrase or the recovery code of the backup")
    return given[0]


async def bring_back(call: Call, params: wire.Restore) -> dict[str, Any]:
    keeper, session = call.keeper, call.session
    if keeper.vault is not None:
        session.require_person()
    path, secret, actor = _absolute(params.path), _secret(params), session.caller.actor
    key = None if keeper.vault is None else keeper.vault.key
    secrets = (
        [secret] if params.vault_passphrase is None else [Secret(params.vault_passphrase, False), secret]
    )
    tell = _teller(call, lambda: None)
    present = await asyncio.to_thread(restore.look, keeper.layout, key, secrets)
    room = backup.new_room(keeper.layout.root, exchange.RESTORING)

    def prepare(stopped: Stopped) -> Ready:
        return restore.prepare(
            keeper.layout, room, path, secret, present, _checked(tell, lambda: _unless(stopped))
        )

    try:
        ready = await keeper.jobs.run(prepare)
    except BaseException:
        shutil.rmtree(room, ignore_errors=True)
        raise

    def swap() -> Restored:
        try:
            return restore.put_in_place(ready, present, keeper.clock, actor, tell)
        finally:
            shutil.rmtree(room, ignore_errors=True)

    done = await keeper.replace(swap, ready.key)
    return {
        "restored": str(path),
        "vault": ready.header.vault_id,
        "memories": done.memories,
        "removed_by_tombstones": done.removed_by_tombstones,
        "held": done.held,
        "kept_copy": None if done.kept_copy is None else str(done.kept_copy),
        "warnings": done.warnings,
    }
