"""Key slots: the public part of each way to open the vault, as the header stores it.

Owns the record shapes and their limits. Knows nothing of how a slot's key is derived or of files.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

MAX_SLOTS = 8
MAX_PASSPHRASE_SLOTS = 4
"""Each one costs a derivation (about half a second) when a wrong passphrase is tried against all."""

Salt = Annotated[bytes, Meta(min_length=16, max_length=16)]
Nonce = Annotated[bytes, Meta(min_length=12, max_length=12)]
Wrapped = Annotated[bytes, Meta(min_length=48, max_length=48)]


class Seal(Struct, frozen=True, forbid_unknown_fields=True):
    """The vault key under a slot's key: AES-256-GCM, 12 byte nonce, 32 bytes and a 16 byte tag."""

    nonce: Nonce
    wrapped: Wrapped


class KdfParams(Struct, frozen=True, forbid_unknown_fields=True):
    """What Argon2id (version 1.3) is run with. `kdf.check` refuses parameters that no vault was made with."""

    memory_kib: int
    passes: int
    lanes: int


class PassphraseSlot(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="passphrase"):
    id: str
    created_at: str
    salt: Salt
    argon2id: KdfParams
    seal: Seal


class RecoverySlot(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="recovery"):
    id: str
    created_at: str
    salt: Salt
    seal: Seal


KeychainBackend = Literal[
    "keyring.backends.SecretService.Keyring",
    "keyring.backends.macOS.Keyring",
    "keyring.backends.Windows.WinVaultKeyring",
    "keyring.backends.kwallet.DBusKeyring",
    "keyring.backends.kwallet.DBusKeyringKWallet4",
]
"""The backends a key may be given to: all of them store encrypted, in the desktop's own keychain."""


class KeychainSlot(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="keychain"):
    id: str
    created_at: str
    backend: KeychainBackend
    seal: Seal


Slot = PassphraseSlot | RecoverySlot | KeychainSlot


def type_of(slot: Slot) -> str:
    """`passphrase`, `recovery` or `keychain`: as the header and the wire name it."""
    return str(slot.__struct_config__.tag)
