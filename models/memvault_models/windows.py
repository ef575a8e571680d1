"""Cuts token lists into windows that fit a model. Owns the stride; must not know tokenisers or models."""

from __future__ import annotations

from collections.abc import Sequence

OVERLAP_SHARE = 8
"""Neighbours share an eighth of a window (63 of 507 tokens with the default model), about two sentences, so
that a statement cut by one window's end is whole in the next."""


def window_starts(length: int, room: int) -> list[int]:
    """Where windows of `room` tokens begin in a text of `length` tokens.

    They advance by the stride, `room - room // OVERLAP_SHARE`; the last one is moved back to end with the
    text, so that all are full. A text that fits has the one start 0. Raises ValueError when `room` is below
    1.
    """
    if room < 1:
        raise ValueError(f"a window needs room for at least one token, not {room}")
    if length <= room:
        return [0]
    stride = room - room // OVERLAP_SHARE
    return [*range(0, length - room, stride), length - room]


def cut(
    body: Sequence[int], before: Sequence[int], after: Sequence[int], context_tokens: int
) -> list[list[int]]:
    """Windows over `body`, each between `before` (begin mark, prefix) and `after` (end mark)."""
    room = context_tokens - len(before) - len(after)
    return [[*before, *body[start : start + room], *after] for start in window_starts(len(body), room)]
