"""Which of two claims about the same thing goes first (SPEC 9), and which pairs nothing ranks. Pure.

The current task and the current source of truth are not memories: the frame of a context puts them first. Two
active memories about one property live in different places (project, scope): within one place the vault
settled them when they were written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memvault.compile.entry import Entry
from memvault.model import Authority, Kind, Status
from memvault.text import fold, gist

_BY_AUTHORITY = {
    Authority.SYSTEM: 5,
    Authority.FILE: 5,
    Authority.USER_CONFIRMED: 4,
    Authority.DOCUMENT: 3,
    Authority.CONVERSATION: 1,
    Authority.INFERRED: 0,
}
_VERIFIED_EPISODE = 2


def precedence(entry: Entry) -> int:
    """5: read from the source of truth; 4: a person's statement; 3: a project's decision record;
    2: verified; 1 and 0: said or inferred.
    """
    found = _BY_AUTHORITY[entry.record.authority]
    if entry.stale and found == 5:
        return 3
    return max(found, _VERIFIED_EPISODE) if entry.record.verified_at is not None else found


@dataclass(frozen=True, slots=True)
class Settled:
    """`kept` stand alone; of each group in `open` nothing ranks the members; `outranked`: (loser, winner)."""

    kept: list[Entry]
    open: list[tuple[Entry, ...]]
    outranked: list[tuple[Entry, Entry]]


def settle(entries: Sequence[Entry]) -> Settled:
    """Rank what speaks about one property with different values and without conditions that tell it apart.

    The higher precedence wins, then the project's own before what holds everywhere. No policy is outranked.
    """
    groups: dict[tuple[str, str], list[Entry]] = {}
    settled = Settled([], [], [])
    for entry in entries:
        claim = entry.record.claim
        if claim.subject and claim.attribute and entry.record.status is Status.ACTIVE:
            groups.setdefault((fold(claim.subject), fold(claim.attribute)), []).append(entry)
        else:
            settled.kept.append(entry)
    for group in groups.values():
        _settle_group(group, settled)
    return settled


def _settle_group(group: list[Entry], settled: Settled) -> None:
    while group:
        best = max(group, key=_rank)
        rivals = [entry for entry in group if entry is not best and _differ(entry, best)]
        equals = [entry for entry in rivals if _rank(entry) == _rank(best) or _binding(entry)]
        losers = [entry for entry in rivals if entry not in equals]
        settled.outranked.extend((entry, best) for entry in losers)
        if equals:
            settled.open.append(tuple(sorted((best, *equals), key=lambda entry: entry.id)))
        else:
            settled.kept.append(best)
        done = {best.id, *(entry.id for entry in rivals)}
        group = [entry for entry in group if entry.id not in done]


def _rank(entry: Entry) -> tuple[int, bool]:
    return precedence(entry), entry.record.claim.project is not None


def _binding(entry: Entry) -> bool:
    return entry.record.claim.kind is Kind.POLICY


def _differ(one: Entry, other: Entry) -> bool:
    first, second = one.record.claim, other.record.claim
    if first.conditions and second.conditions and fold(first.conditions) != fold(second.conditions):
        return False
    return _value(one) != _value(other)


def _value(entry: Entry) -> str:
    claim = entry.record.claim
    return fold(claim.value) if claim.value is not None else gist(claim.content)
