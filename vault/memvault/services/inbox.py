"""The inbox: what waits for a person, and why it is there (SPEC 2, 4 and 6).

Owns the notice ahead of an end. Knows nothing of confirming, verifying or rejecting.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memvault.clock import iso, parse
from memvault.model import Kind, Record, Status
from memvault.services import feedback, plain, recollect
from memvault.services.caller import Caller
from memvault.services.dates import ended_at
from memvault.services.forgetting import UNVERIFIED_DAYS
from memvault.services.placing import REVIEW_REPLACEMENT
from memvault.services.plain import NEEDS_VERIFICATION
from memvault.services.recollect import Room
from memvault.services.vault import Vault
from memvault.store.memories import Filter
from memvault.store.waiting import Due

NOTICE = timedelta(days=14)
"""How long before an explicit end, or the day it counts as unverified, a memory is shown."""

NOTICED = (Kind.FACT, Kind.RELATIONSHIP, Kind.PROCEDURE)
"""Kinds that give notice before they count as unverified; a reflection is a hint only."""


def page(vault: Vault, caller: Caller, limit: int, offset: int, room: Room | None = None) -> dict[str, Any]:
    """One page, proposals first, then the newest. For the browser's thread. Raises Usage."""
    now = vault.clock.now()
    ahead = now + NOTICE
    due = Due(
        doubt=NEEDS_VERIFICATION,
        now=iso(now),
        until=iso(ahead),
        unverified={kind: iso(ahead - timedelta(days=UNVERIFIED_DAYS[kind])) for kind in NOTICED},
    )
    wanted = Filter(waiting=True, due=due)
    return recollect.page(
        vault, caller, wanted, "waiting", limit, offset, room, lambda record: _item(vault, record, due)
    )


def _item(vault: Vault, record: Record, due: Due) -> dict[str, Any]:
    """The record with `because` (candidate, replaced, flagged, expiring) and, for the last, `due_at`.

    `notes`: what agents said against what is flagged.
    """
    because = _because(record)
    ends = _ends_at(record, due) if because == "expiring" else None
    notes = feedback.notes(vault.browser, record.id) if because == "flagged" else []
    return {**plain.record(record), "because": because, "due_at": ends, "notes": notes}


def _because(record: Record) -> str:
    if record.status is Status.CANDIDATE:
        return "candidate"
    if REVIEW_REPLACEMENT in record.flags:
        return "replaced"
    return "flagged" if record.flags else "expiring"


def _ends_at(record: Record, due: Due) -> str | None:
    """The first of its explicit end and the day from which it counts as unverified."""
    claim, ends = record.claim, list[str]()
    explicit = ended_at(claim)
    if explicit is not None and explicit > due.now:
        ends.append(explicit)
    if claim.kind in NOTICED:
        checked = parse(record.verified_at or record.created_at)
        ends.append(iso(checked + timedelta(days=UNVERIFIED_DAYS[claim.kind])))
    return min(ends, default=None)
