"""Counts over the whole vault: growth, merges, judgements, citations, recalls. No statement reads a text.

Knows nothing of what a number means.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memvault.model import SourceType, Status
from memvault.store.connection import Database

_MONDAY = "date(at, 'weekday 0', '-6 days')"
_ASKED = (
    "length(query_hash) > 0 AND json_extract(results, '$[0].context') IS NULL"
    " AND json_extract(results, '$[0].hook') IS NULL"
)
_STANDING = (Status.ACTIVE, Status.CONFLICT)


def weeks(db: Database, since: str) -> list[tuple[str, int, int]]:
    """(Monday, memories that came, memories that went) of the weeks since `since` in which something did."""
    rows = db.all(
        f"SELECT {_MONDAY}, sum(from_status IS NULL AND to_status IS NOT NULL),"
        " sum(from_status IS NOT NULL AND to_status = ?) FROM event"
        " WHERE at >= ? AND memory IS NOT NULL GROUP BY 1 ORDER BY 1",
        (Status.DELETED, since),
    )
    return [(str(week), int(came or 0), int(went or 0)) for week, came, went in rows if came or went]


def events_of(db: Database, types: Sequence[str]) -> dict[str, int]:
    """How many events of each of these types there are."""
    marks = ", ".join("?" * len(types))
    rows = db.all(f"SELECT type, count(*) FROM event WHERE type IN ({marks}) GROUP BY type", types)
    return {str(name): int(number) for name, number in rows}


def citations(db: Database, flag: str) -> tuple[int, int]:
    """Standing memories that cite a file whose hash is kept, and those of them with `flag`."""
    row = db.one(
        "SELECT count(*), coalesce(sum(instr(flags, ?) > 0), 0) FROM memory WHERE status IN (?, ?)"
        " AND row IN (SELECT memory FROM source WHERE type = ? AND content_hash IS NOT NULL)",
        (flag, *_STANDING, SourceType.FILE),
    )
    return int(row[0]), int(row[1])


def sources(db: Database) -> dict[str, int]:
    """Of all memories: how many there are, have a source, an excerpt of it, several sources."""
    row = db.one(
        "SELECT count(*), coalesce(sum(n > 0), 0), coalesce(sum(quoted > 0), 0), coalesce(sum(n > 1), 0)"
        " FROM (SELECT count(s.row) AS n, count(s.evidence) AS quoted FROM memory m"
        " LEFT JOIN source s ON s.memory = m.row GROUP BY m.row)"
    )
    return dict(zip(("memories", "with_source", "with_excerpt", "with_several"), map(int, row), strict=True))


def judgements(db: Database, types: Sequence[str]) -> dict[str, dict[str, int]]:
    """Actor -> how many candidates it proposed, and how many of them met each event of `types`."""
    found: dict[str, dict[str, int]] = {
        str(actor): {"propose": int(number)}
        for actor, number in db.all("SELECT actor, count(*) FROM event WHERE type = 'propose' GROUP BY actor")
    }
    marks = ", ".join("?" * len(types))
    rows = db.all(
        "SELECT p.actor, j.type, count(DISTINCT j.memory) FROM event p JOIN event j ON j.memory = p.memory"
        f" WHERE p.type = 'propose' AND j.type IN ({marks}) AND j.from_status = ? GROUP BY 1, 2",
        (*types, Status.CANDIDATE),
    )
    for actor, name, number in rows:
        found[str(actor)][str(name)] = int(number)
    return found


def waiting_of(db: Database) -> dict[str, int]:
    """Actor -> candidates of theirs that still wait."""
    rows = db.all(
        "SELECT p.actor, count(*) FROM event p JOIN memory m ON m.id = p.memory"
        " WHERE p.type = 'propose' AND m.status = ? GROUP BY 1",
        (Status.CANDIDATE,),
    )
    return {str(actor): int(number) for actor, number in rows}


def recalls(db: Database) -> list[dict[str, Any]]:
    """By actor: questions in the log, those that found something, memories they brought.

    What was given without being asked for, and feedback, are no questions.
    """
    rows = db.all(
        "SELECT actor, count(*), sum(json_array_length(results) > 0), sum(json_array_length(results)),"
        f" min(at) FROM recall_log WHERE {_ASKED} GROUP BY actor ORDER BY 2 DESC, 1"
    )
    return [
        {
            "actor": actor,
            "asked": int(asked),
            "answered": int(answered),
            "returned": int(returned),
            "since": since,
        }
        for actor, asked, answered, returned, since in rows
    ]


def reached(db: Database) -> dict[str, int]:
    """Of the log: `contexts` compiled, `prompts` that got memories unasked, `memories` that reached anybody
    (by a question, a context or a prompt; each once), and of those the ones that were said to be `used`,
    `wrong` or `outdated`.
    """
    contexts, prompts = db.one(
        "SELECT coalesce(sum(json_extract(results, '$[0].context') IS NOT NULL), 0),"
        " coalesce(sum(json_extract(results, '$[0].hook') IS NOT NULL), 0) FROM recall_log"
    )
    row = db.one(
        "SELECT count(*), coalesce(sum(used), 0), coalesce(sum(wrong), 0), coalesce(sum(outdated), 0) FROM"
        " (SELECT max(said IS NULL) AS shown, coalesce(max(said = 'used'), 0) AS used,"
        " coalesce(max(said = 'wrong'), 0) AS wrong, coalesce(max(said = 'outdated'), 0) AS outdated FROM"
        " (SELECT json_extract(value, '$.id') AS id, json_extract(value, '$.feedback') AS said"
        " FROM recall_log, json_each(recall_log.results)) WHERE id IS NOT NULL GROUP BY id) WHERE shown"
    )
    names = ("contexts", "prompts", "memories", "used", "wrong", "outdated")
    return dict(zip(names, map(int, (contexts, prompts, *row)), strict=True))


def never_used(db: Database) -> tuple[int, int]:
    """Standing memories, and those of them that no recall ever brought to anybody."""
    sql = "SELECT count(*), coalesce(sum(usage_count = 0), 0) FROM memory WHERE status IN (?, ?)"
    row = db.one(sql, _STANDING)
    return int(row[0]), int(row[1])


def size_bytes(db: Database) -> int:
    return int(db.one("PRAGMA page_count")[0]) * int(db.one("PRAGMA page_size")[0])
