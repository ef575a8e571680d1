"""What a request must be: JSON-RPC 2.0, alone or in a batch, with nothing in it that nobody knows.

For the daemon. Knows nothing of methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from memvault.errors import FrameInvalid
from memvault.rpc import framing

MOST_BATCH = 32
"""Calls in one batch."""
MOST_DEPTH = 32
"""Arrays and objects inside one another; the deepest parameter of any method has four."""
LARGEST_ID = 2**53
"""The largest whole number that every JSON reader holds."""
LONGEST_ID = 128
"""Characters of an id that is text."""

_MEMBERS = {"jsonrpc", "id", "method", "params"}


@dataclass(frozen=True, slots=True)
class Request:
    """`answered` is False for a notification; an id of null is an id."""

    method: str
    params: Any
    id: int | str | None
    answered: bool


def parts(message: Any) -> list[Any] | None:
    """The elements of a batch; None for a single request. Raises FrameInvalid for an empty or long batch."""
    if not isinstance(message, list):
        return None
    elements = cast(list[Any], message)
    if not 1 <= len(elements) <= MOST_BATCH:
        raise FrameInvalid(f"a batch has between 1 and {MOST_BATCH} calls")
    return elements


def request_of(message: Any) -> Request:
    """Raises FrameInvalid, naming what is wrong."""
    if not isinstance(message, dict):
        raise FrameInvalid("not a JSON-RPC 2.0 request: not an object")
    given = cast(dict[str, Any], message)
    unknown = sorted(set(given) - _MEMBERS)
    if unknown:
        raise FrameInvalid(f"a request has no member {unknown[0][:40]!r}")
    method = given.get("method")
    if given.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise FrameInvalid("not a JSON-RPC 2.0 request: it needs jsonrpc and method")
    if "id" not in given:
        return Request(method, given.get("params"), None, answered=False)
    return Request(method, given.get("params"), checked_id(given["id"]), answered=True)


def checked_id(value: Any) -> int | str | None:
    """Raises FrameInvalid for an id that is no text, whole number or null, or that is too long."""
    if value is None:
        return None
    if isinstance(value, str) and len(value) <= LONGEST_ID:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and -LARGEST_ID <= value <= LARGEST_ID:
        return value
    raise FrameInvalid(
        f"an id is text of at most {LONGEST_ID} characters, a whole number up to 2^53, or null"
    )


def parse(line: bytes) -> Any:
    """The JSON of a line. Raises FrameInvalid when it is none, doubles a name, or lies too deep."""
    message = framing.parse(line)
    if _depth_exceeds(message, MOST_DEPTH):
        raise FrameInvalid(f"more than {MOST_DEPTH} levels of arrays and objects")
    return message


def _depth_exceeds(message: Any, limit: int) -> bool:
    level: list[Any] = [message]
    for _ in range(limit + 1):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    """What is nested in `value` and may nest further."""
    if isinstance(value, dict):
        held = list(cast(dict[str, Any], value).values())
    elif isinstance(value, list):
        held = cast(list[Any], value)
    else:
        return []
    return [one for one in held if isinstance(one, (dict, list))]
