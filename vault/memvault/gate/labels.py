"""Claims that a person has judged, as JSON lines: what calibration reads. Pure.

A line: {"text": ..., "keep": true|false, "kind": ..., "source": ...}. `kind` (default fact) and `source` (a
source type, default conversation; also called `source_type`) say how the claim would be proposed; whatever
else a line holds is the labeller's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from memvault.errors import Usage
from memvault.model import Claim, Draft, Kind, Scope, Source, SourceType

_FORM = 'One JSON object a line: {"text": "...", "keep": true, "kind": "fact", "source": "conversation"}.'

NAMED = 5
"""Bad lines that an error names; it counts the others."""


class LabelInvalid(ValueError):
    """What is wrong with one line, without its text."""


@dataclass(frozen=True, slots=True)
class Label:
    """A claim as an agent would propose it, and whether it is worth keeping."""

    draft: Draft
    keep: bool


def parse(lines: Iterable[str]) -> list[Label]:
    """Every label; blank lines are skipped. Raises Usage, naming bad lines by number, or when the labels
    cannot be calibrated on: none at all, or all the same."""
    found: list[Label] = []
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(label(_object(line)))
        except LabelInvalid as error:
            wrong.append(f"line {number}: {error}")
    if wrong:
        more = f"; and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        raise Usage(f"labels that cannot be read: {'; '.join(wrong[:NAMED])}{more}", _FORM)
    if not found:
        raise Usage("there are no labels", _FORM)
    if len({one.keep for one in found}) == 1:
        raise Usage("every label says the same: calibration needs claims to keep and claims to refuse", _FORM)
    return found


def label(raw: dict[str, Any]) -> Label:
    """One label. Raises LabelInvalid, never quoting the text."""
    text, keep = raw.get("text"), raw.get("keep")
    if not isinstance(text, str) or not text.strip():
        raise LabelInvalid("`text` is not a text")
    if not isinstance(keep, bool):
        raise LabelInvalid("`keep` is neither true nor false")
    kind = _word(Kind, "kind", raw.get("kind", Kind.FACT))
    source = _word(SourceType, "source", raw.get("source", raw.get("source_type", SourceType.CONVERSATION)))
    claim = Claim(kind=Kind(kind), scope=Scope.PRIVATE, content=text)
    return Label(Draft(claim, (Source(SourceType(source), "labels"),)), keep)


def _word(words: type[Kind | SourceType], name: str, value: object) -> str:
    known = [str(word) for word in words]
    if value not in known:
        raise LabelInvalid(f"`{name}` is none of {', '.join(known)}")
    return cast("str", value)


def _object(line: str) -> dict[str, Any]:
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LabelInvalid("not JSON") from error
    if not isinstance(found, dict):
        raise LabelInvalid("not a JSON object")
    return cast("dict[str, Any]", found)
