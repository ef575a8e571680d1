"""Start and memory of `memvault mcp`, as an agent host sees them. One JSON line per figure.

    python bench/mcp_start.py [--rounds 20]

From starting a process to its answer to `initialize`, in turn: the pipe as `memvault connect` writes it, the
pipe through the console script, and beside them a server with the official SDK in a process of its own for
each agent (it knows one tool and no vault). All against `python -I -S -c pass` in the same round; `ratio` is
a median over that one's median. Then a `memory_search`, and resident memory of each process, with the daemon
running and its SDK loaded; the daemon's own memory before and after the SDK is loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memvault import agent_tokens, mcp_pipe
from memvault.client import Client
from memvault.paths import HomeLayout

PASSPHRASE = "a passphrase for benchmarks only"  # noqa: S105
AGENT = "bench"

SDK_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("beside", version="0")
@server.tool()
def memory_search(query: str) -> str:
    return "nothing"
server.run()
"""

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "0"},
}


def figure(name: str, value: Any) -> None:
    print(
        json.dumps({"figure": name, "value": round(value, 2) if isinstance(value, float) else value}),
        flush=True,
    )


class Server:
    """A process that speaks MCP on its standard input and output."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def rss_mb(self) -> float:
        return rss_mb(self.process.pid)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def rss_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def timed_ms(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - started)


def first_reply_ms(command: list[str]) -> float:
    made: list[Server] = []

    def greet() -> None:
        made.append(Server(command))
        assert "result" in made[0].ask("initialize", INITIALIZE)

    try:
        return timed_ms(greet)
    finally:
        made[0].close()


def prepared(home: Path) -> Client:
    """An unlocked vault with one memory and one agent; the client keeps it open."""
    client = Client(home, name="bench")
    client.call("vault.init", {"passphrase": PASSPHRASE})
    token = client.call("agents.add", {"name": AGENT})["token"]
    agent_tokens.keep(HomeLayout(home), AGENT, token)
    source = {"type": "user", "ref": "bench"}
    fact = {"content": "Deploy with bash deploy.sh.", "kind": "fact", "scope": "private", "source": source}
    client.call("memory.add", fact)
    return client


def measure(home: Path, rounds: int) -> None:
    client = prepared(home)
    figure("daemon_without_sdk_rss_mb", rss_mb(client.hello["pid"]))
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    script = str(Path(sys.executable).with_name("memvault"))
    commands = {
        "pipe": mcp_pipe.command(AGENT, str(home)),
        "console_script": [script, "mcp", "--agent", AGENT, "--home", str(home)],
        "sdk_process": [sys.executable, "-P", "-c", SDK_SERVER],
    }
    figure("pipe_first_ever_ms", first_reply_ms(commands["pipe"]))  # loads the SDK in the daemon
    times: dict[str, list[float]] = {name: [] for name in ("bare", *commands)}
    for _ in range(rounds):
        times["bare"].append(timed_ms(lambda: subprocess.run(bare, check=True)))
        for name, command in commands.items():
            times[name].append(first_reply_ms(command))
    floor = statistics.median(times["bare"])
    figure("bare_python_ms", floor)
    for name in commands:
        figure(f"{name}_first_reply_ms", statistics.median(times[name]))
        figure(f"{name}_ratio", statistics.median(times[name]) / floor)
    for name, command in commands.items():
        server = Server(command)
        server.ask("initialize", INITIALIZE)
        call = {"name": "memory_search", "arguments": {"query": "deploy"}}
        searches = [timed_ms(lambda s=server, c=call: s.ask("tools/call", c)) for _ in range(rounds)]
        figure(f"{name}_search_ms", statistics.median(searches))
        figure(f"{name}_rss_mb", server.rss_mb())
        server.close()
    figure("daemon_with_sdk_rss_mb", rss_mb(client.hello["pid"]))
    client.call("shutdown")


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    chosen = parser.parse_args()
    os.environ.setdefault("MEMVAULT_EMBEDDER", "fake")
    figure("load", os.getloadavg()[0])
    folder = Path(tempfile.mkdtemp(prefix="mvb", dir="/tmp"))
    try:
        measure(folder / "h", chosen.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
