"""A daemon that ends in the middle of a host's session, and the one that is started from inside the host."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.hosts

STAGING = "The staging server is reached through the bastion host only."
SOFT_FILES = 200


def limits(pid: int) -> dict[str, tuple[str, str]]:
    """Name of a limit -> (soft, hard)."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:26].strip(): (line[26:47].strip(), line[47:68].strip()) for line in lines}


def environment(pid: int) -> dict[str, str]:
    pairs = (item.partition("=") for item in Path(f"/proc/{pid}/environ").read_text().split("\0") if item)
    return {name: value for name, _, value in pairs}


def threads(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir()))
    except FileNotFoundError:
        return 0


def test_a_daemon_started_inside_a_host_inherits_nothing_and_says_what_it_lacks(
    host: Any, until: Any
) -> None:
    host.remember(STAGING, "ledger")
    host.connect()
    first = host.vault.pid()
    born: list[int] = []

    def between(moment: str) -> None:
        if moment == "kill":
            host.vault.hang_up()
            host.vault.end(first, signal.SIGKILL)
            until(lambda: threads(first) <= 1, "the end of its last thread, and so of its connections")
        else:
            born.append(host.vault.person().hello["pid"])

    search = host.tool("memory_search", query="staging server")
    ran = host.session(
        "How do I reach the staging server?",
        search,
        {**search, "paused": "kill"},
        {**search, "paused": "unlock"},
        paused=between,
        umask=0,
        limits={"RLIMIT_NOFILE": SOFT_FILES},
        leak=True,
    )
    before, locked, after = ran.answers()
    assert STAGING in before
    assert "memvault unlock" in locked
    assert STAGING in after
    (pid,) = born
    assert pid != first

    given = environment(pid)
    assert given["HOME"] == str(host.user)
    assert given.get("MEMVAULT_HOME", str(host.vault.root)) == str(host.vault.root)
    assert not {
        name for name in given if name.startswith(("CLAUDE", "ANTHROPIC", "CODEX", "STANDIN", "SHELL"))
    }
    assert not [line for line in given.values() if "127.0.0.1" in line]
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    assert os.getsid(pid) != os.getsid(os.getpid())
    session = os.getsid(pid)
    assert session == pid or not Path(f"/proc/{session}").exists()
    opened = [str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir() if one.is_symlink()]
    strange = [
        one for one in opened if not one.startswith((str(host.vault.root), "/dev/null", "socket:", "anon_"))
    ]
    assert strange == [], opened
    soft, hard = limits(pid)["Max open files"]
    assert soft == hard or int(soft) > SOFT_FILES
    assert limits(pid)["Max core file size"][0] == "0"
    status = Path(f"/proc/{pid}/status").read_text()
    assert "\nUmask:\t0077\n" in status

    person = host.vault.person()
    (warning,) = person.call("status")["warnings"]
    assert "no network" in warning
    check = next(one for one in person.call("doctor")["checks"] if one["name"] == "surroundings")
    assert (check["ok"], check["detail"]) == (False, warning)
