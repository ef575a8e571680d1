"""Identifiers: UUIDv7, ordered by time, monotonic within one process (RFC 9562, method 3 of 6.2)."""

from __future__ import annotations

import re
import secrets
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last = [0]

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")


def new_id() -> str:
    """A UUIDv7 greater than every earlier one of this process, in the canonical 36 characters."""
    with _lock:
        now_ms = time.time_ns() // 1_000_000
        candidate = (now_ms << 74) | secrets.randbits(74)
        value = _last[0] = max(candidate, _last[0] + 1)
    stamp, rest = value >> 74, value & ((1 << 74) - 1)
    value = (stamp << 80) | (0x7 << 76) | ((rest >> 62) << 64) | (0b10 << 62) | (rest & ((1 << 62) - 1))
    return str(UUID(int=value))


def is_id(text: str) -> bool:
    return _ID.match(text) is not None
