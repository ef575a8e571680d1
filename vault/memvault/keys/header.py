"""The vault's header: what HOME/vault.json says, as bytes and as a record.

The file is one line of canonical JSON: the fields of `VaultHeader` in their order, no spaces, then a SHA-256
of every byte before it, then a line feed:

    {"magic":"memvault-vault","format":1,"vault_id":...,"slots":[...],"checksum":"<64 hex digits>"}

The checksum is tested before anything is parsed, so damage is told apart from a wrong key and from a file of
another program. It is no secret; what proves that the header was written by a holder of the vault key is
`key_check`, an HMAC of the other fields under a subkey. Later formats keep magic, format and checksum where
they are. Knows nothing of files on disk, passphrases or keychains.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from memvault.clock import iso, parse
from memvault.errors import ForeignFile, HeaderDamaged, SchemaNewer, Usage
from memvault.ids import is_id
from memvault.keys import kdf
from memvault.keys.envelope import VaultKey
from memvault.keys.slots import (
    MAX_PASSPHRASE_SLOTS,
    MAX_SLOTS,
    KeychainSlot,
    PassphraseSlot,
    RecoverySlot,
    Slot,
)

MAGIC = "memvault-vault"
FORMAT = 1
MAX_BYTES = 65_536

_FRAME = re.compile(rb'(\{.+),"checksum":"([0-9a-f]{64})"\}\n', re.DOTALL)
_OPENING = b'{"magic":"memvault-vault","format":'
_MARKS = (b'"vault_id":"', b'"key_check":"', b'"generation":', b',"checksum":"')
_UNPROVED = bytes(32)


class VaultHeader(Struct, frozen=True, forbid_unknown_fields=True):
    """`generation` counts the vault keys this vault has had, from 1; seals of an older one do not open."""

    magic: Literal["memvault-vault"]
    format: Literal[1]
    vault_id: str
    created_at: str
    generation: Annotated[int, Meta(ge=1, le=2**31)]
    key_check: Annotated[bytes, Meta(min_length=32, max_length=32)]
    slots: tuple[Slot, ...]


class _Opening(Struct):
    """The two fields that every format has."""

    magic: str
    format: int


def new(vault_id: str, key: VaultKey, slots: Sequence[Slot], now: datetime) -> VaultHeader:
    """The header of a new vault, proved with its key."""
    return prove(VaultHeader(MAGIC, FORMAT, vault_id, iso(now), 1, _UNPROVED, tuple(slots)), key)


def prove(header: VaultHeader, key: VaultKey) -> VaultHeader:
    """The same header with the `key_check` that belongs to it."""
    return replace(header, key_check=_key_check(header, key))


def proved_by(header: VaultHeader, key: VaultKey) -> bool:
    """Whether a holder of this very key wrote this header. Constant time."""
    return hmac.compare_digest(header.key_check, _key_check(header, key))


def _key_check(header: VaultHeader, key: VaultKey) -> bytes:
    body = msgspec.json.encode(replace(header, key_check=_UNPROVED))
    return hmac.digest(key.derive("header"), body, "sha256")


def encode(header: VaultHeader) -> bytes:
    body = msgspec.json.encode(header)[:-1]
    return body + b',"checksum":"' + hashlib.sha256(body).hexdigest().encode("ascii") + b'"}\n'


def decode(raw: bytes) -> VaultHeader:
    """Read a header strictly: what is accepted is byte for byte what `encode` would write.

    Raises ForeignFile, HeaderDamaged or SchemaNewer.
    """
    frame = _FRAME.fullmatch(raw) if len(raw) <= MAX_BYTES else None
    if frame is None or hashlib.sha256(frame[1]).hexdigest().encode("ascii") != frame[2]:
        raise _unreadable(raw)
    body = frame[1] + b"}"
    try:
        opening = msgspec.json.decode(body, type=_Opening)
    except (msgspec.DecodeError, RecursionError, ValueError):
        raise _unreadable(raw) from None
    if opening.magic != MAGIC:
        raise _unreadable(raw)
    if opening.format > FORMAT:
        raise SchemaNewer(
            f"the vault's header has format {opening.format}, this program reads up to {FORMAT}"
        )
    try:
        header = msgspec.json.decode(body, type=VaultHeader)
    except (msgspec.DecodeError, RecursionError, ValueError):
        raise HeaderDamaged(
            "the vault's header is whole, but holds fields that memvault never writes"
        ) from None
    if encode(header) != raw:
        raise HeaderDamaged("the vault's header is whole, but not spelled as memvault writes it")
    _check(header)
    return header


def _unreadable(raw: bytes) -> ForeignFile | HeaderDamaged:
    """Damaged if enough of it is ours: one flipped byte or a cut can spoil some of the marks, not all."""
    start = raw.rstrip(b"\x00")[: len(_OPENING)]
    if not start:
        return HeaderDamaged("the vault's header is empty")
    marks = sum(mark in raw for mark in _MARKS)
    if MAGIC.encode("ascii") in raw or marks >= 2 or _OPENING.startswith(start):
        return HeaderDamaged("the vault's header is damaged: its checksum does not fit")
    return ForeignFile(
        "the file in the place of the vault's header belongs to another program",
        "Nothing was written. Move it away, or point MEMVAULT_HOME (or --home) to the vault's folder.",
    )


def _check(header: VaultHeader) -> None:
    """Refuse what types cannot say. Raises HeaderDamaged."""
    slot_ids = [slot.id for slot in header.slots]
    well_formed = (
        all(map(is_id, [header.vault_id, *slot_ids]))
        and len(set(slot_ids)) == len(slot_ids)
        and all(map(_is_instant, [header.created_at, *(slot.created_at for slot in header.slots)]))
        and not refusal(header.slots)
    )
    if not well_formed:
        raise HeaderDamaged("the vault's header is whole, but contradicts itself")
    for slot in header.slots:
        if isinstance(slot, PassphraseSlot):
            kdf.check(slot.argon2id)


def _is_instant(text: str) -> bool:
    try:
        return iso(parse(text)) == text
    except (Usage, OverflowError):
        return False


def refusal(slots: Sequence[Slot]) -> str:
    """Why these slots may not be a vault's only ones, in a sentence; empty when they may."""
    kinds = [type(slot) for slot in slots]
    if kinds.count(KeychainSlot) == len(kinds):
        return "a vault keeps at least one passphrase or recovery code: a keychain can be reset"
    if kinds.count(PassphraseSlot) > MAX_PASSPHRASE_SLOTS:
        return f"a vault has at most {MAX_PASSPHRASE_SLOTS} passphrases"
    if kinds.count(RecoverySlot) > 1 or kinds.count(KeychainSlot) > 1 or len(kinds) > MAX_SLOTS:
        return "a vault has one recovery code and one keychain slot at most"
    return ""
