"""What a new claim about a known (subject, attribute) does to the claims already there (SPEC 6). Pure.

Owns the rows that structure alone decides: same claim, explicit correction, authority, same origin, and
contradiction. Similarity of text plays no part. Knows nothing of storage or callers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memvault.model import Authority, Claim, Draft, Kind, Record, Source, SourceType, Status
from memvault.text import fold


class Verdict(StrEnum):
    """What becomes of the new claim."""

    NEW = "new"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    YIELD = "yield"
    CONTRADICT = "contradict"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict, the memories it touches, and why in one sentence without their text."""

    verdict: Verdict
    others: tuple[Record, ...]
    reason: str


COMPARABLE = frozenset({Status.ACTIVE, Status.CONFLICT, Status.EXPIRED, Status.ARCHIVED, Status.DISABLED})
"""States in which a memory still speaks about its subject; candidates and superseded ones do not."""


def value_of(claim: Claim) -> str:
    """What two claims about one attribute are compared by: the folded value, else the folded content."""
    return fold(claim.value if claim.value is not None else claim.content)


def same_conditions(one: Claim, other: Claim) -> bool:
    return fold(one.conditions or "") == fold(other.conditions or "")


def origin(source: Source) -> tuple[str, str]:
    """Whose word a source is: all of a person's own statements are one origin, else type and document."""
    if source.type is SourceType.USER:
        return ("user", "")
    return (source.type, source.ref.split("#", 1)[0])


def same_claim(one: Claim, other: Claim) -> bool:
    """One claim in two wordings of equal structure: subject, attribute, value and conditions agree."""
    if not same_conditions(one, other):
        return False
    if one.subject and one.attribute and other.subject and other.attribute:
        return (
            fold(one.subject) == fold(other.subject)
            and fold(one.attribute) == fold(other.attribute)
            and value_of(one) == value_of(other)
        )
    return fold(one.content) == fold(other.content)


def compare(draft: Draft, authority: Authority, known: Sequence[Record], *, correct: bool) -> Comparison:
    """Weigh `draft` against `known`: records of the same scope, project, subject and attribute, or of the
    same content. `correct`: the user said that it replaces what is there."""
    standing = [record for record in known if record.status in COMPARABLE]
    for record in standing:
        if same_claim(draft.claim, record.claim):
            return Comparison(Verdict.MERGE, (record,), "the same claim was known already")
    rivals = [r for r in standing if r.status is not Status.CONFLICT and _rival(draft.claim, r.claim)]
    if correct:
        return _correction(rivals)
    if not rivals:
        return Comparison(Verdict.NEW, (), "nothing known about this yet")
    return _rank(draft, authority, rivals)


def _rival(new: Claim, old: Claim) -> bool:
    """Different values for one attribute; different stated conditions stand side by side."""
    return bool(new.subject and new.attribute and old.subject and old.attribute) and (
        same_conditions(new, old) or not (new.conditions and old.conditions)
    )


def _correction(rivals: list[Record]) -> Comparison:
    if not rivals:
        return Comparison(Verdict.NEW, (), "a correction of nothing known: kept as new")
    return Comparison(Verdict.SUPERSEDE, tuple(rivals), "an explicit correction replaces what was known")


def _rank(draft: Draft, authority: Authority, rivals: list[Record]) -> Comparison:
    stronger = [r for r in rivals if r.authority.rank > authority.rank]
    if stronger:
        return Comparison(Verdict.YIELD, tuple(stronger), "a source of higher authority says otherwise")
    if all(r.authority.rank < authority.rank for r in rivals):
        return Comparison(
            Verdict.SUPERSEDE, tuple(rivals), "a source of higher authority replaces what was known"
        )
    ours = {origin(source) for source in draft.sources}
    if all(_later_wins(draft, ours, rival) for rival in rivals):
        return Comparison(Verdict.SUPERSEDE, tuple(rivals), "the same origin said something later")
    return Comparison(
        Verdict.CONTRADICT, tuple(rivals), "contradicts what is known, and nothing ranks the two"
    )


def _later_wins(draft: Draft, ours: set[tuple[str, str]], rival: Record) -> bool:
    if ours & {origin(source) for source in rival.sources}:
        return True
    return draft.claim.kind is Kind.PREFERENCE and ("user", "") in ours
