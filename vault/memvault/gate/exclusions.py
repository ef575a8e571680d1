"""What is refused even on request, with the question what in it is worth keeping (SPEC 5). Pure.

Owns the stable codes, one sentence each, and which of the four scores an exclusion takes to zero. No sentence
quotes the text. Knows nothing of thresholds or of who writes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memvault.gate import chinese_exclusions as chinese
from memvault.gate import english_exclusions as english
from memvault.gate.orders import orders_to_remember
from memvault.gate.personal import personal_data
from memvault.gate.reading import Reading
from memvault.gate.signals import Signal, joined
from memvault.model import Source

QUESTION_EN = "What in this is surprising and worth keeping?"
QUESTION_ZH = "这里面有什么是出人意料、值得留下的?"

Axis = Literal["stable", "reusable", "sourced", "authorised"]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """`axis`: the score it takes to zero. `for_everybody`: a person's own hand does not lift it either."""

    code: str
    axis: Axis
    sentence: str
    for_everybody: bool = False


_ALL: tuple[Exclusion, ...] = (
    Exclusion("injected", "authorised", "it is an instruction to remember that came inside text nobody said"),
    Exclusion("identifier", "authorised", "it holds an identifier of a person", for_everybody=True),
    Exclusion("contact", "authorised", "it holds somebody's contact data", for_everybody=True),
    Exclusion("inference", "authorised", "it infers health, money or identity of a person"),
    Exclusion("health", "authorised", "it is about a person's health", for_everybody=True),
    Exclusion("finances", "authorised", "it is about a person's money", for_everybody=True),
    Exclusion("raw_thought", "reusable", "it is thinking aloud, not a conclusion"),
    Exclusion("mood", "stable", "it is a mood that passes"),
    Exclusion("history", "reusable", "the history of the repository says it already"),
    Exclusion("documented", "reusable", "documentation or project instructions say it already"),
    Exclusion("fixed_in_code", "reusable", "the fix is in the code, so nobody will need the recipe"),
    Exclusion("shipped", "reusable", "the fix is in the code, so nobody will need the recipe"),
    Exclusion("derivable", "reusable", "the code itself says it"),
    Exclusion("in_progress", "stable", "it is work in progress"),
    Exclusion("unsourced_guess", "sourced", "it is a guess without a source"),
)

EXCLUSIONS: dict[str, Exclusion] = {exclusion.code: exclusion for exclusion in _ALL}
"""Code to exclusion, in the order in which they are reported."""

_ENGLISH = joined(english.EXCLUSIONS, english.TOLD, flags=re.IGNORECASE)
_CHINESE = joined(chinese.EXCLUSIONS, chinese.TOLD, flags=re.IGNORECASE)
_SURPRISE = re.compile(f"{english.SURPRISE}|{chinese.SURPRISE}", re.IGNORECASE)

_LIFTED_BY: dict[str, frozenset[str]] = {
    "derivable": frozenset({"map", "reason", "trigger", "shield", "correction", "lesson"}),
    "history": frozenset({"reason", "lesson", "shield"}),
    "fixed_in_code": frozenset({"trigger", "shield"}),
    "in_progress": frozenset({"shield", "trigger"}),
    "mood": frozenset({"correction", "shield"}),
    "documented": frozenset({"correction"}),
}
"""An exclusion (left) that does not apply when the claim says what cannot be read off (right)."""

_SURPRISING = frozenset({"derivable", "documented"})
"""Exclusions that "but it is outdated" lifts: the surprising part is what is kept."""


def excluded(
    reading: Reading, fired: Sequence[Signal], sources: Sequence[Source], *, own_words: bool
) -> tuple[Exclusion, ...]:
    """Every exclusion that applies, in the order of EXCLUSIONS.

    `own_words`: the user says it of their own accord, so what they tell about themselves is theirs to keep.
    """
    codes = {signal.code for signal in fired}
    found = {code for code in _ENGLISH if _applies(code, reading, codes)}
    if orders_to_remember(reading.whole, sources):
        found.add("injected")
    data = personal_data(reading.whole, guessed="guess" in codes, own_words=own_words)
    if data is not None:
        found.add(data)
    if "guess" in codes and not has_source(sources):
        found.add("unsourced_guess")
    return tuple(exclusion for code, exclusion in EXCLUSIONS.items() if code in found)


def has_source(sources: Sequence[Source]) -> bool:
    """Whether any source can be followed back: it names a place."""
    return any(source.ref.strip() for source in sources)


def question(reading: Reading) -> str:
    """The question back, in the language of the claim."""
    return QUESTION_ZH if reading.chinese else QUESTION_EN


def _applies(code: str, reading: Reading, codes: set[str]) -> bool:
    if codes & _LIFTED_BY.get(code, frozenset()):
        return False
    text = reading.spoken if code in {"mood", "in_progress", "raw_thought"} else reading.plain
    tables = (_ENGLISH, _CHINESE) if reading.any_chinese else (_ENGLISH,)
    if not any(table[code].search(text) for table in tables):
        return False
    return not (code in _SURPRISING and _SURPRISE.search(reading.plain))
