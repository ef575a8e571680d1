"""Answers about the vault itself: its state, keys, imports and what an action did.

Owns decoding of those JSON results, with the same rule as `records`: text is made safe here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from memvault_tui.records import text

Json = Mapping[str, Any]


def _number(data: Json, name: str) -> int:
    value = data.get(name)
    if isinstance(value, list):
        return len(cast(list[Any], value))
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _rows(data: Json, name: str) -> list[dict[str, Any]]:
    value = data.get(name)
    rows = cast(list[Any], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], row) for row in rows if isinstance(row, dict)]


def _texts(data: Json, name: str) -> tuple[str, ...]:
    value = data.get(name)
    items = cast(list[Any], value) if isinstance(value, list) else []
    return tuple(shown for item in items if (shown := text(item)))


@dataclass(frozen=True, slots=True)
class Status:
    """`locks_in_s` is None when nothing is counting down; `pending` counts texts not embedded yet."""

    state: str
    memories: int | None = None
    locks_in_s: float | None = None
    keychain: bool = False
    model: str = ""
    pending: int = 0
    warnings: tuple[str, ...] = ()

    @classmethod
    def read(cls, data: Json) -> Status:
        found = data.get("model")
        model = cast(dict[str, Any], found) if isinstance(found, dict) else {}
        memories, locks_in = data.get("memories"), data.get("locks_in_s")
        return cls(
            state=text(data.get("state")),
            memories=memories if isinstance(memories, int) else None,
            locks_in_s=float(locks_in) if isinstance(locks_in, int | float) else None,
            keychain=data.get("keychain") is True,
            model=text(model.get("state")),
            pending=_number(model, "pending"),
            warnings=_texts(data, "warnings"),
        )


@dataclass(frozen=True, slots=True)
class Probe:
    usable: bool
    backend: str
    reason: str

    @classmethod
    def read(cls, data: Json) -> Probe:
        return cls(data.get("usable") is True, text(data.get("backend")), text(data.get("reason")))


@dataclass(frozen=True, slots=True)
class Created:
    recovery_code: str
    warnings: tuple[str, ...]

    @classmethod
    def read(cls, data: Json) -> Created:
        return cls(text(data.get("recovery_code")), _texts(data, "warnings"))


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a memory that was written by hand."""

    outcome: str
    id: str
    reason: str

    @classmethod
    def read(cls, data: Json) -> Added:
        return cls(text(data.get("outcome")), text(data.get("id")), text(data.get("reason")))


@dataclass(frozen=True, slots=True)
class Deletion:
    """What a deletion took or would take, and the backups that still hold it."""

    ids: tuple[str, ...]
    tombstones: int
    older_backups: tuple[str, ...]

    @classmethod
    def read(cls, data: Json) -> Deletion:
        ids = _texts(data, "deleted") or _texts(data, "ids")
        backups = _texts(data, "older_backups") or tuple(
            text(row.get("path") or row.get("name")) for row in _rows(data, "older_backups")
        )
        return cls(ids, _number(data, "tombstones"), backups)


@dataclass(frozen=True, slots=True)
class Undone:
    restored: int
    removed: int

    @classmethod
    def read(cls, data: Json) -> Undone:
        return cls(_number(data, "restored"), _number(data, "removed"))


@dataclass(frozen=True, slots=True)
class Found:
    """Memory of another program on this machine, in numbers only."""

    kind: str
    path: str
    memories: int
    projects: int

    @classmethod
    def read_all(cls, data: object) -> tuple[Found, ...]:
        rows = cast(list[Any], data) if isinstance(data, list) else []
        found = [cast(dict[str, Any], row) for row in rows if isinstance(row, dict)]
        return tuple(
            cls(
                text(row.get("kind")),
                text(row.get("path")),
                _number(row, "memories"),
                _number(row, "projects"),
            )
            for row in found
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did, or would do; `refused` and `unreadable` are (where, reason)."""

    added: int
    merged: int
    candidates: int
    unchanged: int
    refused: tuple[tuple[str, str], ...]
    unreadable: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, data: Json) -> Report:
        def reasons(name: str) -> tuple[tuple[str, str], ...]:
            return tuple((text(row.get("where")), text(row.get("reason"))) for row in _rows(data, name))

        return cls(
            _number(data, "added"),
            _number(data, "merged"),
            _number(data, "candidates"),
            _number(data, "unchanged"),
            reasons("refused"),
            reasons("unreadable"),
        )
