"""Tells text that tries to steer a model from text that informs: for what comes from tools, pages and files.

Owns how meanings combine; the words are in the data file. Who must be asked about a finding is the caller's
business. Linear in the length of the text.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from importlib import resources

import ahocorasick_rs

from memvault_sync.scan.finding import Finding, Kind, View
from memvault_sync.scan.readings import hidden_tags, readings

HELD_FROM = 1.0
_PASSAGE = 600  # characters within which signals add up
_ADDRESSES = "@"  # mail and web addresses, beside the meanings of the data file
_EPSILON = 1e-9
_ADDRESS = re.compile(r"[0-9a-z._%+-]{1,64}@[0-9a-z-]{1,63}\.[0-9a-z.-]{2,80}|https?://[^\s]{3,200}")
_SENTENCE = re.compile(r"[.!?]\s|[。！？]|\n\s*\n")
_SPEAKER_LINE = re.compile(r"(?:^|[\n>#*\[(.!?]\s*)\Z")
_OPENING = re.compile(
    r"(?:^|[\n.!?:;,>*#\"'(\[-]\s*|[\u3000-\uffef]\s*"
    r"|(?<![a-z])(?:please|also|and|then|now|to|must|should|just|you|will|can|could|would|first|instead"
    r"|bitte|und|dann|jetzt|sofort|et|puis|veuillez|y|luego|ahora|e|poi|ora|por favor|per favore"
    r"|s'il vous plait)\s+)\Z"
)
_ACCENTED_BELOW = 0x500  # Latin, Greek and Cyrillic; Hangul must not be taken apart


@dataclass(frozen=True, slots=True)
class _Signal:
    id: str
    near: tuple[str, ...]
    weight: float
    within: int = 0
    colon: bool = False
    address: bool = False
    ordered: bool = False
    imperative: bool = False


@dataclass(frozen=True, slots=True)
class _Lexicon:
    automaton: ahocorasick_rs.AhoCorasick
    words: tuple[str, ...]
    meanings: tuple[frozenset[str], ...]
    open_ended: tuple[bool, ...]
    signals: tuple[_Signal, ...]


def injection(text: str) -> list[Finding]:
    """The signals of one passage that together call for a person's look, or nothing.

    Rules are named `injection.<signal>`; what was found only after decoding, reversing or undoing letter
    tricks has the decoded view. Tier 2 throughout.
    """
    found = _held(text, View.NORMALISED)
    if found:
        return found
    smuggled = hidden_tags(text)
    if smuggled is not None:
        return [_finding("hidden-text", text, *smuggled, View.NORMALISED)]
    for reading in readings(text):
        inner = _held(reading.text, View.DECODED)
        if inner:
            place = (text, reading.start, reading.end, View.DECODED)
            return [_finding(finding.rule.removeprefix("injection."), *place) for finding in inner]
    return []


def _held(text: str, view: View) -> list[Finding]:
    """The findings of the first passage that is heavy enough."""
    folded = _folded(text)
    places = _places(folded)
    if not places:
        return []
    breaks = [found.end() for found in _SENTENCE.finditer(folded)]
    for low in range(0, max(1, len(folded) - _PASSAGE // 2), _PASSAGE // 2):
        here = _between(places, low, low + _PASSAGE)
        spots = [
            (signal, spot)
            for signal in _lexicon().signals
            if signal.near[0] in here and (spot := _spot(signal, here, folded, breaks)) is not None
        ]
        if sum(signal.weight for signal, _ in spots) >= HELD_FROM - _EPSILON:
            return _unique([_finding(signal.id, text, *spot, view) for signal, spot in spots])
    return []


def _places(folded: str) -> dict[str, list[tuple[int, int]]]:
    """Where each meaning stands, in order."""
    lexicon = _lexicon()
    places: dict[str, list[tuple[int, int]]] = {}
    for number, start, end in lexicon.automaton.find_matches_as_indexes(folded, overlapping=True):
        if _is_word(folded, start, end, lexicon.open_ended[number]):
            for meaning in lexicon.meanings[number]:
                places.setdefault(meaning, []).append((start, end))
    if "@" in folded or "://" in folded:
        places[_ADDRESSES] = [found.span() for found in _ADDRESS.finditer(folded)]
    return {meaning: sorted(spans) for meaning, spans in places.items() if spans}


def _between(
    places: dict[str, list[tuple[int, int]]], low: int, high: int
) -> dict[str, list[tuple[int, int]]]:
    parts = {
        meaning: spans[bisect_left(spans, (low, 0)) : bisect_left(spans, (high, 0))]
        for meaning, spans in places.items()
    }
    return {meaning: spans for meaning, spans in parts.items() if spans}


def _spot(
    signal: _Signal,
    places: dict[str, list[tuple[int, int]]],
    text: str,
    breaks: list[int],
) -> tuple[int, int] | None:
    """The first place where all meanings of the signal stand in one sentence, near each other."""
    others = [places.get(meaning, []) for meaning in signal.near[1:]]
    if signal.address:
        others.append(places.get(_ADDRESSES, []))
    if not all(others):
        return None
    for start, end in places.get(signal.near[0], ()):
        if signal.colon and not _speaks(text, start, end):
            continue
        if signal.imperative and not _commands(text, start):
            continue
        span = (start, end)
        for options in others:
            joined = _nearest(options, span, signal, breaks)
            if joined is None:
                break
            span = joined
        else:
            return span
    return None


def _nearest(
    options: list[tuple[int, int]], span: tuple[int, int], signal: _Signal, breaks: list[int]
) -> tuple[int, int] | None:
    """The span widened to the closest option that does not overlap it, in the same sentence."""
    at = bisect_left(options, span)
    for start, end in (*options[at : at + 3], *reversed(options[max(0, at - 3) : at])):
        if (start < span[1] and end > span[0]) or (signal.ordered and start < span[1]):
            continue
        low, high = min(start, span[0]), max(end, span[1])
        if high - low <= signal.within and bisect_left(breaks, low + 1) == bisect_left(breaks, high):
            return low, high
    return None


def _speaks(text: str, start: int, end: int) -> bool:
    """`system:` at the start of a line or sentence, as a chat protocol writes it."""
    after = text[end : end + 2].lstrip()
    return after[:1] in {":", "："} and _SPEAKER_LINE.search(text[max(0, start - 4) : start]) is not None


def _commands(text: str, start: int) -> bool:
    """The verb opens a sentence or clause, or follows a word of request: an order, not a report."""
    return _OPENING.search(text[max(0, start - 24) : start]) is not None


def _is_word(text: str, start: int, end: int, open_ended: bool) -> bool:
    """Not part of a longer word; scripts without spaces have no such limits."""
    if text[start].isascii() or ord(text[start]) < _ACCENTED_BELOW:
        if start > 0 and _joins(text[start - 1]) and _joins(text[start]):
            return False
        if not open_ended and end < len(text) and _joins(text[end]) and _joins(text[end - 1]):
            return False
    return True


def _joins(char: str) -> bool:
    return char.isalnum() and ord(char) < _ACCENTED_BELOW


def _folded(text: str) -> str:
    """Lower case without accents and typographic quotes, of the same length."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold, text))


@cache
def _fold(char: str) -> str:
    if char in "’‘´`":
        return "'"
    code = ord(char)
    if code >= 0x2000:
        plain = unicodedata.normalize("NFKC", char).lower()
        return plain if len(plain) == 1 else char
    base = unicodedata.normalize("NFD", char)[0] if code < _ACCENTED_BELOW else char
    lower = base.lower()
    return lower if len(lower) == 1 else base


def _unique(findings: list[Finding]) -> list[Finding]:
    return list({finding.rule: finding for finding in reversed(findings)}.values())[::-1]


def _finding(signal: str, text: str, start: int, end: int, view: View) -> Finding:
    return Finding(start, end, f"injection.{signal}", 2, Kind.INJECTION, view, text.count("\n", 0, start) + 1)


@cache
def _lexicon() -> _Lexicon:
    data = tomllib.loads(resources.files("memvault_sync.scan").joinpath("injection.toml").read_text("utf-8"))
    meanings: dict[tuple[str, bool], set[str]] = {}
    for meaning, listed in data["words"].items():
        for entry in listed.replace("\n", " ").split(","):
            word = entry.strip()
            if word:
                meanings.setdefault((_folded(word.rstrip("*")), word.endswith("*")), set()).add(meaning)
    return _Lexicon(
        ahocorasick_rs.AhoCorasick(
            [word for word, _ in meanings], implementation=ahocorasick_rs.Implementation.ContiguousNFA
        ),
        tuple(word for word, _ in meanings),
        tuple(map(frozenset, meanings.values())),
        tuple(open_ended for _, open_ended in meanings),
        tuple(
            _Signal(
                row["id"],
                tuple(row["near"]),
                row["weight"],
                row.get("within", 0),
                row.get("colon", False),
                row.get("address", False),
                row.get("ordered", False),
                row.get("imperative", False),
            )
            for row in data["signal"]
        ),
    )
