"""The states of a memory and the moves between them (SPEC 4): one pure table.

Every change of state goes through `check`. Knows nothing of storage, callers or time.
"""

from __future__ import annotations

from enum import StrEnum

from memvault.errors import Illegal
from memvault.model import Status


class Move(StrEnum):
    """Why a memory changes its state; the word that its event carries."""

    CREATE = "create"
    PROPOSE = "propose"
    CONFIRM = "confirm"
    PROMOTE = "promote"
    REJECT = "reject"
    LAPSE = "lapse"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    EXPIRE = "expire"
    ARCHIVE = "archive"
    DISABLE = "disable"
    ENABLE = "enable"
    RESOLVE = "resolve"
    REVIVE = "revive"
    ROLL_BACK = "roll_back"
    DELETE = "delete"


_S = Status

TABLE: dict[Move, dict[Status | None, frozenset[Status]]] = {
    Move.CREATE: {None: frozenset({_S.ACTIVE})},
    Move.PROPOSE: {None: frozenset({_S.CANDIDATE})},
    Move.CONFIRM: {_S.CANDIDATE: frozenset({_S.ACTIVE})},
    Move.PROMOTE: {_S.CANDIDATE: frozenset({_S.ACTIVE, _S.SUPERSEDED, _S.CONFLICT})},
    Move.REJECT: {_S.CANDIDATE: frozenset({_S.DELETED})},
    Move.LAPSE: {_S.CANDIDATE: frozenset({_S.DELETED})},
    Move.SUPERSEDE: dict.fromkeys(
        (_S.ACTIVE, _S.EXPIRED, _S.ARCHIVED, _S.DISABLED), frozenset({_S.SUPERSEDED})
    ),
    Move.CONTRADICT: {_S.ACTIVE: frozenset({_S.CONFLICT})},
    Move.EXPIRE: {_S.ACTIVE: frozenset({_S.EXPIRED})},
    Move.ARCHIVE: {_S.ACTIVE: frozenset({_S.ARCHIVED}), _S.CONFLICT: frozenset({_S.ARCHIVED})},
    Move.DISABLE: {_S.ACTIVE: frozenset({_S.DISABLED}), _S.CONFLICT: frozenset({_S.DISABLED})},
    Move.ENABLE: {_S.DISABLED: frozenset({_S.ACTIVE})},
    Move.RESOLVE: {_S.CONFLICT: frozenset({_S.ACTIVE, _S.DELETED})},
    Move.REVIVE: {_S.EXPIRED: frozenset({_S.ACTIVE}), _S.ARCHIVED: frozenset({_S.ACTIVE})},
    Move.ROLL_BACK: {
        state: frozenset(Status) - {_S.DELETED, state} - ({_S.SUPERSEDED} if state is _S.CONFLICT else set())
        for state in Status
        if state is not _S.DELETED
    },
    Move.DELETE: {state: frozenset({_S.DELETED}) for state in Status if state is not _S.DELETED},
}
"""Move -> state before (None: new) -> states it may lead to."""


def check(move: Move, before: Status | None, after: Status) -> None:
    """Raises Illegal, naming both states, unless SPEC 4 has this move.

    Rolling back restores the state a run found, so it may lead from any living state to any other, but
    for conflict -> superseded, which no run can have undone.
    """
    if after not in TABLE[move].get(before, frozenset()):
        raise Illegal(f"a memory that is {before or 'new'} cannot become {after} by {move}")
