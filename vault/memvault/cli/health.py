"""doctor: look at everything a person might have to mend, and say how. Repairs nothing by itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memvault import PROTOCOL, __version__
from memvault.cli.answers import part, rows, texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import command
from memvault.cli.output import bold, coloured, dim
from memvault.errors import MemvaultError

LONGEST_SOCKET_PATH = 100
Check = dict[str, Any]


def _check(name: str, ok: bool, detail: str, fix: str = "") -> Check:
    return {"name": name, "ok": ok, "detail": detail, "fix": "" if ok else fix}


@command("doctor")
@invoked
def doctor(at: Invocation) -> int:
    """Check home, socket, daemon, vault, keys and model, and say how to mend what is wrong.

    Exits 1 when something is wrong.
    """
    checks = [*_of_the_home(at.home), *_of_the_daemon(at)]
    healthy = all(check["ok"] for check in checks)
    if at.out.as_json:
        at.out.document({"ok": healthy, "checks": checks})
    else:
        for check in checks:
            mark = coloured("ok   ", "green") if check["ok"] else coloured("wrong", "red")
            at.out.line(mark, " ", bold(str(check["name"])), "  ", str(check["detail"]))
            if not check["ok"] and check.get("fix"):
                at.out.line("      ", dim(f"-> {check['fix']}"))
    return 0 if healthy else 1


def _of_the_home(home: Path) -> Iterator[Check]:
    from memvault.paths import HomeLayout

    layout = HomeLayout(home)
    yield _private("home", home, "0700")
    if layout.run.exists():
        yield _private("socket folder", layout.run, "0700")
    length = len(os.fsencode(layout.socket))
    fits = length <= LONGEST_SOCKET_PATH or Path("/proc/self/fd").is_dir()
    yield _check("socket path", fits, f"{length} bytes", "Choose a shorter MEMVAULT_HOME.")


def _private(name: str, path: Path, wanted: str) -> Check:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return _check(name, True, f"{path} is not there yet; `memvault init` makes it")
    except OSError as error:
        return _check(
            name, False, f"{path}: {error.strerror}", "Make the folders above it accessible to you."
        )
    if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
        return _check(
            name, False, f"{path} is not a plain folder", "Choose a home that is a folder, not a link."
        )
    if found.st_uid != os.getuid():
        return _check(name, False, f"{path} belongs to another user", "Choose a home that is yours.")
    mode = stat.S_IMODE(found.st_mode)
    return _check(name, not mode & 0o077, f"{path}, mode {mode:04o}", f"chmod {wanted} {path}")


def _of_the_daemon(at: Invocation) -> Iterator[Check]:
    try:
        status: dict[str, Any] = at.call("status")
    except MemvaultError as error:
        yield _check("daemon", False, error.message, error.hint)
        yield from _of_the_model({})
        return
    daemon: dict[str, Any] = part(status, "daemon")
    yield _check("daemon", True, f"process {daemon.get('pid')}")
    same = daemon.get("version") == __version__ and daemon.get("protocol") == PROTOCOL
    yield _check(
        "version", same, f"program {__version__}, daemon {daemon.get('version')}",
        f"End the old daemon (kill {daemon.get('pid')}); the next command starts the new one.",
    )  # fmt: skip
    yield from _of_the_model(part(status, "model"))
    if status.get("state") == "locked":
        for warning in texts(status, "warnings"):
            yield _check("files", False, warning, "`memvault recover` looks closer.")
    try:
        yield from at.call("doctor")["checks"]
    except MemvaultError as error:
        yield _check("vault", False, error.message, error.hint)
        yield from _of_the_backups(at)


def _of_the_backups(at: Invocation) -> Iterator[Check]:
    """The newest whole backup, for a vault that does not answer."""
    whole = [item for item in rows(at.call("backup.list"), "items") if item.get("whole")]
    if whole:
        yield _check("backup", True, f"the newest whole one: {whole[0]['path']} of {whole[0]['created_at']}")


def _of_the_model(model: dict[str, Any]) -> Iterator[Check]:
    """The model the daemon uses; without a daemon, the files in the cache."""
    if model:
        ready = model.get("state") in ("ready", "loading")
        yield _check(
            "model", ready, f"{model.get('id') or 'none'}, {model.get('state')}",
            "Recall goes by keywords only; `memvault models pull` makes the model ready.",
        )  # fmt: skip
        return
    from memvault.paths import cache_dir

    files = sorted(path.name for path in (cache_dir() / "models").glob("*.gguf"))
    yield _check(
        "model", bool(files), ", ".join(files) or "no model file", "`memvault models pull` makes one."
    )
