"""Notes of running tasks: the task, its notes, and the steps of each. Erased as one, beside all memories.

Owns the three tables whose names start with `task_`. Knows nothing of limits or of what a step means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memvault.model import NoteKind, NoteState
from memvault.store.connection import MAX_VARIABLES, Database


@dataclass(frozen=True, slots=True)
class Task:
    """`own` is the name its owner gave it; `row` None for one that is not stored yet."""

    row: int | None
    id: str
    own: str | None
    owner: str
    project: str | None
    title: str
    opened_at: str
    changed_at: str


@dataclass(frozen=True, slots=True)
class Step:
    """What became of a note, when, by whom and why."""

    at: str
    actor: str
    state: NoteState
    why: str | None


@dataclass(frozen=True, slots=True)
class Note:
    """`number` counts from 1 within its task."""

    row: int
    number: int
    kind: NoteKind
    text: str
    state: NoteState
    at: str
    actor: str
    steps: tuple[Step, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose tasks a statement may see: those of `owner` (None: of all), in `project` unless `anywhere`."""

    owner: str | None = None
    project: str | None = None
    anywhere: bool = True

    def condition(self) -> tuple[str, list[Any]]:
        parts: list[str] = []
        values: list[Any] = []
        if self.owner is not None:
            parts.append("owner = ?")
            values.append(self.owner)
        if not self.anywhere:
            parts.append("project IS ?")
            values.append(self.project)
        return " AND ".join(parts) or "TRUE", values


_TASK = "row, id, own, owner, project, title, opened_at, changed_at"
_ITEMS = "(SELECT count(*) FROM task_note WHERE task = task_head.row{})"


def put(db: Database, task: Task) -> None:
    db.run(
        "INSERT INTO task_head(id, own, owner, project, title, opened_at, changed_at)"
        " VALUES(?, ?, ?, ?, ?, ?, ?)",
        (task.id, task.own, task.owner, task.project, task.title, task.opened_at, task.changed_at),
    )


def find(db: Database, whose: Whose, name: str) -> list[Task]:
    """The task with this id; else those that their owners gave this name."""
    condition, values = whose.condition()
    for column in ("id", "own"):
        sql = f"SELECT {_TASK} FROM task_head WHERE {column} = ? AND {condition} ORDER BY row"
        rows = db.all(sql, (name, *values))
        if rows:
            return [Task(*row) for row in rows]
    return []


def page(db: Database, whose: Whose, limit: int, offset: int) -> tuple[list[tuple[Task, int, int]], int]:
    """(task, its notes, items not done), last changed first, and the number of all."""
    condition, values = whose.condition()
    total = int(db.one(f"SELECT count(*) FROM task_head WHERE {condition}", values)[0])
    waiting = _ITEMS.format(" AND state IN ('open', 'reopened')")
    sql = (
        f"SELECT {_TASK}, {_ITEMS.format('')}, {waiting} FROM task_head WHERE {condition}"
        " ORDER BY changed_at DESC, row DESC LIMIT ? OFFSET ?"
    )
    rows = db.all(sql, (*values, limit, offset))
    return [(Task(*row[:-2]), int(row[-2]), int(row[-1])) for row in rows], total


def count(db: Database, owner: str) -> int:
    """How many tasks one owner has, in all projects."""
    return int(db.one("SELECT count(*) FROM task_head WHERE owner = ?", (owner,))[0])


def put_note(db: Database, task: int, number: int, kind: NoteKind, text: str, at: str, actor: str) -> None:
    state = NoteState.OPEN if kind.is_item else NoteState.NOTED
    db.run(
        "INSERT INTO task_note(task, number, kind, text, state, at, actor) VALUES(?, ?, ?, ?, ?, ?, ?)",
        (task, number, kind, text, state, at, actor),
    )


def notes(db: Database, task: int, number: int | None = None) -> list[Note]:
    """The notes of a task in their order, or the one with this number, with their steps."""
    chosen, values = ("", (task,)) if number is None else (" AND number = ?", (task, number))
    steps: dict[int, list[Step]] = defaultdict(list)
    sql = (
        "SELECT note, task_step.at, task_step.actor, task_step.state, why FROM task_step"
        f" JOIN task_note ON task_note.row = note WHERE task = ?{chosen} ORDER BY task_step.row"
    )
    for note, at, actor, state, why in db.all(sql, values):
        steps[note].append(Step(at, actor, NoteState(state), why))
    sql = (
        f"SELECT row, number, kind, text, state, at, actor FROM task_note WHERE task = ?{chosen}"
        " ORDER BY number"
    )
    return [
        Note(row, at_number, NoteKind(kind), text, NoteState(state), at, actor, tuple(steps[row]))
        for row, at_number, kind, text, state, at, actor in db.all(sql, values)
    ]


def put_step(db: Database, note: int, step: Step) -> None:
    """Record what became of a note."""
    db.run("UPDATE task_note SET state = ? WHERE row = ?", (step.state, note))
    db.run(
        "INSERT INTO task_step(note, at, actor, state, why) VALUES(?, ?, ?, ?, ?)",
        (note, step.at, step.actor, step.state, step.why),
    )


def touch(db: Database, task: int, at: str) -> None:
    db.run("UPDATE task_head SET changed_at = ? WHERE row = ?", (at, task))


def unchanged_since(db: Database, before: str) -> list[int]:
    """Rows of tasks that nothing was written to after `before` (ISO 8601)."""
    sql = "SELECT row FROM task_head WHERE changed_at <= ? ORDER BY row"
    return [int(row[0]) for row in db.all(sql, (before,))]


def remove(db: Database, tasks: Sequence[int]) -> None:
    """Delete these tasks with everything of theirs."""
    for start in range(0, len(tasks), MAX_VARIABLES):
        chunk = tasks[start : start + MAX_VARIABLES]
        db.run(f"DELETE FROM task_head WHERE row IN ({', '.join('?' * len(chunk))})", chunk)
