"""The passphrase slot: a phrase a person remembers, stretched by Argon2id.

Owns making and opening such slots; the phrase and its key are never stored.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from memvault.clock import iso
from memvault.errors import WrongKey
from memvault.ids import new_id
from memvault.keys import kdf
from memvault.keys.envelope import Binding, VaultKey
from memvault.keys.header import VaultHeader
from memvault.keys.slots import KdfParams, PassphraseSlot

_TYPE = "passphrase"


def make(
    vault_id: str, generation: int, key: VaultKey, text: str, params: KdfParams, now: datetime
) -> PassphraseSlot:
    """A slot that `text` opens. Raises Usage when the text cannot be a passphrase."""
    phrase = kdf.accept_new(text)
    slot_id, salt = new_id(), secrets.token_bytes(16)
    kek = kdf.derive(phrase, salt, params)
    seal = key.wrap(kek, Binding(vault_id, slot_id, _TYPE, generation))
    return PassphraseSlot(slot_id, iso(now), salt, params, seal)


def kek_of(slot: PassphraseSlot, text: str) -> bytes:
    return kdf.derive(text, slot.salt, slot.argon2id)


def find(header: VaultHeader, text: str) -> tuple[PassphraseSlot, bytes, VaultKey]:
    """The slot that `text` opens, its key and the vault key.

    Takes one derivation per passphrase slot. Raises WrongKey when it opens none.
    """
    slots = [slot for slot in header.slots if isinstance(slot, PassphraseSlot)]
    if not slots:
        raise WrongKey(
            "this vault has no passphrase", "It opens with its recovery code: `memvault unlock --recovery`."
        )
    if kdf.can_open(text):
        for slot in slots:
            kek = kek_of(slot, text)
            key = VaultKey.unwrap(kek, slot.seal, Binding(header.vault_id, slot.id, _TYPE, header.generation))
            if key is not None:
                return slot, kek, key
    raise WrongKey("the passphrase is not right")
