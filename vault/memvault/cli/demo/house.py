"""The throwaway home of the demo: a private folder with a short path, its daemon, and the end of both."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from memvault.client import Client
from memvault.errors import DaemonDown, MemvaultError
from memvault.paths import HomeLayout

_GONE_AFTER_S = 15.0


@contextlib.contextmanager
def throwaway_home() -> Iterator[Path]:
    """A new home (0700) in the temporary folder; afterwards its daemon is stopped and everything removed."""
    folder = "/tmp" if Path("/tmp").is_dir() and os.access("/tmp", os.W_OK) else None  # noqa: S108
    root = Path(tempfile.mkdtemp(prefix="memvault-demo-", dir=folder))
    home = root / "h"
    try:
        yield home
    finally:
        _stop_daemon(home)
        shutil.rmtree(root, ignore_errors=True)


def _stop_daemon(home: Path) -> None:
    if not HomeLayout(home).socket.exists():
        return
    try:
        with Client(home, name="demo", autostart=False, timeout_s=_GONE_AFTER_S) as client:
            client.call("shutdown")
    except (DaemonDown, MemvaultError):
        return
    deadline_s = time.monotonic() + _GONE_AFTER_S
    while HomeLayout(home).socket.exists() and time.monotonic() < deadline_s:
        time.sleep(0.02)
