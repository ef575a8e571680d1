"""The normalised view: what a reader or a program would take the bytes for.

Escapes, entities, percent codes and terminal codes are resolved; invisible characters removed; full-width,
styled and look-alike characters become ASCII. Works on UTF-8 bytes. Knows nothing of rules.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from memvault_sync.scan.finding import View
from memvault_sync.scan.projection import Edits, Projection

_ROUNDS = 3  # escapes inside escapes

# Every alternative starts with one literal byte: the search then skips all other bytes at once.
_ASCII = rb"""
  \\(?:u(?:00(?:[0-7][0-9A-Fa-f]|[aA][0dD])|(?:ff|FF|2[014]|f[eE]|FE|0[34])[0-9A-Fa-f]{2})|u\{[0-9A-Fa-f]{1,6}\}
     |[uU]d835\\ud[c-f][0-9a-f]{2}|U000[01e][0-9A-Fa-f]{4}|x[0-7][0-9A-Fa-f]|[01][0-7]{2}|[/_=.+-])
| %[0-9A-Fa-f]{2}
| &(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|amp|lt|gt|quot|apos|nbsp|lowbar|UnderBar|hyphen|dash|equals|colon
     |period|sol|plus|dollar|num|excl|commat|lsqb|rsqb|shy|zwj|zwnj|ZeroWidthSpace|NoBreak|Tab|NewLine);?
| \x1b(?:\[[0-9;:?]{0,24}[ -/]{0,2}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z_a-z])
"""
# Invisible characters; styled, full-width and foreign digits and letters; letters that look like Latin ones
# where they touch ASCII.
_BEYOND = rb"""
  \xe2(?:\x80[\x80-\x8f\x90-\x95\xaa-\xaf] | \x81[\x9f-\xbf] | \x82[\x80-\x9f] | [\x84\x85\x92\x93][\x80-\xbf]
     | \x88\x92 | \x91[\xa0-\xbf])
| \xef(?:\xbc[\x84-\x86\x8b\x8d-\x99\x9d\xa0-\xba\xbc\xbf]
     | \xbc[\x9a\x9b\x9f](?:(?<=[0-9A-Za-z]\xef\xbc.) | (?<=\xef\xbc[\x90-\xba]\xef\xbc.)
        | (?<=\xef\xbd[\x81-\x9a]\xef\xbc.))
     | \xbd[\x81-\x9a\x9e] | \xb8[\x80-\xbf] | \xb9[\x80-\xaf] | \xbb\xbf | \xbe\xa0 | \xbf[\xb0-\xbb])
| \xe3(?:\x80\x80 | \x85\xa4)
| \xc2[\xa0\xaa\xad\xb2\xb3\xb9\xba]
| \xf0(?:\x9d[\x90-\x9f][\x80-\xbf] | \x9f[\x84-\x87][\x80-\xbf] | \x9f\xaf[\xb0-\xb9])
| \xf3\xa0[\x80-\x87][\x80-\xbf]
| \xe0(?:[\xa5\xa7\xa9\xab\xad\xaf\xb1\xb3\xb5\xb7][\xa6-\xaf] | [\xb9\xbb][\x90-\x99] | \xbc[\xa0-\xa9])
| \xe1(?:\x85[\x9f\xa0] | \x9e[\xb4\xb5] | \xa0[\x8b-\x8f] | \xb4[\xac-\xbf] | \xb5[\x80-\xaa])
| \xd9[\xa0-\xa9] | \xdb[\xb0-\xb9] | \xdf[\x80-\x89] | \xd8\x9c
| \xca[\xb0-\xbf] | \xcb[\xa0-\xa4] | \xcd\x8f
"""
_TOUCHING = b"|".join(
    rb"\x%02x(?:(?<=[0-9A-Za-z_-].)[\x80-\xbf](?:[%b][\x80-\xbf]){0,7}" % (lead, scripts)
    + rb"|[\x80-\xbf](?:[%b][\x80-\xbf]){0,3}(?=[0-9A-Za-z_-]))" % scripts
    for leads, scripts in ((range(0xCE, 0xD5), rb"\xce-\xd4"), (range(0xCC, 0xCE), rb"\xcc\xcd"))
    for lead in leads
)
_IN_ASCII = re.compile(_ASCII, re.VERBOSE)
_IN_ANY = re.compile(b"|".join((_ASCII, _BEYOND, _TOUCHING)), re.VERBOSE | re.DOTALL)

_LOOK_ALIKE = dict(
    zip(
        "АВЕЅІЈКМНОРСТУХԚԜаеѕіјорсухԛԝһӏԁΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανυρ",
        "ABESIJKMHOPCTYXQWaesijopcyxqwhldABEZHIKMNOPTYXoavup",
        strict=True,
    )
)
_HIGH_SURROGATE = 0xD835  # of the styled letters and digits
_ESCAPE_MARKS = frozenset({b"\\", b"%", b"&", b"\x1b"})
_BLANKED = ((b"\\n", b"\n\n"), (b"\\r", b"\r\n"))
_HEX_DIGITS = "0123456789abcdefABCDEF"
_AFTER_BACKSLASH = (
    "u00 uff uFF u20 u21 u24 u03 u04 ufe uFE u{ ud835 U000 x0 x1 x2 x3 x4 x5 x6 x7 0 1 / _ = . + -"
)
_AFTER_AMPERSAND = """# amp lt gt quot apos nbsp low Under hyphen dash equals colon period sol plus dollar num
excl commat lsqb rsqb shy zw Zero NoBreak Tab NewLine"""
# What an escape in ASCII starts with, for callers that look for many literals at once anyway.
ESCAPE_STARTS: tuple[bytes, ...] = (
    *(f"\\{after}".encode() for after in _AFTER_BACKSLASH.split()),
    *(f"%{high}{low}".encode() for high in _HEX_DIGITS for low in _HEX_DIGITS),
    *(f"&{after}".encode() for after in _AFTER_AMPERSAND.split()),
    b"\x1b",
)


def blanked(data: bytes) -> bytes:
    """Written-out line breaks as real ones, two for two bytes: every position stays."""
    if b"\\" in data:
        for written, real in _BLANKED:
            data = data.replace(written, real)
    return data


def normalised(source: Projection, starts: Iterable[int] | None = None) -> Projection | None:
    """The text with disguises of single characters undone, or None where there are none.

    `starts`: where `ESCAPE_STARTS` occur, in order, if the caller knows.
    """
    here = source
    for number in range(_ROUNDS):
        changed, again = _round(here, starts if number == 0 else None)
        if changed is None:
            break
        here = changed
        if not again:
            break
    return None if here is source else here


def _found(data: bytes, starts: Iterable[int] | None) -> Iterator[re.Match[bytes]]:
    if not data.isascii():
        yield from _IN_ANY.finditer(data)
    elif starts is None:
        if any(mark in data for mark in _ESCAPE_MARKS):
            yield from _IN_ASCII.finditer(data)
    else:
        done = 0
        for start in starts:
            found = _IN_ASCII.match(data, start) if start >= done else None
            if found is not None:
                done = found.end()
                yield found


def _round(source: Projection, starts: Iterable[int] | None) -> tuple[Projection | None, bool]:
    """One pass, and whether its results may themselves be escapes."""
    data = source.data
    edits = Edits()
    pieces: list[bytes] = []
    done = length = 0
    again = False
    for found in _found(data, starts):
        start, end = found.span()
        pieces.append(data[done:start])
        length += start - done
        new = _escape(found) if data[start] < 0x80 else _folded(found.group())
        again = again or new in _ESCAPE_MARKS
        edits.note(length, length + len(new), start, end)
        pieces.append(new)
        length += len(new)
        done = end
    if not edits:
        return None, False
    pieces.append(data[done:])
    view = source.view if source.view is View.DECODED else View.NORMALISED
    return Projection(b"".join(pieces), view, source, edits), again


def _escape(found: re.Match[bytes]) -> bytes:
    text = found.group()
    mark = text[:1]
    if mark == b"%":
        return bytes((int(text[1:], 16),))
    if mark == b"&":
        return html.unescape(text.decode().rstrip(";") + ";").encode("utf-8", "replace")
    if mark == b"\x1b":
        return b""
    letter = text[1:2]
    if letter.isdigit():
        return bytes((int(text[1:], 8),))
    if letter not in b"uUx":
        return letter
    return _folded("".join(map(_character, text.decode().split("\\")[1:])).encode("utf-8", "replace"))


def _character(written: str) -> str:
    """The character of `x41`, `u0041`, `u{41}` or `U00000041`; half a pair of surrogates as MATHEMATICAL."""
    value = int(written[1:].strip("{}"), 16)
    if value == _HIGH_SURROGATE:
        return ""
    if 0xDC00 <= value <= 0xDFFF:
        value = 0x1D400 + value - 0xDC00
    return chr(value) if value < 0x110000 else ""


@lru_cache(maxsize=4096)
def _folded(run: bytes) -> bytes:
    """Invisible characters gone, styled, foreign-digit and look-alike characters as ASCII."""
    return "".join(map(_fold, run.decode("utf-8", "replace"))).encode("utf-8", "replace")


def _fold(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        return char
    if 0xE0020 <= code < 0xE007F:  # tag characters: ASCII that no screen shows
        return chr(code - 0xE0000)
    if 0xD800 <= code <= 0xDFFF:
        return ""
    if 0x2010 <= code <= 0x2015 or code == 0x2212:
        return "-"
    if char in _LOOK_ALIKE:
        return _LOOK_ALIKE[char]
    category = unicodedata.category(char)
    if category in {"Cf", "Mn"} or code in {0x115F, 0x1160, 0x3164, 0xFFA0}:
        return ""
    if category == "Nd":
        return str(unicodedata.digit(char))
    return unicodedata.normalize("NFKC", char)
