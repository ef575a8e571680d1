"""What the wording of a claim says about how long it holds and whether it changes anything later. Pure.

Owns the codes, their effects on `stable` and `reusable`, and which signal takes the edge off another.
Wordings are in `english` and `chinese`. Knows nothing of writers, sources or thresholds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from memvault.gate import chinese, chinese_told, english, english_told
from memvault.gate.reading import Reading
from memvault.model import Claim, Failure, Kind


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing noticed. Effects are added to the scores (-1..1); `sentence` never quotes the claim."""

    code: str
    stable: float
    reusable: float
    sentence: str

    @property
    def lowers(self) -> bool:
        return self.stable < 0 or self.reusable < 0


def _signal(code: str, stable: float, reusable: float, sentence: str) -> tuple[str, Signal]:
    return code, Signal(code, stable, reusable, sentence)


SIGNALS: dict[str, Signal] = dict(
    (
        _signal("relative_date", -0.5, 0.0, "it speaks of a day or week that will have passed"),
        _signal("dated_start", -0.05, 0.0, "it holds from a day named only relatively"),
        _signal("temporary_path", -0.5, 0.0, "it names a temporary place"),
        _signal("one_off", -0.5, 0.0, "it is meant for this once"),
        _signal("process_id", -0.5, -0.2, "it names one process, job or session"),
        _signal("one_off_timing", -0.5, -0.2, "it is the timing of one run"),
        _signal("running_state", -0.5, 0.0, "it describes how things are at the moment"),
        _signal("hypothetical", -0.4, -0.3, "it supposes something that is not the case"),
        _signal("imagined", -0.5, -0.5, "it is only imagined"),
        _signal("question", -0.5, -0.5, "it asks instead of saying"),
        _signal("guess", -0.45, 0.0, "it is a guess"),
        _signal("discussion", 0.0, -0.45, "it tells of a discussion without a result"),
        _signal("chat_log", 0.0, -0.5, "it tells what happened in a conversation"),
        _signal("common_knowledge", 0.0, -0.5, "it is common knowledge"),
        _signal("explicit", 0.2, 0.2, "it is meant to hold from now on"),
        _signal("preference", 0.1, 0.15, "it is a standing preference"),
        _signal("correction", 0.2, 0.25, "it was corrected repeatedly"),
        _signal("confirmed", 0.1, 0.2, "it was tried and accepted"),
        _signal("trigger", 0.15, 0.25, "it says what to look at first"),
        _signal("shield", 0.2, 0.3, "it leads from a symptom over its cause to a fix"),
        _signal("map", 0.15, 0.2, "it says where something is that cannot be read off the repository"),
        _signal("reason", 0.1, 0.15, "it gives a reason"),
        _signal("decision", 0.1, 0.15, "it is a decision or a limit"),
        _signal("lesson", 0.05, 0.2, "it draws a lesson"),
        _signal("general", 0.1, 0.1, "it states a rule rather than an event"),
        _signal("practice", 0.05, 0.1, "it says how things are done here"),
        _signal("place", 0.05, 0.1, "it says where something is kept"),
        _signal("surprise", 0.05, 0.1, "it says where things are not as one would expect"),
        _signal("limit", 0.0, 0.06, "it says what does not work, or up to where"),
        _signal("outside", 0.05, 0.08, "it is about somebody outside the code, whom the code cannot tell of"),
        _signal("cause", 0.0, 0.15, "it names a cause"),
    )
)

RAISE_AT_MOST = 0.3
"""What all raising signals of one axis may add together, so that no number of them hides a lowering one."""

_SHIELD_PARTS = ("cause", "fix", "verification", "stop_rule")

_SOFTENED_BY: dict[str, frozenset[str]] = {
    "guess": frozenset({"trigger", "shield"}),
    "running_state": frozenset({"trigger", "shield", "correction"}),
    "question": frozenset({"shield", "trigger", "correction"}),
    "one_off_timing": frozenset({"shield", "lesson"}),
    "hypothetical": frozenset({"trigger", "shield"}),
    "relative_date": frozenset({"recurring"}),
    "discussion": frozenset({"decision", "lesson", "correction"}),
    "chat_log": frozenset(
        {"explicit", "preference", "correction", "lesson", "trigger", "shield", "confirmed", "general"}
    ),
    "common_knowledge": frozenset({"map", "trigger"}),
}
"""A lowering signal (left) that the nature of the claim (right) explains: it does not count then."""

_BASE: dict[Kind, tuple[float, float]] = {
    Kind.POLICY: (0.7, 0.7),
    Kind.PREFERENCE: (0.7, 0.7),
    Kind.RELATIONSHIP: (0.7, 0.7),
    Kind.PROCEDURE: (0.65, 0.65),
    Kind.FACT: (0.65, 0.55),
    Kind.EPISODE: (0.65, 0.48),
    Kind.REFLECTION: (0.65, 0.5),
}
"""Stable and reusable of a claim without any signal. A fact must show in some way why it matters later,
an episode what is reusable in it, a reflection its cause (SPEC 2); the other kinds are reusable by nature."""

OWN_WORDS = 0.06
"""What the user tells of their own accord about their world is reusable a little more: they know it, and took
the trouble to say so. For kinds that are not reusable by nature."""


def joined(*tables: Mapping[str, str], flags: int = 0) -> dict[str, re.Pattern[str]]:
    """One pattern a code, of all tables that have wording for it."""
    codes = dict.fromkeys(code for table in tables for code in table)
    return {
        code: re.compile("|".join(table[code] for table in tables if code in table), flags) for code in codes
    }


_ENGLISH = joined(english.SIGNALS, english_told.SIGNALS)
_CHINESE = joined(chinese.SIGNALS, chinese_told.SIGNALS)
_LOWERING = frozenset(code for code, signal in SIGNALS.items() if signal.lowers)
_OURS = re.compile(f"{english.OURS}|{chinese.OURS}", re.IGNORECASE)
_DECIDED = re.compile(f"{english.DECIDED}|{chinese.DECIDED}", re.IGNORECASE)
_PROVENANCE = re.compile(f"{english_told.PROVENANCE}|{chinese_told.PROVENANCE}")
_PAST = re.compile(f"{english_told.PAST}|{chinese_told.PAST}")
_TOLD_AFTERWARDS = frozenset({Kind.EPISODE, Kind.REFLECTION})
"""Kinds that tell what happened and what helped: that it was last year takes nothing from them."""

_NOT_DECIDED = re.compile(f"{english.NOT_DECIDED}|{chinese.NOT_DECIDED}", re.IGNORECASE)


def noticed(reading: Reading, claim: Claim) -> frozenset[str]:
    """Codes whose wording occurs; raising ones are looked for in the reasons as well."""
    spoken = reading.spoken.lower()
    beside = f"{spoken}\n{reading.reasons.lower()}" if reading.reasons else spoken
    tables = (_ENGLISH, _CHINESE) if reading.any_chinese else (_ENGLISH,)
    timeless = _PROVENANCE.sub(" ", spoken)
    if claim.kind in _TOLD_AFTERWARDS and any(table["fix"].search(spoken) for table in tables):
        timeless = _PAST.sub(" ", timeless)
    found = {
        code
        for table in tables
        for code, pattern in table.items()
        if pattern.search(timeless if code == "relative_date" else spoken if code in _LOWERING else beside)
    }
    if _ENGLISH["temporary_path"].search(reading.plain.lower()):
        found.add("temporary_path")
    if claim.why:
        found.add("reason")
    if _is_shield(found, claim.failure):
        found.add("shield")
    return frozenset(found)


def _is_shield(found: set[str], failure: Failure | None) -> bool:
    if failure is not None and failure.symptom and failure.cause and failure.fix:
        return True
    parts = [part for part in _SHIELD_PARTS if part in found]
    return "cause" in found and len(parts) >= 3


def _standing(code: str, found: frozenset[str], reading: Reading) -> bool:
    if code == "question" and reading.spoken.rstrip().endswith("?"):
        return True
    if code not in SIGNALS or found & _SOFTENED_BY.get(code, frozenset()):
        return False
    if code == "common_knowledge":
        return not _OURS.search(reading.plain)
    if code == "discussion":
        return bool(_NOT_DECIDED.search(reading.plain)) or not _DECIDED.search(reading.plain)
    return True


def signals(reading: Reading, claim: Claim) -> tuple[Signal, ...]:
    """The signals that count for this claim, in the order of SIGNALS."""
    found = noticed(reading, claim)
    return tuple(SIGNALS[code] for code in SIGNALS if code in found and _standing(code, found, reading))


def by_rule(
    kind: Kind, fired: tuple[Signal, ...], *, heard: bool, own_words: bool = False
) -> tuple[float, float]:
    """Stable and reusable, each 0..1, by the rules alone.

    `heard`: somebody said it; "always" or "remember" inside text that was only read raises nothing.
    `own_words`: it was the user.
    """
    counted = [signal for signal in fired if heard or signal.code != "explicit"]
    stable, reusable = _BASE[kind]
    if own_words and reusable < _BASE[Kind.PROCEDURE][1]:
        reusable += OWN_WORDS
    return (
        _sum(stable, [signal.stable for signal in counted]),
        _sum(reusable, [signal.reusable for signal in counted]),
    )


def _sum(base: float, effects: list[float]) -> float:
    raised = min(RAISE_AT_MOST, sum(effect for effect in effects if effect > 0))
    return min(1.0, max(0.0, base + raised + sum(effect for effect in effects if effect < 0)))
