"""The keychain slot: a random key kept by the operating system's keychain, asked through a child process.

Owns the five ways a keychain fails, each with its own error, and the rule that a missing key is never
replaced by a new one behind the user's back. The vault key itself is never given to a keychain: only the key
that wraps it. Calls block up to `limit_s` (5 s) each.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import re
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast, get_args

from memvault.clock import iso
from memvault.errors import (
    KeychainChanged,
    KeychainEmpty,
    KeychainHung,
    KeychainLocked,
    KeychainTrouble,
    KeychainUnsafe,
    WrongKey,
)
from memvault.ids import new_id
from memvault.keys.envelope import KEY_BYTES, Binding, VaultKey
from memvault.keys.header import VaultHeader
from memvault.keys.slots import KeychainBackend, KeychainSlot
from memvault.text import visible

SERVICE = "memvault"
ALLOWED: tuple[KeychainBackend, ...] = get_args(KeychainBackend)
_TYPE = "keychain"
_KEK = re.compile(r"memvault-kek-1:([0-9a-f]{64})")
_FAILURES: dict[str, tuple[type[KeychainTrouble], str]] = {
    "locked": (KeychainLocked, "the system keychain is locked"),
    "unsafe": (KeychainUnsafe, "there is no system keychain that keeps keys safely"),
    "changed": (KeychainChanged, "the system keychain is no longer what it was when it got this vault's key"),
    "failed": (KeychainUnsafe, "the system keychain answered with an error"),
}


@dataclass(frozen=True, slots=True)
class KeychainProbe:
    """What a vault could use here; `reason` says in a few words why not."""

    usable: bool
    backend: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Keychain:
    """The keychain of this login session. `limit_s` is for each call, the child's start included."""

    limit_s: float = 5.0

    def probe(self) -> KeychainProbe:
        """Look without writing: a safe backend is there and open."""
        try:
            answer = self._ask("probe", "", None)
        except KeychainTrouble as trouble:
            return KeychainProbe(False, None, trouble.message)
        return KeychainProbe(True, answer["backend"], "")

    def store(self, account: str, kek: bytes) -> KeychainBackend:
        """Keep the key under `account` and read it back in a new process; answers the backend to remember.

        Raises KeychainLocked, KeychainHung, KeychainUnsafe.
        """
        spelled = f"memvault-kek-1:{kek.hex()}"
        backend = self._ask("set", account, None, spelled)["backend"]
        found = self._ask("get", account, backend)["secret"]
        if not isinstance(found, str) or not hmac.compare_digest(
            found.encode("utf-8"), spelled.encode("utf-8")
        ):
            raise KeychainUnsafe("the system keychain took the key, but does not give it back")
        return cast(KeychainBackend, backend)

    def fetch(self, account: str, backend: KeychainBackend) -> bytes:
        """The key kept under `account` by that backend.

        Raises KeychainEmpty when there is none, KeychainChanged when something else is there or another
        backend answers, KeychainLocked, KeychainHung, KeychainUnsafe.
        """
        found = self._ask("get", account, backend)["secret"]
        if found is None:
            raise KeychainEmpty(
                "the system keychain no longer holds this vault's key: it was reset, or it is a new one"
            )
        spelled = _KEK.fullmatch(found) if isinstance(found, str) else None
        if spelled is None:
            raise KeychainChanged("the system keychain holds something else in the place of this vault's key")
        return bytes.fromhex(spelled[1])

    def erase(self, account: str, backend: KeychainBackend) -> None:
        """Remove what is kept under `account`; nothing there is fine. Raises what `store` does."""
        self._ask("delete", account, backend)

    def _ask(
        self, operation: str, account: str, expected: str | None, secret: str | None = None
    ) -> dict[str, Any]:
        request = {
            "op": operation,
            "service": SERVICE,
            "account": account,
            "secret": secret,
            "allowed": ALLOWED,
            "expected": expected,
        }
        answer = _parse(_run_child(json.dumps(request).encode("utf-8"), self.limit_s))
        status = answer["status"]
        if status == "ok" and answer["backend"] in ALLOWED:
            return answer
        kind, sentence = _FAILURES.get(str(status), _FAILURES["failed"])
        reason = visible(str(answer.get("reason", "")), one_line=True)[:200]
        raise kind(f"{sentence} ({reason})" if reason else sentence)


def _run_child(request: bytes, limit_s: float) -> bytes:
    """One question, one answer. Raises KeychainHung after `limit_s`; the child and its children are ended."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "memvault.keys.keyring_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    try:
        return child.communicate(request, timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        raise KeychainHung(f"the system keychain did not answer within {limit_s:g} s") from None
    finally:
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.communicate()


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        answer: Any = json.loads(raw)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or not {"status", "backend"} <= cast(dict[str, Any], answer).keys():
        raise KeychainUnsafe("the system keychain ended the conversation without an answer")
    return {"secret": None, **cast(dict[str, Any], answer)}


def seal_slot(
    vault_id: str, generation: int, key: VaultKey, kek: bytes, backend: KeychainBackend, now: datetime
) -> KeychainSlot:
    """A slot that the `kek` kept by `backend` opens."""
    slot_id = new_id()
    seal = key.wrap(kek, Binding(vault_id, slot_id, _TYPE, generation))
    return KeychainSlot(slot_id, iso(now), backend, seal)


def make(vault_id: str, generation: int, key: VaultKey, keychain: Keychain, now: datetime) -> KeychainSlot:
    """Give a new random key to the keychain and wrap the vault key by it. Raises as `Keychain.store`."""
    kek = secrets.token_bytes(KEY_BYTES)
    backend = keychain.store(vault_id, kek)
    return seal_slot(vault_id, generation, key, kek, backend, now)


def find(header: VaultHeader, keychain: Keychain) -> tuple[KeychainSlot, bytes, VaultKey]:
    """The keychain slot, its key and the vault key.

    Raises WrongKey when the vault has no such slot, KeychainChanged when the kept key opens it no longer,
    and what `Keychain.fetch` does.
    """
    for slot in header.slots:
        if isinstance(slot, KeychainSlot):
            kek = keychain.fetch(header.vault_id, slot.backend)
            key = VaultKey.unwrap(kek, slot.seal, Binding(header.vault_id, slot.id, _TYPE, header.generation))
            if key is None:
                raise KeychainChanged(
                    "the system keychain holds another key than the one this vault was locked with"
                )
            return slot, kek, key
    raise WrongKey(
        "this vault is not kept in the system keychain", "Open it with its passphrase: `memvault unlock`."
    )
