"""Conflicts and their verdicts: which sides contradict each other, and what a person decides (SPEC 4 and 6).

A conflict is the set of memories in state conflict that share scope, project, subject and attribute; its id
is the smallest id among them, and any member's id names it. Only a person decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memvault.errors import Illegal, NotFound, Usage
from memvault.lifecycle import Move
from memvault.model import Authority, Record, Status
from memvault.services import plain
from memvault.services.caller import Caller
from memvault.services.change import Change, change, fetch
from memvault.services.erase import empty_log, older_backups
from memvault.services.intake import LONG_FIELD_BYTES
from memvault.services.placing import retire
from memvault.services.screening import require_clean
from memvault.services.trust import restored, stronger
from memvault.services.vault import Vault, keep_reserve
from memvault.store import events, memories
from memvault.store.connection import Database
from memvault.store.memories import Filter
from memvault.text import accept, fold

BOTH, NEITHER = "both", "neither"
MOST_CONFLICTS = 500

_Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Conflict:
    """`sides` contradict each other, oldest first."""

    sides: tuple[Record, ...]

    @property
    def id(self) -> str:
        return min(side.id for side in self.sides)


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a conflict."""

    conflict: str
    verdict: str
    records: tuple[Record, ...]
    deleted: tuple[str, ...]
    run: str
    older_backups: tuple[str, ...] = ()
    """Copies of the vault that still hold what was deleted."""


def _key(record: Record) -> _Key:
    claim = record.claim
    if not (claim.subject and claim.attribute):
        return ("", "", "", record.id)
    return (claim.scope, claim.project or "", fold(claim.subject), fold(claim.attribute))


def _all(db: Database, caller: Caller) -> list[Conflict]:
    """Every conflict the caller may see, by id."""
    ids = memories.ids_of(db, caller.reach, Filter(status=Status.CONFLICT))
    grouped: dict[_Key, list[Record]] = {}
    found = memories.get(db, ids, caller.reach)
    for memory in ids:
        if memory in found:
            grouped.setdefault(_key(found[memory]), []).append(found[memory])
    return sorted((Conflict(tuple(sides)) for sides in grouped.values()), key=lambda conflict: conflict.id)


def listing(vault: Vault, caller: Caller, limit: int, offset: int) -> dict[str, Any]:
    """Conflicts with their sides, since when, and what else a verdict would change. Raises Usage."""
    if not 0 <= limit <= MOST_CONFLICTS or offset < 0:
        raise Usage(f"the limit is between 0 and {MOST_CONFLICTS}, the offset not negative")
    found = _all(vault.reader, caller)
    shown = found[offset : offset + limit]
    return {"items": [_plain(vault, caller, conflict) for conflict in shown], "total": len(found)}


def _plain(vault: Vault, caller: Caller, conflict: Conflict) -> dict[str, Any]:
    claim = conflict.sides[0].claim
    since, reason = _since(vault.reader, conflict)
    return {
        "id": conflict.id,
        "scope": claim.scope,
        "project": claim.project,
        "subject": claim.subject,
        "attribute": claim.attribute,
        "since": since,
        "reason": reason,
        "sides": [plain.record(side) for side in conflict.sides],
        "would_change": _touched(vault, caller, conflict),
    }


def _since(db: Database, conflict: Conflict) -> tuple[str, str | None]:
    """When the sides came to contradict each other, and what was said about it."""
    moves = [
        (event["at"], event["reason"])
        for side in conflict.sides
        for event in events.of_memory(db, side.id)
        if event["to"] == Status.CONFLICT
    ]
    return min(moves, default=(conflict.sides[0].updated_at, None), key=lambda move: move[0])


def _touched(vault: Vault, caller: Caller, conflict: Conflict) -> list[dict[str, Any]]:
    """What else speaks about the same property, and what a verdict means for it."""
    about = conflict.sides[0].claim
    if not (about.subject and about.attribute):
        return []
    derived = vault.derive(about).claim_key
    if derived is None:
        return []
    meaning = {
        Status.CANDIDATE: "waits for you and is weighed against what you keep",
        Status.DISABLED: "stays switched off",
        Status.ARCHIVED: "stays archived",
        Status.EXPIRED: "stays expired",
        Status.ACTIVE: "stays active under its own condition",
    }
    ids = [record.id for record in memories.with_key(vault.reader, "claim_key", derived)]
    found = memories.get(vault.reader, ids, caller.reach)
    return [
        {"id": record.id, "status": record.status, "effect": meaning[record.status]}
        for record in found.values()
        if record.status in meaning
    ]


def _find(vault: Vault, caller: Caller, named: str) -> Conflict:
    """The conflict with this member. Raises NotFound, Illegal."""
    record = memories.get(vault.writer, [named], caller.reach).get(named)
    if record is None:
        raise NotFound("no such conflict", "`memvault conflicts` shows them.")
    if record.status is not Status.CONFLICT:
        raise Illegal(f"the memory is {record.status}, not in conflict", "`memvault conflicts` shows them.")
    return next(c for c in _all(vault.writer, caller) if any(side.id == named for side in c.sides))


def resolve(
    vault: Vault,
    caller: Caller,
    conflict: str,
    keep: str,
    why: str | None,
    conditions: Mapping[str, str] | None = None,
) -> Decided:
    """Carry out a person's verdict: `keep` is the id of the winner, "both" (each under its condition) or
    "neither" (deleted for good). Raises NotFound, Illegal, Usage, TextUnusable, Refused.
    """
    found = _find(vault, caller, conflict)
    said = None if why is None else accept(why, "reason", LONG_FIELD_BYTES)
    require_clean("reason", said)
    given = _conditions(found, conditions or {})
    if keep == NEITHER:
        if given:
            raise Usage("nothing is kept, so no condition can be written")
        return _neither(vault, caller, found, said)
    if keep == BOTH:
        return _both(vault, caller, found, said, given)
    return _one(vault, caller, found, keep, said, given)


def _conditions(conflict: Conflict, given: Mapping[str, str]) -> dict[str, str]:
    foreign = set(given) - {side.id for side in conflict.sides}
    if foreign:
        raise Usage("a condition names a memory that is no side of this conflict")
    for text in given.values():
        require_clean("condition", text)
    return {memory: accept(text, "condition", LONG_FIELD_BYTES) for memory, text in given.items()}


def _reason(word: str, said: str | None) -> str:
    return f"a person decided: {word}" if said is None else f"a person decided: {word}; {said}"


def _stand(work: Change, side: Record, reason: str, condition: str | None, **trust: Any) -> Record:
    """A side becomes active again, with the confidence it had, and under its condition."""
    back = work.move(side, Move.RESOLVE, Status.ACTIVE, reason, confidence=restored(side.confidence), **trust)
    if condition is None or condition == back.claim.conditions:
        return back
    return work.revise(back, replace(back.claim, conditions=condition), "split", reason)


def _one(
    vault: Vault, caller: Caller, conflict: Conflict, keep: str, said: str | None, given: dict[str, str]
) -> Decided:
    winner = next((side for side in conflict.sides if side.id == keep), None)
    if winner is None:
        raise Usage("what is kept must be a side of the conflict", "Name its id, both or neither.")
    losers = [side for side in conflict.sides if side.id != keep]
    reason = _reason("this one holds", said)
    with change(vault, "verdict", caller.actor) as work:
        newest = losers[-1] if losers else None
        _stand(
            work,
            winner,
            reason,
            given.get(keep),
            authority=stronger(winner.authority, Authority.USER_CONFIRMED),
            supersedes=winner.supersedes if newest is None else f"{newest.id}@{newest.version}",
        )
        for loser in losers:
            active = _stand(work, loser, reason, given.get(loser.id))
            retire(work, active, _reason("another one holds", said))
    return _decided(vault, conflict, keep, work.run)


def _both(
    vault: Vault, caller: Caller, conflict: Conflict, said: str | None, given: dict[str, str]
) -> Decided:
    wanted = {side.id: given.get(side.id) or side.claim.conditions for side in conflict.sides}
    told_apart = {fold(text) for text in wanted.values() if text}
    if len(told_apart) < len(conflict.sides):
        raise Usage(
            "both can only hold under conditions that tell them apart",
            "Give each side one: --condition ID=TEXT.",
        )
    reason = _reason("each holds under its own condition", said)
    with change(vault, "verdict", caller.actor) as work:
        for side in conflict.sides:
            _stand(work, side, reason, wanted[side.id])
    return _decided(vault, conflict, BOTH, work.run)


def _neither(vault: Vault, caller: Caller, conflict: Conflict, said: str | None) -> Decided:
    """A deletion like any other: it cannot be taken back."""
    with change(vault, "delete", caller.actor) as work:
        for side in conflict.sides:
            work.erase(side, Move.RESOLVE, said, tombstone=True, source=None)
    empty_log(vault)
    keep_reserve(vault.layout)
    gone = tuple(side.id for side in conflict.sides)
    return Decided(conflict.id, NEITHER, (), gone, work.run, tuple(older_backups(vault)))


def _decided(vault: Vault, conflict: Conflict, verdict: str, run: str) -> Decided:
    records = tuple(fetch(vault, side.id) for side in conflict.sides)
    return Decided(conflict.id, verdict, records, (), run)
