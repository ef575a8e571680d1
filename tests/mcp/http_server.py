"""The MCP server on streamable HTTP, for the conformance tool, which speaks nothing else. For tests alone.

`python http_server.py HOME AGENT` prints the port it chose on loopback. Its desk is a connection of that
agent to the real daemon, so everything below MCP is the product's own.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn

from memvault.client import Client
from memvault.mcp import server
from memvault.mcp.desk import Place


class RemoteDesk:
    """A desk at the other end of a socket."""

    def __init__(self, home: Path, agent: str) -> None:
        self._client = Client(home, name="http", agent=agent)
        self._client.connect()
        self._lock = asyncio.Lock()

    def place(self) -> Place:
        said = self._client.hello["principal"]
        return Place(
            said["name"], said.get("project"), tuple(said.get("verbs", ())), self._client.hello["state"]
        )

    def offers(self, method: str) -> bool:
        return True

    def spend(self) -> None:
        """The daemon counts every call."""

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        async with self._lock:
            return await asyncio.to_thread(self._client.call, method, params)


async def main(home: Path, agent: str) -> None:
    server._DESK.set(RemoteDesk(home, agent))
    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    app = server.SERVER.streamable_http_app()
    await uvicorn.Server(uvicorn.Config(app, log_level="error")).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
