"""What the methods of upkeep answer: runs, conflicts, imports, backups, the gate. As `results`."""

from __future__ import annotations

from typing import Any, Literal

from memvault.model import Status
from memvault.rpc.results import Event, Record, Result


class Run(Result, frozen=True):
    """A set of changes that is taken back as one."""

    run: str
    kind: str
    actor: str
    started_at: str
    finished_at: str | None
    status: Literal["running", "kept", "interrupted", "rolled_back"]
    summary: dict[str, Any]


class Runs(Result, frozen=True):
    items: list[Run]
    total: int


class RunShown(Run, frozen=True):
    changes: list[Event]


class RolledBack(Result, frozen=True):
    """`restored` are as they were before the run, `removed` were created by it."""

    restored: list[str]
    removed: list[str]
    run: str


class Touched(Result, frozen=True):
    """What else speaks about the same property, and what a verdict means for it."""

    id: str
    status: Status
    effect: str


class Conflict(Result, frozen=True):
    """Claims that contradict each other and that nothing ranks; a person decides."""

    id: str
    scope: str
    project: str | None
    subject: str | None
    attribute: str | None
    since: str
    reason: str | None
    sides: list[Record]
    would_change: list[Touched]


class Conflicts(Result, frozen=True):
    items: list[Conflict]
    total: int


class Resolved(Result, frozen=True):
    conflict: str
    verdict: str
    items: list[Record]
    total: int
    deleted: list[str]
    older_backups: list[str]
    run: str


class Turned(Result, frozen=True):
    """What an import did not take, where it lies, and why."""

    where: str
    reason: str


class Imported(Result, frozen=True):
    """The lists hold the first rows; `counts` says how many in all. `run` is null when nothing changed."""

    run: str | None
    added: int
    merged: int
    candidates: int
    unchanged: int
    superseded: int
    conflicts: int
    refused: list[Turned]
    unreadable: list[Turned]
    skipped: list[Turned]
    counts: dict[str, int]
    interrupted: bool
    dry_run: bool


class Offer(Result, frozen=True):
    """Memory of another program on this machine that could be imported."""

    kind: str
    path: str
    memories: int
    projects: int


class BackupMade(Result, frozen=True):
    path: str
    memories: int
    size_bytes: int
    sha256: str
    created_at: str


class Backup(Result, frozen=True):
    """`before_deletion`: it still holds what was deleted since; null when that is not known."""

    path: str
    created_at: str | None
    size_bytes: int
    memories: int | None
    vault: str | None
    whole: bool
    problem: str | None
    before_deletion: bool | None


class Backups(Result, frozen=True):
    items: list[Backup]
    total: int


class Restored(Result, frozen=True):
    """`kept_copy`: where the vault that was there before lies now.

    `held`: memories switched off until a person confirms them, as they resemble something deleted since.
    """

    restored: str
    vault: str
    memories: int
    removed_by_tombstones: int
    held: int
    kept_copy: str | None
    warnings: list[str]


class Audited(Result, frozen=True):
    ok: bool
    events: int
    broken_at: int | None
    detail: str


class Check(Result, frozen=True):
    name: str
    ok: bool
    detail: str
    fix: str


class Checks(Result, frozen=True):
    checks: list[Check]


class WholeCheck(Checks, frozen=True):
    """`ok`: all of them are."""

    ok: bool


class Finding(Result, frozen=True):
    """What is wrong; `mend`: it can be mended. `missing`: changes that are lost."""

    what: str
    detail: str
    fix: str
    mend: bool
    missing: int | None = None


class Salvaged(Result, frozen=True):
    """What mending did: one of these, or nothing when it was only looked."""

    header: str | None = None
    accepted: int | None = None
    memories: int | None = None
    lost: list[str] | None = None
    lost_total: int | None = None
    events_lost: int | None = None
    kept_copy: str | None = None
    warnings: list[str] | None = None


class Recovered(Result, frozen=True):
    """What is wrong now. `looked_inside`: the vault could be opened for it."""

    state: str
    found: list[Finding]
    done: Salvaged
    backups: list[Backup]
    looked_inside: bool


class Signal(Result, frozen=True):
    """A rule that moved a score, and by how much."""

    code: str
    stable: float
    reusable: float


class GateExplained(Result, frozen=True):
    """What the gate would say if an agent proposed the text. The lowest of the four scores decides."""

    verdict: str
    scores: dict[str, float]
    total: float
    theta: float
    reason: str
    question: str | None
    signals: list[Signal]
    exclusions: list[str]
    credential: bool
    rules: dict[str, float]
    estimate: dict[str, float] | None
    chat: dict[str, float] | None
    chat_model: str


class Point(Result, frozen=True):
    """How good the gate is at one theta."""

    theta: float
    precision: float
    recall: float
    kept: int


class Suggested(Point, frozen=True):
    by: str


class Calibrated(Result, frozen=True):
    rows: list[Point]
    labels: int
    keep: int
    theta: float
    current: Point
    suggested: Suggested | None
    rule: str
    chat_model: str


class ThetaSet(Result, frozen=True):
    theta: float
    before: float
