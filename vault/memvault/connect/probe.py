"""Check a connection by really starting the server, as the host will, and saying hello to it.

Owns the one exchange and its time limit.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from memvault import __version__

PATIENCE_S = 15.0
"""A daemon that has to start first is waited for; a host gives its servers more."""

_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "memvault-connect", "version": __version__},
    },
}


@dataclass(frozen=True, slots=True)
class Probed:
    """Whether the server answered, after how many milliseconds, and what went wrong when it did not."""

    ok: bool
    took_ms: float
    reason: str


def start_and_greet(command: Sequence[str], cwd: Path) -> Probed:
    """Start `command`, send `initialize`, take its first line, end it again."""
    started = time.perf_counter()
    try:
        server = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=cwd
        )
    except OSError as error:
        return Probed(False, 0.0, f"the server cannot be started ({type(error).__name__})")
    alarm = threading.Timer(PATIENCE_S, server.kill)
    alarm.start()
    line = _exchange(server)
    took_ms = (time.perf_counter() - started) * 1_000
    alarm.cancel()
    server.terminate()
    for pipe in filter(None, (server.stdin, server.stdout)):
        with contextlib.suppress(OSError):
            pipe.close()
    server.wait()
    return _judged(line, took_ms)


def _exchange(server: subprocess.Popen[bytes]) -> bytes:
    """The first line that comes back; empty when the server ends or is ended."""
    if server.stdin is None or server.stdout is None:
        return b""
    with contextlib.suppress(OSError):
        server.stdin.write(json.dumps(_HELLO).encode() + b"\n")
        server.stdin.flush()
    return server.stdout.readline()


def _judged(line: bytes, took_ms: float) -> Probed:
    if not line:
        return Probed(False, took_ms, "the server ended, or was silent for too long")
    try:
        answer: Any = json.loads(line)
    except ValueError:
        return Probed(False, took_ms, "the server answered with something else than a message")
    if isinstance(answer, dict) and "result" in answer:
        return Probed(True, took_ms, "")
    told = cast("dict[str, Any]", answer).get("error") if isinstance(answer, dict) else None
    reason = cast("dict[str, Any]", told).get("message") if isinstance(told, dict) else None
    return Probed(False, took_ms, str(reason or "the server refused to start a session"))
