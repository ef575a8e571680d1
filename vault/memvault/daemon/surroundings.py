"""What whoever started the daemon left it with, limits or a sandbox, and what that keeps it from.

Owns undoing what can be undone, and saying the rest in sentences. Knows nothing of vaults and clients.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1_048_576
_WIDENED = ("NOFILE", "AS", "DATA", "RSS", "CPU", "FSIZE", "NPROC", "MEMLOCK")
LEAST_FILES = 256
"""Below that few agents can be connected at once."""
LEAST_MEMORY = 3_072 * MIB
"""What the model, SQLCipher's cache and the threads' stacks take at the most, with room to spare."""
LEAST_FILE_SIZE = 1_024 * MIB


def widen() -> None:
    """Raise every soft limit to the hard one, and hear every signal again."""
    for name in _WIDENED:
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is None:
            continue
        soft, hard = resource.getrlimit(which)
        if soft != hard:
            try:
                resource.setrlimit(which, (hard, hard))
            except (ValueError, OSError):  # macOS has a ceiling below the hard limit it tells
                continue
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits as they are now; None where there is none. Seconds, bytes, numbers."""

    files: int | None
    memory: int | None
    cpu_s: int | None
    file_size: int | None


def _hard(*names: str) -> int | None:
    """The smallest of these."""
    found = [resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0] for name in names]
    found = [limit for limit in found if limit != resource.RLIM_INFINITY]
    return min(found, default=None)


def limits() -> Limits:
    return Limits(_hard("NOFILE"), _hard("AS", "DATA"), _hard("CPU"), _hard("FSIZE"))


def confined(found: Limits) -> list[str]:
    """What the limits keep the daemon from; empty when they are wide enough. Pure."""
    said: list[str] = []
    if found.cpu_s is not None:
        said.append(f"the system ends it after {found.cpu_s:,} s of computing")
    if found.memory is not None and found.memory < LEAST_MEMORY:
        said.append(
            f"in {found.memory // MIB:,} MiB of memory the model may not load; recall then goes by words"
        )
    if found.files is not None and found.files < LEAST_FILES:
        said.append(f"with {found.files:,} open files only few programs can be connected at once")
    if found.file_size is not None and found.file_size < LEAST_FILE_SIZE:
        said.append(f"no file, and so no vault, can grow beyond {found.file_size // MIB:,} MiB")
    return said


@dataclass(frozen=True, slots=True)
class Means:
    """What can be reached from a process. `network`: its namespace, empty where the system does not tell."""

    network: str
    bus: bool


def own() -> Means:
    return means("self", dict(os.environ))


def means(pid: int | str, environment: Mapping[str, str]) -> Means:
    """Of a process, as far as it lets itself be looked at."""
    try:
        network = str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        network = ""
    return Means(network, _has_bus(environment))


def _has_bus(environment: Mapping[str, str]) -> bool:
    """Whether a session bus is named or lies where it is looked for."""
    if environment.get("DBUS_SESSION_BUS_ADDRESS"):
        return True
    runtime = environment.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return Path(runtime, "bus").exists()


def is_offline() -> bool:
    """Whether no route leads anywhere but to this machine. False where the system does not tell."""
    try:
        four = Path("/proc/self/net/route").read_text("ascii", "replace").splitlines()[1:]
        ipv6 = Path("/proc/self/net/ipv6_route")
        six = ipv6.read_text("ascii", "replace").splitlines() if ipv6.exists() else []
    except OSError:
        return False
    return not four and all(line.split()[-1:] in ([], ["lo"]) for line in six)


def missing(mine: Means, theirs: Means, *, offline: bool) -> list[str]:
    """What a client has and the daemon has not, because a sandbox started it. Pure."""
    said: list[str] = []
    if offline and mine.network and theirs.network and mine.network != theirs.network:
        said.append("it has no network: it cannot fetch models, nor pull and push a team's memories")
    if theirs.bus and not mine.bus:
        said.append("it has no session bus (D-Bus): it cannot reach the system keychain")
    return said


def said_to(pid: int, environment: Mapping[str, str], *, keychain: bool = True) -> list[str]:
    """All of it, for a client; of the bus only if a `keychain` matters."""
    theirs = means(pid, environment)
    if not keychain:
        theirs = Means(theirs.network, False)
    return [*confined(limits()), *missing(own(), theirs, offline=is_offline())]


def sentence(reasons: Sequence[str]) -> str:
    """One warning of all of them."""
    return f"the daemon was started by a program that limits it: {'; '.join(reasons)}"


def check(reasons: Sequence[str]) -> dict[str, Any]:
    """For `doctor`."""
    fix = f"`kill {os.getpid()}`; the next command, typed in a terminal of your own, starts another."
    detail = sentence(reasons) if reasons else "nothing limits the daemon more than the programs that ask it"
    return {"name": "surroundings", "ok": not reasons, "detail": detail, "fix": fix if reasons else ""}
