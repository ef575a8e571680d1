"""What the methods about agents, tasks and keys answer. As `results`."""

from __future__ import annotations

from typing import Literal

from memvault.model import Sensitivity
from memvault.rpc.results import Added, Outcome, Result, Slot


class Token(Result, frozen=True):
    """The token is shown once; null while the grant waits for a person."""

    name: str
    state: str
    token: str | None


class Grant(Result, frozen=True):
    """What one agent may do. `projects`: "current", "all" or names."""

    name: str
    uid: int
    created_at: str
    host: str | None
    state: str
    quarantined: bool
    scopes: list[str]
    projects: str | list[str]
    ceiling: Sensitivity
    verbs: list[str]
    approved_at: str | None
    seen_at: str | None
    has_token: bool


class Grants(Result, frozen=True):
    items: list[Grant]
    total: int


class AgentRemoved(Result, frozen=True):
    removed: str


class Reported(Result, frozen=True):
    """What an agent brought in and how it was judged."""

    agent: str
    state: str
    quarantined: bool
    brought_in: int
    judged: dict[str, int]
    refused: int
    waiting: int
    unreviewed: int
    confirmed: int
    shared: int


class Written(Result, frozen=True):
    """Ids of what an agent wrote, by how it stands."""

    waiting: list[str]
    unreviewed: list[str]
    confirmed: list[str]
    shared: list[str]


class Purged(Result, frozen=True):
    deleted: list[str]
    shared: list[str]
    kept: list[str]
    tombstones: int
    run: str | None
    older_backups: list[str]


class Step(Result, frozen=True):
    """A note's way from open to done and back; `why` it was reopened."""

    at: str
    by: str
    to: Literal["done", "reopened"]
    why: str | None


class Note(Result, frozen=True):
    note: int
    kind: str
    text: str
    state: Literal["open", "done", "reopened"]
    at: str
    by: str
    steps: list[Step]


class NoteKept(Note, frozen=True):
    task: str
    outcome: str


class _Task(Result, frozen=True):
    id: str
    task: str | None
    title: str
    owner: str
    project: str | None
    opened_at: str
    changed_at: str
    lapses_at: str


class Task(_Task, frozen=True):
    """Notes of one task; erased when it closes, or at `lapses_at`."""

    notes: list[Note]


class TaskOpened(Task, frozen=True):
    """`resumed`: it was open already."""

    resumed: bool


class TaskRow(_Task, frozen=True):
    notes: int
    open: int


class Tasks(Result, frozen=True):
    items: list[TaskRow]
    total: int


class TaskClosed(Result, frozen=True):
    """`overwritten`: nothing of the notes is left in the file. `kept`: what was proposed as memories."""

    id: str
    erased: int
    overwritten: bool
    kept: list[Added]


class Slots(Result, frozen=True):
    """`generation` grows with every change of keys."""

    vault: str
    generation: int
    slots: list[Slot]


class SlotsChanged(Slots, frozen=True):
    """`run`: the event that says who changed it."""

    run: str | None = None
    recovery_code: str | None = None


class Rotated(Slots, frozen=True):
    """A new vault key. Backups made earlier open with the old slots only."""

    memories: int
    dropped: list[str]
    recovery_code: str | None
    older_backups: list[str]
    warnings: list[str]


class HookNote(Result, frozen=True):
    """What became of something the session said: asked to be remembered, put right, or confirmed."""

    what: Literal["said", "corrected", "confirmed"]
    outcome: Outcome
    id: str | None
    reason: str


class Hooked(Result, frozen=True):
    """`context`: text for the session, framed as data; null for none."""

    context: str | None
    notes: list[HookNote]
