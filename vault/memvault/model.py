"""The memory record and the words of SPEC 2 to 4 as types: no I/O, standard library only.

Owns names, ranges and invariants of the public fields. Knows nothing of storage, wire or screen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    POLICY = "policy"
    PREFERENCE = "preference"
    FACT = "fact"
    RELATIONSHIP = "relationship"
    EPISODE = "episode"
    PROCEDURE = "procedure"
    REFLECTION = "reflection"


class Scope(StrEnum):
    TASK = "task"
    PRIVATE = "private"
    TEAM = "team"


class Sensitivity(StrEnum):
    PUBLIC = "public"
    INTERNAL = "internal"
    PERSONAL = "personal"
    RESTRICTED = "restricted"

    @property
    def rank(self) -> int:
        """0 (public) to 3 (restricted)."""
        return _SENSITIVITY_RANK[self]


_SENSITIVITY_RANK = {level: rank for rank, level in enumerate(Sensitivity)}


class Status(StrEnum):
    CANDIDATE = "candidate"
    ACTIVE = "active"
    CONFLICT = "conflict"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    ARCHIVED = "archived"
    DISABLED = "disabled"
    DELETED = "deleted"


class Authority(StrEnum):
    """Who stands behind a claim, strongest first. Computed by the daemon, never taken from a caller."""

    SYSTEM = "system"
    FILE = "file"
    USER_CONFIRMED = "user_confirmed"
    DOCUMENT = "document"
    CONVERSATION = "conversation"
    INFERRED = "inferred"

    @property
    def rank(self) -> int:
        """5 (system) to 0 (inferred)."""
        return _AUTHORITY_RANK[self]


_AUTHORITY_RANK = {level: rank for rank, level in enumerate(reversed(Authority))}


class SourceType(StrEnum):
    USER = "user"
    CONVERSATION = "conversation"
    FILE = "file"
    TOOL = "tool"
    IMPORT = "import"
    TEAM = "team"


class Outcome(StrEnum):
    """What became of a write (SPEC 14)."""

    ACTIVE = "active"
    CANDIDATE = "candidate"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    CONFLICT = "conflict"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a claim comes from. `ref` can be followed; `evidence` is a verbatim excerpt.

    `content_hash` of a file: the daemon read it and found the excerpt. `verified`: it may stand as an
    independent observation as well (SPEC 4); only the daemon says so.
    """

    type: SourceType
    ref: str
    task: str | None = None
    message_index: int | None = None
    evidence: str | None = None
    content_hash: str | None = None
    observed_at: str | None = None
    verified: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """For reflections about a failure (SPEC 2)."""

    symptom: str
    cause: str
    fix: str
    verification: str = ""
    stop_rule: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """The fields a new version can change. `subject` and `attribute` go together or not at all."""

    kind: Kind
    scope: Scope
    content: str
    project: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    why: str | None = None
    how_to_apply: str | None = None
    conditions: str | None = None
    context: str | None = None
    about: str | None = None
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    valid_from: str | None = None
    valid_to: str | None = None
    expires_at: str | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim on its way into the vault, with the sources that carry it."""

    claim: Claim
    sources: tuple[Source, ...]
    confidence: float | None = None
    """0..1; None lets the daemon choose by authority."""
    created_at: str | None = None
    """When the claim was first made, if the origin says so; None means now."""


@dataclass(frozen=True, slots=True)
class Record:
    """One memory as callers see it: the claim, its trust, its state and the facts beside it."""

    id: str
    version: int
    claim: Claim
    sources: tuple[Source, ...]
    authority: Authority
    confidence: float
    status: Status
    created_at: str
    updated_at: str
    verified_at: str | None = None
    last_used_at: str | None = None
    usage_count: int = 0
    observations: int = 1
    supersedes: str | None = None
    flags: tuple[str, ...] = field(default=())


class NoteKind(StrEnum):
    """What a note of a running task is; the first three are items that get done."""

    PLAN = "plan"
    QUESTION = "question"
    TO_DO = "todo"
    FINDING = "finding"
    DECISION = "decision"

    @property
    def is_item(self) -> bool:
        return self not in (NoteKind.FINDING, NoteKind.DECISION)


class NoteState(StrEnum):
    """Where a note of a running task stands; findings and decisions stay `noted`."""

    NOTED = "noted"
    OPEN = "open"
    DONE = "done"
    REOPENED = "reopened"


CLAIM_FIELDS: tuple[str, ...] = tuple(Claim.__dataclass_fields__)
"""Names of the versioned fields, in the order of SPEC 2."""
