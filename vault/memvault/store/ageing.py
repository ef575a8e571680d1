"""What time has caught up with: one query over the active memories.

Owns the statement only. Knows nothing of why a memory is due, of weights or of what becomes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memvault.model import Status
from memvault.store.connection import Database


@dataclass(frozen=True, slots=True)
class Bounds:
    """From when on a memory is due; instants are ISO 8601.

    `unverified` maps a kind to the instant that its last verification must not lie before. Memories of the
    `timeless` kinds are due by their date only. `most`: allowed for one scope, project and subject.
    """

    now: str
    unverified: Mapping[str, str]
    idle: str
    timeless: tuple[str, ...]
    most: int


@dataclass(frozen=True, slots=True)
class Aged:
    """An active memory that may be due, with what decides it.

    `ends_at`: the earlier of `valid_to` and `expires_at`. `idle_since`: last used, or last changed if that
    is later. `subject` is case-folded. `brought_back_at`: when it last came back from expired or archived.
    """

    id: str
    kind: str
    scope: str
    project: str | None
    subject: str | None
    confidence: float
    created_at: str
    verified_at: str | None
    last_used_at: str | None
    idle_since: str
    ends_at: str | None
    flagged: bool
    crowded: bool
    brought_back_at: str | None


_BROUGHT_BACK = (
    "(SELECT max(at) FROM event WHERE event.memory = {memory} AND type IN ('roll_back', 'revive')"
    " AND from_status IN (?, ?))"
)
_IDLE = "max(coalesce(last_used_at, created_at), updated_at)"
_CROWD = (
    "WITH crowd AS (SELECT scope, project, casefold(subject) AS name FROM memory"
    " WHERE status = ? AND subject IS NOT NULL AND kind NOT IN ({timeless})"
    " GROUP BY 1, 2, 3 HAVING count(*) > ?)"
)
_SELECT = (
    " SELECT id, kind, scope, project, casefold(coalesce(subject, '')), confidence, created_at, verified_at,"
    f" last_used_at, {_IDLE},"
    " min(coalesce(valid_to, expires_at), coalesce(expires_at, valid_to)), instr(flags, ?) > 0, {crowded},"
    f" {_BROUGHT_BACK.format(memory='m.id')} FROM memory m"
)
_CROWDED = (
    "(kind NOT IN ({timeless}) AND subject IS NOT NULL AND EXISTS (SELECT 1 FROM crowd"
    " WHERE crowd.scope = m.scope AND crowd.project IS m.project AND crowd.name = casefold(m.subject)))"
)


def due(db: Database, bounds: Bounds, flag: str) -> list[Aged]:
    """Active memories past a date, long unverified without `flag`, long idle, or too many; oldest first."""
    marks = ", ".join("?" * len(bounds.timeless))
    crowded = _CROWDED.format(timeless=marks)
    conditions = ["valid_to <= ?", "expires_at <= ?", f"(kind NOT IN ({marks}) AND {_IDLE} <= ?)", crowded]
    values: list[Any] = [Status.ACTIVE, *bounds.timeless, bounds.most]
    values += [flag, *bounds.timeless, Status.EXPIRED, Status.ARCHIVED]
    values += [Status.ACTIVE, bounds.now, bounds.now, *bounds.timeless, bounds.idle, *bounds.timeless]
    for kind, before in bounds.unverified.items():
        conditions.append("(kind = ? AND coalesce(verified_at, created_at) <= ? AND instr(flags, ?) = 0)")
        values += [kind, before, flag]
    sql = (
        _CROWD.format(timeless=marks)
        + _SELECT.format(crowded=crowded)
        + f" WHERE status = ? AND ({' OR '.join(conditions)}) ORDER BY row"
    )
    return [_aged(*row) for row in db.all(sql, values)]


def brought_back_at(db: Database, memory: str) -> str | None:
    """When a memory last came back from expired or archived."""
    sql = f"SELECT {_BROUGHT_BACK.format(memory='?')}"
    return db.one(sql, (memory, Status.EXPIRED, Status.ARCHIVED))[0]


def _aged(*row: Any) -> Aged:
    found = dict(zip(Aged.__dataclass_fields__, row, strict=True))
    found.update(
        subject=found["subject"] or None, flagged=bool(found["flagged"]), crowded=bool(found["crowded"])
    )
    return Aged(**found)
