"""The header's bytes: one spelling, every damage reported, told apart from other programs' files."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memvault.errors import Damaged, ForeignFile, HeaderDamaged, MemvaultError, SchemaNewer, WrongKey
from memvault.ids import new_id
from memvault.keys import header as codec
from memvault.keys import passphrase, recovery, ring
from memvault.keys.envelope import VaultKey
from memvault.keys.kdf import KdfProfile
from memvault.keys.os_keyring import seal_slot
from memvault.keys.slots import KdfParams, PassphraseSlot

PHRASE = "correct horse battery"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
KEY = VaultKey(bytes(range(32)))
VAULT = new_id()
CODE = recovery.encode(bytes(range(20)))
KEK = bytes(32)
SLOTS = (
    recovery.make(VAULT, 1, KEY, CODE, NOW),
    passphrase.make(VAULT, 1, KEY, PHRASE, KdfProfile.test().floor, NOW),
    seal_slot(VAULT, 1, KEY, KEK, "keyring.backends.SecretService.Keyring", NOW),
)
HEADER = codec.new(VAULT, KEY, SLOTS, NOW)
RAW = codec.encode(HEADER)


def spell(body: bytes) -> bytes:
    """Any body under a checksum that fits: what an attacker, not an accident, would write."""
    body = body.rstrip(b"\n").removesuffix(b"}")
    return body + b',"checksum":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


def body_with(**changes: object) -> bytes:
    fields = json.loads(msgspec.json.encode(HEADER))
    return json.dumps(fields | changes, separators=(",", ":")).encode()


def test_a_header_reads_back_the_same():
    assert codec.decode(RAW) == HEADER
    assert codec.encode(codec.decode(RAW)) == RAW
    assert RAW.startswith(b'{"magic":"memvault-vault","format":1,"vault_id":"')
    assert spell(body_with()) == RAW


def test_every_flipped_bit_is_reported_as_a_damaged_header():
    for place in range(len(RAW)):
        for bit in range(8):
            flipped = bytearray(RAW)
            flipped[place] ^= 1 << bit
            with pytest.raises(HeaderDamaged):
                codec.decode(bytes(flipped))


def test_every_cut_is_reported_as_a_damaged_header():
    for length in range(len(RAW)):
        with pytest.raises(HeaderDamaged):
            codec.decode(RAW[:length])
        with pytest.raises(HeaderDamaged):
            codec.decode(RAW[:length] + bytes(len(RAW) - length))


@given(st.integers(0, len(RAW)), st.integers(0, 600), st.binary(max_size=600))
def test_an_overwritten_stretch_is_never_another_header(start: int, length: int, patch: bytes):
    changed = RAW[:start] + patch + RAW[start + length :]
    try:
        assert codec.decode(changed) == HEADER
        assert changed == RAW
    except Damaged:
        assert changed != RAW


@given(st.binary())
def test_other_bytes_are_a_foreign_or_a_damaged_file(raw: bytes):
    with pytest.raises((ForeignFile, HeaderDamaged)):
        codec.decode(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"SQLite format 3\x00" + bytes(range(1, 90)),
        b'{"name":"obsidian","vaults":{}}\n',
        b"[" * 60_000,
        b"{}\n",
        b"hello",
        b"\x7fELF" + b"\x01" * 100_000,
        spell(b'{"magic":"other-program","format":1}'),
        spell(b"{" + b'"a":[' * 9_000 + b"]" * 9_000 + b"}"),
    ],
    ids=["sqlite", "json", "brackets", "empty-object", "text", "binary", "other-magic", "deep"],
)
def test_a_file_of_another_program_is_foreign_not_damaged(raw: bytes):
    with pytest.raises(ForeignFile):
        codec.decode(raw)


@pytest.mark.parametrize(
    "raw",
    [b"", bytes(4096), RAW[:5], RAW + b" ", RAW * 2, RAW[:-1], RAW + bytes(70_000)],
    ids=["empty", "zeroed", "cut", "space", "twice", "no-line-feed", "grown"],
)
def test_an_emptied_zeroed_or_grown_header_is_damaged_not_absent(raw: bytes):
    with pytest.raises(HeaderDamaged):
        codec.decode(raw)


def test_a_newer_format_says_so_whatever_else_it_holds():
    newer = spell(b'{"magic":"memvault-vault","format":2,"something":{"else":true}}')
    with pytest.raises(SchemaNewer, match="format 2"):
        codec.decode(newer)


SLOT = json.loads(msgspec.json.encode(SLOTS[1]))


NEVER_WRITTEN = [
    body_with(surprise=1),
    body_with(format=0),
    body_with(format=1.0),
    body_with(format=True),
    body_with(format="1"),
    body_with(generation=0),
    body_with(generation=2**40),
    body_with(generation=1.0),
    body_with(vault_id="not-an-id"),
    body_with(vault_id=VAULT.upper()),
    body_with(created_at="yesterday"),
    body_with(created_at="2026-01-02T03:04:05Z"),
    body_with(key_check="AAAA"),
    body_with(key_check="not base64!"),
    body_with(slots=[]),
    body_with(slots=[json.loads(msgspec.json.encode(SLOTS[2]))]),
    body_with(slots=[SLOT, SLOT]),
    body_with(slots=[SLOT | {"type": "magic"}]),
    body_with(slots=[SLOT | {"extra": 1}]),
    body_with(slots=[SLOT | {"salt": "AAAA"}]),
    body_with(slots=[SLOT | {"argon2id": {"memory_kib": 2**31, "passes": 3, "lanes": 4}}]),
    body_with(slots=[SLOT | {"argon2id": {"memory_kib": 65536, "passes": 10**6, "lanes": 4}}]),
    body_with(slots=[SLOT | {"seal": {"nonce": "AAAAAAAAAAAAAAAA", "wrapped": "AAAA"}}]),
    body_with().replace(b'"generation":1', b'"generation":NaN'),
    body_with().replace(b'"generation":1', b'"generation":' + b"9" * 5000),
    body_with().replace(b'"generation":1', b'"generation":1,"generation":1'),
    body_with().replace(b'"generation":1', b'"generation": 1'),
    body_with().replace(b'"vault_id"', b'"vault\\u005fid"'),
    body_with().replace(b'"magic":"memvault-vault",', b"")[:-1] + b',"magic":"memvault-vault"}',
    body_with(slots=[SLOT | {"extra": json.loads("[" * 400 + "]" * 400)}]),
]


@pytest.mark.parametrize("body", NEVER_WRITTEN, ids=map(str, range(len(NEVER_WRITTEN))))
def test_a_header_that_memvault_would_not_write_is_refused_even_under_a_fitting_checksum(body: bytes):
    with pytest.raises(HeaderDamaged):
        codec.decode(spell(body))


def keychain_slot() -> dict:
    return json.loads(msgspec.json.encode(SLOTS[2]))


@pytest.mark.parametrize(
    "backend", ["keyring.backends.null.Keyring", "keyrings.alt.file.PlaintextKeyring", "os.system"]
)
def test_a_header_cannot_name_an_unsafe_keychain(backend: str):
    with pytest.raises(HeaderDamaged):
        codec.decode(spell(body_with(slots=[SLOT, keychain_slot() | {"backend": backend}])))


def test_more_slots_than_memvault_makes_are_refused():
    many = [SLOT | {"id": new_id()} for _ in range(5)]
    with pytest.raises(HeaderDamaged):
        codec.decode(spell(body_with(slots=many)))
    assert codec.decode(spell(body_with(slots=many[:4])))


def test_no_refusal_repeats_what_the_file_says():
    with pytest.raises(HeaderDamaged) as caught:
        codec.decode(spell(body_with(slots=[SLOT | {"type": "\x1b]52;c;aGk=\x07"}])))
    assert "52;c" not in caught.value.message + caught.value.hint


INTRUDER = passphrase.make(VAULT, 1, VaultKey.random(), "intruder!", KdfProfile.test().floor, NOW)
SECOND = passphrase.make(VAULT, 1, KEY, "another passphrase", KdfProfile.test().floor, NOW)


def _mutations() -> dict[str, codec.VaultHeader]:
    phrase = SLOTS[1]
    assert isinstance(phrase, PassphraseSlot)
    return {
        "slot removed": replace(HEADER, slots=HEADER.slots[1:]),
        "slots reordered": replace(HEADER, slots=HEADER.slots[::-1]),
        "slot added by another key": replace(HEADER, slots=(*HEADER.slots, INTRUDER)),
        "slot of an older header put back": replace(HEADER, slots=(*HEADER.slots, SECOND)),
        "cheaper derivation": replace(
            HEADER, slots=(HEADER.slots[0], replace(phrase, argon2id=KdfParams(8, 1, 1)), HEADER.slots[2])
        ),
        "seals swapped": replace(
            HEADER,
            slots=(replace(HEADER.slots[0], seal=phrase.seal), replace(phrase, seal=HEADER.slots[0].seal)),
        ),
        "other vault": replace(HEADER, vault_id=new_id()),
        "other generation": replace(HEADER, generation=2),
        "other date": replace(HEADER, created_at="2020-01-01T00:00:00.000Z"),
        "other check": replace(HEADER, key_check=bytes(32)),
        "other backend": replace(
            HEADER, slots=(*HEADER.slots[:2], replace(SLOTS[2], backend="keyring.backends.macOS.Keyring"))
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", list(_mutations()))
def test_a_header_changed_without_the_key_opens_nothing(name: str):
    changed = codec.decode(codec.encode(_mutations()[name]))
    for open_it in (
        lambda: ring.open_with_passphrase(changed, PHRASE),
        lambda: ring.open_with_passphrase(changed, "intruder!"),
        lambda: ring.open_with_recovery(changed, CODE),
    ):
        with pytest.raises((HeaderDamaged, WrongKey)):
            open_it()


@given(st.integers(0, len(RAW) - 1), st.integers(0, 255))
def test_a_changed_byte_under_a_mended_checksum_never_opens_as_another_vault(place: int, value: int):
    body = bytearray(msgspec.json.encode(HEADER))
    if place >= len(body) or body[place] == value:
        return
    body[place] = value
    for open_it in (
        lambda header: ring.open_with_passphrase(header, PHRASE),
        lambda header: ring.open_with_recovery(header, CODE),
    ):
        with pytest.raises(MemvaultError):
            open_it(codec.decode(spell(bytes(body))))
