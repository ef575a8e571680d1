"""The scan: all views of a text, all rules over each, findings at their place in the text that was given.

Owns the order of work and its limits. Knows nothing of what callers do with findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

import ahocorasick_rs

from memvault_sync.scan import evidence, rules, unwrap
from memvault_sync.scan.decode import decoded, long_runs
from memvault_sync.scan.finding import ALL_VIEWS, Finding, Kind, View
from memvault_sync.scan.normalise import normalised
from memvault_sync.scan.personal import personal
from memvault_sync.scan.projection import Projection
from memvault_sync.scan.rules import Rule
from memvault_sync.scan.source import Source

CHUNK_BYTES = 1 << 17
OVERLAP_BYTES = 1 << 13  # longer than any token
_CONTEXT_BYTES = 1 << 8  # what stands before a token decides whether it is one
_DEPTH = 3  # encodings inside encodings
_ALNUM = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_ESCAPE_LETTERS = frozenset(b"nrtfvb0")
_TAIL = re.compile(rb"[0-9A-Za-z_-]{0,512}")
_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"

type_Hit = tuple[int, int, int]


class Scanner:
    """Compiled once, then used from any number of threads.

    `names` are user and host names of this machine, found as local names. The scan cannot be told to skip
    anything but views.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        known = rules.load()
        extra = rules.names(names)
        self._rules = rules.index((*known.rules, *extra)) if extra else known
        self._literals = ahocorasick_rs.BytesAhoCorasick(
            list(self._rules.literals), implementation=ahocorasick_rs.Implementation.DFA
        )

    def what(self, rule: str) -> str:
        """A rule's name for people. Raises KeyError for a name that is no rule from a data file."""
        return next((known.what for known in self._rules.rules if known.id == rule), None) or _missing(rule)

    def scan(self, text: str | bytes, *, views: frozenset[View] = ALL_VIEWS) -> list[Finding]:
        """Findings in order of their place. Memory is bounded by the chunk, not by the text."""
        source = Source(text)
        kept: dict[tuple[int, int, str], Finding] = {}
        for base, chunk in source.chunks(CHUNK_BYTES, OVERLAP_BYTES, _CONTEXT_BYTES):
            for rule, tier, kind, view, start, end in self._chunk(chunk, views):
                first, last = source.place(base + start), source.place(base + end)
                key = (first, last, rule)
                if key not in kept:
                    kept[key] = Finding(first, last, rule, tier, kind, view, source.line(base + start))
        return _without_repeats(kept.values())

    def _chunk(self, chunk: bytes, views: frozenset[View]) -> Iterator[_Seen]:
        raw = Projection(chunk, View.RAW)
        norm = normalised(raw) if views & {View.NORMALISED, View.UNWRAPPED, View.DECODED} else None
        base = norm or raw
        if View.RAW in views:
            yield from self._view(raw, View.UNWRAPPED in views and norm is None)
        if norm is not None:
            yield from self._view(norm, View.UNWRAPPED in views)
        if View.UNWRAPPED in views:
            yield from self._cut_literals(base)
        runs = long_runs(base.data)
        yield from self._at_runs(base, runs)
        if View.DECODED in views:
            yield from self._decoded(base, runs, _DEPTH)

    def _view(self, here: Projection, unwrapping: bool) -> Iterator[_Seen]:
        """Tokens whose literal stands whole in this view, and personal data."""
        data = here.data
        by_literal = self._rules.by_literal
        done: dict[str, int] = {}
        for number, hit, stop in self._literals.find_matches_as_indexes(data, overlapping=True):
            for rule in by_literal[number]:
                if hit < done.get(rule.id, 0):
                    continue
                seen = _match(here, rule, hit)
                if seen is None and unwrapping and rule.kind is Kind.CREDENTIAL:
                    seen = _match_cut(here, rule, hit, stop - hit)
                if seen is not None:
                    done[rule.id] = seen[0]
                    yield seen[1]
        for rule_id, tier, start, end in personal(data):
            yield _Seen(rule_id, tier, Kind.PERSONAL, here.view, *here.origin(start, end))

    def _cut_literals(self, here: Projection) -> Iterator[_Seen]:
        """Tokens whose very literal is cut: found in the text without joints, then looked at in place."""
        squeezed = unwrap.squeeze(here.data)
        if len(squeezed.data) == len(here.data):
            return
        by_literal = self._rules.by_literal
        for number, hit, stop in self._literals.find_matches_as_indexes(squeezed.data, overlapping=True):
            for rule in by_literal[number]:
                if rule.kind is not Kind.CREDENTIAL or rule.match(squeezed.data, hit) is None:
                    continue
                start = squeezed.position(hit)
                literal = squeezed.data[hit:stop]
                if here.data[start : start + len(literal)] == literal:
                    continue
                seen = _match_cut(here, rule, start, 0, len(literal))
                if seen is not None:
                    yield seen[1]

    def _at_runs(self, here: Projection, runs: list[tuple[int, int]]) -> Iterator[_Seen]:
        for rule in self._rules.at_runs:
            for _, end in runs:
                if here.data[end : end + 1] == b"." and end >= rule.run:
                    seen = _match(here, rule, end - rule.run)
                    if seen is not None:
                        yield seen[1]

    def _decoded(self, here: Projection, runs: list[tuple[int, int]], depth: int) -> Iterator[_Seen]:
        for inner in decoded(here, runs):
            yield from self._view(inner, False)
            if depth > 1 and _is_text(inner.data):
                deeper = normalised(inner) or inner
                if deeper is not inner:
                    yield from self._view(deeper, True)
                yield from self._decoded(deeper, long_runs(deeper.data), depth - 1)


class _Seen(tuple[str, int, Kind, View, int, int]):
    """Rule, tier, kind, view, start and end in the chunk."""

    __slots__ = ()

    def __new__(cls, rule: str, tier: int, kind: Kind, view: View, start: int, end: int) -> _Seen:
        return super().__new__(cls, (rule, tier, kind, view, start, end))
