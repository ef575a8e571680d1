"""A daemon on a thread of the test's own process: its clock can be set, and every call is answered as ever.

Owns the thread, a person's connection and the processes of agents. Knows nothing of what is tested.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from memvault import agent_tokens
from memvault.client import Client
from memvault.config import Config
from memvault.daemon import home as places
from memvault.daemon.handlers import table
from memvault.daemon.keeper import Keeper
from memvault.daemon.limits import Limits
from memvault.daemon.server import Server
from memvault.services.vault import Vault

T = TypeVar("T")

SPEAKER = """
import json, sys
from pathlib import Path
from memvault.client import Client
from memvault.errors import MemvaultError

client = Client(Path(sys.argv[1]), name="month", agent=sys.argv[2], autostart=False, timeout_s=60)
for line in sys.stdin:
    try:
        answer = {"result": client.call(*json.loads(line))}
    except MemvaultError as error:
        answer = {"error": error.code, "message": error.message, "hint": error.hint}
    print(json.dumps(answer), flush=True)
"""


class Speaker:
    """The agent at work in one repository: a process and a session of its own."""

    def __init__(self, home: Path, name: str, cwd: Path) -> None:
        command = [sys.executable, "-P", "-c", SPEAKER, str(home), name]
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            text=True,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps([method, params]) + "\n")
        stdin.flush()
        return json.loads(stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=20)


class Living:
    """A daemon on a thread of this process: the real server, socket and vault under a clock of the test's."""

    def __init__(self, home: Any, clock: Any, limits: Limits | None = None) -> None:
        self.home, self.clock, self._limits = home, clock, limits
        self.speakers: dict[str, Speaker] = {}
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()))
        self._thread.start()
        assert self._ready.wait(20)
        self.person = Client(home.root, name="cli", autostart=False)
        self.person.call("vault.unlock", {"passphrase": home.passphrase})

    async def _live(self) -> None:
        layout = self.home.layout
        self.keeper = Keeper(layout, Config(0, 0, None), self.clock)
        server = Server(self.keeper, table(), lambda: None, self._limits)
        places.prepare(layout)
        await server.start(places.listen(layout))
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._ended.wait()
        await server.stop()
        await self.keeper.stop()
        layout.socket.unlink()

    def stop(self) -> None:
        for speaker in self.speakers.values():
            speaker.close()
        self.person.close()
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(30)

    def inside(self, look: Callable[[Vault], T]) -> T:
        """Run in the writer's thread."""
        return asyncio.run_coroutine_threadsafe(self.keeper.write(look), self._loop).result(60)

    def as_person(self, method: str, params: dict[str, Any]) -> Any:
        """Call as a person who has just shown to be there: the clock leaves any proof behind."""
        self.person.call("presence.prove", {"passphrase": self.home.passphrase})
        return self.person.call(method, params)

    def let_in(self, name: str, **rights: Any) -> None:
        token = self.as_person("agents.add", {"name": name, **rights})["token"]
        agent_tokens.keep(self.home.layout, name, token)

    def speaker(self, name: str, cwd: Path) -> Speaker:
        key = f"{name} {cwd}"
        if key not in self.speakers:
            self.speakers[key] = Speaker(self.home.root, name, cwd)
        return self.speakers[key]
