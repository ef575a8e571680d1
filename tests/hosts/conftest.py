"""A real agent host in a folder of its own, with a vault and git projects; its network is the stand-in model.

`make hosts` installs the hosts. Where they or a network namespace cannot be had, all is skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

Json = dict[str, Any]

HERE = Path(__file__).resolve().parent
PACKAGES = HERE / "node_modules"
MEMVAULT = Path(sys.executable).with_name("memvault")
UNSHARE = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
PATIENCE_S = 60


@dataclass(frozen=True)
class Kind:
    """One host. `prefix`: how its model calls memvault's tools; `shell`: its tool for commands."""

    name: str
    program: str
    prefix: str
    shell: str
    argv: Callable[[str, str, bool], list[str]]
    env: dict[str, str]

    @property
    def binary(self) -> Path | None:
        """npm puts the program for this machine into a package of its own."""
        return next(iter(sorted(PACKAGES.glob(self.program))), None)

    def command(self, line: str) -> Json:
        if self.name == "claude-code":
            return {"tool": self.shell, "arguments": {"command": line}}
        return {"tool": self.shell, "arguments": {"cmd": line, "yield_time_ms": 30_000}}


def _claude(binary: str, prompt: str, resume: bool) -> list[str]:
    again = ["--continue"] if resume else []
    return [binary, *again, "-p", prompt, "--output-format", "json", "--allowedTools", "Bash,mcp__memvault"]


def _codex(binary: str, prompt: str, resume: bool) -> list[str]:
    provider = (
        '{name="standin",base_url="http://127.0.0.1:{port}/v1",env_key="STANDIN_KEY",wire_api="responses"}'
    )
    settings = [
        'model_provider="standin"', f"model_providers.standin={provider}", 'model="gpt-5"',
        'sandbox_mode="danger-full-access"',
        # Without a network each of these waits five seconds for a name.
        "analytics.enabled=false", "features.plugins=false",
    ]  # fmt: skip
    # A person is asked once whether hooks are to be trusted; nobody is there to answer.
    options = ["--json", "--dangerously-bypass-hook-trust", *(f"-c{one}" for one in settings)]
    return [binary, "exec", *(["resume", "--last"] if resume else []), *options, prompt]


KINDS = [
    Kind(
        "claude-code", "@anthropic-ai/claude-code-*/claude", "mcp__memvault__", "Bash", _claude,
        {
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "sk-ant-none",
            "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    Kind(
        "codex", "@openai/codex-*/vendor/*/bin/codex", "mcp__memvault__", "exec_command", _codex,
        {"STANDIN_KEY": "none"},
    ),
]  # fmt: skip


class Stage:
    """The process in the namespace; one host at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [*UNSHARE, sys.executable, "-I", str(HERE / "stage.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"]},
        )

    def run(self, order: Json, paused: Callable[[str], None]) -> Json:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        waiting = json.dumps(order)
        while True:
            stdin.write(waiting + "\n")
            stdin.flush()
            answer = cast("Json", json.loads(stdout.readline()))
            if "paused" not in answer:
                return answer
            paused(answer["paused"])
            waiting = "go on"

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE_S)
        self._process.stdout.close()


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    try:
        tried = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare: a host cannot be run without a network")
    if tried.returncode:
        pytest.skip(f"no network namespace of one's own is allowed here: {tried.stderr.strip()}")
    found = Stage()
    yield found
    found.close()


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for part in cast("list[Any]", node):
            yield from _texts(part)
    elif isinstance(node, dict):
        for part in cast("Json", node).values():
            yield from _texts(part)


@dataclass(frozen=True)
class Session:
    """One run of a host: its status, what it printed, and the turns the model was asked for."""

    status: int
    out: str
    err: str
    turns: list[Json]

    def told(self, turn: int = -1) -> str:
        """Everything the model was told up to a turn, but for the descriptions of tools."""
        body = self.turns[turn]
        return "\n".join(_texts([body.get(key) for key in ("system", "instructions", "messages", "input")]))

    def context(self) -> str:
        """What memvault's hooks put into the session."""
        return "\n".join(re.findall(r"<memvault-context>.*?</memvault-context>", self.told(), re.DOTALL))

    def start(self) -> str:
        """What the start of the session put there, without the line a prompt brought."""
        return self.context().partition("</memvault-context>")[0]

    def answers(self) -> list[str]:
        """What the tools answered, in order."""
        body, found = self.turns[-1], list[str]()
        for message in cast("list[Json]", body.get("messages", [])):
            blocks: Any = message["content"]
            for block in cast("list[Json]", blocks if isinstance(blocks, list) else []):
                if block.get("type") == "tool_result":
                    found.append("\n".join(_texts(block["content"])))
        for item in cast("list[Json]", body.get("input", [])):
            if item.get("type") == "function_call_output":
                found.append("\n".join(_texts(item["output"])))
        return found


class HostHome:
    """A person's home with one connected host, a vault and two projects, all below one short folder."""

    def __init__(self, kind: Kind, stage: Stage, make: Callable[[Path], Any]) -> None:
        self.kind, self._stage = kind, stage
        self.root = Path(tempfile.mkdtemp(prefix="mvh", dir="/tmp"))
        self.user, self.project = self.root / "u", self.root / "ledger"
        self.user.mkdir(mode=0o700)
        for folder in (self.project, self.root / "harbour"):
            subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
        self.vault = make(self.root / "v")
        self._secret = self.root / "pass.txt"
        self._secret.write_text(self.vault.passphrase + "\n")
        self._secret.chmod(0o600)

    def env(self, **more: str) -> dict[str, str]:
        return {
            "PATH": f"{MEMVAULT.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.user),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
            "TERM": "dumb",
            "MEMVAULT_HOME": str(self.vault.root),
            "MEMVAULT_CACHE_HOME": str(self.root / "c"),
            "MEMVAULT_EMBEDDER": "fake",
            **more,
        }

    def memvault(self, *words: str) -> Any:
        """The person's own command, with the passphrase at hand; returns its JSON."""
        done = subprocess.run(
            [str(MEMVAULT), *words, "--json"], capture_output=True, text=True, cwd=self.root, check=False,
            timeout=PATIENCE_S, env=self.env(MEMVAULT_PASSPHRASE_FILE=str(self._secret)),
        )  # fmt: skip
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def remember(self, content: str, project: str | None, **more: Any) -> str:
        source = {"type": "user", "ref": "test"}
        claim = {"content": content, "kind": "fact", "scope": "private", "source": source, "project": project}
        done = self.vault.person().call("memory.add", {**claim, **more})
        assert done["outcome"] == "active", done
        return str(done["id"])

    def connect(self, *words: str) -> Any:
        return self.memvault("connect", self.kind.name, "--yes", *words)

    def session(
        self,
        prompt: str,
        *steps: Json,
        paused: Callable[[str], None] = lambda _: None,
        resume: bool = False,
        **how: Any,
    ) -> Session:
        """Run the host on one prompt, in the project, with a model that takes these steps.

        `resume`: in the last session. `how`: as `stage.run` takes it, limits and leaks.
        """
        order = {
            "argv": self.kind.argv(str(self.kind.binary), prompt, resume),
            "env": {**self.env(), **self.kind.env},
            "cwd": str(self.project),
            "steps": steps,
            "timeout": PATIENCE_S,
            **how,
        }
        done = self._stage.run(order, paused)
        found = Session(done["status"], done["out"], done["err"], done["seen"])
        assert (found.status, done["late"]) == (0, False), found
        assert found.turns, found
        return found

    def tool(self, name: str, **arguments: Any) -> Json:
        return {"tool": self.kind.prefix + name, "arguments": arguments}

    def items(self, **filters: Any) -> list[Json]:
        """Memories of every status, newest first."""
        found = self.vault.person().call("memory.list", {"limit": 500, "sort": "created", **filters})
        return cast("list[Json]", found["items"])

    def inbox(self) -> list[Json]:
        return cast("list[Json]", self.vault.person().call("inbox")["items"])

    def files(self) -> dict[str, bytes]:
        """The user's own files, by path."""
        every: Sequence[Path] = sorted(self.user.rglob("*"))
        return {str(path.relative_to(self.user)): path.read_bytes() for path in every if path.is_file()}

    def discard(self) -> None:
        self.vault.discard()
        shutil.rmtree(self.root, ignore_errors=True)


@pytest.fixture(params=KINDS, ids=[kind.name for kind in KINDS])
def kind(request: pytest.FixtureRequest) -> Kind:
    found = cast("Kind", request.param)
    if found.binary is None:
        pytest.skip(f"{found.name} is not installed: make hosts")
    return found


@pytest.fixture
def host(kind: Kind, stage: Stage, new_home: Callable[[Path], Any]) -> Iterator[HostHome]:
    """Not connected yet."""
    home = HostHome(kind, stage, lambda root: new_home(root).make_vault())
    yield home
    home.discard()
