"""Reasons in plain words. Owns the sentences shown beside a result; must not know how scores are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memvault.recall.rows import NEVER

_MOST_WORDS = 5


@dataclass(frozen=True, slots=True)
class Days:
    """Day numbers of one memory, `NEVER` for what did not happen, and the day of the question."""

    created: int
    verified: int
    used: int
    today: int


def reasons(
    words: Sequence[str], semantic: float | None, days: Days, *, named: bool | None, near: bool
) -> tuple[str, ...]:
    """Short sentences, most telling first; `near`: the memories said beside it were looked at as well."""
    out: list[str] = []
    if named is not None:
        out.append("the question names its subject and attribute" + ("" if named else ", among others"))
    if words:
        rest = len(words) - _MOST_WORDS
        out.append(f"words: {', '.join(words[:_MOST_WORDS])}" + (f" and {rest} more" if rest > 0 else ""))
    if semantic is not None:
        out.append(f"meaning {semantic:.2f}")
    if near:
        out.append("with what was said around it")
    if days.verified != NEVER:
        out.append(f"verified {ago(days.today - days.verified)}")
    else:
        out.append(f"noted {ago(days.today - days.created)}, never verified")
    if days.used != NEVER:
        out.append(f"used {ago(days.today - days.used)}")
    return tuple(out)


def ago(days: int) -> str:
    """A number of days in words; the future counts as today."""
    if days <= 0:
        return "today"
    if days == 1:
        return "yesterday"
    return f"{days:,} days ago"
