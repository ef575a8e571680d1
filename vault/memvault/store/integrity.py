"""What a whole database holds to beyond its pages: structure, references, versions, vectors. Reads only."""

from __future__ import annotations

from memvault.store.connection import Database


def structure(db: Database) -> list[str]:
    """What SQLite's full integrity check finds; empty when all is well."""
    return [str(row[0]) for row in db.all("PRAGMA integrity_check") if row[0] != "ok"]


def orphans(db: Database) -> dict[str, int]:
    """Rows that refer to a row that is not there, by table."""
    found: dict[str, int] = {}
    for table, *_ in db.all("PRAGMA foreign_key_check"):
        found[str(table)] = found.get(str(table), 0) + 1
    return found


def without_version(db: Database) -> list[str]:
    """Ids of memories whose present version is not among the versions that are kept, or is not the newest."""
    sql = (
        "SELECT id FROM memory m WHERE m.version IS NOT"
        " (SELECT max(v.version) FROM version v WHERE v.memory = m.row) ORDER BY row"
    )
    return [str(row[0]) for row in db.all(sql)]


def odd_vectors(db: Database) -> int:
    """Vectors that have not the length of the others of their model, or whose part before is missing."""
    sql = (
        "SELECT count(*) FROM vector v WHERE length(value) = 0 OR length(value) % 4 <> 0"
        " OR length(value) <> (SELECT length(value) FROM vector o WHERE o.model = v.model LIMIT 1)"
        " OR (part > 0 AND NOT EXISTS (SELECT 1 FROM vector b WHERE b.memory = v.memory"
        " AND b.model = v.model AND b.part = v.part - 1))"
    )
    return int(db.one(sql)[0])


def expected(db: Database) -> set[str]:
    """Ids of the memories that must be there, by the event log: the last word on them is not their end."""
    sql = "SELECT memory, to_status, type, max(seq) FROM event WHERE memory IS NOT NULL GROUP BY memory"
    ended = ("deleted", "lost")
    return {
        str(memory) for memory, status, kind, _ in db.all(sql) if status not in ended and kind not in ended
    }
