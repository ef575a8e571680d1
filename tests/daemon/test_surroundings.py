"""A daemon that a sandbox or an odd program started: it takes nothing over, and says what it cannot do."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.daemon import surroundings
from memvault.daemon.surroundings import MIB, Limits, Means

FEW = 150
ABOUT_AN_HOUR_S = 3_777


def wake(home: Any, prepare: Callable[[], None], **how: Any) -> int:
    """Start the daemon from a process of its own that was prepared so; returns the daemon's pid."""
    command = [sys.executable, "-P", "-m", "memvault.cli.wake", "--home", str(home.root)]
    with subprocess.Popen(command, preexec_fn=prepare, **how) as process:  # noqa: PLW1509 - no thread runs
        assert process.wait(timeout=60) == 0
    return int(home.pid())


def limits(pid: int) -> dict[str, list[str]]:
    """Name of a limit -> soft and hard."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:26].strip(): line[26:].split()[:2] for line in lines}


def opened(pid: int, handle: int) -> str:
    """What lies behind a descriptor; empty when it is closed just now."""
    try:
        return str(Path(f"/proc/{pid}/fd/{handle}").readlink())
    except OSError:
        return ""


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="needs /proc")
def test_soft_limits_and_blocked_signals_of_whoever_starts_it_do_not_hold_for_the_daemon(
    daemon_home: Any,
) -> None:
    def prepare() -> None:
        for which, soft in (
            (resource.RLIMIT_NOFILE, FEW),
            (resource.RLIMIT_AS, 6_144 * MIB),
            (resource.RLIMIT_CPU, ABOUT_AN_HOUR_S),
            (resource.RLIMIT_FSIZE, 64 * MIB),
        ):
            resource.setrlimit(which, (soft, resource.getrlimit(which)[1]))
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
        os.umask(0)

    pid = wake(daemon_home, prepare)
    found = limits(pid)
    for name in ("Max open files", "Max address space", "Max cpu time", "Max file size"):
        soft, hard = found[name]
        assert soft == hard, name
    status = Path(f"/proc/{pid}/status").read_text()
    assert "\nSigBlk:\t0000000000000000\n" in status
    assert "\nUmask:\t0077\n" in status
    assert daemon_home.person().call("status")["warnings"] == []
    daemon_home.end(pid, signal.SIGTERM)


def test_a_daemon_says_what_hard_limits_keep_it_from(daemon_home: Any) -> None:
    def prepare() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (ABOUT_AN_HOUR_S, ABOUT_AN_HOUR_S))
        resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, FEW))

    wake(daemon_home, prepare)
    person = daemon_home.person()
    (warning,) = person.call("status")["warnings"]
    assert "3,777 s of computing" in warning
    assert "150 open files" in warning
    check = next(one for one in person.call("doctor")["checks"] if one["name"] == "surroundings")
    assert check["ok"] is False
    assert check["detail"] == warning
    assert f"kill {daemon_home.pid()}" in check["fix"]


def test_the_daemon_starts_from_a_process_without_standard_streams(daemon_home: Any) -> None:
    def prepare() -> None:
        for handle in (0, 1, 2):
            os.close(handle)

    pid = wake(daemon_home, prepare)
    assert {opened(pid, handle) for handle in (0, 1, 2)} == {os.devnull}
    assert daemon_home.person().call("status")["state"] == "unlocked"


def test_the_daemon_itself_runs_without_standard_streams(daemon_home: Any, until: Any) -> None:
    def prepare() -> None:
        for handle in (0, 1, 2):
            os.close(handle)

    command = [sys.executable, "-P", "-m", "memvault.daemon.main", "--home", str(daemon_home.root)]
    with subprocess.Popen(command, preexec_fn=prepare) as process:  # noqa: PLW1509 - no thread runs
        until(lambda: process.poll() is not None or daemon_home.layout.socket.exists(), "the daemon's socket")
        assert daemon_home.pid() == process.pid
        assert {opened(process.pid, handle) for handle in (0, 1, 2)} == {os.devnull}
        assert daemon_home.person().call("status")["state"] == "unlocked"
        process.terminate()
        assert process.wait(timeout=30) == 0


@pytest.mark.parametrize("handed_over", ["file", "pipe"])
def test_open_files_of_whoever_starts_it_are_not_the_daemons(
    daemon_home: Any, tmp_path: Path, handed_over: str
) -> None:
    if handed_over == "file":
        handle = os.open(tmp_path / "theirs", os.O_CREAT | os.O_RDWR)
        others = [handle]
    else:
        others = list(os.pipe())
        handle = others[1]
    name = opened(os.getpid(), handle)
    pid = wake(daemon_home, lambda: None, pass_fds=(handle,), cwd=tmp_path, start_new_session=True)
    for one in others:
        os.close(one)
    handles = [int(path.name) for path in Path(f"/proc/{pid}/fd").iterdir()]
    assert name not in [opened(pid, one) for one in handles]
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    assert os.getsid(pid) == pid


WIDE = Limits(files=1_048_576, memory=None, cpu_s=None, file_size=None)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (WIDE, []),
        (Limits(4_096, 8_192 * MIB, None, 10_240 * MIB), []),
        (Limits(FEW, None, None, None), ["150 open files"]),
        (Limits(None, 1_024 * MIB, None, None), ["1,024 MiB of memory"]),
        (Limits(None, None, 60, None), ["60 s of computing"]),
        (Limits(None, None, None, 100 * MIB), ["100 MiB"]),
        (Limits(FEW, 512 * MIB, 5, 1 * MIB), ["after 5 s", "512 MiB", "150 open", "beyond 1 MiB"]),
    ],
)
def test_each_limit_is_said_once_and_only_when_it_matters(found: Limits, said: list[str]) -> None:
    sentences = surroundings.confined(found)
    assert len(sentences) == len(said)
    for expected, sentence in zip(said, sentences, strict=True):
        assert expected in sentence


@pytest.mark.parametrize(
    ("mine", "theirs", "offline", "said"),
    [
        (Means("net:[1]", True), Means("net:[1]", True), True, []),
        (Means("net:[2]", True), Means("net:[1]", True), False, []),
        (Means("net:[2]", True), Means("net:[1]", True), True, ["network"]),
        (Means("", True), Means("net:[1]", True), True, []),
        (Means("net:[1]", False), Means("net:[1]", True), False, ["D-Bus"]),
        (Means("net:[1]", True), Means("net:[1]", False), False, []),
        (Means("net:[2]", False), Means("net:[1]", True), True, ["network", "D-Bus"]),
    ],
)
def test_only_what_the_client_has_and_the_daemon_has_not_is_missed(
    mine: Means, theirs: Means, offline: bool, said: list[str]
) -> None:
    sentences = surroundings.missing(mine, theirs, offline=offline)
    assert len(sentences) == len(said)
    for expected, sentence in zip(said, sentences, strict=True):
        assert expected in sentence
