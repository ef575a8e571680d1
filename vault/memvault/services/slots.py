"""Who can open the vault: the key slots listed and changed, each change noted in the event log.

The vault is not rewritten. For the writer's thread, so that changes come one after the other. Knows nothing
of sockets or presence; what a slot is, `keys` knows.
"""

from __future__ import annotations

from typing import Any

from memvault.errors import ReadOnly
from memvault.keys import header_file, kdf, ring
from memvault.keys.header import VaultHeader
from memvault.keys.slots import type_of
from memvault.services.caller import Caller
from memvault.services.change import change
from memvault.services.vault import Vault


def listing(header: VaultHeader) -> dict[str, Any]:
    """The slots without anything secret, and how many vault keys there have been."""
    return {
        "vault": header.vault_id,
        "generation": header.generation,
        "slots": [
            {"id": slot.id, "type": type_of(slot), "created_at": slot.created_at} for slot in header.slots
        ],
    }


def present(vault: Vault) -> VaultHeader:
    return header_file.read(vault.layout.root)


def add_passphrase(vault: Vault, caller: Caller, text: str) -> dict[str, Any]:
    """One more passphrase. Raises Usage (unfit, or already four)."""
    phrase = kdf.accept_new(text)
    _writable(vault)
    return _noted(
        vault, caller, "added a passphrase", ring.add_passphrase(vault.layout.root, vault.key, phrase)
    )


def add_keychain(vault: Vault, caller: Caller) -> dict[str, Any]:
    """The system keychain opens the vault, anew if it was reset. Raises KeychainTrouble."""
    _writable(vault)
    return _noted(vault, caller, "added the keychain", ring.add_keychain(vault.layout.root, vault.key))


def remove(vault: Vault, caller: Caller, slot: str) -> dict[str, Any]:
    """Raises NotFound; Usage for the last slot that is not the keychain's."""
    _writable(vault)
    after = ring.remove_slot(vault.layout.root, vault.key, slot)
    return _noted(vault, caller, "removed a slot", after)


def change_passphrase(vault: Vault, caller: Caller, old: str, new: str) -> dict[str, Any]:
    """Raises WrongKey when `old` opens no slot, Usage when `new` is unfit."""
    _writable(vault)
    after = ring.change_passphrase(vault.layout.root, vault.key, old, new)
    return _noted(vault, caller, "changed a passphrase", after)


def new_recovery_code(vault: Vault, caller: Caller) -> dict[str, Any]:
    """A new code, in the answer and nowhere else; the former one opens the vault no longer."""
    _writable(vault)
    after, code = ring.new_recovery_code(vault.layout.root, vault.key)
    return {**_noted(vault, caller, "made a new recovery code", after), "recovery_code": code}


def _writable(vault: Vault) -> None:
    """Refuse before a keychain is written to. Raises ReadOnly."""
    if not vault.writer.writable:
        raise ReadOnly("the vault is open for reading only")


def _noted(vault: Vault, caller: Caller, what: str, after: VaultHeader) -> dict[str, Any]:
    kinds = sorted(type_of(slot) for slot in after.slots)
    with change(vault, "keys", caller.actor) as work:
        work.beside("keys", {"reason": what, "slots": kinds})
    return listing(after)
