"""Typed access to the daemon's answers: a missing or null field reads as an empty one. Pure."""

from __future__ import annotations

from typing import Any, cast

Answer = dict[str, Any]


def rows(answer: Answer, name: str) -> list[Answer]:
    """A list of objects."""
    return cast("list[Answer]", answer.get(name) or [])


def texts(answer: Answer, name: str) -> list[str]:
    """A list of texts."""
    return [str(item) for item in cast("list[object]", answer.get(name) or [])]


def part(answer: Answer, name: str) -> Answer:
    """An object; an empty one when the field holds something else."""
    value = answer.get(name)
    return cast("Answer", value) if isinstance(value, dict) else {}
