"""A draft prepared for the rules of the gate: one spelling, quotations apart. Pure.

Owns normalisation for matching only; what is stored is never changed here. Knows no rule.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from memvault.model import Draft, Failure

LOOK_AT = 4_000
"""Characters of the claim that signals are looked for in: a claim is a sentence, the rest is an appendix."""

_CJK = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "。": ".", "、": ",", "…": "."})
_QUOTED = re.compile(
    r"\"[^\"\n]{1,160}\"|`[^`\n]{1,160}`|「[^」\n]{1,160}」|『[^』\n]{1,160}』|《[^》\n]{1,160}》"
)
QUOTE_MARK = "\u2423"
"""Stands where a quotation was: a word that is only mentioned says nothing about the claim."""


@dataclass(frozen=True, slots=True)
class Reading:
    """`plain`: the claim; `spoken`: the same without quotations; `reasons`: what is said beside it (why, how,
    conditions, context); `whole`: every text that would be stored; `claimed`: those of `whole` that are not
    evidence."""

    plain: str
    spoken: str
    reasons: str
    whole: str
    claimed: str
    chinese: bool
    """Mostly Chinese, so that a question is asked back in Chinese."""
    any_chinese: bool
    """Some text of the claim is Chinese: the Chinese table is worth looking at."""


def normal(text: str) -> str:
    """NFKC with straight quotes and ASCII stops; characters that cannot be seen are dropped."""
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text).translate(_STRAIGHT)
    return "".join(char for char in folded if unicodedata.category(char) not in {"Cf", "Cs"})


def read(draft: Draft) -> Reading:
    """Prepare `draft` for the rules; never raises, whatever the text."""
    claim = draft.claim
    plain = normal(claim.content)
    beside = (claim.why, claim.how_to_apply, claim.conditions, claim.context)
    reasons = normal("\n".join(text for text in beside if text))
    others = (claim.subject, claim.value, claim.about, *_failure_texts(claim.failure))
    claimed = "\n".join([plain, reasons, *(normal(text) for text in others if text)])
    evidence = [normal(source.evidence) for source in draft.sources if source.evidence]
    short = plain[:LOOK_AT]
    return Reading(
        plain=short,
        spoken=_QUOTED.sub(QUOTE_MARK, short),
        reasons=reasons[:LOOK_AT],
        whole="\n".join([claimed, *evidence]),
        claimed=claimed,
        chinese=2 * len(_CJK.findall(short)) >= len(_LATIN.findall(short)) and bool(_CJK.search(short)),
        any_chinese=bool(_CJK.search(claimed)),
    )


def _failure_texts(failure: Failure | None) -> tuple[str, ...]:
    if failure is None:
        return ()
    return (failure.symptom, failure.cause, failure.fix, failure.verification, failure.stop_rule)
