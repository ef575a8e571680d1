"""The normalised view: what a reader or a program would take the bytes for.

Escapes, entities, percent codes and terminal codes are resolved; invisible characters removed; full-width,
styled and look-alike characters become ASCII. Works on UTF-8 bytes. Knows nothing of rules.
"""

from __future__ import annotations

import html
import re
import unicodedata

from memvault_sync.scan.finding import View
from memvault_sync.scan.projection import Edits, Projection

_ROUNDS = 3  # escapes inside escapes

_ASCII = rb"""
  \\(?:u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|[0-3][0-7]{2}|[nrtfvb0"'/\\`])
| %[0-9A-Fa-f]{2}
| &(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|amp|lt|gt|quot|apos|nbsp|lowbar|UnderBar|hyphen|dash|equals|colon
     |period|sol|plus|dollar|num|excl|commat|lsqb|rsqb|shy|zwj|zwnj|ZeroWidthSpace|NoBreak|Tab|NewLine);?
| \x1b(?:\[[0-9;:?]{0,24}[ -/]{0,2}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z_a-z])
"""
_INVISIBLE = rb"""
  \xc2\xad | \xcd\x8f | \xd8\x9c | \xe1\x85[\x9f\xa0] | \xe1\x9e[\xb4\xb5] | \xe1\xa0[\x8b-\x8f]
| \xe2\x80[\x8b-\x8f\xaa-\xae] | \xe2\x81[\xa0-\xaf] | \xe3\x85\xa4
| \xef\xb8[\x80-\x8f] | \xef\xbb\xbf | \xef\xbe\xa0 | \xef\xbf[\xb0-\xbb] | \xf3\xa0[\x80-\x87][\x80-\xbf]
"""
_STYLED = rb"""
  \xc2[\xa0\xaa\xb2\xb3\xb9\xba] | \xca[\xb0-\xbf] | \xcb[\xa0-\xa4] | \xe1\xb4[\xac-\xbf] | \xe1\xb5[\x80-\xaa]
| \xe2\x80[\x80-\x8a\x90-\x95\xaf] | \xe2\x81[\x9f\xb0-\xbf] | \xe2\x82[\x80-\x9f] | \xe2\x84[\x80-\xbf]
| \xe2\x85[\x80-\xbf] | \xe2\x88\x92 | \xe2\x91[\xa0-\xbf] | \xe2\x92[\x80-\xbf] | \xe2\x93[\x80-\xbf]
| \xe3\x80\x80 | \xef\xb8[\x90-\xbf] | \xef\xb9[\x80-\xaf] | \xef\xbc[\x81-\xbf] | \xef\xbd[\x80-\x9e]
| \xf0\x9d[\x90-\x9f][\x80-\xbf] | \xf0\x9f[\x84-\x87][\x80-\xbf] | \xf0\x9f\xaf[\xb0-\xb9]
"""
_DIGITS = rb"""
  \xd9[\xa0-\xa9] | \xdb[\xb0-\xb9] | \xdf[\x80-\x89]
| \xe0[\xa5\xa7\xa9\xab\xad\xaf\xb1\xb3\xb5\xb7][\xa6-\xaf] | \xe0[\xb9\xbb][\x90-\x99] | \xe0\xbc[\xa0-\xa9]
"""
_NEAR_LATIN = rb"""
  (?<=[0-9A-Za-z_-])(?:[\xce-\xd4][\x80-\xbf]){1,8} | (?:[\xce-\xd4][\x80-\xbf]){1,4}(?=[0-9A-Za-z_-])
| (?<=[0-9A-Za-z_-])(?:\xcc[\x80-\xbf]|\xcd[\x80-\xaf]){1,16}
"""
_IN_ASCII = re.compile(_ASCII, re.VERBOSE)
_IN_ANY = re.compile(b"|".join((_ASCII, _INVISIBLE, _STYLED, _DIGITS, _NEAR_LATIN)), re.VERBOSE)
_ESCAPE_MARKS = frozenset({b"\\", b"%", b"&", b"\x1b"})

_LOOK_ALIKE = dict(
    zip(
        "АВЕЅІЈКМНОРСТУХԚԜаеѕіјорсухԛԝһӏԁΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανυρ",
        "ABESIJKMHOPCTYXQWaesijopcyxqwhldABEZHIKMNOPTYXoavup",
        strict=True,
    )
)
_SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"f": b"\f", b"v": b"\v", b"b": b"", b"0": b""}


def normalised(source: Projection) -> Projection | None:
    """The text with disguises of single characters undone, or None where there are none."""
    here = source
    for _ in range(_ROUNDS):
        changed, again = _round(here)
        if changed is None:
            break
        here = changed
        if not again:
            break
    return None if here is source else here


def _round(source: Projection) -> tuple[Projection | None, bool]:
    """One pass, and whether its results may themselves be escapes."""
    data = source.data
    plain = data.isascii()
    if plain and not any(mark in data for mark in _ESCAPE_MARKS):
        return None, False
    edits = Edits()
    pieces: list[bytes] = []
    done = length = 0
    again = False
    for found in (_IN_ASCII if plain else _IN_ANY).finditer(data):
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
    if letter in b"uUx" and len(text) > 2:
        value = int(text[2:].strip(b"{}"), 16)
        if letter == b"x":
            return bytes((value,))
        return chr(value).encode("utf-8", "replace") if value < 0x110000 else b""
    if letter.isdigit() and len(text) == 4:
        return bytes((int(text[1:], 8) & 0xFF,))
    return _SIMPLE.get(letter, letter)


def _folded(run: bytes) -> bytes:
    """Invisible characters gone, styled, foreign-digit and look-alike characters as ASCII."""
    return "".join(map(_fold, run.decode("utf-8", "replace"))).encode("utf-8", "replace")


def _fold(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        return char
    if 0xE0020 <= code < 0xE007F:  # tag characters: ASCII that no screen shows
        return chr(code - 0xE0000)
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
