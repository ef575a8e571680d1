"""What a text shows beside its words: whether it asks, and who says it. Owns the patterns.

A mark is stored as a keyed term like any word, so it needs no column and can be read by nobody else. Marks
count only between memories of one thread (see `threads`): there a turn that asks is seldom the answer, and a
question that names somebody is answered by that person's turns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ASKS = "\0asks"
"""The text ends with a question mark."""
BY = "\0by:"
"""Before a word of the name that leads the text ("Ada: I moved")."""

_MOST_NAME_WORDS = 4
_leading_name = re.compile(r"\s*([^\s:：][^:：\n]{0,39})[:：](?=\s|[^\x00-\x7f])").match
_asking = re.compile(r"[?？]\W{0,4}\s*\Z").search
_TAIL = 12


@dataclass(frozen=True, slots=True)
class Marks:
    """What to look for among the marks of memories: keyed hashes, as in `QueryTerm`."""

    asks: int
    names: tuple[int, ...]


def asks(text: str) -> bool:
    """Whether the text ends in a question."""
    return _asking(text[-_TAIL:].rstrip()) is not None


def speaker(text: str) -> tuple[str, ...]:
    """The words of the name before the colon that a turn begins with; empty when there is none."""
    found = _leading_name(text)
    if found is None:
        return ()
    words = tuple(found[1].split())
    return words if len(words) <= _MOST_NAME_WORDS else ()
