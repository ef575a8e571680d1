"""What waits for a person's look, as a condition on memories: proposals, replacements, doubts, nearing ends.

Owns the condition only. Knows nothing of why a date is near.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memvault.model import Status


@dataclass(frozen=True, slots=True)
class Due:
    """Doubts and ends that belong into the inbox as well; instants are ISO 8601.

    `doubt`: the flag of what is to be checked. Explicit ends between `now` and `until` are near. `unverified`
    maps a kind to the instant that its last verification must not lie before.
    """

    doubt: str
    now: str
    until: str
    unverified: Mapping[str, str]


def condition(due: Due | None) -> tuple[str, list[Any]]:
    """SQL and its values: what waits; with `due`, doubts and nearing ends too."""
    clauses = [
        "status = ?",
        "status = ? AND instr(flags, 'review_') > 0",
        "status IN (?, ?) AND instr(flags, 'resembles_') > 0",
    ]
    values: list[Any] = [Status.CANDIDATE, Status.ACTIVE, Status.ACTIVE, Status.DISABLED]
    if due is not None:
        clauses.append("status IN (?, ?) AND instr(flags, ?) > 0")
        values += [Status.ACTIVE, Status.CONFLICT, due.doubt]
        for end in ("valid_to", "expires_at"):
            clauses.append(f"status = ? AND {end} > ? AND {end} <= ?")
            values += [Status.ACTIVE, due.now, due.until]
        for kind, before in due.unverified.items():
            clauses.append("status = ? AND kind = ? AND coalesce(verified_at, created_at) <= ?")
            values += [Status.ACTIVE, kind, before]
    return f"({' OR '.join(clauses)})", values
