"""Answers as they go over the wire: results, errors and batches, each within its limit of bytes.

Knows nothing of connections or methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from memvault.errors import AnswerTooLarge, FrameInvalid, MemvaultError, TextUnusable, UnknownMethod, Usage
from memvault.rpc import framing

MAX_ANSWER_BYTES = 16_777_216
"""One answer, or all answers of a batch together; clients read up to four times as much."""

Number = int | str | None


def _plain(value: Any) -> Any:
    """Numbers and text of other libraries as what JSON knows."""
    for kind in (float, int, str):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(type(value).__name__)


_encoder = msgspec.json.Encoder(enc_hook=_plain)


def result(number: Number, found: Any) -> bytes:
    """Raises TextUnusable for lone surrogates, AnswerTooLarge."""
    try:
        line = _encoder.encode({"jsonrpc": "2.0", "id": number, "result": found})
    except UnicodeEncodeError as error:
        raise TextUnusable("the answer is not valid Unicode (a lone surrogate)") from error
    if len(line) > MAX_ANSWER_BYTES:
        raise AnswerTooLarge(f"the answer is {len(line):,} bytes, the limit is {MAX_ANSWER_BYTES:,}")
    return line


def code_of(error: MemvaultError) -> int:
    """The JSON-RPC code; `data.code` is what tells memvault's errors apart."""
    if isinstance(error, UnknownMethod):
        return framing.METHOD_NOT_FOUND
    if isinstance(error, FrameInvalid):
        return framing.INVALID_REQUEST
    return framing.INVALID_PARAMS if type(error) is Usage else framing.DOMAIN_ERROR


def failure(number: Number, error: MemvaultError, code: int | None = None) -> bytes:
    body = framing.error_body(error, code_of(error) if code is None else code)
    return _encoder.encode({"jsonrpc": "2.0", "id": number, "error": body})


class Batch:
    """The answers of one batch, in the order they became ready."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size_bytes = 0

    def add(self, number: Number, line: bytes) -> None:
        """Keep an answer; beyond the batch's limit, an error in its place."""
        if self._size_bytes + len(line) > MAX_ANSWER_BYTES:
            limit = f"the answers of one batch have at most {MAX_ANSWER_BYTES:,} bytes together"
            line = failure(number, AnswerTooLarge(limit))
        self._size_bytes += len(line)
        self._lines.append(line)

    def line(self) -> bytes | None:
        """The array of answers; None when nothing in the batch asked for one."""
        return joined(self._lines) if self._lines else None


def joined(lines: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(lines) + b"]"
