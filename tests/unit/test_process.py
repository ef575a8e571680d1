"""Who is at the other end: credentials from the kernel, agent hosts by name and by mark."""

from __future__ import annotations

import os
import socket

import pytest

from memvault.daemon import process


def test_the_kernel_names_the_process_at_the_other_end() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert process.credentials(one) == (os.getpid(), os.getuid())


@pytest.mark.parametrize(
    ("names", "host"),
    [
        (["claude"], "claude-code"),
        (["node", "node", "claude.js"], "claude-code"),
        (["Cursor"], "cursor"),
        (["codex.exe"], "codex"),
        (["python3", "aider"], "aider"),
        (["bash", "bash"], None),
        (["claudette"], None),
        ([], None),
    ],
)
def test_agent_hosts_are_known_by_their_program(names: list[str], host: str | None) -> None:
    assert process.host_of(names) == host


def test_a_process_that_is_gone_has_no_terminal_and_no_host() -> None:
    gone = process.describe(2**22 - 1, os.getuid())
    assert (gone.terminal, gone.agent_host, gone.cwd) == (None, None, None)
