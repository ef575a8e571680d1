"""Explicit dates of a claim: when they have passed, and what "it still holds" makes of them (SPEC 4).

A memory past its `valid_to` or `expires_at` counts as expired before the daily run says so. Brought back
after that date it counts no more; verified, or said again by a person, it loses the date in a new version:
the date said until when the claim would hold, and it held longer. Knows nothing of weights, flags or callers.
"""

from __future__ import annotations

from dataclasses import replace

from memvault.model import Claim, Record, Status
from memvault.services.change import Change
from memvault.store import ageing
from memvault.store.connection import Database

_OPEN = frozenset({Status.ACTIVE, Status.CONFLICT, Status.EXPIRED, Status.ARCHIVED, Status.DISABLED})
"""Where a date can be taken off: that of a replaced claim says when it was replaced."""


def ended_at(claim: Claim) -> str | None:
    """The earlier of `valid_to` and `expires_at`; None without either."""
    return min((end for end in (claim.valid_to, claim.expires_at) if end is not None), default=None)


def is_past(claim: Claim, now: str) -> bool:
    end = ended_at(claim)
    return end is not None and end <= now


def counts_as_expired(db: Database, record: Record, now: str) -> bool:
    """Whether a memory is past its date and was not brought back after it."""
    end = ended_at(record.claim)
    if end is None or end > now:
        return False
    back = ageing.brought_back_at(db, record.id)
    return back is None or back < end


def take_off(work: Change, record: Record, *, until: str | None = None) -> Record:
    """A new version without the dates that have passed; `until`: when it ends instead."""
    claim = record.claim
    if record.status not in _OPEN or not is_past(claim, work.at):
        return record
    kept = {
        name: end
        for name, end in (("valid_to", claim.valid_to), ("expires_at", until or claim.expires_at))
        if end is not None and end > work.at
    }
    found = replace(claim, **{"valid_to": None, "expires_at": None, **kept})
    return work.revise(record, found, "extend", "it holds past its date: the date was taken off")
