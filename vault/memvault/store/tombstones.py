"""What stays of a deleted memory: keyed hashes that recognise it and cannot be turned back into text.

The key is the vault's tombstone key (32 random bytes, never rotated). Who has it can test a guess, no more. A
lifted tombstone keeps its row, without any hash. Knows nothing of why or by whom, nor of how a text is taken
apart.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from memvault.model import Claim
from memvault.store.connection import MAX_VARIABLES, Database, Row
from memvault.store.sketch import buckets, sketch
from memvault.text import fold

_PRINT = "content, bag, claim, about, worth, marks, sketch, buckets"
MOST_NEAR = 1_000
"""Tombstones alike enough to be looked at for one claim."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A claim's text taken apart: its words, what tells it apart, and what likeness is measured by."""

    bag: Sequence[str]
    marks: Collection[str]
    tokens: Collection[str]
    shingles: Collection[str]
    value: Sequence[str]
    """What the claim's value says; empty without one."""


@dataclass(frozen=True, slots=True)
class Prints:
    """Keyed hashes of one claim.

    `claim` is None without subject and attribute; `about` (those) and `worth` (those and what the value says)
    also without a value. `sketch` is None, without `bands`, for a text whose words say nothing.
    """

    content: bytes
    bag: bytes
    claim: bytes | None
    about: bytes | None
    worth: bytes | None
    marks: bytes
    sketch: bytes | None
    buckets: bytes
    bands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Near:
    """A tombstone's print that may be alike; fields as in Prints."""

    tombstone: str
    about: bytes | None
    worth: bytes | None
    sketch: bytes | None
    buckets: bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """One tombstone as it is stored: its row, and its prints, each with its bands."""

    row: Row
    prints: tuple[tuple[Row, tuple[int, ...]], ...]

    @property
    def id(self) -> str:
        return str(self.row[0])

    @property
    def lifted(self) -> bool:
        return self.row[-1] is not None


def _keyed(key: bytes, label: str, *parts: str) -> bytes:
    return hmac.digest(key, "\x1f".join((label, *parts)).encode(), "sha256")


def prints(key: bytes, claim: Claim, parts: Parts) -> Prints:
    """Hashes of folded content, words, and (scope, project, subject, attribute, value), and a sketch."""
    content = _keyed(key, "content", fold(claim.content) or claim.content)
    place = (claim.scope, claim.project or "", fold(claim.subject or ""), fold(claim.attribute or ""))
    named, valued = bool(claim.subject and claim.attribute), claim.value is not None
    marks = _keyed(key, "marks", *sorted(parts.marks))[:8]
    drawn = sketch(key, parts.shingles, marks)
    return Prints(
        content=content,
        bag=_keyed(key, "bag", *parts.bag) if parts.bag else content,
        claim=_keyed(key, "claim", *place, fold(claim.value or claim.content)) if named else None,
        about=_keyed(key, "about", *place)[:16] if named and valued else None,
        worth=_keyed(key, "worth", *place, *parts.value)[:16] if named and valued else None,
        marks=marks,
        sketch=None if drawn is None else drawn.values,
        buckets=buckets(key, parts.tokens),
        bands=() if drawn is None else drawn.bands,
    )


def source_print(key: bytes, ref: str) -> bytes:
    return _keyed(key, "source", ref)


def put(
    db: Database,
    tombstone: str,
    at: str,
    run: str,
    memory: str | None,
    found: Sequence[Prints],
    *,
    by_source: bool,
    source: bytes | None = None,
) -> None:
    """Keep the prints of every version of a memory, or (`memory` None) that of a source."""
    sql = "INSERT INTO tombstone(id, at, run, memory, by_source, source) VALUES(?, ?, ?, ?, ?, ?)"
    db.run(sql, (tombstone, at, run, memory, int(by_source), source))
    for one in dict.fromkeys(found):
        values = (one.content, one.bag, one.claim, one.about, one.worth, one.marks, one.sketch, one.buckets)
        _put_print(db, tombstone, values, one.bands)


def _put_print(db: Database, tombstone: str, values: Sequence[Any], bands: Sequence[int]) -> None:
    marks = ", ".join("?" * (len(values) + 1))
    db.run(f"INSERT INTO tombstone_print(tombstone, {_PRINT}) VALUES({marks})", (tombstone, *values))
    number = int(db.one("SELECT last_insert_rowid()")[0])
    db.run_many("INSERT INTO tombstone_band VALUES(?, ?)", [(band, number) for band in bands])


def forbidding(db: Database, found: Prints) -> str | None:
    """The id of a tombstone of this very content, these very words or this very claim."""
    row = db.maybe(
        "SELECT tombstone FROM tombstone_print WHERE content = ?"
        " UNION ALL SELECT tombstone FROM tombstone_print WHERE bag = ?"
        " UNION ALL SELECT tombstone FROM tombstone_print WHERE claim = ? LIMIT 1",
        (found.content, found.bag, found.claim),
    )
    return None if row is None else str(row[0])


def any_source(db: Database) -> bool:
    return bool(db.one("SELECT EXISTS(SELECT 1 FROM tombstone WHERE source IS NOT NULL)")[0])


def forbidding_source(db: Database, refs: Sequence[bytes]) -> str | None:
    """The id of a tombstone of one of these sources."""
    for start in range(0, len(refs), MAX_VARIABLES):
        part = refs[start : start + MAX_VARIABLES]
        marks = ", ".join("?" * len(part))
        row = db.maybe(f"SELECT id FROM tombstone WHERE source IN ({marks}) ORDER BY id LIMIT 1", part)
        if row is not None:
            return str(row[0])
    return None


def near(db: Database, found: Prints) -> list[Near]:
    """Prints with the same marks that share a band, and those of the same value, by index, oldest first."""
    bands = ", ".join("?" * len(found.bands))
    rows = db.all(
        f"SELECT tombstone, about, worth, sketch, buckets FROM tombstone_print WHERE worth = ? OR"
        f" id IN (SELECT print FROM tombstone_band WHERE band IN ({bands})) AND marks = ?"
        f" ORDER BY id LIMIT {MOST_NEAR}",
        (found.worth, *found.bands, found.marks),
    )
    return [Near(*row) for row in rows]


def any_standing(db: Database) -> bool:
    return bool(db.one("SELECT EXISTS(SELECT 1 FROM tombstone WHERE lifted_at IS NULL)")[0])


def count(db: Database) -> int:
    return int(db.one("SELECT count(*) FROM tombstone WHERE lifted_at IS NULL")[0])


def count_of_run(db: Database, run: str) -> int:
    return int(db.one("SELECT count(*) FROM tombstone WHERE run = ?", (run,))[0])


def page(db: Database, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """Those that stand, newest first, and how many there are. Nothing in them is text."""
    rows = db.all(
        "SELECT id, at, run, memory, by_source FROM tombstone WHERE lifted_at IS NULL"
        " ORDER BY id DESC LIMIT ? OFFSET ?",
        (limit, offset),
    )
    items = [
        {"id": id_, "at": at, "run": run, "memory": memory, "by_source": bool(by_source)}
        for id_, at, run, memory, by_source in rows
    ]
    return items, count(db)


def standing(db: Database, tombstone: str) -> tuple[str | None] | None:
    """The memory it stands for (None: a source) as a tuple of one; None when none of that id stands."""
    row = db.maybe("SELECT memory FROM tombstone WHERE id = ? AND lifted_at IS NULL", (tombstone,))
    return None if row is None else (row[0],)


def lift(db: Database, tombstone: str, at: str) -> list[str]:
    """Take away what it refuses, from other tombstones too. Returns the ids of those that stand no more."""
    twins = (
        "SELECT b.id FROM tombstone_print a JOIN tombstone_print b"
        " ON b.content = a.content OR b.bag = a.bag OR b.claim = a.claim WHERE a.tombstone = ?"
    )
    sources = "SELECT b.id FROM tombstone a JOIN tombstone b ON b.source = a.source WHERE a.id = ?"
    same_source = [row[0] for row in db.all(sources, (tombstone,))]
    touched = [
        row[0] for row in db.all(f"SELECT tombstone FROM tombstone_print WHERE id IN ({twins})", (tombstone,))
    ]
    db.run(f"DELETE FROM tombstone_print WHERE id IN ({twins})", (tombstone,))
    empty = [
        other
        for other in dict.fromkeys(touched)
        if not db.all("SELECT 1 FROM tombstone_print WHERE tombstone = ? LIMIT 1", (other,))
    ]
    lifted = list(dict.fromkeys((tombstone, *same_source, *empty)))
    for one in lifted:
        db.run("UPDATE tombstone SET lifted_at = ?, source = NULL WHERE id = ?", (at, one))
    return lifted


def ids(db: Database) -> set[str]:
    """Of all tombstones, lifted ones included."""
    return {str(row[0]) for row in db.all("SELECT id FROM tombstone")}


def memories_of(db: Database) -> set[str]:
    """Ids of the deleted memories that tombstones stand for."""
    rows = db.all("SELECT memory FROM tombstone WHERE memory IS NOT NULL AND lifted_at IS NULL")
    return {str(row[0]) for row in rows}


def lift_as(kept: Kept, db: Database) -> None:
    """Lift what another copy of this vault has lifted."""
    db.run("DELETE FROM tombstone_print WHERE tombstone = ?", (kept.id,))
    db.run("UPDATE tombstone SET lifted_at = ?, source = NULL WHERE id = ?", (kept.row[-1], kept.id))


def everything(db: Database) -> list[Kept]:
    """Every tombstone with its prints, oldest first, to be carried into a restored vault."""
    found: list[Kept] = []
    for row in db.all("SELECT id, at, run, memory, by_source, source, lifted_at FROM tombstone ORDER BY id"):
        held = db.all(f"SELECT id, {_PRINT} FROM tombstone_print WHERE tombstone = ? ORDER BY id", (row[0],))
        prints_ = tuple((tuple(values), _bands_of(db, number)) for number, *values in held)
        found.append(Kept(row, prints_))
    return found


def _bands_of(db: Database, number: int) -> tuple[int, ...]:
    rows = db.all("SELECT band FROM tombstone_band WHERE print = ? ORDER BY band", (number,))
    return tuple(int(row[0]) for row in rows)


def carry(kept: Kept, into: Database) -> None:
    """Put a tombstone of another copy of this vault into this one."""
    marks = ", ".join("?" * len(kept.row))
    db_row = f"INSERT INTO tombstone(id, at, run, memory, by_source, source, lifted_at) VALUES({marks})"
    into.run(db_row, kept.row)
    for values, bands in kept.prints:
        _put_print(into, kept.id, values, bands)
