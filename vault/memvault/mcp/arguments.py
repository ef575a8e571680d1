"""What the tools take. Texts of the descriptions are read by models: they say when and how.

Knows nothing of what the tools do.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from memvault.model import Kind, NoteKind, Sensitivity

Query = Annotated[
    str, Meta(min_length=1, description="What you need to know, in a sentence or in key words.")
]
Id = Annotated[str, Meta(min_length=1, max_length=64, description="The id that another tool's answer gave.")]
Level = Literal["low", "normal", "high"]
Resting = Literal["archived", "expired"]


class Verdict(StrEnum):
    """What became of a memory in the work."""

    USED = "used"
    WRONG = "wrong"
    OUTDATED = "outdated"


class Action(StrEnum):
    """What to do with task notes."""

    OPEN = "open"
    NOTE = "note"
    DONE = "done"
    REOPEN = "reopen"
    GET = "get"
    LIST = "list"
    CLOSE = "close"


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all arguments: what nobody knows is refused by name."""


class Nothing(Arguments, frozen=True):
    pass


class Search(Arguments, frozen=True):
    query: Query
    limit: Annotated[int, Meta(ge=1, le=50, description="At most so many results.")] = 5
    include: Annotated[
        list[Resting], Meta(max_length=2, description="Also search what was put to rest or has run out.")
    ] = []
    kind: Annotated[Kind | None, Meta(description="Only memories of this kind.")] = None


class Context(Arguments, frozen=True):
    objective: Annotated[str, Meta(min_length=1, description="The task you are about to work on.")]
    budget: Annotated[int, Meta(ge=100, le=8_000, description="Tokens the context may take.")] = 1_000
    mode: Annotated[
        Literal["M0", "M1", "M2"] | None,
        Meta(description="M0 rules only, M1 this project, M2 going on with earlier work. Leave it out."),
    ] = None
    continuity: Annotated[Level, Meta(description="High when this goes on with earlier work.")] = "normal"
    novelty: Annotated[Level, Meta(description="High when past work should be ignored.")] = "normal"
    risk: Annotated[Level, Meta(description="High: only what was verified.")] = "normal"
    session: Annotated[str | None, Meta(description="Your session's id; keeps the context stable.")] = None


class Failure(Arguments, frozen=True):
    symptom: str
    cause: str
    fix: str
    verification: str = ""
    stop_rule: Annotated[str, Meta(description="When to stop trying.")] = ""


class Conclusion(Arguments, frozen=True):
    content: Annotated[
        str, Meta(min_length=1, description="One claim in a sentence; begins with the rule or the fact.")
    ]
    kind: Annotated[
        Kind,
        Meta(
            description="What it is; a reflection is a failure with its cause, a policy only a person writes."
        ),
    ]
    scope: Annotated[
        Literal["private", "team"],
        Meta(description="private: this user's. team: true for anybody who works on this project."),
    ]
    source: Annotated[
        str,
        Meta(
            pattern=r"\S",
            description="Where it comes from: file:PATH, tool:NAME or conversation:SESSION; a name alone is "
            "a conversation's.",
        ),
    ]
    evidence: Annotated[str | None, Meta(description="Verbatim excerpt that shows it.")] = None
    subject: Annotated[str | None, Meta(description="What the claim is about, such as `deploy`.")] = None
    attribute: Annotated[str | None, Meta(description="Which property of it, such as `command`.")] = None
    value: Annotated[str | None, Meta(description="The property's value, such as `bash deploy.sh`.")] = None
    why: Annotated[str | None, Meta(description="The reason behind it.")] = None
    how_to_apply: Annotated[str | None, Meta(description="What to do differently because of it.")] = None
    conditions: Annotated[str | None, Meta(description="When it holds, such as `production only`.")] = None
    context: Annotated[str | None, Meta(description="The setting in which it was learned.")] = None
    about: Annotated[str | None, Meta(description="Who or what is involved.")] = None
    sensitivity: Annotated[Sensitivity | None, Meta(description="How sensitive it is.")] = None
    expires_at: Annotated[str | None, Meta(description="Date after which it no longer holds.")] = None
    failure: Annotated[Failure | None, Meta(description="For reflections.")] = None
    everywhere: Annotated[
        bool, Meta(description="True for all of the user's projects, not only this one.")
    ] = False


class Add(Conclusion, frozen=True):
    ask: Annotated[
        bool,
        Meta(description="Ask the person first, where the host can; for what they may not want kept."),
    ] = False


class One(Arguments, frozen=True):
    id: Id


class List(Arguments, frozen=True):
    kind: Annotated[Kind | None, Meta(description="Only this kind.")] = None
    scope: Annotated[Literal["private", "team"] | None, Meta(description="Only this scope.")] = None
    status: Annotated[
        Literal["active", "conflict", "expired", "archived"] | None, Meta(description="Only this state.")
    ] = None
    subject: Annotated[str | None, Meta(description="Only what is about this.")] = None
    text: Annotated[str | None, Meta(description="Only what holds these words.")] = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class Feedback(Arguments, frozen=True):
    id: Id
    verdict: Annotated[
        Verdict,
        Meta(description="used: it changed what you did. wrong: it is false. outdated: it was true once."),
    ]
    evidence: Annotated[
        Annotated[str, Meta(max_length=2_000)] | None,
        Meta(description="What shows it; needed for wrong and outdated."),
    ] = None


class TaskNotes(Arguments, frozen=True):
    action: Annotated[Action, Meta(description="open, note, done, reopen, get, list or close.")]
    task: Annotated[str | None, Meta(description="The task's id, or your own name for it.")] = None
    title: Annotated[str | None, Meta(description="open: what the task is.")] = None
    kind: Annotated[NoteKind | None, Meta(description="note: what sort of note it is.")] = None
    text: Annotated[str | None, Meta(description="note: the note; reopen: why.")] = None
    note: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="done and reopen: the note's number.")
    ] = None
    keep: Annotated[
        list[Conclusion], Meta(max_length=3, description="close: conclusions to propose as memories.")
    ] = []
