"""When the sitting of a process began, as the kernel tells: no process can make itself look older."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault.daemon.process import sitting_began

Start = Callable[..., int]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program in a session of its own; returns its process id."""
    made: list[subprocess.Popen[bytes]] = []

    def begin(*command: str) -> int:
        made.append(subprocess.Popen(command, start_new_session=True, stdin=subprocess.PIPE))
        return made[-1].pid

    yield begin
    for one in made:
        one.communicate()


def test_a_session_of_its_own_began_when_it_was_started(start: Start) -> None:
    before = time.time()
    began = sitting_began(start("cat"))
    assert began is not None
    assert before - 4 <= began <= time.time()


def test_a_process_belongs_to_the_sitting_of_its_sessions_leader(
    tmp_path: Path, until: Callable[..., Any]
) -> None:
    script = f"read wait; sleep 60 & echo $! > {tmp_path}/child; wait"
    leader = subprocess.Popen(["sh", "-c", script], start_new_session=True, stdin=subprocess.PIPE)
    assert leader.stdin is not None
    try:
        born = sitting_began(leader.pid)
        assert born is not None
        until(lambda: time.time() > born + 2.5, "a later moment")
        leader.stdin.write(b"go\n")
        leader.stdin.flush()
        child = int(until(lambda: _text(tmp_path / "child"), "the child"))
        assert sitting_began(child) == born
    finally:
        leader.stdin.close()
        os.killpg(leader.pid, signal.SIGTERM)
        leader.wait(20)


def test_what_an_agent_host_starts_belongs_to_the_hosts_sitting(
    start: Start, tmp_path: Path, until: Callable[..., Any]
) -> None:
    host = tmp_path / "claude"
    host.write_text(f"#!/bin/sh\nread wait\nsetsid sleep 60 &\necho $! > {tmp_path}/child\nwait\n")
    host.chmod(0o700)
    process = subprocess.Popen([str(host)], start_new_session=True, stdin=subprocess.PIPE)
    assert process.stdin is not None
    try:
        born = sitting_began(process.pid)
        until(lambda: time.time() > (born or 0) + 2.5, "a later moment")
        process.stdin.write(b"go\n")
        process.stdin.flush()
        child = int(until(lambda: _text(tmp_path / "child"), "the child"))
        until(lambda: _text(Path(f"/proc/{child}/comm")) == "sleep", "the program")
        assert sitting_began(child) == born
        os.kill(child, signal.SIGTERM)
    finally:
        process.stdin.close()
        process.wait(20)


def _text(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


def test_of_a_process_that_is_gone_nothing_is_known(start: Start) -> None:
    done = subprocess.Popen(["true"])
    done.wait()
    assert sitting_began(done.pid) is None
