"""Instants as people read them: how long ago, and the local date beside it. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from memvault.clock import parse
from memvault.errors import Usage

_UNITS = ((60, "second"), (60, "minute"), (24, "hour"), (365, "day"))


def _now() -> datetime:
    return datetime.now(UTC)


def _seconds_ago(at: str, now: datetime | None) -> float | None:
    try:
        return ((now or _now()) - parse(at)).total_seconds()
    except Usage:
        return None


def age(at: str | None, now: datetime | None = None) -> str:
    """A short age for a column: now, 5m, 3h, 41d, 2y; empty when there is none."""
    seconds = _seconds_ago(at, now) if at else None
    if seconds is None:
        return ""
    minutes = int(max(0.0, seconds) // 60)
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes}m"
    if minutes < 24 * 60:
        return f"{minutes // 60}h"
    days = minutes // (24 * 60)
    return f"{days}d" if days < 730 else f"{days // 365}y"


def when(at: str | None, now: datetime | None = None) -> str:
    """The local date and time and the distance: `2026-03-12 09:14 (3 days ago)`; empty without one."""
    seconds = _seconds_ago(at, now) if at else None
    if at is None or seconds is None:
        return at or ""
    local = parse(at).astimezone()
    return f"{local:%Y-%m-%d %H:%M} ({distance(seconds)})"


def day(at: str | None) -> str:
    """The local date alone."""
    if not at or _seconds_ago(at, None) is None:
        return at or ""
    return f"{parse(at).astimezone():%Y-%m-%d}"


def distance(seconds: float) -> str:
    """`3 days ago` for a positive number of seconds, `in 3 days` for a negative one."""
    if abs(seconds) < 45:
        return "just now"
    size, name = abs(seconds), "second"
    for length, unit in _UNITS:
        name = unit
        if size < length:
            break
        size /= length
    else:
        name = "year"
    count = max(1, int(size))
    words = f"{count} {name}{'' if count == 1 else 's'}"
    return f"{words} ago" if seconds > 0 else f"in {words}"


def duration(seconds: float) -> str:
    """A length of time: `14 minutes`."""
    return distance(-max(seconds, 45)).removeprefix("in ") if seconds >= 45 else f"{int(seconds)} seconds"
