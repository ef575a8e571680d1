"""JSON lines that nobody vouches for, as a stream. Owns line limits and strict decoding.

Refused: repeated keys, NaN and infinity, numbers of more than 40 digits, nesting beyond the decoder. Must not
know what the objects mean.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from memvault.errors import TextUnusable
from memvault.importers.files import modified_at, open_regular

MAX_LINE_BYTES = 4_194_304
MAX_FILE_BYTES = 2_147_483_648
_MAX_DIGITS = 40
_CHUNK_BYTES = 1_048_576
_BETWEEN = " \t\r,"


@dataclass(frozen=True, slots=True)
class Facts:
    """A file's size, number of lines, SHA-256 in hex and time of last change."""

    size_bytes: int
    lines: int
    sha256: str
    modified_at: str | None


def measure(path: Path) -> Facts:
    """Read the file once in chunks. Raises TextUnusable when it is over the limit or cannot be read."""
    descriptor, facts = open_regular(path)
    digest = hashlib.sha256()
    size_bytes = lines = 0
    last = b"\n"
    try:
        with os.fdopen(descriptor, "rb") as stream:
            if facts.st_size > MAX_FILE_BYTES:
                raise TextUnusable(f"the file is {facts.st_size:,} bytes, the limit is {MAX_FILE_BYTES:,}")
            while size_bytes < facts.st_size and (
                chunk := stream.read(min(_CHUNK_BYTES, facts.st_size - size_bytes))
            ):
                digest.update(chunk)
                size_bytes += len(chunk)
                lines += chunk.count(b"\n")
                last = chunk[-1:]
    except OSError as error:
        raise TextUnusable("the file cannot be read to its end") from error
    return Facts(size_bytes, lines + (last != b"\n"), digest.hexdigest(), modified_at(facts))


def lines(path: Path, size_bytes: int) -> Iterator[tuple[int, bytes | None]]:
    """Number and bytes of each line within the first `size_bytes`; None for a line over the limit.

    What was appended since the file was measured is left for the next import. Raises TextUnusable.
    """
    descriptor, _ = open_regular(path)
    left = size_bytes
    number = 0
    try:
        with os.fdopen(descriptor, "rb") as stream:
            while left > 0 and (line := stream.readline(min(MAX_LINE_BYTES + 1, left))):
                number += 1
                left -= len(line)
                too_long = len(line) > MAX_LINE_BYTES
                while (
                    left > 0
                    and not line.endswith(b"\n")
                    and (line := stream.readline(min(_CHUNK_BYTES, left)))
                ):
                    left -= len(line)
                    too_long = True
                yield number, None if too_long else line
    except OSError as error:
        raise TextUnusable("the file cannot be read to its end") from error


def objects(line: bytes) -> Iterator[dict[str, Any]]:
    """The objects on a line, usually one. Raises TextUnusable at the first thing that is none."""
    try:
        written = line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise TextUnusable("not valid UTF-8") from error
    if "\x00" in written:
        raise TextUnusable("the line holds a NUL byte")
    position = 0
    while position < len(written):
        found, position = _next(written, position)
        if not isinstance(found, dict):
            raise TextUnusable("not a JSON object")
        yield found
        while position < len(written) and written[position] in _BETWEEN:
            position += 1


def _next(written: str, position: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(written, position)
    except json.JSONDecodeError as error:
        raise TextUnusable("not valid JSON") from error
    except RecursionError as error:
        raise TextUnusable("JSON nested too deeply") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise TextUnusable("a JSON key is given twice")
    return made


def _whole_number(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise TextUnusable(f"a number of more than {_MAX_DIGITS} digits")
    return int(digits)


def _no_number(_name: str) -> NoReturn:
    raise TextUnusable("NaN and infinity are not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_whole_number, parse_constant=_no_number)
