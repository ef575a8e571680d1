"""The unwrapped view: tokens cut by line breaks, spaces, quotes and concatenation, put together again.

Joins only around a place where a token may start: joining a whole text would glue its words. Owns what counts
as a joint and when pieces may belong together; knows nothing of single rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memvault_sync.scan.evidence import looks_random

# What a writer's editor, mail program, diff or programming language puts inside a long token. Removing these
# bytes from a text lets the automaton see literals that were cut themselves.
SQUEEZED = b" \t\r\n\"'`+\\>|<,()*#"

_PIECE = re.compile(rb"[0-9A-Za-z_\-./+=~:$%@!?;]{1,400}")
_LINE = rb"[ \t]{0,8}\\?\r?\n[ \t]{0,80}(?:[>|#*+]{1,3}[ \t]{0,8}|//[ \t]{0,8}|--[ \t])?"
_QUOTE = rb"[\"'`]"
_OPERATOR = rb"(?:[+.&,]|\.\.|\|\||<>)"
_JOINT = re.compile(
    rb"(?P<quote>"
    + _QUOTE
    + rb"[ \t]{0,8}\)?[ \t]{0,8}"
    + _OPERATOR
    + rb"?(?:"
    + _LINE
    + rb")?[ \t]{0,8}"
    + _OPERATOR
    + rb"?[ \t]{0,8}\(?[rbfuRBFU]{0,2}"
    + _QUOTE
    + rb")"
    rb"|(?P<line>(?:" + _LINE + rb"){1,2})"
    rb"|(?P<tag></?[A-Za-z][^<>\n]{0,40}>)"
    rb"|(?P<space>\\?[ \t]{1,8})"
)
_PIECE_BYTES = frozenset(byte for byte in range(128) if _PIECE.match(bytes((byte,))))
_WORDS = re.compile(rb"(?:[_./:=~-]?[A-Z]?[a-z]++)++")  # plain, dashed or camelCase words
_WORD_BYTES = 6  # shorter pieces say nothing
_REACH = 220
_LONGEST_JOINT = 24
_STARTS_JOINT = frozenset(b" \t\r\n\\\"'`<")
_DIGIT = re.compile(rb"[0-9]")
_MOST_PIECES = 4
_SPELLED = tuple(  # a token written in equal groups: g h p _, or in fours
    re.compile(
        rb"(?:[0-9A-Za-z_\-./+=~:]{%d}[ \t\n]){4,120}[0-9A-Za-z_\-./+=~:]{1,%d}" % (width, max(1, width))
    )
    for width in range(5)
)


@dataclass(frozen=True, slots=True)
class Joined:
    """Pieces put together; `ends[i]` is where piece i ends in `data`, `spans[i]` where it stood.

    `width`: all pieces are this long, one byte apart, and `spans` has their common span; else 0.
    """

    data: bytes
    ends: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    by_space: bool
    width: int = 0

    def is_whole(self, end: int) -> bool:
        """Whether a token that ends here takes up its last piece."""
        return not self.width or end % self.width == 0 or end == len(self.data)

    def reaches(self, end: int) -> bool:
        """Whether the last piece is needed to get this far."""
        return end > self.ends[max(0, len(self.ends) - 2)]

    def source_end(self, end: int) -> int:
        """Where the byte before `end` of `data` ends in the text."""
        if self.width:
            return self.spans[0][0] + end + (end - 1) // self.width
        before = 0
        for stop, (start, _) in zip(self.ends, self.spans, strict=True):
            if end <= stop:
                return start + end - before
            before = stop
        return self.spans[-1][1]


def token_start(data: bytes, hit: int, offset: int, open_ended: bool) -> int:
    """Where the token starts whose literal is at `hit`: `offset` bytes before it, one joint not counted.

    `open_ended`: as far to the left as the piece goes. -1 when there is not enough before it.
    """
    if not offset and not open_ended:
        return hit
    start = hit
    while start > 0 and hit - start < (offset or _REACH) and data[start - 1] in _PIECE_BYTES:
        start -= 1
    missing = offset - (hit - start)
    if missing <= 0:
        return start
    whole = -1
    for joint in range(start - 1, max(-1, start - _LONGEST_JOINT), -1):
        found = _JOINT.match(data, joint)
        if found is not None and found.end() == start:
            whole = joint
    return whole - missing if whole >= 0 else -1


def may_be_cut(data: bytes, start: int, least: int) -> bool:
    """Whether a token that starts here may go on after a joint. Cheap; `least` bytes are the rule's own."""
    piece = _PIECE.match(data, start)
    if piece is None or piece.end() == len(data):
        return False
    stop = piece.end()
    if stop - start < least or data[stop] not in _STARTS_JOINT:
        return False
    body = data[start + least : stop]
    if len(body) >= _WORD_BYTES and _WORDS.fullmatch(body):
        return False
    joint = _JOINT.match(data, stop)
    following = _PIECE.match(data, joint.end()) if joint else None
    if following is None:
        return False
    text = following.group()
    return not (text.isalpha() and text.islower()) or len(text) == stop - start


def joins(data: bytes, start: int) -> Iterator[Joined]:
    """The text from `start` with one, two, three joints removed, then as a token in equal groups."""
    spans: list[tuple[int, int]] = []
    parts: list[bytes] = []
    ends: list[int] = []
    by_space = False
    position = start
    while len(spans) < _MOST_PIECES:
        piece = _PIECE.match(data, position)
        if piece is None:
            break
        spans.append(piece.span())
        parts.append(piece.group())
        ends.append((ends[-1] if ends else 0) + len(parts[-1]))
        if len(spans) > 1:
            yield Joined(b"".join(parts), tuple(ends), tuple(spans), by_space)
        joint = _JOINT.match(data, piece.end())
        if joint is None:
            break
        by_space = by_space or joint.lastgroup == "space"
        position = joint.end()
    width = len(parts[0]) if len(spans) == _MOST_PIECES else 0
    spelled = _SPELLED[width].match(data, start) if 0 < width < len(_SPELLED) else None
    if spelled is not None:
        yield Joined(spelled.group().translate(None, b" \t\n"), (width,), (spelled.span(),), True, width)


def plausible(joined: Joined, size: int, literal: int) -> bool:
    """Whether the first `size` bytes may be one token and not words that happen to follow each other.

    `literal` is how many bytes at the start are the rule's own. Capitals alone say little either way: across
    a line or a quote they pass, across a space they need a digit, and no longer piece may be a word.
    """
    token = joined.data[:size]
    own = token[literal:]
    if not looks_random(own) and not (own.isupper() and (not joined.by_space or _DIGIT.search(own))):
        return False
    if not joined.by_space or joined.width:
        return True
    start = 0
    for end in joined.ends:
        piece = token[max(start, literal) : end]
        if len(piece) >= 8 and _WORDS.fullmatch(piece):
            return False
        start = end
    return True


@dataclass(slots=True)
class Squeezed:
    """The text without the bytes of joints, and where each of its bytes stood."""

    source: bytes
    data: bytes
    _counts: list[int] | None = None

    def position(self, at: int) -> int:
        """Where byte `at` of the squeezed text stands in the source."""
        if self._counts is None:
            self._counts = [0]
            for start in range(0, len(self.source), _BLOCK):
                kept = len(self.source[start : start + _BLOCK].translate(None, SQUEEZED))
                self._counts.append(self._counts[-1] + kept)
        low, high = 0, len(self._counts) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._counts[middle] <= at else (low, middle)
        position = low * _BLOCK
        left = at - self._counts[low]
        while True:
            kept_here = self.source[position] not in _DROPPED
            if kept_here and left == 0:
                return position
            left -= kept_here
            position += 1


_BLOCK = 512
_DROPPED = frozenset(SQUEEZED)


def squeeze(source: bytes) -> Squeezed:
    """All joint bytes removed."""
    return Squeezed(source, source.translate(None, SQUEEZED))
