"""Time: UTC, ISO 8601 with milliseconds, and a clock that tests can set.

Owns formatting and parsing of instants. Timers that must not run backwards (idle lock, presence) use
`monotonic_s`, never the wall clock.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from typing import Protocol

from memvault.errors import Usage


class Clock(Protocol):
    def now(self) -> datetime: ...

    def monotonic_s(self) -> float: ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        return time.monotonic()


def iso(at: datetime) -> str:
    """UTC with milliseconds and `Z`: sorts as text in the order of time."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse(text: str) -> datetime:
    """Read an ISO 8601 date or instant; a date means its midnight, a missing zone means UTC.

    Raises Usage when it is neither.
    """
    try:
        if len(text) == 10:
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Usage("not a date: write YYYY-MM-DD or an ISO 8601 instant") from error
