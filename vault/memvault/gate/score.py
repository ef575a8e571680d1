"""The write gate (SPEC 5): min(stable, reusable, sourced, authorised) against theta. Pure.

Owns the decision and its one-sentence reason. Scanning for credentials, counting per turn, tombstones and
promotion are the caller's; what the scanner found comes in as findings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from memvault.gate import chinese, english
from memvault.gate.exclusions import Exclusion, excluded, has_source, question
from memvault.gate.reading import Reading, read
from memvault.gate.signals import Signal, by_rule, signals
from memvault.model import Draft, Kind, SourceType

THETA = 0.6
"""A claim is written when its lowest score reaches this."""

MOST_CANDIDATES = 3
"""Candidates per turn and source. The caller counts; more is a sign of transcribing, not of concluding."""

Verdict = Literal["pass", "hold", "refuse"]


class Writer(StrEnum):
    """Whose hand the draft comes from; the daemon knows, a caller never says so itself."""

    PERSON = "person"
    AGENT = "agent"
    IMPORTER = "importer"


class Mode(StrEnum):
    """What an agent's grant lets it do: nothing, propose, or write."""

    OFF = "off"
    CANDIDATE = "candidate"
    DIRECT = "direct"


class FindingKind(StrEnum):
    CREDENTIAL = "credential"
    PERSONAL = "personal"


@dataclass(frozen=True, slots=True)
class Finding:
    """What the scanner saw. `rule` is its id, never the text; `blocked`: nobody can wave it through."""

    kind: FindingKind
    rule: str
    blocked: bool = True


@dataclass(frozen=True, slots=True)
class Scores:
    """The four tests, each 0..1. They do not make up for one another."""

    stable: float
    reusable: float
    sourced: float
    authorised: float

    @property
    def total(self) -> float:
        """The lowest of the four."""
        return min(self.stable, self.reusable, self.sourced, self.authorised)


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason`: one sentence, never quoting the claim. `code`: what decided, for counting. `question` is
    set when something excluded was offered. A person's "pass" with `warned` says what the gate thinks."""

    verdict: Verdict
    scores: Scores
    signals: tuple[Signal, ...]
    exclusions: tuple[Exclusion, ...]
    code: str
    reason: str
    question: str | None = None
    warned: bool = False


_STATED = re.compile(f"{english.STATED}|{chinese.STATED}", re.IGNORECASE)
_FAILED = {
    "stable": "it will not hold for long",
    "reusable": "nothing in it would change what is done next time",
    "sourced": "no source can be followed back",
    "authorised": "it may not be kept here",
}


def decide(
    draft: Draft,
    *,
    who: Writer,
    theta: float = THETA,
    estimate: float | None = None,
    chat: float | None = None,
    findings: Sequence[Finding] = (),
    said_explicitly: bool = False,
    mode: Mode = Mode.CANDIDATE,
    require_source: bool = True,
    may_write: bool = True,
) -> Decision:
    """Weigh one draft. Never raises, whatever the text.

    `estimate` (0..1) is the proposer's own and can only lower; `chat` (0..1) is the probability of the
    user's own chat model and counts half, but lifts nothing that a rule lowered. `said_explicitly`: the
    daemon saw the user say it in so many words. `may_write`: the grant covers the scope. `mode` concerns
    agents only.
    """
    reading = read(draft)
    fired = signals(reading, draft.claim)
    types = {source.type for source in draft.sources}
    own = who is Writer.PERSON or said_explicitly or types == {SourceType.USER}
    out = excluded(reading, fired, draft.sources, own_words=own)
    heard = own or not types or bool(types - {SourceType.TOOL, SourceType.FILE})
    stable, reusable = by_rule(draft.claim.kind, fired, heard=heard)
    scores = Scores(
        _estimated(stable, estimate, chat, lowered=any(signal.stable <= -0.2 for signal in fired)),
        _estimated(reusable, estimate, chat, lowered=any(signal.reusable <= -0.2 for signal in fired)),
        1.0 if has_source(draft.sources) or not require_source else 0.0,
        1.0 if may_write and not any(finding.blocked for finding in findings) else 0.0,
    )
    scores = _without(scores, out)
    open_to_kind = _kind_trouble(draft, reading, fired, who, said=own)
    return _verdict(reading, scores, fired, out, findings, who, theta, mode, may_write, open_to_kind)


def _estimated(rule: float, estimate: float | None, chat: float | None, *, lowered: bool) -> float:
    score = rule
    if chat is not None:
        mixed = (score + _unit(chat)) / 2
        score = min(score, mixed) if lowered else mixed
    if estimate is not None:
        score = min(score, (score + _unit(estimate)) / 2)
    return round(score, 4)


def _unit(value: float) -> float:
    """0..1; what is not a number counts as no confidence at all."""
    return min(1.0, max(0.0, value)) if value == value else 0.0  # noqa: PLR0124


def _without(scores: Scores, out: Sequence[Exclusion]) -> Scores:
    axes = {exclusion.axis for exclusion in out}
    return replace(
        scores,
        stable=0.0 if "stable" in axes else scores.stable,
        reusable=0.0 if "reusable" in axes else scores.reusable,
        sourced=0.0 if "sourced" in axes else scores.sourced,
        authorised=0.0 if "authorised" in axes else scores.authorised,
    )


def _kind_trouble(
    draft: Draft, reading: Reading, fired: Sequence[Signal], who: Writer, *, said: bool
) -> tuple[str, str] | None:
    """Code and sentence when the writer may not bring this kind, or not on this ground (SPEC 2)."""
    kind = draft.claim.kind
    if who is Writer.PERSON:
        return None
    if kind is Kind.POLICY:
        return "policy_by_person", "only a person sets a policy"
    if who is Writer.IMPORTER or said:
        return None
    if kind is Kind.RELATIONSHIP:
        return "not_stated", "a relationship is kept only when the user stated it"
    grounds = {"explicit", "correction", "confirmed"} & {signal.code for signal in fired}
    heard = any(source.type is SourceType.CONVERSATION for source in draft.sources)
    if kind is Kind.PREFERENCE and not (heard and (grounds or _STATED.search(reading.claimed))):
        return "not_stated", "a preference is kept only when the user stated, repeated or confirmed it"
    return None


def _verdict(
    reading: Reading,
    scores: Scores,
    fired: tuple[Signal, ...],
    out: tuple[Exclusion, ...],
    findings: Sequence[Finding],
    who: Writer,
    theta: float,
    mode: Mode,
    may_write: bool,
    kind_trouble: tuple[str, str] | None,
) -> Decision:
    def decision(verdict: Verdict, code: str, reason: str, *, warned: bool = False) -> Decision:
        asked = question(reading) if out else None
        return Decision(verdict, scores, fired, out, code, reason, asked, warned)

    barred = _barred(findings, out, who, mode, may_write)
    if barred is not None:
        return decision("refuse", *barred)
    weak = _weak(scores, fired, out, theta)
    if who is Writer.PERSON:
        if weak is None:
            return decision("pass", "passed", _passed(scores))
        return decision("pass", weak[0], f"kept as you say so, although {weak[1]}", warned=True)
    trouble = kind_trouble or weak
    if trouble is not None:
        code, why = trouble
        return decision("hold" if who is Writer.IMPORTER else "refuse", code, why)
    if who is Writer.IMPORTER or mode is Mode.DIRECT:
        return decision("pass", "passed", _passed(scores))
    return decision("hold", "candidate", f"{_passed(scores)}; it waits as a candidate")


def _barred(
    findings: Sequence[Finding], out: Sequence[Exclusion], who: Writer, mode: Mode, may_write: bool
) -> tuple[str, str] | None:
    """What refuses whoever writes and whatever the scores: code and sentence."""
    for finding in findings:
        if finding.blocked:
            what = "a credential" if finding.kind is FindingKind.CREDENTIAL else "blocked personal data"
            return str(finding.kind), f"not authorised: it holds {what} (rule {finding.rule})"
    for exclusion in out:
        if exclusion.for_everybody:
            return exclusion.code, f"not authorised: {exclusion.sentence}"
    if not may_write:
        return "scope", "not authorised: this writer may not write to this scope"
    if who is Writer.AGENT and mode is Mode.OFF:
        return "mode_off", "not authorised: writing by agents is switched off"
    return None


def _weak(
    scores: Scores, fired: Sequence[Signal], out: Sequence[Exclusion], theta: float
) -> tuple[str, str] | None:
    """The test that failed and why, or None when the total reaches theta."""
    if out:
        return out[0].code, f"it is not {out[0].axis}: {out[0].sentence}"
    if scores.total >= theta:
        return None
    axis = next(
        name for name in ("authorised", "sourced", "stable", "reusable") if getattr(scores, name) < theta
    )
    value = getattr(scores, axis)
    lowering = [s for s in fired if (s.stable if axis == "stable" else s.reusable) < 0]
    if axis in {"stable", "reusable"} and lowering:
        worst = min(lowering, key=lambda s: s.stable if axis == "stable" else s.reusable)
        return worst.code, f"it is not {axis} enough ({value:.2f} of {theta:.2f}): {worst.sentence}"
    return f"not_{axis}", f"it is not {axis} enough ({value:.2f} of {theta:.2f}): {_FAILED[axis]}"


def _passed(scores: Scores) -> str:
    return f"it is stable, reusable, sourced and authorised ({scores.total:.2f})"
