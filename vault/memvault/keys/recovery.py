"""The recovery code: 160 random bits, printed once for a drawer, never stored.

Owns the code's spelling (Crockford's base32, eight groups of four characters and a check character) and the
slot it opens. The check characters name the group with the typing mistake before any key is tried.
"""

from __future__ import annotations

import secrets
import unicodedata
from datetime import datetime

from memvault.clock import iso
from memvault.errors import WrongKey
from memvault.ids import new_id
from memvault.keys.envelope import Binding, VaultKey, subkey
from memvault.keys.header import VaultHeader
from memvault.keys.slots import RecoverySlot

_TYPE = "recovery"
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUE = {char: value for value, char in enumerate(_ALPHABET)} | {"O": 0, "I": 1, "L": 1}
_GROUPS = 8
_DATA = 4
_BITS = _GROUPS * _DATA * 5
_FIELD = 0b100101
"""x^5 + x^2 + 1, primitive over GF(2): the check arithmetic happens in the field of 32 elements."""


def _check_value(position: int, values: list[int]) -> int:
    """Finds every single wrong character, every swap within a group and every swap of two groups."""
    total = 0
    for value in values:
        total ^= value
        total <<= 1
        if total & 0b100000:
            total ^= _FIELD
    return total ^ position


def encode(secret: bytes) -> str:
    """Spell 20 bytes as `XXXXX-XXXXX-...`, eight groups."""
    number = int.from_bytes(secret, "big")
    groups: list[str] = []
    for position in range(_GROUPS):
        shift = _BITS - (position + 1) * _DATA * 5
        values = [(number >> (shift + 5 * place)) & 31 for place in reversed(range(_DATA))]
        groups.append("".join(_ALPHABET[value] for value in [*values, _check_value(position, values)]))
    return "-".join(groups)


def decode(text: str) -> bytes:
    """Read a code however it was typed: any case, spaces or dashes anywhere, O for 0, I and L for 1.

    Raises WrongKey naming what is wrong: the length, or the first group with a mistake (counted from 1).
    """
    folded = unicodedata.normalize("NFKC", text[:1000]).upper()
    typed = [char for char in folded if not (char.isspace() or unicodedata.category(char) == "Pd")]
    per_group = _DATA + 1
    number = 0
    for position in range(_GROUPS):
        group = [_VALUE.get(char) for char in typed[position * per_group : (position + 1) * per_group]]
        values = [value for value in group if value is not None]
        if len(values) < len(group):
            raise _mistake(position)
        if len(group) < per_group:
            break
        if _check_value(position, values[:_DATA]) != values[_DATA]:
            raise _mistake(position)
        for value in values[:_DATA]:
            number = number << 5 | value
    if len(typed) != _GROUPS * per_group:
        raise WrongKey(f"a recovery code has {_GROUPS * per_group} characters, this one has {len(typed)}")
    return number.to_bytes(_BITS // 8, "big")


def _mistake(position: int) -> WrongKey:
    return WrongKey(
        f"group {position + 1} of the recovery code has a typing mistake",
        "Compare that group with the printed code: letters and digits, no U.",
    )


def new_code() -> str:
    return encode(secrets.token_bytes(_BITS // 8))


def _kek(vault_id: str, salt: bytes, code: str) -> bytes:
    return subkey(decode(code), salt, b"memvault/recovery/1/" + vault_id.encode("ascii"))


def make(vault_id: str, generation: int, key: VaultKey, code: str, now: datetime) -> RecoverySlot:
    """A slot that `code` opens."""
    slot_id, salt = new_id(), secrets.token_bytes(16)
    seal = key.wrap(_kek(vault_id, salt, code), Binding(vault_id, slot_id, _TYPE, generation))
    return RecoverySlot(slot_id, iso(now), salt, seal)


def find(header: VaultHeader, code: str) -> tuple[RecoverySlot, bytes, VaultKey]:
    """The slot that `code` opens, its key and the vault key. Raises WrongKey when it opens none."""
    slots = [slot for slot in header.slots if isinstance(slot, RecoverySlot)]
    if not slots:
        raise WrongKey("this vault has no recovery code", "It opens with its passphrase: `memvault unlock`.")
    for slot in slots:
        kek = _kek(header.vault_id, slot.salt, code)
        key = VaultKey.unwrap(kek, slot.seal, Binding(header.vault_id, slot.id, _TYPE, header.generation))
        if key is not None:
            return slot, kek, key
    raise WrongKey(
        "the recovery code is well written but not the one of this vault",
        "A newer code may have replaced it, or it belongs to another vault.",
    )
