"""An agent host as it is: a process of the real pipe, spoken to by hand or by the official client."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters

from mcp import Client
from memvault import agent_tokens, mcp_pipe

PATIENCE_S = 30.0
ERAS = ("legacy", "2026-07-28")
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "test", "version": "1"},
}


def let_in(home: Any, name: str, **rights: Any) -> None:
    """Give a grant as a person, keep the token where the agent finds it."""
    person = home.person()
    token = person.call("agents.add", {"name": name, **rights})["token"]
    agent_tokens.keep(home.layout, name, token)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


class Host:
    """A host that writes and reads lines by hand."""

    def __init__(self, command: list[str], cwd: Path | None = None, **how: Any) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, **how
        )
        self._heard = b""
        self._number = 0

    def write(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def say(self, method: str, params: Any = None, number: Any = None) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if number is not None:
            message["id"] = number
        self.write(json.dumps(message).encode() + b"\n")

    def line(self, patience_s: float = PATIENCE_S) -> bytes | None:
        """The next whole line; None at the end."""
        assert self.process.stdout is not None
        handle, deadline = self.process.stdout.fileno(), time.monotonic() + patience_s
        while b"\n" not in self._heard:
            ready, _, _ = select.select([handle], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"no answer within {patience_s:.0f} s"
            chunk = os.read(handle, 1_048_576)
            if not chunk:
                return None
            self._heard += chunk
        found, _, self._heard = self._heard.partition(b"\n")
        return found

    def hear(self, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        line = self.line(patience_s)
        assert line is not None, "the pipe ended"
        return json.loads(line)

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """The answer to a request; nothing else may come before it."""
        self._number += 1
        self.say(method, params, self._number)
        answer = self.hear()
        assert answer.get("id") == self._number, answer
        return answer

    def greet(self) -> dict[str, Any]:
        answer = self.ask("initialize", INITIALIZE)
        self.say("notifications/initialized")
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        return answer["result"]

    def close(self) -> int:
        """End standard input, and wait; the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        status = self.process.wait(PATIENCE_S)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return status


@pytest.fixture
def host() -> Iterator[Callable[..., Host]]:
    made: list[Host] = []

    def start(home: Any, agent: str = "robin", cwd: Path | None = None, **how: Any) -> Host:
        made.append(Host(mcp_pipe.command(agent, str(home.root)), cwd, **how))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.close()
        for stream in (one.process.stdin, one.process.stdout, one.process.stderr):
            if stream is not None:
                stream.close()


@asynccontextmanager
async def connected(
    home: Any, agent: str, era: str, cwd: Path | None = None, **how: Any
) -> AsyncIterator[Client]:
    """The official client over standard input and output of the real pipe."""
    command = mcp_pipe.command(agent, str(home.root))
    passed = {name: value for name, value in os.environ.items() if name.startswith("MEMVAULT_")}
    server = StdioServerParameters(command=command[0], args=command[1:], env=passed, cwd=cwd)
    async with Client(server, mode=era, **how) as client:
        yield client


def text_of(result: Any) -> str:
    (block,) = result.content
    return block.text
