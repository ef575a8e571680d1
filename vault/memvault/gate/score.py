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
from memvault.gate.estimate import NONE, REACH, Estimates, moved
from memvault.gate.exclusions import Exclusion, excluded, has_source, question
from memvault.gate.reading import Reading, read
from memvault.gate.signals import Signal, by_rule, signals
from memvault.model import Draft, Kind, SourceType

THETA = 0.6
"""A claim is written when its lowest score reaches this."""

MOST_CANDIDATES = 3
"""Candidates per turn and source. The caller counts; more is a sign of transcribing, not of concluding."""

LOWERED = -0.2
"""A signal that takes so much off a score, or more, is one that the chat model cannot make up for."""

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


CLOSED = frozenset({*FindingKind, "scope", "mode_off", "policy_by_person", "not_stated"})
"""Codes of refusals that no opinion about the text changes."""


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
    estimates: Estimates = NONE,
    findings: Sequence[Finding] = (),
    said_explicitly: bool = False,
    mode: Mode = Mode.CANDIDATE,
    require_source: bool = True,
    may_write: bool = True,
) -> Decision:
    """Weigh one draft. Never raises, whatever the text.

    `estimates` move stable and reusable as `gate.estimate` says. `said_explicitly`: the
    daemon saw the user say it in so many words. `may_write`: the grant covers the scope. `mode` concerns
    agents only.
    """
    reading = read(draft)
    fired = signals(reading, draft.claim)
    types = {source.type for source in draft.sources}
    own = who is Writer.PERSON or said_explicitly or types == {SourceType.USER}
    out = excluded(reading, fired, draft.sources, own_words=own)
    heard = own or not types or bool(types - {SourceType.TOOL, SourceType.FILE})
    stable, reusable = by_rule(draft.claim.kind, fired, heard=heard, own_words=own)
    scores = Scores(
        _moved("stable", stable, fired, estimates),
        _moved("reusable", reusable, fired, estimates),
        1.0 if has_source(draft.sources) or not require_source else 0.0,
        1.0 if may_write and not any(finding.blocked for finding in findings) else 0.0,
    )
    scores = _without(scores, out)
    open_to_kind = _kind_trouble(draft, reading, fired, who, said=own)
    policy = draft.claim.kind is Kind.POLICY  # said by the user, it still waits for them to confirm it
    return _verdict(reading, scores, fired, out, findings, who, theta, mode, may_write, open_to_kind, policy)


def _moved(axis: Literal["stable", "reusable"], rule: float, fired: Sequence[Signal], by: Estimates) -> float:
    own = None if by.own is None else getattr(by.own, axis)
    chat = None if by.chat is None else getattr(by.chat, axis)
    return moved(rule, own, chat, lowered=any(getattr(signal, axis) <= LOWERED for signal in fired))


def worth_asking(found: Decision, theta: float) -> bool:
    """Whether the chat model's opinion could turn a decision that was made by the rules alone."""
    closed = found.exclusions or found.code in CLOSED
    if closed or min(found.scores.sourced, found.scores.authorised) < theta:
        return False
    lower = min(found.scores.stable, found.scores.reusable)
    return lower - REACH < theta <= lower + REACH


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
    if kind is Kind.POLICY and not said:
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
    policy: bool,
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
    if (who is Writer.IMPORTER or mode is Mode.DIRECT) and not policy:
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
