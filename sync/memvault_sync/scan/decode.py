"""The decoded view: runs of base64 or hex, read as what they encode. Knows nothing of rules."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from memvault_sync.scan.finding import View
from memvault_sync.scan.projection import Edits, Projection, Scale

LEAST_RUN = 24  # the shortest credential we know (16 characters) in base64
_MOST_RUN = 1 << 18

_LETTERS = bytes(1 if byte < 0x80 and (chr(byte).isalnum() or byte in b"+/_-") else 0 for byte in range(256))
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_HEX = re.compile(rb"(?:[0-9A-Fa-f]{2}){12,}")
_LINES = re.compile(rb"(?:[ \t]{0,4}\r?\n[ \t]{0,40}[0-9A-Za-z+/_-]{4,120}){1,400}(?=[^0-9A-Za-z+/_-]|\Z)")
_BREAK = re.compile(rb"[ \t]{0,4}\r?\n[ \t]{0,40}")
_LEAST_WRAPPED = 40  # a line of wrapped base64


def long_runs(data: bytes, least: int = LEAST_RUN) -> list[tuple[int, int]]:
    """Runs of at least `least` base64 letters (either alphabet, padding not counted).

    All bytes at once as one large number: a run survives being and-ed with itself shifted by its length.
    Three times as fast as a regular expression.
    """
    marks = int.from_bytes(data.translate(_LETTERS), "little")
    width = 1
    while width < least:
        step = min(width, least - width)
        marks &= marks >> (8 * step)
        width += step
    if not marks:
        return []
    kept = marks.to_bytes(len(data) + 1, "little")
    found: list[tuple[int, int]] = []
    start = kept.find(1)
    while start >= 0:
        stop = kept.find(0, start)
        found.append((start, stop + least - 1))
        start = kept.find(1, stop)
    return found


def decoded(source: Projection, runs: list[tuple[int, int]]) -> Iterator[Projection]:
    """What the runs encode, one projection a reading: hex, and base64 from each of four starts."""
    data = source.data
    done = 0
    for start, end in runs:
        if start < done:
            continue
        run = data[start : min(end, start + _MOST_RUN)]
        yield from _hex(source, run, start)
        if not _is_mixed(run):
            continue
        unbroken: Projection | None = None
        if len(run) >= _LEAST_WRAPPED and (more := _LINES.match(data, end)):
            done = more.end()
            unbroken = _unbroken(source, start, more.end())
        yield from _base64(unbroken or source, unbroken.data if unbroken else run, 0 if unbroken else start)


def _hex(source: Projection, run: bytes, start: int) -> Iterator[Projection]:
    for found in _HEX.finditer(run):
        for shift in (0, 1):
            text = found.group()[shift:]
            text = text[: len(text) // 2 * 2]
            back = Scale(start + found.start() + shift, start + found.end(), 2, 1)
            yield Projection(bytes.fromhex(text.decode()), View.DECODED, source, back)


def _base64(source: Projection, run: bytes, start: int) -> Iterator[Projection]:
    text = run.translate(_URL_SAFE)
    for shift in range(4):
        body = text[shift:]
        rest = len(body) % 4
        body = body[:-1] if rest == 1 else body + b"=" * (-len(body) % 4)
        plain = binascii.a2b_base64(body)
        yield Projection(plain, View.DECODED, source, Scale(start + shift, start + len(run), 4, 3))


def _unbroken(source: Projection, start: int, end: int) -> Projection:
    """Wrapped lines as one."""
    edits = Edits()
    pieces: list[bytes] = []
    length = 0
    done = start
    edits.note(0, 0, 0, start)
    for found in _BREAK.finditer(source.data, start, end):
        pieces.append(source.data[done : found.start()])
        length += found.start() - done
        edits.note(length, length, found.start(), found.end())
        done = found.end()
    pieces.append(source.data[done:end])
    return Projection(b"".join(pieces), View.DECODED, source, edits)


def _is_mixed(run: bytes) -> bool:
    """Base64 of text has both cases; names and numbers mostly have not."""
    return run.lower() != run and run.upper() != run
