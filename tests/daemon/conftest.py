"""Processes beside the tests' own: callers that look like an agent host, or run under another name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PUPPET = """
import json, sys
from pathlib import Path
from memvault.client import Client
from memvault.errors import MemvaultError

client = Client(Path(sys.argv[1]), name="puppet", timeout_s=10)
for line in sys.stdin:
    asked = json.loads(line)
    if asked is None:
        client.close()
        answer = {}
    else:
        try:
            answer = {"result": client.call(*asked)}
        except MemvaultError as error:
            answer = {"error": error.code, "message": error.message, "hint": error.hint}
    print(json.dumps(answer), flush=True)
"""


class Puppet:
    """A process of its own with a client of its own; each call is answered by its result or error code."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=cwd, text=True
        )

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """`{"result": ...}` or `{"error": code, "message": ..., "hint": ...}`."""
        return self._exchange([method, params or {}])

    def call(self, method: str, params: dict[str, Any] | None = None) -> Any:
        answer = self.ask(method, params)
        assert "result" in answer, (method, answer)
        return answer["result"]

    def reconnect(self) -> None:
        self._exchange(None)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _exchange(self, message: Any) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(message) + "\n")
        stdin.flush()
        return json.loads(stdout.readline())


@pytest.fixture
def puppet(tmp_path: Path) -> Iterator[Callable[..., Puppet]]:
    """Start a caller for a home: with marks in its environment, or below a script or binary of some name."""
    made: list[Puppet] = []
    script = tmp_path / "puppet_code.py"
    script.write_text(PUPPET)

    def start(
        home: Path, *, marks: dict[str, str] | None = None, below: str = "", cwd: Path = tmp_path
    ) -> Puppet:
        env = {**os.environ, **(marks or {})}
        command = [sys.executable, "-P", str(script), str(home)]
        if below.startswith("renamed "):
            host = tmp_path / below.removeprefix("renamed ")
            shutil.copy("/bin/sh", host)
            command = [str(host), "-c", '"$@"; exit $?', "_", *command]
        elif below:
            host = tmp_path / below
            host.write_text('#!/bin/sh\n"$@"\nexit $?\n')
            host.chmod(0o700)
            command = [str(host), *command]
        made.append(Puppet(command, env, cwd))
        return made[-1]

    yield start
    for one in made:
        one.close()
