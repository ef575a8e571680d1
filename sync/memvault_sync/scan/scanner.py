"""The scan: all views of a text, all rules over each, findings at their place in the text that was given.

Owns the order of work and its limits. Knows nothing of what callers do with findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

import ahocorasick_rs

from memvault_sync.scan import evidence, rules, unwrap
from memvault_sync.scan.decode import decoded, long_runs
from memvault_sync.scan.finding import ALL_VIEWS, Finding, Kind, View
from memvault_sync.scan.normalise import ESCAPE_STARTS, blanked, normalised
from memvault_sync.scan.personal import personal
from memvault_sync.scan.projection import Projection
from memvault_sync.scan.rules import Rule
from memvault_sync.scan.source import Source

CHUNK_BYTES = 1 << 17
OVERLAP_BYTES = 1 << 13  # longer than any token
_CONTEXT_BYTES = 1 << 8  # what stands before a token decides whether it is one
_DEPTH = 3  # encodings inside encodings
_ALNUM = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_ESCAPE_END = re.compile(rb"(?:\\(?:[nrtfvb0]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2})\Z")
_REACH = 1 << 9  # how far from a replacement a token can start that needs it
_NEIGHBOURS = 16
_TAIL = re.compile(rb"[0-9A-Za-z_-]{0,512}")
_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"

_Hit = tuple[int, int, int]  # literal, start, end


class _Seen(NamedTuple):
    """A finding with its place in the chunk."""

    rule: str
    tier: int
    kind: Kind
    view: View
    start: int
    end: int


class _Found(NamedTuple):
    """What the automaton saw, in order of place."""

    hits: list[_Hit]
    escapes: list[int]
    digits: list[int]


class Scanner:
    """Compiled once, then used from any number of threads.

    `names` are user and host names of this machine, found as local names. The scan cannot be told to skip
    anything but views.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        known = rules.load()
        extra = rules.names(names)
        self._rules = rules.index((*known.rules, *extra)) if extra else known
        threes = (b"%03d" % number for number in range(1000))
        self._literals = _automaton([*self._rules.literals, *ESCAPE_STARTS, *threes])
        self._cuttable = _automaton(list(self._rules.literals))

    def what(self, rule: str) -> str:
        """A rule's name for people. Raises KeyError for a name that is no rule from a data file."""
        return {known.id: known.what for known in self._rules.rules}[rule]

    def scan(self, text: str | bytes, *, views: frozenset[View] = ALL_VIEWS) -> list[Finding]:
        """Findings in order of their place. Memory is bounded by the chunk, not by the text."""
        source = Source(text)
        all_seen: list[_Seen] = []
        for base, skip, chunk in source.chunks(CHUNK_BYTES, OVERLAP_BYTES, _CONTEXT_BYTES):
            all_seen += (
                seen._replace(start=base + seen.start, end=base + seen.end)
                for seen in self._chunk(chunk, views)
                if seen.start >= skip
            )
        return [
            Finding(
                source.place(seen.start),
                source.place(seen.end),
                seen.rule,
                seen.tier,
                seen.kind,
                seen.view,
                source.line(seen.start),
            )
            for seen in _without_repeats(all_seen)
        ]

    def _chunk(self, chunk: bytes, views: frozenset[View]) -> Iterator[_Seen]:
        raw = Projection(chunk, View.RAW)
        unwrapping = View.UNWRAPPED in views
        found = self._find(chunk)
        norm = normalised(raw, found.escapes) if views - {View.RAW} else None
        blank = blanked(chunk)
        if View.RAW in views:
            yield from self._view(raw, found, blank if unwrapping else None)
        base = Projection(blank, View.RAW, raw)
        if norm is not None:
            base = Projection(blanked(norm.data), norm.view, norm)
            yield from self._changed(norm, base.data if unwrapping else None)
        if unwrapping:
            yield from self._cut_literals(base)
        runs = long_runs(base.data)
        yield from self._at_runs(base, runs)
        if View.DECODED in views:
            yield from self._decoded(base, runs, _DEPTH)

    def _find(self, data: bytes) -> _Found:
        """One pass of the automaton: rules' literals, starts of escapes, digits in threes."""
        known = len(self._rules.literals)
        escapes = known + len(ESCAPE_STARTS)
        every = self._literals.find_matches_as_indexes(data, overlapping=True)
        return _Found(
            [hit for hit in every if hit[0] < known],
            [hit[1] for hit in every if known <= hit[0] < escapes],
            [hit[1] for hit in every if hit[0] >= escapes],
        )

    def _changed(self, here: Projection, blank: bytes | None) -> Iterator[_Seen]:
        """What a normalised view can show that its source does not: near replacements."""
        for begin, stop in here.changed(_REACH):
            found = self._find(here.data[begin:stop])
            moved = [(rule, begin + start, begin + end) for rule, start, end in found.hits]
            yield from self._view(here, _Found(moved, [], [begin + place for place in found.digits]), blank)

    def _view(self, here: Projection, found: _Found, blank: bytes | None) -> Iterator[_Seen]:
        """Tokens whose literal is whole in this view, and personal data. `blank`: also look for cut ones."""
        by_literal = self._rules.by_literal
        done: dict[str, int] = {}
        for number, hit, end in found.hits:
            for rule in by_literal[number]:
                if hit < done.get(rule.id, 0) or not _may_start_at(here.data, rule, hit):
                    continue
                seen = _match(here, rule, hit)
                if seen is None and blank is not None and rule.cut:
                    seen = _match_cut(here, blank, rule, hit, end - hit)
                if seen is not None:
                    done[rule.id] = end
                    yield seen
        for rule_id, tier, start, end in personal(here.data, found.digits):
            yield _Seen(rule_id, tier, Kind.PERSONAL, here.view, *here.origin(start, end))

    def _cut_literals(self, here: Projection) -> Iterator[_Seen]:
        """Tokens whose very literal is cut: found in the text without joints, then looked at in place."""
        squeezed = unwrap.squeeze(here.data)
        if len(squeezed.data) == len(here.data):
            return
        by_literal = self._rules.by_literal
        for number, hit, stop in self._cuttable.find_matches_as_indexes(squeezed.data, overlapping=True):
            for rule in by_literal[number]:
                if not rule.cut or rule.match(squeezed.data, hit) is None:
                    continue
                start = squeezed.position(hit)
                literal = squeezed.data[hit:stop]
                if here.data[start : start + len(literal)] == literal:
                    continue
                seen = _match_cut(here, here.data, rule, start, 0)
                if seen is not None:
                    yield seen

    def _at_runs(self, here: Projection, runs: list[tuple[int, int]]) -> Iterator[_Seen]:
        for rule in self._rules.at_runs:
            for _, end in runs:
                if here.data[end : end + 1] == b"." and end >= rule.run:
                    seen = _match(here, rule, end - rule.run)
                    if seen is not None:
                        yield seen

    def _decoded(self, here: Projection, runs: list[tuple[int, int]], depth: int) -> Iterator[_Seen]:
        for inner in decoded(here, runs):
            yield from self._view(inner, self._find(inner.data), None)
            if depth > 1 and _is_text(inner.data):
                deeper = normalised(inner)
                if deeper is not None:
                    yield from self._changed(deeper, None)
                deeper = deeper or inner
                deeper_runs = long_runs(deeper.data)
                yield from self._at_runs(deeper, deeper_runs)
                yield from self._decoded(deeper, deeper_runs, depth - 1)


def _automaton(literals: list[bytes]) -> ahocorasick_rs.BytesAhoCorasick:
    return ahocorasick_rs.BytesAhoCorasick(literals, implementation=ahocorasick_rs.Implementation.DFA)


def _match(here: Projection, rule: Rule, hit: int) -> _Seen | None:
    """The rule's token at this literal, if it stands alone and is no sample."""
    data = here.data
    span = rule.match(data, hit)
    if span is None or (rule.left and not _may_start(data, span[0])):
        return None
    start, end = span
    if rule.kind is Kind.CREDENTIAL:
        if not _is_credential(rule, data, start, end):
            return None
        end = _whole_end(rule, data, end)
    return _Seen(rule.id, rule.tier, rule.kind, here.view, *here.origin(start, end))


def _match_cut(here: Projection, data: bytes, rule: Rule, hit: int, least: int) -> _Seen | None:
    """The rule's token when joints cut it after its literal, or in it (`least` 0); `data` has the blanks."""
    start = unwrap.token_start(data, hit, rule.offset, bool(rule.lead))
    if start < 0 or (rule.left and not rule.lead and not _may_start(data, start)):
        return None
    if least and not unwrap.may_be_cut(data, start, least):
        return None
    literal = rule.offset or hit - start
    for joined in unwrap.joins(data, start):
        span = rule.match(joined.data, literal, closed=not joined.width)
        if span is None or not joined.reaches(span[1]) or not joined.is_whole(span[1]):
            continue
        if rule.left and span[0] > 0 and not _may_start(joined.data, span[0]):
            return None
        if not _is_credential(rule, joined.data, *span) or not unwrap.plausible(joined, span[1], least or 4):
            return None
        view = here.view if here.view is View.DECODED else View.UNWRAPPED
        place = here.origin(start + span[0], joined.source_end(span[1]))
        return _Seen(rule.id, rule.tier, rule.kind, view, *place)
    return None


def _is_credential(rule: Rule, data: bytes, start: int, end: int) -> bool:
    return not evidence.is_sample(data[start:end], rule.bits, rule.checks) and all(
        evidence.passes(check, data, start, end) for check in rule.checks
    )


def _whole_end(rule: Rule, data: bytes, end: int) -> int:
    """Longer tokens than documented are covered to their end, key blocks to their last line."""
    if "pem" in rule.checks:
        return evidence.pem_end(data, end)
    if rule.right:
        return end
    tail = _TAIL.match(data, end)
    return tail.end() if tail else end


def _may_start_at(data: bytes, rule: Rule, hit: int) -> bool:
    """Cheap: whether what stands before this literal allows a token of the rule."""
    return not rule.left or bool(rule.lead or rule.offset) or _may_start(data, hit)


def _may_start(data: bytes, start: int) -> bool:
    """No letter or digit before it, unless that letter is the end of an escape."""
    if start <= 0 or data[start - 1] not in _ALNUM:
        return start >= 0
    before = data[max(0, start - 6) : start]
    return (b"\\" in before or b"%" in before) and _ESCAPE_END.search(before) is not None


def _is_text(data: bytes) -> bool:
    """Mostly printable ASCII: worth decoding once more."""
    return len(data.translate(None, _PRINTABLE)) * 10 <= len(data)


def _without_repeats(seen: list[_Seen]) -> list[_Seen]:
    """One finding a place: the first view that saw it, and nothing that lies inside a more serious one."""
    kept: list[_Seen] = []
    for item in sorted(seen, key=lambda one: (one.start, one.tier, -one.end)):
        if any(
            other.kind is item.kind and other.tier <= item.tier and other.end >= item.end
            for other in kept[-_NEIGHBOURS:]
        ):
            continue
        kept.append(item)
    return kept


@cache
def _default() -> Scanner:
    return Scanner()


def scan(text: str | bytes, *, views: frozenset[View] = ALL_VIEWS) -> list[Finding]:
    """Scan with a scanner that knows no names of this machine."""
    return _default().scan(text, views=views)
