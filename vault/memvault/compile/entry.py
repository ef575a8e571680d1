"""A memory on its way into a context: the record and what the vault computed beside it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from memvault.clock import parse
from memvault.model import Authority, Kind, Record, Status
from memvault.text import fold

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """`written_at`: when its current version was written, `ends_at`: when it counts as expired (ISO 8601).
    `stale`: it waits for a new check. `score`: relevance to the task, 0 for what is loaded whatever the task.
    """

    record: Record
    written_at: str
    ends_at: str | None = None
    verify_first: bool = False
    stale: bool = False
    score: float = 0.0

    def is_past(self, now: str) -> bool:
        """Past its date, whether the daily upkeep has seen that or not."""
        return self.ends_at is not None and self.ends_at <= now

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def said_at(self) -> str:
        """When the claim, as it stands, was said: its first source was seen, or it was corrected."""
        record = self.record
        if record.version > 1:
            return self.written_at
        return next((s.observed_at for s in record.sources if s.observed_at), record.created_at)

    @property
    def said_on(self) -> date:
        return parse(self.said_at).date()

    @property
    def about(self) -> Key | None:
        """Place, subject and attribute: what the sides of a conflict share."""
        claim = self.record.claim
        if not (claim.subject and claim.attribute):
            return None
        return (claim.scope, claim.project or "", fold(claim.subject), fold(claim.attribute))


def title(entry: Entry) -> str:
    """What it is named by: subject and attribute; its sentence without them."""
    claim = entry.record.claim
    return f"{claim.subject} {claim.attribute or ''}" if claim.subject else claim.content


STYLE = frozenset(
    ("style", "tone", "naming", "layout", "voice", "writing_style", "风格", "语气", "命名", "排版", "文风")
)
"""Attributes of preferences that are low-priority guidance (SPEC 2)."""

CONSTRAINTS = ("constraint", "constraints", "requirement", "requirements", "约束", "限制", "要求")
"""Attributes by which a fact of a project is an explicit constraint of it, in lower case."""


def is_style(entry: Entry) -> bool:
    attribute = fold(entry.record.claim.attribute or "").replace(" ", "_")
    return attribute in STYLE or attribute.startswith("style_")


def is_constraint(entry: Entry) -> bool:
    claim = entry.record.claim
    named = (claim.attribute or "").lower() in CONSTRAINTS
    return claim.kind is Kind.FACT and claim.project is not None and named


def confirmed(entry: Entry) -> bool:
    """Whether a person, a document or a check stands behind it, not only a conversation."""
    record = entry.record
    return record.authority.rank >= Authority.DOCUMENT.rank or record.verified_at is not None


def verified(entry: Entry) -> bool:
    """Whether it was checked and needs no new check. A policy is a person's word and binds unchecked."""
    record = entry.record
    if record.claim.kind is Kind.POLICY:
        return True
    checked = record.verified_at is not None or record.authority in (Authority.SYSTEM, Authority.FILE)
    return checked and not entry.stale and record.status is Status.ACTIVE
