"""Agents' grants, and the places on disk that projects were worked on in. SQL only; owns no rule.

A token is here only as its SHA-256: it is random, 256 bits long, and nothing can be tried against the hash.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memvault.store import codec
from memvault.store.connection import Database

_GRANT_FIELDS: tuple[str, ...] = (
    "name", "host", "state", "quarantined", "scopes", "projects", "ceiling", "verbs", "uid", "token",
    "created_at", "approved_at", "seen_at",
)  # fmt: skip
_GRANT = ", ".join(_GRANT_FIELDS)


def _plain(row: tuple[Any, ...]) -> dict[str, Any]:
    found: dict[str, Any] = dict(zip(_GRANT_FIELDS, row, strict=True))
    found["quarantined"] = bool(found["quarantined"])
    found["token"] = None if found["token"] is None else bytes(found["token"])
    for name in ("scopes", "projects", "verbs"):
        found[name] = json.loads(found[name])
    return found


def grants(db: Database) -> list[dict[str, Any]]:
    """Every grant by name; lists as lists, `projects` a list or a word."""
    return [_plain(row) for row in db.all(f"SELECT {_GRANT} FROM agent ORDER BY name")]


def put_grant(db: Database, grant: dict[str, Any]) -> None:
    """Write a grant under its name, in place of the one that is there."""
    values = [grant[name] for name in _GRANT_FIELDS]
    for place in (4, 5, 7):
        values[place] = codec.canonical(values[place])
    values[3] = int(values[3])
    marks = ", ".join("?" * len(values))
    db.run(f"INSERT OR REPLACE INTO agent({_GRANT}) VALUES({marks})", values)


def drop_grant(db: Database, name: str) -> None:
    db.run("DELETE FROM agent WHERE name = ?", (name,))


def keep_seen(db: Database, seen: Mapping[str, str]) -> None:
    """When agents last called, by name."""
    for name, at in seen.items():
        db.run("UPDATE agent SET seen_at = ? WHERE name = ?", (at, name))


_PLACE_FIELDS: tuple[str, ...] = ("path", "project", "origin", "device", "inode", "seen_at")
_PLACE = ", ".join(_PLACE_FIELDS)


def places(db: Database) -> list[dict[str, Any]]:
    """Every place with the project it belongs to."""
    return [
        dict(zip(_PLACE_FIELDS, row, strict=True))
        for row in db.all(f"SELECT {_PLACE} FROM place ORDER BY seen_at")
    ]


def put_place(db: Database, place: dict[str, Any]) -> None:
    values = [place[name] for name in _PLACE_FIELDS]
    db.run(f"INSERT OR REPLACE INTO place({_PLACE}) VALUES(?, ?, ?, ?, ?, ?)", values)


def drop_place(db: Database, path: str) -> None:
    db.run("DELETE FROM place WHERE path = ?", (path,))


def project_names(db: Database) -> list[str]:
    """Every project that a memory names, as it is spelled there."""
    return [row[0] for row in db.all("SELECT DISTINCT project FROM memory WHERE project IS NOT NULL")]
