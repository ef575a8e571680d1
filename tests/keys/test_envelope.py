"""The vault key: wrapped for one place only, and never to be seen."""

from __future__ import annotations

import copy
import pickle
import traceback
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import Usage
from memvault.keys import ring
from memvault.keys.envelope import Binding, VaultKey
from memvault.keys.slots import Seal

PLACE = Binding("vault", "slot", "passphrase", 1)
KEK = bytes(range(32))


def test_a_wrapped_key_opens_again_and_two_wraps_differ():
    key = VaultKey.random()
    first, second = key.wrap(KEK, PLACE), key.wrap(KEK, PLACE)
    assert VaultKey.unwrap(KEK, first, PLACE) == key == VaultKey.unwrap(KEK, second, PLACE)
    assert first.nonce != second.nonce
    assert first.wrapped != second.wrapped


@pytest.mark.parametrize(
    "moved",
    [
        replace(PLACE, vault_id="other"),
        replace(PLACE, slot_id="other"),
        replace(PLACE, slot_type="recovery"),
        replace(PLACE, generation=2),
        Binding("vault\x00slot", "passphrase", "1", 1),
    ],
)
def test_a_seal_moved_to_another_vault_slot_type_or_generation_does_not_open(moved: Binding):
    assert VaultKey.unwrap(KEK, VaultKey.random().wrap(KEK, PLACE), moved) is None


@given(st.integers(0, 59), st.integers(1, 255))
def test_a_changed_byte_of_a_seal_never_gives_another_key(place: int, change: int):
    seal = VaultKey.random().wrap(KEK, PLACE)
    raw = bytearray(seal.nonce + seal.wrapped)
    raw[place] ^= change
    assert VaultKey.unwrap(KEK, Seal(bytes(raw[:12]), bytes(raw[12:])), PLACE) is None


def test_subkeys_differ_by_purpose_and_are_not_the_key():
    key = VaultKey(KEK)
    subkeys = {key.derive("mark"), key.derive("presence"), key.derive("header"), KEK}
    assert len(subkeys) == 4
    assert key.derive("mark") == VaultKey(KEK).derive("mark")
    assert key.derive("mark").hex() == "d6fc5a60cce8abe1f8fa66e0d629de1dc069f8a0ec14b11fac746d2b26d51aa4"


@pytest.mark.parametrize("purpose", ["", "Mark", "a b", "a/b", "x" * 65, "ä"])
def test_an_unnamed_purpose_is_refused(purpose: str):
    with pytest.raises(ValueError):
        VaultKey(KEK).derive(purpose)


def test_sqlcipher_gets_exactly_64_hex_digits():
    spelled = VaultKey(KEK).sqlcipher_key()
    assert spelled == b"x'" + KEK.hex().encode() + b"'"
    assert len(spelled) == 67


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_a_key_of_another_size_is_no_key(size: int):
    with pytest.raises(ValueError):
        VaultKey(bytes(size))


def test_keys_compare_by_content_and_cannot_be_hashed_pickled_or_copied():
    assert VaultKey(KEK) == VaultKey(KEK)
    assert VaultKey(KEK) != VaultKey.random()
    assert VaultKey(KEK) != KEK
    with pytest.raises(TypeError):
        hash(VaultKey(KEK))
    for write_down in (pickle.dumps, copy.deepcopy, copy.copy):
        with pytest.raises(TypeError):
            write_down(VaultKey(KEK))


def test_no_repr_str_or_traceback_shows_the_key_or_the_code(made: ring.Created, home):
    hexed = made.key.sqlcipher_key()[2:-1].decode()
    raw = repr(bytes.fromhex(hexed))[2:-1]
    shown = [repr(made), str(made), repr(made.key), str(made.key), f"{made.key}", f"{[made.key]}"]
    only_slots = [slot.id for slot in made.header.slots]
    ring.remove_slot(home, made.key, only_slots[0])
    with pytest.raises(Usage) as caught:
        ring.remove_slot(home, made.key, only_slots[1])
    trace = caught.value.__traceback__
    assert trace is not None
    below = traceback.TracebackException(Usage, caught.value, trace.tb_next, capture_locals=True)
    shown += below.format()
    assert any("VaultKey(hidden)" in line for line in shown)
    for line in shown:
        assert hexed not in line
        assert raw not in line
        assert made.recovery_code not in line
