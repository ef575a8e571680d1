"""The memory table: one row a memory, in its current version and state, with its older versions.

Owns reading and writing records. Knows nothing of which moves are legal or who may read what: callers
pass a `Reach`, and every reading statement carries it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memvault.model import Authority, Claim, Record, Source, Status
from memvault.store import codec, waiting
from memvault.store.connection import MAX_VARIABLES, Database, Row
from memvault.store.sourcenames import tail

_RECORD = (
    f"row, id, version, {codec.CLAIM_COLUMNS}, authority, confidence, status, created_at, updated_at,"
    " supersedes, verified_at, last_used_at, usage_count, observations, flags"
)
SAID = "said"
"""Flag of a candidate that repeats what the user said in so many words: recalled where it was said."""
_SAID_ALONE = codec.canonical([SAID])

_CLAIM_FROM, _CLAIM_TO = 3, 3 + len(codec.CLAIM_COLUMNS.split(", "))

SORTS = {
    "updated": "updated_at DESC, row DESC",
    "created": "created_at DESC, row DESC",
    "used": "last_used_at IS NULL, last_used_at DESC, row DESC",
    "confidence": "confidence DESC, row DESC",
    "subject": "subject IS NULL, subject, attribute, row",
    "waiting": "status <> 'candidate', created_at DESC, row DESC",
}


@dataclass(frozen=True, slots=True)
class Reach:
    """What a caller may read, put into every statement before anything else (SPEC 3).

    `projects` None: every project; the value None inside it: memories of no project. `sensitivities`
    and `statuses` list what is allowed. `said`: projects of which candidates are allowed as well that carry
    the flag SAID and no other.
    """

    scopes: tuple[str, ...]
    projects: tuple[str | None, ...] | None
    sensitivities: tuple[str, ...]
    statuses: tuple[str, ...]
    said: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """What a caller asks for, inside its reach; None: anything. `text` is a case-folded substring."""

    kind: str | None = None
    scope: str | None = None
    project: str | None = None
    status: str | None = None
    subject: str | None = None
    source: str | None = None
    text: str | None = None
    task: str | None = None
    ids: tuple[str, ...] | None = None
    waiting: bool = False
    """Only what a person should look at: candidates, replacements that time alone decided; see `due`."""
    due: waiting.Due | None = None


def _among(column: str, values: Sequence[Any]) -> tuple[str, list[Any]]:
    marks = ", ".join("?" * len(values))
    return f"{column} IN ({marks})", list(values)


def reach_clause(reach: Reach) -> tuple[list[str], list[Any]]:
    """Conditions that must all hold for a row that `reach` allows, and their values."""
    clauses: list[str] = []
    values: list[Any] = []
    for column, allowed in (
        ("scope", reach.scopes),
        ("sensitivity", reach.sensitivities),
        ("status", reach.statuses),
    ):
        clause, more = _among(column, allowed)
        clauses.append(clause)
        values += more
    if reach.said:
        clause, more = _of_projects(reach.said)
        clauses[-1] = f"({clauses[-1]} OR (status = 'candidate' AND flags = ? AND {clause}))"
        values += [_SAID_ALONE, *more]
    if reach.projects is not None:
        clause, more = _of_projects(reach.projects)
        clauses.append(clause)
        values += more
    return clauses, values


def _of_projects(projects: Sequence[str | None]) -> tuple[str, list[Any]]:
    clause, values = _among("project", [name for name in projects if name is not None])
    return f"({clause} OR project IS NULL)" if None in projects else clause, values


def _where(reach: Reach, wanted: Filter) -> tuple[str, list[Any]]:
    clauses, values = reach_clause(reach)
    for column in ("kind", "scope", "project", "status", "subject"):
        asked = getattr(wanted, column)
        if asked is not None:
            clauses.append(f"{column} = ?")
            values.append(asked)
    if wanted.source is not None:
        clauses.append("row IN (SELECT memory FROM source WHERE instr(ref, ?) > 0 AND covers(?, type, ref))")
        values += [tail(wanted.source), wanted.source]
    if wanted.task is not None:
        clauses.append("row IN (SELECT memory FROM source WHERE instr(task, ?) > 0 AND covers(?, '', task))")
        values += [tail(wanted.task), wanted.task]
    if wanted.text is not None:
        clauses.append("instr(casefold(content), ?) > 0")
        values.append(wanted.text.casefold())
    if wanted.waiting:
        clause, more = waiting.condition(wanted.due)
        clauses.append(clause)
        values += more
    if wanted.ids is not None:
        clause, more = _among("id", wanted.ids[:MAX_VARIABLES])
        clauses.append(clause)
        values += more
    return " AND ".join(clauses), values


def _sources(db: Database, rows: Sequence[int]) -> dict[int, tuple[Source, ...]]:
    found: dict[int, list[Source]] = {}
    for start in range(0, len(rows), MAX_VARIABLES):
        clause, values = _among("memory", rows[start : start + MAX_VARIABLES])
        sql = f"SELECT memory, {codec.SOURCE_COLUMNS} FROM source WHERE {clause} ORDER BY row"
        for memory, *fields in db.all(sql, values):
            source = codec.source_of(dict(zip(codec.SOURCE_FIELDS, fields, strict=True)))
            found.setdefault(memory, []).append(source)
    return {memory: tuple(sources) for memory, sources in found.items()}


def _records(db: Database, rows: list[Row]) -> list[Record]:
    sources = _sources(db, [row[0] for row in rows])
    return [_record(row, sources.get(row[0], ())) for row in rows]


def _record(row: Row, sources: tuple[Source, ...]) -> Record:
    authority, confidence, status, created, updated, supersedes, verified, used, usage, seen, flags = row[
        _CLAIM_TO:
    ]
    return Record(
        id=row[1],
        version=row[2],
        claim=codec.claim_from_values(row[_CLAIM_FROM:_CLAIM_TO]),
        sources=sources,
        authority=Authority(authority),
        confidence=confidence,
        status=Status(status),
        created_at=created,
        updated_at=updated,
        verified_at=verified,
        last_used_at=used,
        usage_count=usage,
        observations=seen,
        supersedes=supersedes,
        flags=tuple(json.loads(flags)),
    )


def get(db: Database, ids: Sequence[str], reach: Reach) -> dict[str, Record]:
    """The records among `ids` that `reach` allows."""
    found: dict[str, Record] = {}
    for start in range(0, len(ids), MAX_VARIABLES):
        where, values = _where(reach, Filter(ids=tuple(ids[start : start + MAX_VARIABLES])))
        # Left alone, the planner walks through everything of a state rather than looking up some ids.
        sql = f"SELECT {_RECORD} FROM memory INDEXED BY sqlite_autoindex_memory_1 WHERE {where}"
        for record in _records(db, db.all(sql, values)):
            found[record.id] = record
    return found


def page(
    db: Database, reach: Reach, wanted: Filter, sort: str, limit: int, offset: int
) -> tuple[list[str], int]:
    """The ids of one page in the order of `sort` (a key of SORTS), and the number of all that match."""
    where, values = _where(reach, wanted)
    total = int(db.one(f"SELECT count(*) FROM memory WHERE {where}", values)[0])
    sql = f"SELECT id FROM memory WHERE {where} ORDER BY {SORTS[sort]} LIMIT ? OFFSET ?"
    return [row[0] for row in db.all(sql, [*values, limit, offset])], total


def ids_of(db: Database, reach: Reach, wanted: Filter) -> list[str]:
    where, values = _where(reach, wanted)
    return [row[0] for row in db.all(f"SELECT id FROM memory WHERE {where} ORDER BY row", values)]


def facets(db: Database, reach: Reach, wanted: Filter) -> dict[str, dict[str, int]]:
    """Counts per kind, scope, project (empty name: none) and status of what matches."""
    where, values = _where(reach, wanted)
    out: dict[str, dict[str, int]] = {}
    for plural, column in (
        ("kinds", "kind"),
        ("scopes", "scope"),
        ("projects", "project"),
        ("statuses", "status"),
    ):
        sql = f"SELECT {column}, count(*) FROM memory WHERE {where} GROUP BY {column} ORDER BY 2 DESC, 1"
        out[plural] = {str(name or ""): int(number) for name, number in db.all(sql, values)}
    return out


def contents(db: Database, ids: Sequence[str]) -> list[tuple[str, str]]:
    """(id, content) of the memories among `ids` (at most MAX_VARIABLES) that exist, in the order given."""
    clause, values = _among("id", ids)
    found = dict(db.all(f"SELECT id, content FROM memory WHERE {clause}", values))
    return [(memory, found[memory]) for memory in ids if memory in found]


def count(db: Database) -> int:
    return int(db.one("SELECT count(*) FROM memory")[0])


def with_key(db: Database, column: str, key: bytes) -> list[Record]:
    """Records with this `claim_key` or `content_key`, whatever their state, oldest first."""
    if column not in ("claim_key", "content_key"):
        raise ValueError(column)
    return _records(db, db.all(f"SELECT {_RECORD} FROM memory WHERE {column} = ? ORDER BY row", (key,)))


def with_source(db: Database, source_type: str, ref: str) -> list[Record]:
    """Records that have a source of this type and ref, whatever their state, oldest first."""
    rows = db.all(
        f"SELECT {_RECORD} FROM memory WHERE row IN (SELECT memory FROM source WHERE ref = ? AND type = ?)"
        " ORDER BY row",
        (ref, source_type),
    )
    return _records(db, rows)


@dataclass(frozen=True, slots=True)
class Derived:
    """What is computed from a claim and stored beside it: lookup keys, language, full-text terms."""

    claim_key: bytes | None
    content_key: bytes
    language: str
    terms: bytes


def insert(db: Database, record: Record, derived: Derived, run: str) -> None:
    """A new memory with its first version and its sources."""
    marks = ", ".join("?" * (len(codec.CLAIM_COLUMNS.split(", ")) + 16))
    columns = (
        f"id, version, {codec.CLAIM_COLUMNS}, authority, confidence, status, created_at, updated_at,"
        " supersedes, verified_at, last_used_at, usage_count, observations, claim_key, content_key,"
        " language, terms"
    )
    db.run(
        f"INSERT INTO memory({columns}) VALUES({marks})",
        [
            record.id,
            record.version,
            *codec.claim_values(record.claim),
            record.authority,
            record.confidence,
            record.status,
            record.created_at,
            record.updated_at,
            record.supersedes,
            record.verified_at,
            record.last_used_at,
            record.usage_count,
            record.observations,
            derived.claim_key,
            derived.content_key,
            derived.language,
            derived.terms,
        ],
    )
    add_version(db, record.id, record.version, record.updated_at, run, record.claim)
    for source in record.sources:
        add_source(db, record.id, source, run)


def add_version(db: Database, memory: str, version: int, at: str, run: str, claim: Claim) -> None:
    text = codec.canonical(codec.plain_claim(claim))
    sql = "INSERT INTO version SELECT row, ?, ?, ?, ? FROM memory WHERE id = ?"
    db.run(sql, (version, at, run, text, memory))


def set_claim(
    db: Database, memory: str, version: int, claim: Claim, derived: Derived, at: str, run: str
) -> None:
    """Write a new version of the claim; vectors of the old text go."""
    assignments = ", ".join(f"{name} = ?" for name in codec.CLAIM_COLUMNS.split(", "))
    db.run(
        f"UPDATE memory SET version = ?, {assignments}, claim_key = ?, content_key = ?, language = ?,"
        " terms = ?, updated_at = ? WHERE id = ?",
        [
            version,
            *codec.claim_values(claim),
            derived.claim_key,
            derived.content_key,
            derived.language,
            derived.terms,
            at,
            memory,
        ],
    )
    add_version(db, memory, version, at, run, claim)


def set_state(
    db: Database,
    memory: str,
    *,
    status: Status,
    at: str,
    authority: Authority,
    confidence: float,
    observations: int,
    supersedes: str | None,
) -> None:
    """State and trust, without a new version."""
    db.run(
        "UPDATE memory SET status = ?, authority = ?, confidence = ?, observations = ?, supersedes = ?,"
        " updated_at = ? WHERE id = ?",
        (status, authority, confidence, observations, supersedes, at, memory),
    )


def set_verified(db: Database, memory: str, at: str, flags: Sequence[str]) -> None:
    sql = "UPDATE memory SET verified_at = ?, flags = ? WHERE id = ?"
    db.run(sql, (at, codec.canonical(list(flags)), memory))


def set_flags(db: Database, memory: str, flags: Sequence[str]) -> None:
    db.run("UPDATE memory SET flags = ? WHERE id = ?", (codec.canonical(list(flags)), memory))


def add_source(db: Database, memory: str, source: Source, run: str) -> None:
    columns = f"memory, {codec.SOURCE_COLUMNS}, run"
    marks = ", ".join("?" * (len(codec.SOURCE_FIELDS) + 1))
    sql = f"INSERT INTO source({columns}) SELECT row, {marks} FROM memory WHERE id = ?"
    db.run(sql, [*codec.source_values(source), run, memory])


def set_sources(db: Database, memory: str, sources: Sequence[Source], run: str) -> None:
    db.run("DELETE FROM source WHERE memory = (SELECT row FROM memory WHERE id = ?)", (memory,))
    for source in sources:
        add_source(db, memory, source, run)


def remove(db: Database, memory: str) -> None:
    """Erase the row with its versions, sources and vectors (foreign keys cascade)."""
    db.run("DELETE FROM memory WHERE id = ?", (memory,))


def versions(db: Database, memory: str) -> list[dict[str, Any]]:
    sql = (
        "SELECT v.version, v.at, v.run, v.claim FROM version v JOIN memory m ON m.row = v.memory"
        " WHERE m.id = ? ORDER BY v.version"
    )
    return [
        {"version": version, "at": at, "run": run, **json.loads(claim)}
        for version, at, run, claim in db.all(sql, (memory,))
    ]


def index_rows(db: Database, ids: Sequence[str] | None = None) -> Iterator[Row]:
    """What the in-memory index needs of every memory, or of `ids`:

    (row, id, scope, project, sensitivity, status, kind, language, terms, confidence, authority, created_at,
    verified_at, last_used_at, used_before, subject, attribute, whether the only flag is SAID, the date from
    which it holds or the first of its sources was observed).
    """
    sql = (
        "SELECT row, id, scope, project, sensitivity, status, kind, language, terms, confidence, authority,"
        " created_at, verified_at, last_used_at, used_before, subject, attribute,"
        f" flags = '{_SAID_ALONE}', coalesce(valid_from, (SELECT min(observed_at) FROM source"
        " WHERE source.memory = memory.row)) FROM memory"
    )
    if ids is None:
        yield from db.stream(sql + " ORDER BY row")
        return
    for start in range(0, len(ids), MAX_VARIABLES):
        clause, values = _among("id", ids[start : start + MAX_VARIABLES])
        yield from db.all(f"{sql} WHERE {clause} ORDER BY row", values)
