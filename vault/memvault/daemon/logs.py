"""The daemon's diagnostics file: codes and stack frames, never messages or values.

An exception's text may quote what it was given, so only its type and where it happened are written.
"""

from __future__ import annotations

import io
import logging
import os
import traceback
from pathlib import Path
from typing import Any

MOST_BYTES = 1_048_576


class _Frames(logging.Formatter):
    """One line a record; for exceptions the type and the frames, without the exception's message."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name logging calls
        kind, _, trace = ei
        frames = traceback.extract_tb(trace)
        where = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
        return f"  {getattr(kind, '__name__', kind)} at {where}"


class _PrivateFile(logging.FileHandler):
    """Appends to a 0600 file, starting it over when it has grown past MOST_BYTES."""

    def _open(self) -> io.TextIOWrapper:
        path = Path(self.baseFilename)
        size = path.stat().st_size if path.exists() else 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(self.baseFilename, flags | (os.O_TRUNC if size > MOST_BYTES else 0), 0o600)
        return os.fdopen(handle, "a", encoding="utf-8")


def start(path: Path) -> None:
    """Send every record of warning level and above to `path`."""
    handler = _PrivateFile(path, delay=True)
    handler.setFormatter(_Frames("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
