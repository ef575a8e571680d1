"""Other names: those a person set, prints of what they switched off, and what each memory taught.

What a memory taught goes with its row (foreign keys cascade). Knows nothing of whose question may use a name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from memvault.store import codec
from memvault.store.connection import MAX_VARIABLES, Database

Set = tuple[str, str | None, tuple[str, ...]]
"""Id, project, names."""


def teach(db: Database, memory: str, taught: Sequence[tuple[str, ...]]) -> None:
    """Keep what a memory teaches now, in place of what it taught before."""
    db.run("DELETE FROM alias_taught WHERE memory = (SELECT row FROM memory WHERE id = ?)", (memory,))
    for number, names in enumerate(taught):
        sql = "INSERT INTO alias_taught SELECT row, ?, ? FROM memory WHERE id = ?"
        db.run(sql, (number, codec.canonical(list(names)), memory))


def taught_by(db: Database, ids: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    """What these memories taught; those that taught nothing are left out."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for start in range(0, len(ids), MAX_VARIABLES):
        part = ids[start : start + MAX_VARIABLES]
        marks = ", ".join("?" * len(part))
        sql = (
            "SELECT m.id, t.names FROM alias_taught t JOIN memory m ON m.row = t.memory"
            f" WHERE m.id IN ({marks}) ORDER BY t.memory, t.number"
        )
        for memory, names in db.all(sql, list(part)):
            found.setdefault(memory, []).append(tuple(json.loads(names)))
    return found


def teachers(db: Database) -> list[str]:
    """Ids of the memories that taught something."""
    sql = "SELECT id FROM memory WHERE row IN (SELECT memory FROM alias_taught) ORDER BY row"
    return [str(row[0]) for row in db.all(sql)]


def texts(db: Database) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(id, texts that may teach) of every memory."""
    sql = "SELECT id, content, why, how_to_apply, conditions, context, about FROM memory ORDER BY row"
    for memory, *found in db.stream(sql):
        yield memory, tuple(text for text in found if text)


def every(db: Database) -> list[Set]:
    """What a person set, oldest first."""
    sql = "SELECT id, project, names FROM alias ORDER BY id"
    return [(ident, project, tuple(json.loads(names))) for ident, project, names in db.all(sql)]


def put(db: Database, ident: str, project: str | None, names: Sequence[str]) -> None:
    db.run("INSERT OR REPLACE INTO alias VALUES(?, ?, ?)", (ident, project, codec.canonical(list(names))))


def remove(db: Database, ident: str) -> None:
    db.run("DELETE FROM alias WHERE id = ?", (ident,))


def imaged(db: Database, project: str | None) -> list[str]:
    """Sets of names of a project that were removed and that a run could still bring back."""
    sql = "SELECT memory FROM before_image WHERE json_extract(image, '$.alias.project') = ?"
    return [str(row[0]) for row in db.all(sql, (project,))]


def switched_off(db: Database) -> frozenset[str]:
    """Prints of names and pairs that a person switched off."""
    return frozenset(str(row[0]) for row in db.all("SELECT pair FROM alias_off"))


def switch(db: Database, pair: str, *, off: bool) -> None:
    sql = "INSERT OR IGNORE INTO alias_off VALUES(?)" if off else "DELETE FROM alias_off WHERE pair = ?"
    db.run(sql, (pair,))
