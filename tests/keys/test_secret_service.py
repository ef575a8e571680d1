"""A real Secret Service (gnome-keyring on a private bus): kept, locked, hung, reset and changed.

Needs the Debian packages gnome-keyring and dbus-daemon; skipped, saying so, where they are missing.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from memvault.errors import KeychainChanged, KeychainEmpty, KeychainHung, KeychainLocked, KeychainUnsafe
from memvault.keys import header_file, ring
from memvault.keys.kdf import KdfProfile
from memvault.keys.os_keyring import Keychain

PASSPHRASE = "correct horse battery"
SECRET_SERVICE = "keyring.backends.SecretService.Keyring"
NEEDED = ("dbus-daemon", "gnome-keyring-daemon")
MISSING = [program for program in NEEDED if shutil.which(program) is None]
PATIENT = Keychain(limit_s=30.0)
"""For everything but the time limit itself: the machine that runs tests may be busy."""

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"no real Secret Service here: {', '.join(MISSING)} missing"
)


def wait_for(found: Callable[[], bool], limit_s: float = 20.0) -> None:
    until = time.monotonic() + limit_s
    while not found():
        assert time.monotonic() < until, "the condition never came true"
        threading.Event().wait(0.02)


@dataclass
class Desktop:
    """One login session: its bus and its keyring daemon, unlocked by the login password."""

    folder: Path
    keyring: subprocess.Popen[bytes]

    def collection(self):
        import secretstorage

        return secretstorage.Collection(secretstorage.dbus_init())

    def lock(self) -> None:
        collection = self.collection()
        with closing(collection.connection):
            collection.lock()

    def overwrite(self, secret: bytes | None) -> int:
        """Replace (or, with None, delete) what memvault stored; how many items that were."""
        collection = self.collection()
        count = 0
        with closing(collection.connection):
            for item in collection.search_items({"service": "memvault"}):
                item.delete() if secret is None else item.set_secret(secret)
                count += 1
        return count


BUS = """<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
"""A session bus that starts nothing by itself: only the daemon of the test answers on it."""


def _open() -> bool:
    """Whether the Secret Service is on the bus, its default keyring made and unlocked."""
    import secretstorage

    with closing(secretstorage.dbus_init()) as bus:
        if not secretstorage.check_service_availability(bus):
            return False
        try:
            return not secretstorage.Collection(bus).is_locked()
        except secretstorage.ItemNotFoundException:
            return False


def end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGCONT)
    process.kill()
    process.wait()


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desktop]:
    folder = tmp_path / "login"
    folder.mkdir(mode=0o700)
    for name in ("HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={folder}/bus")
    quiet = {"stderr": subprocess.DEVNULL, "start_new_session": True}
    (folder / "bus.conf").write_text(BUS.format(path=folder / "bus"))
    bus = subprocess.Popen(
        ["dbus-daemon", f"--config-file={folder}/bus.conf", "--nofork", "--nopidfile"], **quiet
    )
    try:
        wait_for((folder / "bus").is_socket)
        keyring = subprocess.Popen(
            ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            **quiet,
        )
        try:
            assert keyring.stdin is not None
            with keyring.stdin as login:
                login.write(b"login password\n")
            wait_for(_open)
            yield Desktop(folder, keyring)
        finally:
            end(keyring)
    finally:
        end(bus)


@pytest.fixture
def kept(home: Path, session: Desktop) -> ring.Created:
    return ring.create(
        home, passphrase=PASSPHRASE, use_keychain=True, profile=KdfProfile.test(), keychain=PATIENT
    )


def test_the_secret_service_keeps_the_key_and_opens_the_vault(
    home: Path, session: Desktop, kept: ring.Created
):
    probe = PATIENT.probe()
    assert (probe.usable, probe.backend) == (True, SECRET_SERVICE)
    assert kept.warnings == ()
    assert ring.open_with_keychain(header_file.read(home), PATIENT) == kept.key
    key = kept.key.sqlcipher_key()[2:-1]
    for path in session.folder.rglob("*"):
        if path.is_file():
            assert key not in path.read_bytes()
            assert b"memvault-kek" not in path.read_bytes(), "the keyring's own file is encrypted"


def test_a_locked_keyring_says_locked_at_once_and_nobody_is_asked(
    home: Path, session: Desktop, kept: ring.Created
):
    session.lock()
    assert not PATIENT.probe().usable
    with pytest.raises(KeychainLocked):
        ring.open_with_keychain(kept.header, PATIENT)
    with pytest.raises(KeychainLocked):
        ring.add_keychain(home, kept.key, PATIENT)
    assert ring.open_with_passphrase(header_file.read(home), PASSPHRASE) == kept.key


def test_a_stopped_daemon_is_given_up_in_time(session: Desktop, kept: ring.Created):
    session.keyring.send_signal(signal.SIGSTOP)
    with pytest.raises(KeychainHung):
        ring.open_with_keychain(kept.header, Keychain(limit_s=2.0))
    assert ring.open_with_passphrase(kept.header, PASSPHRASE) == kept.key


def test_a_reset_keyring_is_empty_and_gets_no_new_key_by_itself(
    home: Path, session: Desktop, kept: ring.Created
):
    assert session.overwrite(None) == 1
    with pytest.raises(KeychainEmpty):
        ring.open_with_keychain(kept.header, PATIENT)
    assert session.overwrite(None) == 0
    header = ring.add_keychain(home, ring.open_with_recovery(kept.header, kept.recovery_code), PATIENT)
    assert ring.open_with_keychain(header, PATIENT) == kept.key
    assert session.overwrite(None) == 1


def test_a_replaced_entry_is_changed_not_wrong(session: Desktop, kept: ring.Created):
    for secret in (b"something else", b"memvault-kek-1:" + b"ab" * 32, b"\xff\xfe", b""):
        assert session.overwrite(secret) == 1
        with pytest.raises(KeychainChanged):
            ring.open_with_keychain(kept.header, PATIENT)


def test_without_the_bus_there_is_no_keychain(
    session: Desktop, kept: ring.Created, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
    assert ring.open_with_keychain(kept.header, PATIENT) == kept.key, "found in the runtime folder"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(KeychainUnsafe):
        ring.open_with_keychain(kept.header, PATIENT)
    assert os.environ.get("DBUS_SESSION_BUS_ADDRESS") is None


def test_a_removed_slot_leaves_nothing_in_the_keyring(home: Path, session: Desktop, kept: ring.Created):
    slot_id = kept.header.slots[-1].id
    ring.remove_slot(home, kept.key, slot_id, PATIENT)
    assert session.overwrite(None) == 0
