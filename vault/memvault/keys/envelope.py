"""Envelope encryption: the 256-bit vault key, and wrapping it under a slot's key.

Owns `VaultKey` and the wrapping; knows nothing of where slot keys come from or how headers are stored.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hmac import compare_digest
from typing import NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from memvault.keys.slots import Seal

KEY_BYTES = 32
_NONCE_BYTES = 12
_PURPOSE = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}\Z")


def subkey(secret: bytes, salt: bytes | None, info: bytes) -> bytes:
    """32 bytes by HKDF-SHA256 (RFC 5869). Only for secrets that are random already, never for passphrases."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=info).derive(secret)


@dataclass(frozen=True, slots=True)
class Binding:
    """What a wrapped key belongs to: moved to another vault, slot or generation it no longer opens."""

    vault_id: str
    slot_id: str
    slot_type: str
    generation: int

    def aad(self) -> bytes:
        fields = ("memvault-slot-1", self.vault_id, self.slot_id, self.slot_type, str(self.generation))
        return "\x00".join(fields).encode("utf-8")


class VaultKey:
    """The key the vault is encrypted with. Never shown, never pickled, compared in constant time."""

    __slots__ = ("_raw",)

    def __init__(self, raw: bytes) -> None:
        if len(raw) != KEY_BYTES:
            raise ValueError(f"a vault key has {KEY_BYTES} bytes")
        self._raw = raw

    @classmethod
    def random(cls) -> VaultKey:
        return cls(secrets.token_bytes(KEY_BYTES))

    def sqlcipher_key(self) -> bytes:
        """`x'<64 hex digits>'`, the raw key form: any other length would be taken as a passphrase."""
        return b"x'" + self._raw.hex().encode("ascii") + b"'"

    def derive(self, purpose: str) -> bytes:
        """An independent 32 byte key for one use ("mark", "presence"); the same purpose gives the same key.

        `purpose`: 1 to 64 lower-case letters, digits, dots or hyphens, fixed in code. Raises ValueError.
        """
        if not _PURPOSE.match(purpose):
            raise ValueError("a purpose is 1 to 64 lower-case letters, digits, dots or hyphens")
        return subkey(self._raw, None, b"memvault/1/" + purpose.encode("ascii"))

    def wrap(self, kek: bytes, binding: Binding) -> Seal:
        """Encrypt under a slot's 32 byte key, with a fresh random nonce."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return Seal(nonce, AESGCM(kek).encrypt(nonce, self._raw, binding.aad()))

    @classmethod
    def unwrap(cls, kek: bytes, seal: Seal, binding: Binding) -> VaultKey | None:
        """The vault key, or None when this is another slot's key or the seal is not for `binding`."""
        try:
            return cls(AESGCM(kek).decrypt(seal.nonce, seal.wrapped, binding.aad()))
        except InvalidTag:
            return None

    def __repr__(self) -> str:
        return "VaultKey(hidden)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VaultKey) and compare_digest(self._raw, other._raw)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> NoReturn:
        raise TypeError("a vault key is not written down")
