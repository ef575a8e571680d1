"""Whether a text says nothing but what was told before, lightly reworded. Pure.

A told text is remembered by its sentences and their clauses. A new sentence is an echo when such pieces, each
found in it whole, account for it: in another order or case, with filler or a phrase around them ("as noted
earlier, ..."), one clause less, two told memories joined. A further number, name or negation is new, and so
is a word in the place of another. What these features cannot tell is said in `likeness`. Knows neither keys
nor tables: features may be anything that can be hashed.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from memvault.gate.likeness import telling

LEAST = 2
"""Features of a clause that is remembered by itself; a single word is everybody's."""
MOST_PIECES, MOST_MEMORIES = 8, 3
"""Pieces, and memories they come from, that may account for one sentence."""
MORE = 0.25
"""Further words that are no name, as a share of what whole told sentences account for."""
LESS = 0.2
"""Words of a told piece that may be missing, as a share, when nothing was put in their place."""

_SENTENCES = re.compile(r"\n+|(?<=[.!?。！？;；])\s*(?=\S)")
_CLAUSES = re.compile(
    r"[,;，；：]\s*|(?<!\w):\s|:\s+|\s[-–—]+\s|[()（）]"
    r"|\b(?=(?:because|but|since|while|although|whereas|if|unless|when|and|then|so that)\b)"
    r"|(?=因为|但是|不过|所以|因此|并且|而且|如果|除非|否则|同时|而不)",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"\b(?:(?:according|relating|referring) to|based on|as|per|from|in|with)?\s*"
    r"\b(?:(?:the|our|my|your|this|these|those|all)\s+)?(?:(?:earlier|previous|past|stored|saved|existing|long-term)\s+)*"
    r"(?:memory|memories|memvault|notes?|records?|conversations?|sessions?|context|history)\b"
    r"(?:\s+(?:say|says|said|shows?|states?|that))*"
    r"|\b(?:as\s+)?(?:noted|recorded|stored|saved|recalled|remembered|mentioned|stated|said|told|discussed|agreed|"
    r"known|learned|confirmed|established|documented)\b(?:\s+(?:earlier|before|previously|already|above))*(?:\s+that)?"
    r"|\b(?:the\s+)?user\s+(?:has\s+)?(?:said|says|told|mentioned|noted|confirmed|stated|asked|explained)\b"
    r"(?:\s+(?:us|me|that))*"
    r"|\b(?:i|we)\s+(?:recall|remember|found|see|saw|noticed|learned|know|knew|understand|think|believe)\b(?:\s+that)?"
    r"|\b(?:recall|remember|reminder|note|keep)\b(?:\s+(?:this|that|it))?(?:\s+in\s+mind)?(?:\s+that)?"
    r"|\b(?:earlier|previously|before|already|for (?:future )?reference|last time)\b"
    r"|根据|按照|依据|基于|关于|之前|先前|此前|早前|上次|以前|曾经|已经?|记忆(?:库|中|里)?|记录(?:中|里)?|笔记(?:中|里)?|"
    r"备忘(?:录)?|已知|存储|保存|提到过?|提过|说过|说|讲过|告诉过?|表示|确认过?|用户|所以|因此|照旧|处理|"
    r"继续|沿用|这一点|如下|参考|回忆(?:起|一下)?|得知|了解到?|知道|看到|查到|发现|显示|里面?|中",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says: its telling words and marks, those of them that tell claims apart, its negations."""

    features: frozenset[str]
    apart: frozenset[str]
    negations: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A told sentence (`whole`) or clause, its features in the form they were kept."""

    memory: str
    features: frozenset[Hashable]
    apart: frozenset[Hashable]
    negations: int
    whole: bool


def said(text: str) -> Said:
    marks, tokens, names = telling(text)
    negations = sum(int(mark.partition(":")[2]) for mark in marks if mark.startswith("negated:"))
    marks = frozenset(mark for mark in marks if not mark.startswith("negated:"))
    return Said(tokens | marks, names | marks, negations)


def sentences(text: str) -> list[str]:
    """The sentences of a text; the text itself when it has none."""
    return [found for found in map(str.strip, _SENTENCES.split(text)) if found] or [text]


def clauses(sentence: str) -> Iterator[str]:
    """The clauses of a sentence that has more than one."""
    found = [piece.strip() for piece in _CLAUSES.split(sentence) if piece and piece.strip()]
    if len(found) > 1:
        yield from found


def unframed(text: str) -> str:
    """The text without the phrases that only report it."""
    return _FRAME.sub(" ", text)


def accounts(
    features: frozenset[Hashable],
    rest: frozenset[Hashable],
    apart: frozenset[Hashable],
    negations: int,
    pieces: Sequence[Piece],
) -> bool:
    """Whether told pieces account for a sentence with these features.

    `rest`: what needs accounting for, without frame; `apart` and `negations` are those of the rest.
    """
    usable = [piece for piece in pieces if piece.negations <= negations and _is_in(piece, features)]
    chosen: list[Piece] = []
    covered: frozenset[Hashable] = frozenset()
    while len(chosen) < MOST_PIECES:
        memories = {piece.memory for piece in chosen}
        open_ = [p for p in usable if len(memories) < MOST_MEMORIES or p.memory in memories]
        best = max(open_, key=lambda piece: len((piece.features & features) - covered), default=None)
        if best is None or not (best.features & features) - covered:
            break
        chosen.append(best)
        covered |= best.features & features
    left = rest - covered
    if not chosen or left & apart or sum(piece.negations for piece in chosen) != negations:
        return False
    if not left:
        return True
    complete = all(piece.whole and piece.features <= features for piece in chosen)
    return complete and len(left) <= MORE * len(covered)


def _is_in(piece: Piece, features: frozenset[Hashable]) -> bool:
    """Whether a piece is found whole, or but for a word or two that do not tell claims apart."""
    missing = piece.features - features
    return not missing & piece.apart and len(missing) <= LESS * len(piece.features)
