"""From which evidence on a question counts as answered in this vault: measured, suggested, kept.

Owns the curve over shifts, the rule of the suggestion and what is stored. The questions are those of
`trials`; asking the index is `Index.tried`'s, embedding the daemon's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.errors import Usage
from memvault.recall import shift
from memvault.recall.query import Query, Trial
from memvault.recall.shift import BOUND, GROUPS, Group
from memvault.services.caller import PERSON, shelves
from memvault.services.recollect import POOLS, Question, query_of
from memvault.services.trials import Asked, count
from memvault.services.vault import Vault
from memvault.store import settings

Shifts = Mapping[Group, float]

STEPS = tuple(step / 100 for step in range(round(-BOUND * 100), round(BOUND * 100) + 1))
"""Shifts that are tried, rising."""
FIRST = 5
"""An answer has to be among so many."""
AIM = 0.10
"""Share of unanswerable questions that may get anything, of a person's own labels."""
BACKGROUND_AIM = 0.075
"""The same of background questions. They are nearer to everyday vaults and farther from others than real
questions that have no answer: on the five public sets 2 to 40 % of them got one where 10 % of the real ones
did. At this share, and never below the line as shipped, 0 to 9 % of the real ones did, 13 % on one set."""
DEAREST = 0.02
"""Share of the answerable questions that may be lost without a warning."""
APART = 0.05
"""Shifts of two languages that differ so much are kept apart, with `ENOUGH` questions of each kind in both:
about two standard errors of either."""
ENOUGH = 50


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of one question."""

    asked: Asked
    trial: Trial

    def gets(self, at: float) -> tuple[str, ...]:
        """What it is answered at a shift."""
        return self.trial.answer if self.trial.holds >= at else self.trial.named

    def found(self, at: float) -> bool:
        return not self.asked.expects.isdisjoint(self.gets(at))


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares, 0..1, None without such questions: answerable ones that found their answer, and unanswerable
    ones that got anything."""

    found: float | None
    answered: float | None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`cost`: share of the answerable questions that the line keeps back at these shifts."""

    shifts: Shifts
    rates: Rates
    cost: float


@dataclass(frozen=True, slots=True)
class Rule:
    """A shift is suggested that is `floor` or more, the smallest that leaves at most `aim` answered."""

    aim: float
    floor: float

    @property
    def words(self) -> str:
        least = "as shipped or higher" if self.floor >= 0.0 else f"{self.floor:+.2f} or higher"
        return (
            f"the smallest shift, {least}, with at most {self.aim:.1%} of the unanswerable questions answered"
        )


LABELLED = Rule(AIM, -BOUND)
UNLABELLED = Rule(BACKGROUND_AIM, 0.0)
"""Without labels the line is raised and never lowered: a wrong memory costs more than none."""


def ask(vault: Vault, asked: Asked, vector: npt.NDArray[np.float32]) -> Tried:
    """Try one question as the person's recall would ask it. For the reader's thread."""
    query = query_of(vault, PERSON, Question(asked.text), vector)
    if not asked.by_words:
        query = Query(query.text, (), vector, query.language, query.today)
    return Tried(asked, vault.index.tried(query, shelves(PERSON, None, POOLS), FIRST))


def rates(tried: Sequence[Tried], shifts: Shifts) -> Rates:
    """What the vault would answer at these shifts."""
    own = [one.found(shifts[one.asked.group]) for one in tried if one.asked.expects]
    strange = [bool(one.gets(shifts[one.asked.group])) for one in tried if not one.asked.expects]
    return Rates(_share(own), _share(strange))


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def same(at: float) -> dict[Group, float]:
    """One shift for all languages."""
    return {"en": at, "zh": at, "other": at}


def suggest(tried: Sequence[Tried], rule: Rule) -> Suggestion | None:
    """By the rule, with a shift of their own for languages that differ clearly; None when no shift does."""
    common = smallest(tried, rule)
    if common is None:
        return None
    apart: dict[Group, float] = {}
    for group in GROUPS:
        some = [one for one in tried if one.asked.group == group]
        least = smallest(some, rule) if has_enough(some) else None
        if least is not None:
            apart[group] = least
    differ = len(apart) > 1 and max(apart.values()) - min(apart.values()) >= APART - 1e-9
    shifts = same(common)
    shifts.update(apart if differ else {})
    found = rates(tried, shifts)
    kept_back = (rates(tried, same(-np.inf)).found or 0.0) - (found.found or 0.0)
    return Suggestion(shifts, found, max(kept_back, 0.0))


def smallest(tried: Sequence[Tried], rule: Rule) -> float | None:
    """The smallest shift for all languages that keeps to the rule."""
    for at in STEPS:
        if at >= rule.floor and (rates(tried, same(at)).answered or 0.0) <= rule.aim:
            return at
    return None


def has_enough(tried: Sequence[Tried]) -> bool:
    """Whether there are enough questions of each kind to judge a language by itself."""
    asked = [one.asked for one in tried]
    return min(count(asked, True), count(asked, False)) >= ENOUGH


def report(tried: Sequence[Tried], rule: Rule, shifts: Shifts) -> dict[str, Any]:
    """The curve, the suggestion and each language at it, as an answer holds them; `shifts` are in use."""
    asked, found = [one.asked for one in tried], suggest(tried, rule)
    chosen = shifts if found is None else found.shifts
    return {
        "answerable": count(asked, True),
        "unanswerable": count(asked, False),
        "rows": [{"shift": at, **_plain(rates(tried, same(at)))} for at in STEPS],
        "current": {"shifts": dict(shifts), **_plain(rates(tried, shifts))},
        "suggested": None if found is None else _suggested(found),
        "languages": [
            _of_language(group, some, chosen)
            for group in GROUPS
            if (some := [one for one in tried if one.asked.group == group])
        ],
        "rule": rule.words,
    }


def _suggested(found: Suggestion) -> dict[str, Any]:
    return {
        "shifts": dict(found.shifts),
        **_plain(found.rates),
        "cost": round(found.cost, 4),
        "dear": found.cost > DEAREST + 1e-9,
    }


def _of_language(group: Group, tried: Sequence[Tried], shifts: Shifts) -> dict[str, Any]:
    asked = [one.asked for one in tried]
    counts = {"answerable": count(asked, True), "unanswerable": count(asked, False)}
    return {"language": group, **counts, "shift": shifts[group], **_plain(rates(tried, shifts))}


def _plain(found: Rates) -> dict[str, float | None]:
    values = {"found": found.found, "answered": found.answered}
    return {name: None if value is None else round(value, 4) for name, value in values.items()}


def keep(vault: Vault, shifts: Shifts) -> dict[str, Any]:
    """Move the line from now on, for the model in use; 0 everywhere forgets it. Raises Usage out of bounds,
    ReadOnly. For the writer's thread."""
    if any(not abs(value) <= BOUND for value in shifts.values()):
        raise Usage(f"a shift lies between {-BOUND} and {BOUND}")
    before, name = shift.by_group(vault.index.shift), f"shift:{vault.model_id}"
    with vault.writer.transaction():
        if any(shifts.values()):
            settings.put(vault.writer, name, shift.encode(shifts))
        else:
            settings.drop(vault.writer, name)
    vault.index.shift = shift.by_language(shifts)
    return {"shifts": shift.by_group(vault.index.shift), "before": before, "model": vault.model_id}
