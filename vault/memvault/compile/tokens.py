"""How many tokens a text takes when no tokenizer is at hand. Pure.

The estimate is made to lie above what the default model's tokenizer counts for ordinary text, and is the same
on every machine and at every moment: what the stable zone holds is decided by it alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Count = Callable[[str], int]
"""Tokens of one line."""

LINE_END = 1
"""Tokens a line feed is taken to cost; the default model's tokenizer takes none for it."""

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_PIECE = re.compile(rf"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[{_CJK}]|[^\W{_CJK}]|\S")
_WORD_START = re.compile(r"(?<!\S)[^\sA-Za-z0-9]")


def estimate(text: str) -> int:
    """Tokens of `text`: half of the letters or digits of a run, every other character, and one for each word
    that begins with one of those.
    """
    total = len(_WORD_START.findall(text))
    for piece in _PIECE.findall(text):
        total += (len(piece) + 1) // 2 if piece.isascii() and piece.isalnum() else _of_character(piece)
    return total


def _of_character(char: str) -> int:
    """Pictures and symbols are taken apart by normalisation."""
    return 1 if char.isascii() or char.isalpha() else 2


def cost(lines: tuple[str, ...], count: Count) -> int:
    """Tokens of whole lines with their ends."""
    return sum(count(line) + LINE_END for line in lines)
