"""Control tokens of a model written out inside a text that is only looked at: found and taken apart. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BREAKS = 8


def finder(texts: Iterable[bytes]) -> re.Pattern[str] | None:
    """What finds any of the model's control tokens, the longest first; None when it has none."""
    found = {raw.decode("utf-8", "replace") for raw in texts}
    names = sorted((name for name in found if len(name) > 1), key=lambda name: (-len(name), name))
    return re.compile("|".join(map(re.escape, names))) if names else None


def without_marks(text: str, marks: re.Pattern[str] | None) -> str | None:
    """`text` without anything that the tokeniser would take for a mark; None when it is made of them."""
    for _ in range(_BREAKS):
        if marks is None or not marks.search(text):
            return text
        text = marks.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)
    return None
