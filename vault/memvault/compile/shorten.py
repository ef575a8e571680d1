"""Making a text shorter without changing what it claims. Pure.

Only phrases that claim nothing go. Whether a sentence matters cannot be told from its words alone (names are
written like words, in scripts without capitals always), so no sentence is ever cut: what is still too long is
left out as a whole, and said to be.
"""

from __future__ import annotations

import re

_FILLER = re.compile(
    r"\b(?:please )?note that |\bit (?:is|was) worth (?:noting|mentioning) that |\bas you (?:may )?know, "
    r"|\bof course, |\bby the way, |\bfor what it(?:'s| is) worth, |\bneedless to say, "
    r"|\bas (?:already )?mentioned(?: above)?, "
    r"|请注意[，,：:]|需要说明的是[，,：:]|众所周知[，,]|顺便说一下[，,]|如前所述[，,]",
    re.IGNORECASE,
)
_HINTS = (
    "note that", "noting that", "mentioning that", "you know, ", "may know, ", "of course, ", "the way, ",
    "worth, ", "to say, ", "mentioned", "in order to", "请注意", "需要说明", "众所周知", "顺便说", "如前所述",
)  # fmt: skip
_IN_ORDER_TO = re.compile(r"\b([Ii])n order to\b")
_LITERAL = re.compile(r"(`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」)")


def without_filler(text: str) -> str:
    """`text` without phrases that claim nothing; quotes and code stay as they are."""
    folded = text.casefold()
    if not any(word in folded for word in _HINTS):
        return text
    pieces = _LITERAL.split(text)
    bare = "".join(piece if at % 2 else _bare(piece) for at, piece in enumerate(pieces))
    if bare == text or not text[:1].isupper():
        return bare
    return bare[:1].upper() + bare[1:]


def _bare(piece: str) -> str:
    return _IN_ORDER_TO.sub(lambda match: "to" if match[1] == "i" else "To", _FILLER.sub("", piece))


def pointer(text: str, most_chars: int) -> str:
    """A reference (of a source, never a claim) in at most `most_chars` characters, its middle left out."""
    if len(text) <= most_chars:
        return text
    ahead = (most_chars - 1) // 3
    return f"{text[:ahead]}…{text[len(text) - (most_chars - 1 - ahead) :]}"
