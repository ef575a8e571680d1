"""Raw embedding vectors, one row per window of a memory's text and model: float32, little endian."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memvault.store.connection import Database


def put(db: Database, memory: str, model: str, parts: Sequence[bytes]) -> None:
    """Replace the vectors of `memory` under `model`; nothing happens when the memory is gone."""
    row = db.maybe("SELECT row FROM memory WHERE id = ?", (memory,))
    if row is None:
        return
    db.run("DELETE FROM vector WHERE memory = ? AND model = ?", (row[0], model))
    db.run_many(
        "INSERT INTO vector VALUES(?, ?, ?, ?)", [(row[0], model, n, part) for n, part in enumerate(parts)]
    )


def drop(db: Database, memory: str) -> None:
    db.run("DELETE FROM vector WHERE memory = (SELECT row FROM memory WHERE id = ?)", (memory,))


def drop_other_models(db: Database, model: str) -> None:
    db.run("DELETE FROM vector WHERE model <> ?", (model,))


def stream(db: Database, model: str) -> Iterator[tuple[int, int, bytes]]:
    """(memory row, part, value) in the order of rows."""
    sql = "SELECT memory, part, value FROM vector WHERE model = ? ORDER BY memory, part"
    return ((row[0], row[1], row[2]) for row in db.stream(sql, (model,)))


def of(db: Database, memory: str, model: str) -> list[bytes]:
    sql = (
        "SELECT v.value FROM vector v JOIN memory m ON m.row = v.memory"
        " WHERE m.id = ? AND v.model = ? ORDER BY v.part"
    )
    return [bytes(row[0]) for row in db.all(sql, (memory, model))]


def missing(db: Database, model: str) -> list[str]:
    """Ids of the memories that `model` has not embedded yet, oldest first."""
    sql = (
        "SELECT id FROM memory m WHERE NOT EXISTS"
        " (SELECT 1 FROM vector v WHERE v.memory = m.row AND v.model = ?) ORDER BY row"
    )
    return [row[0] for row in db.all(sql, (model,))]


def count_missing(db: Database, model: str) -> int:
    sql = (
        "SELECT count(*) FROM memory m WHERE NOT EXISTS"
        " (SELECT 1 FROM vector v WHERE v.memory = m.row AND v.model = ?)"
    )
    return int(db.one(sql, (model,))[0])
