"""Who can open a vault, and changing that without rewriting it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from memvault.errors import HeaderDamaged, KeychainUnsafe, NotFound, Usage, VaultAbsent, WrongKey
from memvault.ids import new_id
from memvault.keys import header_file, ring
from memvault.keys.envelope import VaultKey
from memvault.keys.kdf import STANDARD, KdfProfile
from memvault.keys.slots import PassphraseSlot, RecoverySlot, type_of

PASSPHRASE = "correct horse battery"
CHEAP = KdfProfile.test()


def types(header: ring.VaultHeader) -> list[str]:
    return [type_of(slot) for slot in header.slots]


def slot_id(header: ring.VaultHeader, kind: type) -> str:
    return next(slot.id for slot in header.slots if isinstance(slot, kind))


def test_a_new_vault_opens_with_its_passphrase_and_its_recovery_code(home: Path, made: ring.Created):
    header = header_file.read(home)
    assert header == made.header
    assert sorted(types(header)) == ["passphrase", "recovery"]
    assert ring.open_with_passphrase(header, PASSPHRASE) == made.key
    assert ring.open_with_recovery(header, made.recovery_code.lower().replace("-", " ")) == made.key
    assert made.warnings == ()


def test_neither_passphrase_nor_code_nor_key_is_in_any_file(home: Path, made: ring.Created):
    key = bytes.fromhex(made.key.sqlcipher_key()[2:-1].decode())
    for path in home.iterdir():
        raw = path.read_bytes()
        for secret in (PASSPHRASE.encode(), made.recovery_code.encode(), key, key.hex().encode()):
            assert secret not in raw


@pytest.mark.parametrize(
    "wrong", ["correct horse batterz", "Correct horse battery", "short", "", "x" * 5000, "a\x00b" * 9]
)
def test_a_wrong_passphrase_is_a_wrong_key(made: ring.Created, wrong: str):
    with pytest.raises(WrongKey):
        ring.open_with_passphrase(made.header, wrong)


def test_the_code_of_another_vault_is_a_wrong_key(made: ring.Created):
    other = ring.draft(passphrase=None, use_keychain=False, profile=CHEAP)
    with pytest.raises(WrongKey, match="not the one of this vault"):
        ring.open_with_recovery(made.header, other.recovery_code)


def test_an_unfit_passphrase_makes_no_vault(home: Path):
    with pytest.raises(Usage):
        ring.create(home, passphrase="short", use_keychain=False, profile=CHEAP)
    with pytest.raises(VaultAbsent):
        header_file.read(home)
    assert list(home.iterdir()) == []


def test_a_vault_with_a_recovery_code_only_says_so(home: Path):
    made = ring.create(home, passphrase=None, use_keychain=False, profile=CHEAP)
    assert types(made.header) == ["recovery"]
    assert len(made.warnings) == 1
    assert "recovery code only" in made.warnings[0]
    assert ring.open_with_recovery(made.header, made.recovery_code) == made.key
    for attempt in (
        lambda: ring.open_with_passphrase(made.header, PASSPHRASE),
        lambda: ring.open_with_keychain(made.header),
    ):
        with pytest.raises(WrongKey):
            attempt()


def test_without_a_keychain_the_passphrase_remains_with_a_warning(home: Path):
    made = ring.create(home, passphrase=PASSPHRASE, use_keychain=True, profile=CHEAP)
    assert sorted(types(made.header)) == ["passphrase", "recovery"]
    assert "keychain" in made.warnings[0]


def test_without_a_keychain_and_a_passphrase_no_vault_is_made(home: Path):
    with pytest.raises(KeychainUnsafe):
        ring.create(home, passphrase=None, use_keychain=True, profile=CHEAP)
    assert list(home.iterdir()) == []


def test_a_changed_passphrase_opens_and_the_former_one_does_not(home: Path, made: ring.Created):
    header = ring.change_passphrase(home, made.key, PASSPHRASE, "a new passphrase", CHEAP)
    assert header == header_file.read(home)
    assert ring.open_with_passphrase(header, "a new passphrase") == made.key
    assert ring.open_with_recovery(header, made.recovery_code) == made.key
    with pytest.raises(WrongKey):
        ring.open_with_passphrase(header, PASSPHRASE)
    assert header.generation == made.header.generation


def test_a_passphrase_is_changed_only_by_who_knows_it(home: Path, made: ring.Created):
    with pytest.raises(WrongKey):
        ring.change_passphrase(home, made.key, "not the passphrase", "a new passphrase", CHEAP)
    with pytest.raises(Usage):
        ring.change_passphrase(home, made.key, PASSPHRASE, "short", CHEAP)
    assert header_file.read(home) == made.header


def test_a_new_recovery_code_replaces_the_former_one(home: Path, made: ring.Created):
    header, code = ring.new_recovery_code(home, made.key)
    assert ring.open_with_recovery(header, code) == made.key
    with pytest.raises(WrongKey):
        ring.open_with_recovery(header, made.recovery_code)
    assert sorted(types(header)) == ["passphrase", "recovery"]


def test_several_passphrases_open_up_to_four(home: Path, made: ring.Created):
    for number in (2, 3, 4):
        ring.add_passphrase(home, made.key, f"passphrase {number}", CHEAP)
    with pytest.raises(Usage, match="at most 4"):
        ring.add_passphrase(home, made.key, "passphrase 5", CHEAP)
    header = header_file.read(home)
    for text in (PASSPHRASE, "passphrase 2", "passphrase 4"):
        assert ring.open_with_passphrase(header, text) == made.key


def test_the_last_slot_that_is_not_the_keychains_stays(home: Path, made: ring.Created):
    header = ring.remove_slot(home, made.key, slot_id(made.header, RecoverySlot))
    assert types(header) == ["passphrase"]
    with pytest.raises(Usage, match="at least one"):
        ring.remove_slot(home, made.key, slot_id(made.header, PassphraseSlot))
    assert header_file.read(home) == header
    with pytest.raises(NotFound):
        ring.remove_slot(home, made.key, new_id())


def test_only_the_vaults_own_key_changes_slots(home: Path, made: ring.Created):
    stranger = VaultKey.random()
    for attempt in (
        lambda: ring.add_passphrase(home, stranger, "passphrase 2", CHEAP),
        lambda: ring.change_passphrase(home, stranger, PASSPHRASE, "a new passphrase", CHEAP),
        lambda: ring.new_recovery_code(home, stranger),
        lambda: ring.remove_slot(home, stranger, slot_id(made.header, RecoverySlot)),
        lambda: ring.rewrap_all(made.header, stranger),
    ):
        with pytest.raises(HeaderDamaged):
            attempt()
    assert header_file.read(home) == made.header


def test_a_rotation_changes_the_key_and_keeps_the_slots_at_hand(home: Path, made: ring.Created):
    rotation = ring.rewrap_all(
        made.header, made.key, passphrase_text=PASSPHRASE, recovery_code=made.recovery_code
    )
    assert header_file.read(home) == made.header, "nothing is written before the store is ready"
    assert rotation.key != made.key
    assert rotation.recovery_code is None
    assert rotation.dropped == ()
    ring.commit(home, rotation)
    header = header_file.read(home)
    assert header.generation == 2
    assert header.vault_id == made.header.vault_id
    assert [slot.id for slot in header.slots] == [slot.id for slot in made.header.slots]
    assert ring.open_with_passphrase(header, PASSPHRASE) == rotation.key
    assert ring.open_with_recovery(header, made.recovery_code) == rotation.key


def test_a_rotation_without_secrets_makes_a_new_code_and_says_what_it_drops(home: Path, made: ring.Created):
    rotation = ring.rewrap_all(made.header, made.key)
    assert rotation.recovery_code is not None
    assert rotation.dropped == ((slot_id(made.header, PassphraseSlot), "passphrase"),)
    assert rotation.recovery_code not in repr(rotation)
    ring.commit(home, rotation)
    header = header_file.read(home)
    assert ring.open_with_recovery(header, rotation.recovery_code) == rotation.key
    for attempt in (
        lambda: ring.open_with_recovery(header, made.recovery_code),
        lambda: ring.open_with_passphrase(header, PASSPHRASE),
    ):
        with pytest.raises(WrongKey):
            attempt()


def test_a_wrong_secret_stops_a_rotation(made: ring.Created):
    with pytest.raises(WrongKey):
        ring.rewrap_all(made.header, made.key, passphrase_text="not the passphrase")
    with pytest.raises(WrongKey):
        ring.rewrap_all(made.header, made.key, recovery_code=made.recovery_code[::-1])


def test_a_seal_of_an_older_generation_does_not_open_in_a_newer_header(made: ring.Created):
    rotation = ring.rewrap_all(made.header, made.key)
    mixed = replace(rotation.header, slots=made.header.slots)
    with pytest.raises(WrongKey):
        ring.open_with_passphrase(mixed, PASSPHRASE)


def test_with_real_parameters_the_header_says_what_opening_costs(home: Path):
    made = ring.create(home, passphrase=PASSPHRASE, use_keychain=False)
    header = header_file.read(home)
    slot = next(slot for slot in header.slots if isinstance(slot, PassphraseSlot))
    assert slot.argon2id.memory_kib >= STANDARD.floor.memory_kib
    assert slot.argon2id.passes >= STANDARD.floor.passes
    assert ring.open_with_passphrase(header, PASSPHRASE) == made.key
    with pytest.raises(WrongKey):
        ring.open_with_passphrase(header, "not the passphrase")
