"""A prompt as a person's own words: without code, quotations, and what host or memvault put into it. Pure.

Owns where sentences begin and end. Knows nothing of what they mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memvault.hooks import frame
from memvault.pasted import FENCE, QUOTED_LINE

MOST_CHARS = 20_000
"""Of a prompt; what is longer is looked at as far as this."""
LONG_CHARS = 1_500
EDGE_CHARS = 500
"""Whoever pastes much writes their own words before or after it: of a long prompt only its edges count."""

_TAGGED = re.compile(
    r"<([a-z]+(?:[-_][a-z]+)+|documents?|files?|context|selection|terminal"
    r"|instructions)\b[^>]{0,200}>.*?(?:</\1>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)、])\s+")
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|(?<=[。！？])")
CJK = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; `line` is the number of its line."""

    text: str
    line: int


def own(prompt: str, *, whole: bool = False) -> str:
    """What the person wrote themselves; `whole`: beyond MOST_CHARS too."""
    text = frame.without(prompt if whole else prompt[:MOST_CHARS])
    for pattern in (FENCE, _TAGGED, QUOTED_LINE):
        text = pattern.sub("\n", text)
    return text.strip()


def edges(text: str) -> str:
    """The text; of a long one its beginning and its end."""
    if len(text) <= LONG_CHARS:
        return text
    return f"{_cut(text[:EDGE_CHARS])}\n\n{_cut(text[-EDGE_CHARS:], front=True)}"


def _cut(text: str, *, front: bool = False) -> str:
    """Whole sentences only."""
    ends = [found.start() for found in _END.finditer(text)] + [at for at, c in enumerate(text) if c == "\n"]
    if not ends:
        return ""
    return text[min(ends) :] if front else text[: max(ends)]


def sentences(text: str) -> list[Sentence]:
    """Sentences in their order; items of a list are sentences."""
    found: list[Sentence] = []
    for number, line in enumerate(text.splitlines()):
        bare = _BULLET.sub("", line).strip()
        found += [Sentence(part.strip(), number) for part in _END.split(bare) if part and part.strip()]
    return found


def size(text: str) -> int:
    """Words; a Chinese character counts half a word."""
    return len(re.findall(r"[^\W\u3400-\u9fff]+(?:['’.-]\w+)*", text)) + (len(CJK.findall(text)) + 1) // 2
