"""Other readings of a text: what its encoded parts say, and what it says with letter tricks undone.

For text that a model may read, which decodes more than programs do. Knows nothing of what is looked for.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote

_MOST = 1 << 16  # characters; whole-text tricks are not tried on longer texts
_LEAST_DECODED = 12
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_LEET = str.maketrans("01345789@$!|", "oieastbgasil")
_SPELLED = re.compile(r"(?:(?<![0-9A-Za-z])[A-Za-z][ ._*-]){4,}[A-Za-z](?![0-9A-Za-z])")
_LEET_WORD = re.compile(
    r"(?<![0-9A-Za-z@$!|])(?=[0-9@$!|]{0,20}[A-Za-z])(?=[A-Za-z]{0,20}[0-9@$!|])[0-9A-Za-z@$!|]{3,24}"
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """`text` is what `start:end` of the original can be read as."""

    text: str
    start: int
    end: int


def hidden_tags(text: str) -> tuple[int, int] | None:
    """Where text stands in tag characters, which no screen shows and models read."""
    found = _TAGS.search(text)
    return found.span() if found else None


def readings(text: str) -> Iterator[Reading]:
    """Encoded runs first, then the whole text read differently."""
    for pattern, decode in _runs():
        for found in pattern.finditer(text):
            plain = _readable(decode, found.group())
            if plain is not None:
                yield Reading(plain, *found.span())
    if len(text) > _MOST:
        return
    whole = (0, len(text))
    seen = {text}
    for other in (
        _INVISIBLE.sub("", text),
        unquote(text) if "%" in text else text,
        _SPELLED.sub(lambda found: re.sub(r"[ ._*-]", "", found.group()), text),
        _LEET_WORD.sub(lambda found: found.group().translate(_LEET), text),
        text[::-1],
        codecs.encode(text, "rot13"),
    ):
        if other not in seen:
            seen.add(other)
            yield Reading(other, *whole)


def _readable(decode: Callable[[str], bytes], run: str) -> str | None:
    """The decoded run if it is text."""
    try:
        plain = decode(run).decode("utf-8")
    except (ValueError, binascii.Error):
        return None
    printable = sum(char.isprintable() or char in "\r\n\t" for char in plain)
    return plain if len(plain) >= _LEAST_DECODED and printable >= 0.95 * len(plain) else None


def _base64(run: str) -> bytes:
    body = re.sub(r"\s", "", run).replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4))


def _base32(run: str) -> bytes:
    body = run.rstrip("=")
    return base64.b32decode(body + "=" * (-len(body) % 8))


def _hex(run: str) -> bytes:
    body = re.sub(r"0x|\\x|[\s:,-]", "", run)
    return bytes.fromhex(body[: len(body) // 2 * 2])


def _binary(run: str) -> bytes:
    bits = re.sub(r"[\s,]", "", run)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) // 8 * 8, 8))


def _decimal(run: str) -> bytes:
    return bytes(int(number) for number in re.findall(r"[0-9]+", run))


def _base85(run: str) -> bytes:
    try:
        return base64.b85decode(run)
    except ValueError:
        return base64.a85decode(run.removeprefix("<~").removesuffix("~>"))


@cache
def _runs() -> tuple[tuple[re.Pattern[str], Callable[[str], bytes]], ...]:
    return (
        (
            re.compile(r"[0-9A-Za-z+/_-]{16,8000}(?:\r?\n[ \t]{0,8}[0-9A-Za-z+/_-]{4,120}){0,200}={0,2}"),
            _base64,
        ),
        (re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[\s:,-]?){12,8000}"), _hex),
        (re.compile(r"[A-Z2-7]{24,8000}={0,6}"), _base32),
        (re.compile(r"(?:[01]{8}[\s,]{0,2}){12,4000}"), _binary),
        (re.compile(r"(?:[0-9]{2,3}[\s,]{1,2}){12,4000}[0-9]{2,3}"), _decimal),
        (re.compile(r"(?<!\S)[!-~]{24,8000}(?!\S)"), _base85),
    )
