"""What the tests of the key ring share: a private home, a cheap vault, and keychains made to measure."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from memvault.keys import ring
from memvault.keys.kdf import KdfProfile

PASSPHRASE = "correct horse battery"
KWALLET = "keyring.backends.kwallet.DBusKeyring"

FAKES = '''
import json, os, signal, subprocess, sys
from pathlib import Path
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

STATE = Path(__file__).with_name("state.json")

class Filed(KeyringBackend):
    """Keeps secrets in a file, or misbehaves as the state file says."""
    priority = 0.5
    def get_password(self, service, username):
        state = _obey()
        if state["mode"] == "forgets":
            return None
        return state["secrets"].get(f"{service}/{username}")
    def set_password(self, service, username, password):
        state = _obey(password)
        state["secrets"][f"{service}/{username}"] = "garbled" if state["mode"] == "garbles" else password
        STATE.write_text(json.dumps(state))
    def delete_password(self, service, username):
        state = _obey()
        if state["secrets"].pop(f"{service}/{username}", None) is None:
            raise PasswordDeleteError("nothing there")
        STATE.write_text(json.dumps(state))

def _obey(secret=""):
    state = json.loads(STATE.read_text())
    print("backends print things")
    if state["mode"] == "locked":
        raise KeyringLocked("dismissed")
    if state["mode"] == "dies":
        os._exit(3)
    if state["mode"] == "breaks":
        raise RuntimeError(f"a message with {secret} in it")
    if state["mode"] == "hangs":
        other = subprocess.Popen(["sleep", "600"])
        ready = STATE.with_name("hung.tmp")
        ready.write_text(json.dumps({"pids": [os.getpid(), other.pid], "secret": secret}))
        ready.rename(STATE.with_name("hung.json"))
        while True:
            signal.pause()
    return state

class Impostor(Filed):
    priority = 9
Impostor.__module__ = "keyring.backends.SecretService"
Impostor.__qualname__ = Impostor.__name__ = "Keyring"

class PlaintextKeyring(Filed):
    priority = 0.5
PlaintextKeyring.__module__ = "keyrings.alt.file"
'''

PATCH = """
import keyring.backends.kwallet as kwallet
import fakes
for name in ("get_password", "set_password", "delete_password"):
    setattr(kwallet.DBusKeyring, name, getattr(fakes.Filed, name))
kwallet.DBusKeyring.priority = 4.9
fakes.Filed.priority = -1
"""


@dataclass
class FakeDesktop:
    """A login session whose keychain does what the test says; `secrets` is what it holds."""

    folder: Path
    choose: Callable[[str | None], None]

    def behave(self, mode: str) -> None:
        self._save(self._state() | {"mode": mode})

    @property
    def secrets(self) -> dict[str, str]:
        return self._state()["secrets"]

    @secrets.setter
    def secrets(self, secrets: dict[str, str]) -> None:
        self._save(self._state() | {"secrets": secrets})

    def _state(self) -> dict:
        return json.loads((self.folder / "state.json").read_text())

    def _save(self, state: dict) -> None:
        (self.folder / "state.json").write_text(json.dumps(state))


@pytest.fixture(autouse=True)
def no_desktop(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test sees the keychain of whoever runs it."""
    scratch = str(tmp_path_factory.mktemp("nobody"))
    for name in list(os.environ):
        if name.startswith(("PYTHON_KEYRING", "KEYRING_PROPERTY", "XDG_", "DBUS_")):
            monkeypatch.delenv(name)
    for name in ("HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, scratch)


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeDesktop:
    folder = tmp_path / "scratch-modules"
    folder.mkdir()
    (folder / "fakes.py").write_text(FAKES)
    (folder / "sitecustomize.py").write_text(PATCH)
    monkeypatch.setenv("PYTHONPATH", str(folder))

    def choose(backend: str | None) -> None:
        if backend is None:
            monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
        else:
            monkeypatch.setenv("PYTHON_KEYRING_BACKEND", backend)

    choose(KWALLET)
    fake = FakeDesktop(folder, choose)
    fake._save({"mode": "ok", "secrets": {}})
    return fake


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def made(home: Path) -> ring.Created:
    """A vault in `home` with a passphrase and a recovery code."""
    return ring.create(home, passphrase=PASSPHRASE, use_keychain=False, profile=KdfProfile.test())
