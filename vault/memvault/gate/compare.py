"""What a new claim about a known (subject, attribute) does to the claims already there (SPEC 6). Pure.

Owns the rows of SPEC 6 and their order. With subject and attribute known, structure, authority, origin, time
and what the sources say decide; similarity of text plays no part. Knows nothing of storage or callers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from memvault.clock import parse
from memvault.gate.evidence import named_places, own_place, replaces
from memvault.model import Authority, Claim, Draft, Kind, Record, Source, SourceType, Status
from memvault.text import fold, gist

CLEARLY_NEWER = timedelta(days=7)
"""Between two origins of one authority, so much time lets the later one supersede."""


class Verdict(StrEnum):
    """What becomes of the new claim."""

    NEW = "new"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    YIELD = "yield"
    CONTRADICT = "contradict"
    SPLIT = "split"
    """Both hold, each under a condition of its own."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict, the memories it touches, and why in one sentence without their text.

    `condition` is what the sources name for the new claim; `apart` are memories that stand beside it, with
    what they name for those. `review`: a person should see it, as only time decided.
    """

    verdict: Verdict
    others: tuple[Record, ...]
    reason: str
    condition: str | None = None
    apart: tuple[tuple[Record, str], ...] = ()
    review: bool = False


IN_FORCE = frozenset({Status.ACTIVE, Status.CONFLICT})
RESTING = frozenset({Status.EXPIRED, Status.ARCHIVED, Status.DISABLED})
COMPARABLE = IN_FORCE | RESTING
"""States in which a memory still speaks about its subject; candidates and superseded ones do not."""


def value_of(claim: Claim) -> str:
    """What two claims about one attribute are compared by: the folded value, else the gist of the content."""
    return fold(claim.value) if claim.value is not None else gist(claim.content)


def same_conditions(one: Claim, other: Claim) -> bool:
    return fold(one.conditions or "") == fold(other.conditions or "")


def origin(source: Source) -> tuple[str, str]:
    """Whose word a source is: all of a person's own statements are one origin, else type and document."""
    if source.type is SourceType.USER:
        return ("user", "")
    return (source.type, source.ref.split("#", 1)[0])


def about_the_same(one: Claim, other: Claim) -> bool:
    """One property of one subject in one place."""
    return bool(
        one.subject
        and one.attribute
        and other.subject
        and other.attribute
        and (one.scope, one.project) == (other.scope, other.project)
        and (fold(one.subject), fold(one.attribute)) == (fold(other.subject), fold(other.attribute))
    )


def same_claim(one: Claim, other: Claim) -> bool:
    """One claim in two wordings: equal subject, attribute and value, or, without those, equal but for case,
    punctuation and filler. So numbers, names and negations are equal, and so is their order.

    Two stated conditions must agree; a claim without one agrees with its sibling that has one.
    """
    if (one.scope, one.project) != (other.scope, other.project):
        return False
    if one.conditions and other.conditions and not same_conditions(one, other):
        return False
    if one.attribute and other.attribute:
        if not about_the_same(one, other):
            return False
        if value_of(one) == value_of(other):
            return True
        if one.value is not None and other.value is not None:
            return False
    return gist(one.content) == gist(other.content)


def compare(
    draft: Draft, authority: Authority, known: Sequence[Record], *, correct: bool, at: str
) -> Comparison:
    """Weigh `draft` against `known`: records with its subject and attribute, or of the same content.

    `correct`: the user said that it replaces what is there. `at`: now, ISO 8601.
    """
    standing = [record for record in known if record.status in COMPARABLE]
    same = [record for record in standing if same_claim(draft.claim, record.claim)]
    if same:
        best = max(same, key=lambda r: (same_conditions(draft.claim, r.claim), r.status in IN_FORCE))
        return Comparison(Verdict.MERGE, (best,), "the same claim was known already")
    rivals = [record for record in standing if _rival(draft.claim, record.claim)]
    if correct:
        return _correction(rivals)
    apart = [] if _disputed(rivals) else _side_by_side(draft, authority, rivals)
    condition = apart[0][2] if apart else None
    if condition is not None:
        draft = replace(draft, claim=replace(draft.claim, conditions=condition))
        beside = {record.id for record, _, _ in apart}
        rivals = [r for r in rivals if r.id not in beside and _rival(draft.claim, r.claim)]
    found = _rank(draft, authority, rivals, at)
    if condition is None or found.verdict is Verdict.YIELD:
        return found
    named = tuple((record, theirs) for record, theirs, _ in apart)
    if found.verdict is not Verdict.NEW:
        return replace(found, condition=condition, apart=named)
    reason = "the sources name different conditions: each holds under its own"
    return Comparison(Verdict.SPLIT, tuple(record for record, _ in named), reason, condition, named)


def _disputed(rivals: Sequence[Record]) -> bool:
    """A conflict under way: only a person ends it (SPEC 4), so a further value joins it."""
    return any(record.status is Status.CONFLICT for record in rivals)


def _rival(new: Claim, old: Claim) -> bool:
    """Different values for one attribute; different stated conditions stand side by side."""
    return about_the_same(new, old) and (same_conditions(new, old) or not (new.conditions and old.conditions))


def _correction(rivals: list[Record]) -> Comparison:
    if not rivals:
        return Comparison(Verdict.NEW, (), "a correction of nothing known: kept as new")
    return Comparison(Verdict.SUPERSEDE, tuple(rivals), "an explicit correction replaces what was known")


def _side_by_side(
    draft: Draft, authority: Authority, rivals: Sequence[Record]
) -> list[tuple[Record, str, str]]:
    """(rival, its condition, the new claim's) where the sources name two different ones.

    What a weaker source says about a stronger one does not count. What one source says about both in so many
    words tells more than who said it later, so this comes before the rows that let the later one win.
    """
    found: list[tuple[Record, str, str]] = []
    for rival in rivals:
        pair = None
        if authority.rank >= rival.authority.rank:
            pair = named_places(draft.claim, rival.claim, draft.sources)
        if pair is None and rival.authority.rank >= authority.rank:
            swapped = named_places(rival.claim, draft.claim, rival.sources)
            pair = None if swapped is None else (swapped[1], swapped[0])
        if pair is None and rival.authority is authority:
            pair = _own_places(draft, rival)
        if pair is None:
            continue
        mine, theirs = draft.claim.conditions or pair[0], rival.claim.conditions or pair[1]
        agrees = not found or fold(found[0][2]) == fold(mine)
        if agrees and fold(mine) != fold(theirs):
            found.append((rival, theirs, mine))
    return found


def _own_places(draft: Draft, rival: Record) -> tuple[str, str] | None:
    """Each says for itself where it holds, and the two exclude each other."""
    mine = own_place(draft.claim, draft.sources, rival.claim)
    theirs = own_place(rival.claim, rival.sources, draft.claim)
    if mine is None or theirs is None or mine[0] != theirs[0] or mine[1] == theirs[1]:
        return None
    return mine[2], theirs[2]


def _rank(draft: Draft, authority: Authority, rivals: Sequence[Record], at: str) -> Comparison:
    in_force = tuple(record for record in rivals if record.status in IN_FORCE)
    stronger = tuple(record for record in in_force if record.authority.rank > authority.rank)
    if stronger:
        return Comparison(Verdict.YIELD, stronger, "a source of higher authority says otherwise")
    if _disputed(in_force):
        return Comparison(Verdict.CONTRADICT, in_force, "what is known is contradicted already")
    said = [(record, _later(draft, authority, record, at)) for record in rivals]
    older = tuple(r for r, found in said if r in in_force and found is not None and not found.new_wins)
    if older:
        reason = next(f.reason for r, f in said if r in older and f is not None)
        return Comparison(Verdict.YIELD, older, reason)
    if any(found is None for record, found in said if record in in_force):
        reason = "contradicts what is known, and nothing ranks the two"
        return Comparison(Verdict.CONTRADICT, in_force, reason)
    beaten = [(record, found) for record, found in said if found is not None and found.new_wins]
    if not beaten:
        return Comparison(Verdict.NEW, (), "nothing known about this yet")
    review = any(found.by_time for _, found in beaten)
    return Comparison(
        Verdict.SUPERSEDE, tuple(record for record, _ in beaten), beaten[-1][1].reason, review=review
    )


@dataclass(frozen=True, slots=True)
class _Ruling:
    """Which of two wins, and why. `by_time`: nothing but time speaks for it."""

    new_wins: bool
    reason: str
    by_time: bool = False


def _later(draft: Draft, authority: Authority, rival: Record, at: str) -> _Ruling | None:
    """The first row of SPEC 6 that ranks the two; None when none does."""
    if authority is not rival.authority:
        wins = authority.rank > rival.authority.rank
        return _Ruling(True, "a source of higher authority replaces what was known") if wins else None
    new, old = parse(said_at(draft, at)), parse(rival_said_at(rival))
    ours = {origin(source) for source in draft.sources}
    if ours & {origin(source) for source in rival.sources}:
        return _Ruling(new >= old, "the same origin said something later")
    if new >= old and replaces(draft.claim, draft.sources, rival.claim):
        return _Ruling(True, "its source says that it replaces what was known")
    if new < old and replaces(rival.claim, rival.sources, draft.claim):
        return _Ruling(False, "the source of what is known says that it replaced this")
    if new >= old and draft.claim.kind is Kind.PREFERENCE and ("user", "") in ours:
        return _Ruling(True, "a later explicit statement of a preference wins")
    return _by_time(new, old, rival)


def _by_time(new: datetime, old: datetime, rival: Record) -> _Ruling | None:
    checked = old if rival.verified_at is None else parse(rival.verified_at)
    if new - old >= CLEARLY_NEWER and new > checked:
        return _Ruling(True, "clearly newer, verified later, and of the same authority", by_time=True)
    if old - new >= CLEARLY_NEWER:
        return _Ruling(False, "what is known is clearly newer, and of the same authority", by_time=True)
    return None


def said_at(draft: Draft, at: str) -> str:
    """When the draft's claim was last said, never after `at`: its newest sighting, else when it was made."""
    seen = [source.observed_at for source in draft.sources if source.observed_at is not None]
    return min(max(seen) if seen else draft.created_at or at, at)


def rival_said_at(record: Record) -> str:
    """When a memory's claim was last said."""
    seen = [source.observed_at for source in record.sources if source.observed_at is not None]
    return max(seen, default=record.created_at)
