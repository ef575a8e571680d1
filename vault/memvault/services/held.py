"""Memories that a restore brought back though they resemble something deleted: held for a person (SPEC 7).

What could be recalled is switched off, the one state that the table of SPEC 4 offers beside losing it
(expired and archived memories by way of active), and flagged: the inbox shows it, and confirming or enabling
it lets it back. The flag alone keeps a memory out of recall, whatever state a rollback gives it. Knows
nothing of copies.
"""

from __future__ import annotations

from memvault.lifecycle import Move
from memvault.model import Record, Status
from memvault.services import dates
from memvault.services.change import Change
from memvault.services.graves import HELD, RESEMBLES
from memvault.services.placing import settle

_RESTING = frozenset({Status.EXPIRED, Status.ARCHIVED})
_IN_USE = frozenset({Status.ACTIVE, Status.CONFLICT})
_REASON = f"brought back by a restore, and {HELD}"


def hold(work: Change, record: Record) -> Record:
    """Keep a restored memory out of every recall. One that a person had switched off stays as it was."""
    if record.status is Status.DISABLED:
        return record
    found = work.flag(record, RESEMBLES)
    if found.status in _RESTING:
        found = work.move(found, Move.REVIVE, Status.ACTIVE, _REASON)
    if found.status in _IN_USE:
        found = work.move(found, Move.DISABLE, Status.DISABLED, _REASON)
    return found


def let_back(work: Change, record: Record, reason: str) -> Record:
    """A person looked: what is switched off is active again, without dates that passed meanwhile.

    Raises Illegal when another memory has taken its place.
    """
    found = work.unflag(record, RESEMBLES)
    if found.status is not Status.DISABLED:
        work.note(found.id, "accept", reason, found.status, found.version)
        return found
    found = dates.take_off(work, found)
    return settle(work, work.move(found, Move.ENABLE, Status.ACTIVE, reason))
