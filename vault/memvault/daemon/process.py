"""What the kernel says about the process at the other end of a socket.

Owns peer credentials, the terminal session and the search for an agent host among ancestors and marks in the
environment (SPEC 12). Knows nothing of grants. A process that hides its ancestry is the stated residual risk.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePath

AGENT_HOSTS = {
    "claude": "claude-code",
    "claude-code": "claude-code",
    "codex": "codex",
    "opencode": "opencode",
    "gemini": "gemini",
    "gemini-cli": "gemini",
    "cursor": "cursor",
    "cursor-agent": "cursor",
    "aider": "aider",
    "goose": "goose",
    "amp": "amp",
    "crush": "crush",
    "qwen": "qwen",
}
"""Program names of known agent hosts."""

AGENT_MARKS = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "OPENCODE": "opencode",
    "OPENCODE_PID": "opencode",
    "GEMINI_CLI": "gemini",
    "CURSOR_AGENT": "cursor",
    "CURSOR_TRACE_ID": "cursor",
    "GOOSE_TERMINAL": "goose",
    "AGENT": "agent",
}
"""Environment variables that agent hosts set for the commands they run."""

_MOST_ANCESTORS = 64
_COARSE_S = 2.0
"""The kernel tells the time of its start in whole seconds."""
_RUNTIMES = ("node", "bun", "deno", "python", "python3", "sh", "bash", "zsh")


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal session as sudo tells them apart; a new session never equals an old one."""

    device: int
    session: int
    started: int


@dataclass(frozen=True, slots=True)
class Peer:
    """Who connected. `agent_host` names the host it descends from, or whose mark it carries."""

    pid: int
    uid: int
    terminal: Terminal | None
    agent_host: str | None
    cwd: str | None


def credentials(sock: socket.socket) -> tuple[int, int]:
    """(pid, uid) of the process that connected. Raises OSError where the system does not tell."""
    if sys.platform == "linux":
        raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, uid, _ = struct.unpack("3i", raw)
        return pid, uid
    local, peer_credentials, peer_pid = 0, 1, 2
    raw = sock.getsockopt(local, peer_credentials, 76)
    (uid,) = struct.unpack_from("I", raw, 4)
    (pid,) = struct.unpack("i", sock.getsockopt(local, peer_pid, 4))
    return pid, uid


def hung_up(sock: socket.socket) -> bool:
    """Whether the other side is gone, and has not only stopped writing."""
    if sock.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(sock.fileno(), 0)
    return any(events & (select.POLLHUP | select.POLLERR) for _, events in poll.poll(0))


def describe(pid: int, uid: int) -> Peer:
    """Look the process up; one that is gone already counts as having no terminal and no host."""
    return Peer(pid, uid, _terminal(pid), _agent_host(pid), _cwd(pid))


def _stat(pid: int) -> tuple[int, int, int, int] | None:
    """(parent, session, terminal device, start time) from /proc; None where there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return int(fields[1]), int(fields[3]), int(fields[4]), int(fields[19])


def _ps(pid: int) -> tuple[int, str] | None:
    """(parent, terminal name) from ps, for systems without /proc."""
    done = subprocess.run(
        ["/bin/ps", "-o", "ppid=,tty=", "-p", str(pid)],
        capture_output=True,
        text=True,
        timeout=2,
        check=False,
    )
    fields = done.stdout.split()
    return (int(fields[0]), fields[1]) if len(fields) == 2 else None


def _terminal(pid: int) -> Terminal | None:
    found = _stat(pid)
    if found is not None:
        _, session, device, _ = found
        leader = _stat(session)
        return Terminal(device, session, leader[3] if leader else 0) if device else None
    if sys.platform == "linux":
        return None
    named = _ps(pid)
    if named is None or named[1].startswith("?"):
        return None
    return Terminal(hash(named[1]), os.getsid(pid), 0)


def _cwd(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return None


def environment(pid: int) -> dict[str, str]:
    """Variables as the process was started with; empty when they cannot be read."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (item.partition(b"=") for item in raw.split(b"\0") if item)
    return {name.decode("utf-8", "replace"): value.decode("utf-8", "replace") for name, _, value in pairs}


def _program_names(pid: int) -> list[str]:
    """What the process calls itself: its command name, its program, and the script a runtime runs."""
    names: list[str] = []
    try:
        names.append(Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip())
        words = [w for w in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") if w]
    except OSError:
        return names
    plain = [PurePath(word.decode("utf-8", "replace")).name for word in words[:3]]
    names += plain[:1]
    if plain and plain[0].rstrip("0123456789.") in _RUNTIMES:
        names += [name for name in plain[1:] if not name.startswith("-")]
    return names


def host_of(names: list[str]) -> str | None:
    """The agent host among program names, if any."""
    for name in names:
        stem = name.lower().removesuffix(".exe").removesuffix(".js").removesuffix(".mjs").removesuffix(".py")
        if stem in AGENT_HOSTS:
            return AGENT_HOSTS[stem]
    return None


def _agent_host(pid: int) -> str | None:
    marks = environment(pid)
    for mark, host in AGENT_MARKS.items():
        if marks.get(mark):
            return host
    for _ in range(_MOST_ANCESTORS):
        found = host_of(_program_names(pid))
        if found is not None:
            return found
        parent = _stat(pid)
        if parent is None or parent[0] <= 1:
            return None
        pid = parent[0]
    return None


def sitting_began(pid: int) -> float | None:
    """Seconds since 1970 at which the sitting of a process began, a little early; None if unknown.

    That is the start of the agent host above it, of its session's leader or of itself, whichever was first.
    """
    own = _stat(pid)
    if own is None:
        return None
    starts = [own[3]]
    leader = _stat(own[1])
    if leader is not None:
        starts.append(leader[3])
    above: tuple[int, int, int, int] | None = own
    for _ in range(_MOST_ANCESTORS):
        if above is None or above[0] <= 1:
            break
        pid, above = above[0], _stat(above[0])
        if above is not None and host_of(_program_names(pid)) is not None:
            starts.append(above[3])
    try:
        text = Path("/proc/stat").read_text("ascii", "replace")
    except OSError:
        return None
    booted = next((int(line.split()[1]) for line in text.splitlines() if line.startswith("btime ")), None)
    return None if booted is None else booted + min(starts) / os.sysconf("SC_CLK_TCK") - _COARSE_S
