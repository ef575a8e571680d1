"""A real daemon in a short home, and a driver for the interface: nothing here is mocked but the embedder.

One vault is made for the whole run, because deriving keys costs time; every test starts from an empty,
unlocked one and what it wrote is taken back afterwards.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from memvault import agent_tokens
from memvault.client import Client
from memvault.errors import DaemonDown, MemvaultError
from memvault.paths import HomeLayout
from memvault_tui.app import MemvaultApp
from memvault_tui.i18n import use_language

PASSPHRASE = "ship it now"
PATIENCE_S = 20.0

SizeInCells = tuple[int, int]


def short_home() -> Path:
    """A new empty home whose socket path fits everywhere."""
    return Path(tempfile.mkdtemp(prefix="mv-", dir="/tmp"))


def stop_daemon(home: Path) -> None:
    """End the daemon of `home` and wait until it is gone."""
    try:
        with Client(home, autostart=False) as client:
            client.call("shutdown")
    except DaemonDown:
        return
    deadline = time.monotonic() + PATIENCE_S
    while (home / "run" / "daemon.sock").exists() and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """English, a fake embedder, a home without other programs' memories, no terminal to copy to."""
    use_language("en")
    for name in ("MEMVAULT_LANG", "MEMVAULT_THEME", "NO_COLOR", "DISPLAY", "WAYLAND_DISPLAY", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMVAULT_EMBEDDER", "fake")
    monkeypatch.setenv("HOME", str(tmp_path_factory.getbasetemp()))


@pytest.fixture
def empty_home(surroundings: None) -> Iterator[Path]:
    """A home without a vault."""
    home = short_home()
    yield home
    stop_daemon(home)
    shutil.rmtree(home)


@pytest.fixture(scope="session")
def made_home() -> Iterator[Path]:
    """The home with the vault that the tests share."""
    home = short_home()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMVAULT_EMBEDDER", "fake")
        with Client(home) as client:
            client.call("vault.init", {"passphrase": PASSPHRASE, "keychain": False})
        yield home
        stop_daemon(home)
    shutil.rmtree(home)


@dataclass(frozen=True, slots=True)
class Vault:
    """The shared vault seen by its owner, beside the interface under test."""

    home: Path
    client: Client

    def add(self, content: str, kind: str = "fact", **fields: Any) -> str:
        """Add a memory and return its id."""
        evidence = fields.pop("evidence", content)
        source = {"type": "user", "ref": "note-1", "evidence": evidence}
        asked = {"content": content, "kind": kind, "scope": "private", "source": source, **fields}
        return self.client.call("memory.add", asked)["id"]

    def get(self, memory_id: str) -> dict[str, Any]:
        return self.client.call("memory.get", {"id": memory_id})

    def contents(self) -> list[str]:
        page = self.client.call("memory.list", {"limit": 500, "offset": 0})
        return [item["content"] for item in page["items"]]

    def unlock(self) -> None:
        if self.client.call("status")["state"] == "locked":
            self.client.call("vault.unlock", {"passphrase": PASSPHRASE})
        self.client.call("presence.prove", {"passphrase": PASSPHRASE})

    def empty(self) -> None:
        """Take back every run of the test, the newest first."""
        for run in self.client.call("runs.list", {"limit": 200, "offset": 0})["items"]:
            if run["status"] == "rolled_back" or run["kind"] in ("rollback", "delete"):
                continue
            try:
                self.client.call("runs.rollback", {"run": run["run"], "with_dependents": True})
            except MemvaultError as error:
                if error.exit_status not in (3, 7):
                    raise


@pytest.fixture
def vault(made_home: Path, surroundings: None) -> Iterator[Vault]:
    client = Client(made_home)
    opened = Vault(made_home, client)
    opened.unlock()
    assert opened.contents() == []
    yield opened
    client.close()
    with Client(made_home) as again:
        left = Vault(made_home, again)
        left.unlock()
        left.empty()


class Driver:
    """The interface as a person meets it: keys go in, a screen of text comes out."""

    def __init__(self, app: MemvaultApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def lines(self) -> list[str]:
        """What the terminal shows now, line by line."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]  # pyright: ignore[reportPrivateUsage]

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines)

    async def until(self, true: Callable[[], bool], what: str = "") -> None:
        """Wait for a condition; fails with the screen when it does not come true."""
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            if time.monotonic() > deadline:
                pytest.fail(f"never came true: {what}\n{self.text}")
            await self.pilot.pause(0.01)

    async def sees(self, *words: str) -> None:
        """Wait until all words are on the screen."""
        for word in words:
            await self.until(lambda word=word: word in self.text, f"seeing {word!r}")

    async def sees_not(self, word: str) -> None:
        await self.until(lambda: word not in self.text, f"no longer seeing {word!r}")

    async def shows(self, screen: type[Screen[Any]]) -> None:
        """Wait until a screen of this class is on top and drawn."""
        await self.until(lambda: isinstance(self.app.screen, screen), f"screen {screen.__name__}")
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        names = {" ": "space", "-": "minus", "/": "slash", ".": "full_stop", "?": "question_mark"}
        await self.press(*(names.get(char, char) for char in text))


OpenTui = Callable[..., AbstractAsyncContextManager[Driver]]


@pytest.fixture
def tui() -> OpenTui:
    """`async with tui(home, size=(80, 24)) as driver`."""

    @asynccontextmanager
    async def run(home: Path, size: SizeInCells = (80, 24)) -> AsyncIterator[Driver]:
        app = MemvaultApp(home)
        async with app.run_test(size=size, notifications=True) as pilot:
            yield Driver(app, pilot)

    return run


@pytest.fixture
def prove() -> Callable[[Driver], Awaitable[None]]:
    """Answer the question who is there."""

    async def answer(driver: Driver) -> None:
        from memvault_tui.screens.dialogs import Presence

        await driver.shows(Presence)
        await driver.type(PASSPHRASE)
        await driver.press("enter")
        await driver.until(lambda: not isinstance(driver.app.screen, Presence), "proof was taken")

    return answer


ASK = """
import sys
from pathlib import Path
from memvault.client import Client
with Client(Path(sys.argv[1])) as client:
    client.call("agents.add", {"name": sys.argv[2]})
"""


class House:
    """Agents of the shared vault: let in by its owner, or asking by themselves."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.layout = HomeLayout(vault.home)
        self._open: list[Client] = []

    def let_in(self, name: str, **rights: Any) -> Client:
        """A connection of an agent with a grant."""
        token = self.vault.client.call("agents.add", {"name": name, **rights})["token"]
        agent_tokens.keep(self.layout, name, token)
        return self.agent(name)

    def agent(self, name: str) -> Client:
        self._open.append(Client(self.vault.home, name="agent", agent=name))
        return self._open[-1]

    def ask(self, host: str, mark: str) -> None:
        """What an agent does whose host is known by a mark in its environment."""
        subprocess.run(
            [sys.executable, "-c", ASK, str(self.vault.home), host], env={**os.environ, mark: "1"}, check=True
        )

    def grant(self, name: str) -> dict[str, Any]:
        """The grant as the daemon has it; empty for an agent it does not know."""
        items = self.vault.client.call("agents.list")["items"]
        return next((item for item in items if item["name"] == name), {})

    def token(self, name: str) -> str | None:
        return agent_tokens.read(self.layout, name)

    def close(self) -> None:
        for client in self._open:
            client.close()
        for item in self.vault.client.call("agents.list")["items"]:
            self.vault.client.call("agents.remove", {"name": item["name"]})
            agent_tokens.drop(self.layout, item["name"])
        while graves := self.vault.client.call("tombstones.list", {"limit": 1})["items"]:
            self.vault.client.call("tombstones.lift", {"id": graves[0]["id"]})


@pytest.fixture
def house(vault: Vault) -> Iterator[House]:
    made = House(vault)
    yield made
    vault.unlock()
    made.close()


def propose(client: Client, content: str, ref: str = "c1") -> str:
    source = {"type": "conversation", "ref": ref, "evidence": content, "message_index": 1}
    asked = {
        "content": content,
        "kind": "preference",
        "scope": "private",
        "source": source,
        "everywhere": True,
    }
    answer = client.call("memory.add", asked)
    assert answer["outcome"] == "candidate", answer
    return answer["id"]


def may_read(client: Client) -> bool:
    try:
        client.call("recall", {"query": "anything"})
    except MemvaultError as error:
        assert error.code == "not_found"
        return False
    return True
