"""Screening: what the scan and the gate say of a claim before anything of it is kept (SPEC 5).

Owns turning findings and scores into refused, held or let through, and the counting of refusals. The scan
reads every text of a draft, evidence and references included. Knows nothing of transactions under way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from memvault.errors import Refused
from memvault.gate.estimate import NONE, Estimate, Estimates
from memvault.gate.score import Decision, Scores, Writer, decide, worth_asking
from memvault.model import CLAIM_FIELDS, Claim, Draft, Failure, Kind, Scope, Source, SourceType
from memvault.services.vault import Vault
from memvault.store import settings
from memvault_sync.scan import Kind as ScanKind
from memvault_sync.scan import Scanner, injection

SUSPICIOUS = "suspicious"
"""Flag of a candidate whose text addresses a model or asks to be remembered: only a person lets it in."""

_TOLD = frozenset({SourceType.USER, SourceType.CONVERSATION})


@dataclass(frozen=True, slots=True)
class Screened:
    """`code` and `refusal` name the test that failed; `flags` mark what is held; `warning` is a person's."""

    code: str | None = None
    refusal: str | None = None
    flags: tuple[str, ...] = ()
    warning: str | None = None


@cache
def _scanner() -> Scanner:
    return Scanner()


def texts(claim: Claim, sources: tuple[Source, ...]) -> Iterator[tuple[str, str]]:
    """(name of the field, text) of everything a draft would leave on the disk."""
    for name in CLAIM_FIELDS:
        value = getattr(claim, name)
        if isinstance(value, Failure):
            yield from ((f"failure {part}", getattr(value, part)) for part in Failure.__dataclass_fields__)
        elif isinstance(value, str):
            yield name, str(value)
    for source in sources:
        yield from (
            (f"source {name}", value)
            for name in ("ref", "task", "evidence")
            if (value := getattr(source, name)) is not None
        )


def screen(
    draft: Draft, *, agent: bool, imported: bool, theta: float, estimates: Estimates = NONE
) -> Screened:
    """Scan and weigh one checked draft. Never raises; the caller counts a refusal by its code."""
    found = credential(draft.claim, draft.sources)
    if found is not None:
        return Screened("credential", found)
    personal = _personal(draft)
    if personal is not None:
        return Screened("personal_data", f"personal data ({personal}) is not kept in long-term memory")
    if (imported or agent) and _addresses_a_model(draft, imported):
        if agent:
            return Screened("injection", "text that addresses a model or asks to be remembered is not taken")
        return Screened(flags=(SUSPICIOUS,))
    decision = decide(draft, who=Writer.AGENT if agent else Writer.PERSON, theta=theta, estimates=estimates)
    if decision.verdict == "refuse" and agent:
        asked = f" {decision.question}" if decision.question else ""
        return Screened(f"gate_{decision.code}", f"{decision.reason}.{asked}" if asked else decision.reason)
    # By hand a person is warned: only credentials, personal numbers and tombstones refuse (SPEC 5).
    return Screened(warning=decision.reason if _worth_a_word(decision) else None)


def _worth_a_word(decision: Decision) -> bool:
    """Whether something in the text lowered it; that a plain fact raised nothing is no reason to nag."""
    return decision.verdict == "refuse" or (decision.warned and not decision.code.startswith("not_"))


def undecided(draft: Draft, theta: float) -> bool:
    """Whether a chat model's opinion on an agent's proposal could matter; never where a secret is in it."""
    if credential(draft.claim, draft.sources) is not None or _personal(draft) is not None:
        return False
    return worth_asking(decide(draft, who=Writer.AGENT, theta=theta), theta)


def proposed(content: str, kind: Kind) -> Draft:
    """What `explain` weighs: a claim that an agent proposes from a conversation."""
    return Draft(Claim(kind, Scope.PRIVATE, content), (Source(SourceType.CONVERSATION, "explain"),))


def explain(draft: Draft, theta: float, estimates: Estimates = NONE) -> dict[str, Any]:
    """What the gate would say if an agent proposed this: scores, signals, exclusions, and who moved them."""
    rules = decide(draft, who=Writer.AGENT, theta=theta)
    decision = decide(draft, who=Writer.AGENT, theta=theta, estimates=estimates)
    return {
        "verdict": decision.verdict,
        "scores": _four(decision),
        "total": decision.scores.total,
        "theta": theta,
        "reason": decision.reason,
        "question": decision.question,
        "signals": [
            {"code": signal.code, "stable": signal.stable, "reusable": signal.reusable}
            for signal in decision.signals
        ],
        "exclusions": [exclusion.code for exclusion in decision.exclusions],
        "credential": credential(draft.claim) is not None,
        "rules": _four(rules),
        "estimate": _pair(estimates.own),
        "chat": _pair(estimates.chat),
    }


def _four(decision: Decision) -> dict[str, float]:
    return {name: getattr(decision.scores, name) for name in Scores.__dataclass_fields__}


def _pair(estimate: Estimate | None) -> dict[str, float] | None:
    return None if estimate is None else {"stable": estimate.stable, "reusable": estimate.reusable}


def count_refusal(vault: Vault, screened: Screened) -> None:
    """Count a refusal by what refused it. Inside the caller's transaction."""
    settings.count(vault.writer, f"refused:{screened.code}")


def credential(claim: Claim, sources: tuple[Source, ...] = ()) -> str | None:
    """Why these texts may not be kept: the rule and the field, never the secret. None when clean."""
    return next(filter(None, (_secret_in(name, text) for name, text in texts(claim, sources))), None)


def require_clean(name: str, text: str | None) -> None:
    """Raises Refused for a reason or note that holds a credential."""
    found = None if text is None else _secret_in(name, text)
    if found is not None:
        raise Refused(found)


def _secret_in(name: str, text: str) -> str | None:
    for finding in _scanner().scan(text):
        if finding.kind is ScanKind.CREDENTIAL and finding.tier == 1:
            return f"the {name} holds a credential ({finding.rule}); nothing of it was kept"
    return None


def _personal(draft: Draft) -> str | None:
    """The rule that found blocked personal data, if one did."""
    for _, text in texts(draft.claim, draft.sources):
        for finding in _scanner().scan(text):
            if finding.kind is ScanKind.PERSONAL and finding.tier == 1:
                return finding.rule
    return None


def _addresses_a_model(draft: Draft, imported: bool) -> bool:
    """Only text that neither the user said nor a conversation reports is looked at: tools, pages, files."""
    if not imported and {source.type for source in draft.sources} <= _TOLD:
        return False
    return any(injection(text) for _, text in texts(draft.claim, draft.sources))
