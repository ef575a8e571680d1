"""JSON-RPC 2.0 messages as single lines of UTF-8; standard library only, shared by client and daemon.

Owns message shapes, their limits and error codes. Knows nothing of methods.
"""

from __future__ import annotations

import json
from typing import Any

from memvault.errors import FrameInvalid, MemvaultError, RateLimited, TextUnusable

MAX_REQUEST_BYTES = 262_144
"""One request line (SECURITY check 19: 256 KiB).

A claim whose content (64 KiB), evidence and explaining fields (16 KiB each) are all full has some 180 KiB, so
the limits of the fields decide, and this one only for text that JSON escapes as six bytes a character.
"""
MOST_DIGITS = 32
"""Of a whole number; no parameter needs more than 16."""
MAX_RESPONSE_BYTES = 67_108_864
"""One response line a client reads: pages are far smaller, this only bounds memory."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
DOMAIN_ERROR = -32000
"""Every error of memvault's own tree; `data.code` tells which."""


def encode(message: dict[str, Any]) -> bytes:
    """One line. Raises TextUnusable for lone surrogates, which no UTF-8 can carry."""
    try:
        return (
            json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        )
    except UnicodeEncodeError as error:
        raise TextUnusable("the text is not valid Unicode (a lone surrogate)") from error


def request(request_id: int, method: str, params: dict[str, Any]) -> bytes:
    """A request line. Raises FrameInvalid when it exceeds MAX_REQUEST_BYTES."""
    line = encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    if len(line) > MAX_REQUEST_BYTES:
        raise TextUnusable(
            f"the request is {len(line):,} bytes, the limit is {MAX_REQUEST_BYTES:,}",
            "One memory is one claim: keep the conclusion and name the document as its source.",
        )
    return line


def notification(method: str, params: dict[str, Any]) -> bytes:
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def parse(line: bytes) -> Any:
    """The JSON value of a line. Raises FrameInvalid when the line is not one JSON value in UTF-8.

    Two readers of one line must see the same message, so doubled names, NaN and endless integers are refused.
    """
    try:
        return json.loads(
            line.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number, parse_int=_whole
        )
    except (ValueError, RecursionError) as error:
        raise FrameInvalid("not a JSON message") from error


def decode(line: bytes) -> dict[str, Any]:
    """A message from the other side. Raises FrameInvalid when the line is not one JSON object in UTF-8."""
    message = parse(line)
    if not isinstance(message, dict):
        raise FrameInvalid("not a JSON-RPC message")
    return message  # pyright: ignore[reportUnknownVariableType]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError("a number with too many digits")
    return int(digits)


def is_unicode(line: bytes, message: Any) -> bool:
    """False when escapes in `line` gave `message` lone surrogates, which nothing can store or send back."""
    if rb"\u" not in line:
        return True
    try:
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def error_body(error: MemvaultError, code: int = DOMAIN_ERROR) -> dict[str, Any]:
    data: dict[str, Any] = {
        "code": error.code,
        "hint": error.hint,
        "exit_status": error.exit_status,
        "retryable": error.retryable,
    }
    if isinstance(error, RateLimited):
        data["retry_after_ms"] = error.retry_after_ms
    return {"code": code, "message": error.message, "data": data}
