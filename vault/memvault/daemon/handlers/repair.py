"""Handlers of damage: the complete check, and the guided repair of what it or an opening finds."""

from __future__ import annotations

import asyncio
from typing import Any

from memvault.daemon.methods import Call, Methods, Who
from memvault.daemon.telling import replacing, teller
from memvault.errors import Illegal, PresenceRequired, ReadOnly, Usage
from memvault.keys.envelope import VaultKey
from memvault.rpc import key_wire, wire
from memvault.services import backup, checkup, recovery
from memvault.services.recovery import Finding
from memvault.services.restore import Secret
from memvault.services.vault import Vault


def register(methods: Methods) -> None:
    methods.add("vault.check", wire.Nothing, Who.PERSON, check)
    methods.add("vault.recover", key_wire.Recover, Who.PERSON, recover)


async def check(call: Call, _: wire.Nothing) -> dict[str, Any]:
    told = teller(call.tell)
    checks = await call.keeper.write(checkup.complete, told)
    return {"ok": all(one["ok"] for one in checks), "checks": checks}


async def recover(call: Call, params: key_wire.Recover) -> dict[str, Any]:
    """Look, mend one thing if asked, and look again."""
    if call.keeper.vault is not None:
        call.session.require_person()
    found, key = await _look(call, params)
    done: dict[str, Any] = {}
    if params.mend is not None:
        done = await _mend(call, params, found, key)
        if (secret := _secret(params)) is not None and call.keeper.vault is not None:
            call.presence.shown(call.session.number, call.session.peer, secret.text)
        found, _ = await _look(call, params)
    keeper = call.keeper
    if keeper.vault is None:
        copies = await asyncio.to_thread(backup.without_vault, keeper.layout)
    else:
        copies = await keeper.read(backup.of_vault)
    return {
        "state": keeper.state,
        "found": [one.plain() for one in found],
        "done": done,
        "backups": [one.plain() for one in copies if not one.problem],
        "looked_inside": key is not None,
    }


async def _look(call: Call, params: key_wire.Recover) -> tuple[list[Finding], VaultKey | None]:
    """What is wrong, as far as can be seen with what was given; the key if it was found."""
    keeper, layout = call.keeper, call.keeper.layout
    header, wrong = await asyncio.to_thread(recovery.header_of, layout)
    found = [wrong] if wrong is not None else []
    if gone := recovery.missing_database(layout):
        return [*found, gone], None
    if keeper.vault is not None:

        def look(vault: Vault) -> list[Finding]:
            return recovery.examine(vault.writer, vault.mark)

        return [*found, *await keeper.write(look)], keeper.vault.key
    secret = _secret(params)
    if header is None or secret is None:
        return found, None
    key = await asyncio.to_thread(secret.open, header)
    return [*found, *await asyncio.to_thread(recovery.examine_closed, layout, key)], key


def _secret(params: key_wire.Recover) -> Secret | None:
    given = [
        Secret(text, code)
        for text, code in ((params.passphrase, False), (params.recovery_code, True))
        if text is not None
    ]
    if len(given) > 1:
        raise Usage("give the passphrase or the recovery code, not both")
    return given[0] if given else None


async def _mend(
    call: Call, params: key_wire.Recover, found: list[Finding], key: VaultKey | None
) -> dict[str, Any]:
    """Raises Illegal for what is not wrong or cannot be mended, PresenceRequired without a secret."""
    keeper, actor = call.keeper, call.session.caller
    wrong = next((one for one in found if one.what == params.mend and one.mend), None)
    if wrong is None:
        raise Illegal("that is not wrong, or cannot be mended", "`memvault recover` shows what is.")
    if key is None:
        raise PresenceRequired("a repair needs the passphrase or the recovery code of the vault")
    if params.mend == "header":
        await asyncio.to_thread(recovery.mend_header, keeper.layout, key)
        return {"header": "put back from its copy"}
    if params.mend == "mark":
        recovery.require_seen(wrong.missing or 0, params.missing)
        await keeper.unlock(lambda _: key)
        if keeper.require().read_only:
            raise ReadOnly("the vault is open for reading only")
        return {"accepted": await keeper.write(recovery.accept_missing, actor, params.missing)}
    salvaged = await replacing(
        keeper,
        lambda tell: recovery.mend_pages(keeper.layout, key, keeper.clock, actor.actor, tell),
        key,
        call.tell,
    )
    return salvaged.plain()
