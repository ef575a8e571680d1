"""Keychains that lie, hang, break or change: five errors, soon, and never a new key in place of a lost one.

The backends are keyring's own machinery with hostile classes from a scratch folder (see conftest).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memvault.errors import (
    KeychainChanged,
    KeychainEmpty,
    KeychainHung,
    KeychainLocked,
    KeychainTrouble,
    KeychainUnsafe,
    Usage,
    WrongKey,
)
from memvault.keys import header as codec
from memvault.keys import header_file, os_keyring, ring
from memvault.keys.kdf import KdfProfile
from memvault.keys.os_keyring import Keychain
from memvault.keys.slots import KeychainSlot

PASSPHRASE = "correct horse battery"
KWALLET = "keyring.backends.kwallet.DBusKeyring"
CHEAP = KdfProfile.test()
PATIENT = Keychain(limit_s=30.0)
"""For everything but the time limit itself: the machine that runs tests may be busy."""


@pytest.fixture
def kept(home: Path, desktop) -> ring.Created:
    """A vault in `home` that the (so far honest) keychain opens; made without asking it, to save time."""
    made = ring.draft(passphrase=PASSPHRASE, use_keychain=False, profile=CHEAP)
    vault_id, kek = made.header.vault_id, bytes(range(32))
    slot = os_keyring.seal_slot(vault_id, 1, made.key, kek, KWALLET, datetime.now(UTC))
    desktop.secrets = {f"memvault/{vault_id}": f"memvault-kek-1:{kek.hex()}"}
    header = codec.new(vault_id, made.key, (*made.header.slots, slot), datetime.now(UTC))
    header_file.create(home, header)
    return replace(made, header=header)


def wait_for(found: Callable[[], bool], limit_s: float = 10.0) -> None:
    until = time.monotonic() + limit_s
    while not found():
        assert time.monotonic() < until, "the condition never came true"
        threading.Event().wait(0.01)


def test_the_keychain_opens_the_vault_and_holds_only_a_wrapping_key(home: Path, desktop):
    made = ring.create(home, passphrase=PASSPHRASE, use_keychain=True, profile=CHEAP, keychain=PATIENT)
    header = header_file.read(home)
    assert made.warnings == ()
    assert ring.open_with_keychain(header, PATIENT) == made.key
    [(name, secret)] = desktop.secrets.items()
    assert name == f"memvault/{header.vault_id}"
    assert made.key.sqlcipher_key()[2:-1].decode() not in secret
    slot = next(slot for slot in header.slots if isinstance(slot, KeychainSlot))
    assert slot.backend == KWALLET
    assert PATIENT.probe() == os_keyring.KeychainProbe(True, KWALLET, "")


def test_a_vault_may_have_no_passphrase_when_the_keychain_opens_it(home: Path, desktop):
    made = ring.create(home, passphrase=None, use_keychain=True, keychain=PATIENT)
    assert made.warnings == ()
    assert ring.open_with_keychain(header_file.read(home), PATIENT) == made.key
    assert ring.open_with_recovery(header_file.read(home), made.recovery_code) == made.key


@pytest.mark.parametrize(
    ("backend", "said"),
    [
        ("keyring.backends.null.Keyring", "null"),
        ("keyring.backends.fail.Keyring", "there is none"),
        ("keyring.backends.chainer.ChainerBackend", ""),
        ("fakes.PlaintextKeyring", "keyrings.alt"),
        ("fakes.Filed", "fakes.Filed"),
        ("fakes.Impostor", "not the original"),
        ("no.such.Module", ""),
    ],
)
def test_backends_that_store_nothing_or_in_the_clear_get_no_key(home: Path, desktop, backend: str, said: str):
    desktop.choose(backend)
    if backend.endswith("ChainerBackend"):
        (desktop.folder / "sitecustomize.py").write_text("import fakes\n")
    probe = PATIENT.probe()
    assert not probe.usable
    assert said in probe.reason
    with pytest.raises(KeychainUnsafe):
        ring.create(home, passphrase=None, use_keychain=True, keychain=PATIENT)
    assert desktop.secrets == {}
    assert list(home.iterdir()) == []


def test_plaintext_merely_installed_beside_nothing_else_is_refused(desktop):
    desktop.choose(None)
    (desktop.folder / "sitecustomize.py").write_text("import fakes\nfakes.Filed.priority = -1\n")
    assert not PATIENT.probe().usable


def test_plaintext_merely_installed_beside_a_safe_one_gets_nothing(home: Path, desktop):
    desktop.choose(None)
    patch = (desktop.folder / "sitecustomize.py").read_text()
    (desktop.folder / "sitecustomize.py").write_text(
        patch + "fakes.PlaintextKeyring.priority = 8\nfakes.PlaintextKeyring.get_password = None\n"
    )
    made = ring.create(home, passphrase=None, use_keychain=True, keychain=PATIENT)
    assert next(s.backend for s in made.header.slots if isinstance(s, KeychainSlot)) == KWALLET
    assert ring.open_with_keychain(made.header, PATIENT) == made.key


def misbehave(mode: str) -> Callable[..., None]:
    return lambda desktop: desktop.behave(mode)


def reset(desktop) -> None:
    desktop.secrets = {}


def other_content(desktop) -> None:
    desktop.secrets = dict.fromkeys(desktop.secrets, "something else")


def other_key(desktop) -> None:
    desktop.secrets = dict.fromkeys(desktop.secrets, "memvault-kek-1:" + "ab" * 32)


def other_backend(desktop) -> None:
    patch = (desktop.folder / "sitecustomize.py").read_text()
    (desktop.folder / "sitecustomize.py").write_text(patch + "kwallet.DBusKeyringKWallet4.priority = 3\n")
    desktop.choose("keyring.backends.kwallet.DBusKeyringKWallet4")


TROUBLES = [
    (misbehave("locked"), KeychainLocked),
    (misbehave("hangs"), KeychainHung),
    (misbehave("breaks"), KeychainUnsafe),
    (misbehave("dies"), KeychainUnsafe),
    (lambda desktop: desktop.choose("keyring.backends.null.Keyring"), KeychainUnsafe),
    (reset, KeychainEmpty),
    (other_content, KeychainChanged),
    (other_key, KeychainChanged),
    (other_backend, KeychainChanged),
]


@pytest.mark.parametrize(
    ("happen", "kind"),
    TROUBLES,
    ids=["locked", "hung", "breaks", "dies", "null", "reset", "other-content", "other-key", "other-backend"],
)
def test_each_trouble_has_its_error_and_the_passphrase_still_opens(
    home: Path, desktop, kept: ring.Created, happen: Callable[..., None], kind: type[KeychainTrouble]
):
    happen(desktop)
    held, written = desktop.secrets, (home / "vault.json").read_bytes()
    keychain = Keychain(limit_s=2.0) if kind is KeychainHung else PATIENT
    with pytest.raises(KeychainTrouble) as caught:
        ring.open_with_keychain(header_file.read(home), keychain)
    assert type(caught.value) is kind
    assert "passphrase" in caught.value.hint
    assert desktop.secrets == held, "nothing is put in the place of a missing key"
    assert (home / "vault.json").read_bytes() == written
    assert ring.open_with_passphrase(header_file.read(home), PASSPHRASE) == kept.key
    assert ring.open_with_recovery(header_file.read(home), kept.recovery_code) == kept.key


def test_the_five_errors_differ_in_code_and_words():
    kinds = [KeychainLocked, KeychainHung, KeychainUnsafe, KeychainEmpty, KeychainChanged]
    assert len({kind.code for kind in kinds}) == 5


@pytest.mark.parametrize("mode", ["forgets", "garbles"])
def test_what_is_not_read_back_the_same_was_not_kept(home: Path, desktop, mode: str):
    desktop.behave(mode)
    made = ring.create(home, passphrase=PASSPHRASE, use_keychain=True, profile=CHEAP, keychain=PATIENT)
    assert "does not give it back" in made.warnings[0]
    assert not any(isinstance(slot, KeychainSlot) for slot in made.header.slots)


def test_a_hung_child_is_ended_after_five_seconds_and_shows_the_secret_nowhere(desktop):
    desktop.behave("hangs")
    started = time.monotonic()
    raised: list[BaseException] = []

    def store() -> None:
        try:
            Keychain().store("an-account", b"\xa5" * 32)
        except KeychainTrouble as error:
            raised.append(error)

    thread = threading.Thread(target=store)
    thread.start()
    report = desktop.folder / "hung.json"
    wait_for(report.exists)
    hung = json.loads(report.read_text())
    assert hung["secret"] == "memvault-kek-1:" + "a5" * 32
    for pid in hung["pids"]:
        for place in ("cmdline", "environ"):
            assert b"a5a5a5" not in Path(f"/proc/{pid}/{place}").read_bytes()
    assert b"\x00-P\x00" in Path(f"/proc/{hung['pids'][0]}/cmdline").read_bytes()
    limits = Path(f"/proc/{hung['pids'][0]}/limits").read_text()
    assert next(line.split()[4:6] for line in limits.splitlines() if "core" in line) == ["0", "0"]
    thread.join()
    assert 4.5 < time.monotonic() - started < 10
    assert type(raised[0]) is KeychainHung
    assert "a5a5" not in str(raised[0])

    def gone(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    for pid in hung["pids"]:
        wait_for(lambda pid=pid: gone(pid))


def test_an_error_of_the_backend_is_not_repeated(desktop):
    desktop.behave("breaks")
    with pytest.raises(KeychainUnsafe) as caught:
        PATIENT.store("an-account", b"\xa5" * 32)
    assert "a5a5" not in caught.value.message
    assert "RuntimeError" in caught.value.message


def test_a_failed_creation_leaves_no_entry_behind(home: Path, desktop, kept: ring.Created):
    before = desktop.secrets
    with pytest.raises(Exception, match="a vault in this folder"):
        ring.create(home, passphrase=PASSPHRASE, use_keychain=True, profile=CHEAP, keychain=PATIENT)
    assert desktop.secrets == before


def test_after_a_reset_the_keychain_is_added_again_by_who_has_the_key(
    home: Path, desktop, kept: ring.Created
):
    reset(desktop)
    header = ring.add_keychain(home, kept.key, PATIENT)
    assert ring.open_with_keychain(header, PATIENT) == kept.key
    assert sum(isinstance(slot, KeychainSlot) for slot in header.slots) == 1


def test_a_removed_keychain_slot_takes_its_entry_along_even_if_that_hangs(
    home: Path, desktop, kept: ring.Created
):
    slot_id = next(slot.id for slot in kept.header.slots if isinstance(slot, KeychainSlot))
    header = ring.remove_slot(home, kept.key, slot_id, PATIENT)
    assert desktop.secrets == {}
    with pytest.raises(WrongKey):
        ring.open_with_keychain(header, PATIENT)
    header = ring.add_keychain(home, kept.key, PATIENT)
    slot_id = next(slot.id for slot in header.slots if isinstance(slot, KeychainSlot))
    desktop.behave("locked")
    assert ring.remove_slot(home, kept.key, slot_id, PATIENT) == header_file.read(home)


def test_the_keychain_is_never_the_only_way_in(home: Path, kept: ring.Created):
    recovery_id, phrase_id = (slot.id for slot in kept.header.slots if not isinstance(slot, KeychainSlot))
    ring.remove_slot(home, kept.key, phrase_id)
    with pytest.raises(Usage, match="at least one"):
        ring.remove_slot(home, kept.key, recovery_id)


def test_a_rotation_carries_the_keychain_slot_when_it_answers_and_drops_it_when_not(
    home: Path, desktop, kept: ring.Created
):
    desktop.behave("locked")
    dropping = ring.rewrap_all(kept.header, kept.key, passphrase_text=PASSPHRASE, keychain=PATIENT)
    assert [kind for _, kind in dropping.dropped] == ["keychain"]
    desktop.behave("ok")
    rotation = ring.rewrap_all(kept.header, kept.key, passphrase_text=PASSPHRASE, keychain=PATIENT)
    assert rotation.dropped == ()
    ring.commit(home, rotation)
    assert ring.open_with_keychain(header_file.read(home), PATIENT) == rotation.key != kept.key
