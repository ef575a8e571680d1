"""A home with an agent that was let in and hooks as hosts run them: the real file under `python -I -S`."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault import agent_tokens, hook
from memvault.client import Client

AGENT = "claude-code"
NAP_S = 0.3
"""What a host may lose, beyond what the interpreter takes to start."""


def run(
    home: Path,
    event: str,
    said: Any,
    *,
    cwd: Path | None = None,
    agent: str = AGENT,
    raw: bytes | None = None,
) -> tuple[str, float]:
    """(standard output, seconds) of one hook; it never fails and never speaks on standard error."""
    command = [sys.executable, "-I", "-S", hook.__file__, event, "--agent", agent, "--home", str(home)]
    given = json.dumps(said).encode() if raw is None else raw
    started = time.monotonic()
    done = subprocess.run(command, input=given, capture_output=True, cwd=cwd, check=True, timeout=30)
    assert done.stderr == b""
    return done.stdout.decode(), time.monotonic() - started


def interpreter_s() -> float:
    """What starting an interpreter takes here and now, at most."""
    times: list[float] = []
    for _ in range(5):
        started = time.monotonic()
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
        times.append(time.monotonic() - started)
    return max(times)


def text_of(out: str) -> str:
    """What Claude Code would put into the session."""
    return json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else ""


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


numbers = itertools.count(1)


class House:
    """A home with an agent of its own that was let in, a repository it works in, and a person."""

    def __init__(self, home: Any, root: Path, fact: Callable[..., Any]) -> None:
        self.home, self.fact = home, fact
        self.person = home.person()
        self.agent, self.project = f"agent-{next(numbers)}", f"alpha-{next(numbers)}"
        self.at = repository(root / self.project)
        self.let_in(self.agent)
        self.session = "s-1"

    def let_in(self, name: str, **rights: Any) -> None:
        token = self.person.call("agents.add", {"name": name, **rights})["token"]
        agent_tokens.keep(self.home.layout, name, token)

    def remember(self, content: str, **more: Any) -> str:
        return self.person.call("memory.add", self.fact(content, **{"project": self.project, **more}))["id"]

    def tell(self, event: str, cwd: Path | None = None, agent: str | None = None, **said: Any) -> str:
        """What the real hook prints; asked again while the machine is too busy for its patience."""
        given = {"session_id": self.session, "cwd": str(cwd or self.at), "hook_event_name": event, **said}
        out = ""
        for _ in range(40):
            out, _ = run(self.home.root, event, given, cwd=cwd or self.at, agent=agent or self.agent)
            if out or event not in hook.TELLS:
                break
        return out

    def ask(self, event: str, cwd: Path | None = None, agent: str | None = None, **said: Any) -> Any:
        """What the daemon answers to a hook in that place, however long it takes."""
        back = Path.cwd()
        os.chdir(cwd or self.at)
        try:
            with Client(self.home.root, name="hook", agent=agent or self.agent) as client:
                return client.call("hook.event", {"event": event, "session": self.session, **said})
        finally:
            os.chdir(back)

    def start(self, **more: Any) -> str:
        return self.ask("SessionStart", source="startup", **more)["context"] or ""

    def prompt(self, text: str, **more: Any) -> str:
        return self.ask("UserPromptSubmit", prompt=text, **more)["context"] or ""

    def waiting(self) -> list[dict[str, Any]]:
        wanted = {"status": "candidate", "project": self.project, "limit": 500}
        return self.person.call("memory.list", wanted)["items"]


@pytest.fixture
def house(shared_home: Any, tmp_path: Path, fact: Callable[..., Any]) -> Iterator[House]:
    made = House(shared_home, tmp_path, fact)
    yield made
    made.person.close()


@pytest.fixture
def own_house(daemon_home: Any, tmp_path: Path, fact: Callable[..., Any]) -> House:
    """A daemon that a test may lock or stop."""
    return House(daemon_home, tmp_path, fact)


def unharmed(home: Path, event: str, said: Any, **how: Any) -> str:
    """What it prints. A busy machine may be slow once; a hook that waits too long is so every time."""
    for _ in range(5):
        start_s = interpreter_s()
        out, took_s = run(home, event, said, **how)
        if took_s < start_s + NAP_S:
            return out
    raise AssertionError((took_s, start_s))


@pytest.fixture
def furnished(tmp_path: Path, fact: Callable[..., Any]) -> Callable[[Any], House]:
    """Let an agent into a home that a test made itself."""
    return lambda home: House(home, tmp_path, fact)


@pytest.fixture(name="run")
def run_fixture() -> Callable[..., tuple[str, float]]:
    """(standard output, seconds) of one hook."""
    return run


@pytest.fixture(name="unharmed")
def unharmed_fixture() -> Callable[..., str]:
    return unharmed


@pytest.fixture
def beyond_start_s() -> Callable[[list[str]], float]:
    """Seconds that a command took beyond the start of an interpreter, with its input left open."""

    def measure(command: list[str]) -> float:
        start_s, started = interpreter_s(), time.monotonic()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.wait(timeout=10) == 0
            took_s = time.monotonic() - started - start_s
            assert process.stdout is not None
            assert process.stdout.read() == b""
        return took_s

    return measure
