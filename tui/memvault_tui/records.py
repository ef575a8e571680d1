"""What the daemon answers, as frozen dataclasses whose text is safe to draw.

Owns decoding of JSON results. This is the one door for foreign text: every string passes
`memvault.text.visible` here, so that no widget can meet a control or bidi character. Knows nothing of
the socket or the screen. A field that is missing or of the wrong type becomes its empty value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from memvault.text import visible

Json = Mapping[str, Any]


def text(value: object) -> str:
    """`value` as safe text; anything but a string or a number is empty."""
    if isinstance(value, str):
        return visible(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _opt(data: Json, name: str) -> str | None:
    return text(data.get(name)) or None


def _int(data: Json, name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _float(data: Json, name: str) -> float:
    value = data.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _dict(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (visible(value),) if value else ()
    return tuple(shown for item in _list(value) if (shown := text(item)))


@dataclass(frozen=True, slots=True)
class Source:
    type: str
    ref: str
    task: str | None = None
    message_index: int | None = None
    evidence: str | None = None
    observed_at: str | None = None

    @classmethod
    def read(cls, data: Json) -> Source:
        index = data.get("message_index")
        return cls(
            type=text(data.get("type")),
            ref=text(data.get("ref")),
            task=_opt(data, "task"),
            message_index=index if isinstance(index, int) else None,
            evidence=_opt(data, "evidence"),
            observed_at=_opt(data, "observed_at"),
        )


@dataclass(frozen=True, slots=True)
class Doubt:
    """What somebody gave as evidence against a memory."""

    at: str
    actor: str
    text: str

    @classmethod
    def read(cls, data: Json) -> Doubt:
        return cls(text(data.get("at")), text(data.get("actor")), text(data.get("text")))


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory, flat as on the wire; `hidden` says that its text held characters that do not show."""

    id: str
    kind: str
    status: str
    content: str
    version: int = 1
    scope: str = "private"
    project: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    why: str | None = None
    how_to_apply: str | None = None
    conditions: str | None = None
    context: str | None = None
    about: str | None = None
    sources: tuple[Source, ...] = ()
    authority: str = ""
    confidence: float = 0.0
    sensitivity: str = "internal"
    created_at: str = ""
    updated_at: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    expires_at: str | None = None
    verified_at: str | None = None
    last_used_at: str | None = None
    usage_count: int = 0
    observations: int = 1
    supersedes: str | None = None
    failure: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    verify_first: bool = False
    because: str = ""
    """Why it is in a list: in the inbox candidate, replaced, flagged, expiring; else a part of `grants`."""
    due_at: str | None = None
    notes: tuple[Doubt, ...] = ()
    hidden: bool = False

    @property
    def needs_check(self) -> bool:
        """Flagged, or of the sort that must be checked before use and never has been."""
        unchecked = self.verify_first and self.verified_at is None and self.kind in ("fact", "procedure")
        return unchecked or "needs_verification" in self.flags

    @classmethod
    def read(cls, data: Json) -> Memory:
        failure = _dict(data.get("failure"))
        raw = data.get("content")
        return cls(
            id=text(data.get("id")),
            kind=text(data.get("kind")),
            status=text(data.get("status")),
            content=text(raw),
            version=_int(data, "version"),
            scope=text(data.get("scope")),
            project=_opt(data, "project"),
            subject=_opt(data, "subject"),
            attribute=_opt(data, "attribute"),
            value=_opt(data, "value"),
            why=_opt(data, "why"),
            how_to_apply=_opt(data, "how_to_apply"),
            conditions=_opt(data, "conditions"),
            context=_opt(data, "context"),
            about=_opt(data, "about"),
            sources=tuple(Source.read(_dict(item)) for item in _list(data.get("sources"))),
            authority=text(data.get("authority")),
            confidence=_float(data, "confidence"),
            sensitivity=text(data.get("sensitivity")),
            created_at=text(data.get("created_at")),
            updated_at=text(data.get("updated_at")),
            valid_from=_opt(data, "valid_from"),
            valid_to=_opt(data, "valid_to"),
            expires_at=_opt(data, "expires_at"),
            verified_at=_opt(data, "verified_at"),
            last_used_at=_opt(data, "last_used_at"),
            usage_count=_int(data, "usage_count"),
            observations=_int(data, "observations"),
            supersedes=_opt(data, "supersedes"),
            failure=tuple((name, text(value)) for name, value in failure.items() if value),
            flags=texts(data.get("flags")),
            verify_first=data.get("verify_first") is True,
            because=text(data.get("because")),
            due_at=_opt(data, "due_at"),
            notes=tuple(Doubt.read(_dict(item)) for item in _list(data.get("notes"))),
            hidden=any(isinstance(value, str) and visible(value) != value for value in data.values()),
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """A memory after a check; `failed` names what was not as it says."""

    memory: Memory
    verified: bool
    failed: tuple[str, ...] = ()

    @classmethod
    def read(cls, data: Json) -> Checked:
        checks = [_dict(item) for item in _list(data.get("checks"))]
        failed = [text(check.get("what")) for check in checks if check.get("state") in ("changed", "missing")]
        return cls(Memory.read(data), data.get("verified") is not False, tuple(failed))


@dataclass(frozen=True, slots=True)
class Page:
    items: tuple[Memory, ...]
    total: int

    @classmethod
    def read(cls, data: Json) -> Page:
        items = tuple(Memory.read(_dict(item)) for item in _list(data.get("items")))
        return cls(items, max(_int(data, "total"), len(items)))


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts by value for each way to narrow a list."""

    kinds: tuple[tuple[str, int], ...] = ()
    scopes: tuple[tuple[str, int], ...] = ()
    projects: tuple[tuple[str, int], ...] = ()
    statuses: tuple[tuple[str, int], ...] = ()

    @classmethod
    def read(cls, data: Json) -> Facets:
        def counts(name: str) -> tuple[tuple[str, int], ...]:
            found = _dict(data.get(name))
            return tuple((text(key), count) for key, count in found.items() if isinstance(count, int))

        return cls(counts("kinds"), counts("scopes"), counts("projects"), counts("statuses"))


@dataclass(frozen=True, slots=True)
class Version:
    """One version: the claim fields that were set, in the daemon's order."""

    version: int
    at: str
    fields: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, data: Json) -> Version:
        fields = tuple(
            (visible(name), shown)
            for name, value in data.items()
            if name not in {"version", "at"} and (shown := text(value))
        )
        return cls(_int(data, "version"), text(data.get("at")), fields)


@dataclass(frozen=True, slots=True)
class Event:
    at: str
    actor: str
    type: str
    before: str
    after: str
    reason: str

    @classmethod
    def read(cls, data: Json) -> Event:
        return cls(
            text(data.get("at")),
            text(data.get("actor")),
            text(data.get("type")),
            text(data.get("from")),
            text(data.get("to")),
            text(data.get("reason")),
        )


@dataclass(frozen=True, slots=True)
class History:
    versions: tuple[Version, ...]
    events: tuple[Event, ...]

    @classmethod
    def read(cls, data: Json) -> History:
        versions = (Version.read(_dict(item)) for item in _list(data.get("versions")))
        events = tuple(Event.read(_dict(item)) for item in _list(data.get("events")))
        return cls(tuple(sorted(versions, key=lambda item: item.version)), events)


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    kind: str
    content: str
    score: float
    trust: str
    verify_first: bool
    reasons: tuple[str, ...]

    @classmethod
    def read(cls, data: Json) -> Hit:
        why = data.get("why")
        if isinstance(why, dict):
            named = cast(dict[str, Any], why)
            why = [f"{name} {value}" for name, value in named.items() if isinstance(value, str | int | float)]
        return cls(
            id=text(data.get("id")),
            kind=text(data.get("kind")),
            content=text(data.get("content")),
            score=_float(data, "score"),
            trust=text(data.get("trust")),
            verify_first=data.get("verify_first") is True,
            reasons=texts(why),
        )


@dataclass(frozen=True, slots=True)
class Recall:
    hits: tuple[Hit, ...]
    took_ms: float
    mode: str

    @classmethod
    def read(cls, data: Json) -> Recall:
        hits = tuple(Hit.read(_dict(item)) for item in _list(data.get("results")))
        return cls(hits, _float(data, "took_ms"), text(data.get("mode")))
