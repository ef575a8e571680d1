"""The append-only, hash-chained log of every change (SPEC 4).

A chained event holds ids, states and an HMAC of (salt, payload). The payload (reasons) and its salt are
rows of their own that a deletion erases without breaking the chain. Knows nothing of what events mean.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from typing import Any

from memvault.store import codec, settings
from memvault.store.connection import Database, Row

GENESIS = bytes(32)
"""What the first event is chained to."""

_FIELDS = (
    "seq",
    "at",
    "type",
    "memory",
    "run",
    "actor",
    "from_status",
    "to_status",
    "before_version",
    "after_version",
)
_COLUMNS = ", ".join(_FIELDS)


@dataclass(frozen=True, slots=True)
class Event:
    """One change. `payload` is what a person may want to read later: reason, names of changed fields."""

    type: str
    at: str
    actor: str
    memory: str | None = None
    run: str | None = None
    from_status: str | None = None
    to_status: str | None = None
    before_version: int | None = None
    after_version: int | None = None
    payload: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The last event: its number (0 for none) and hash."""

    seq: int
    hash: bytes


def head(db: Database) -> Head:
    row = db.maybe("SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1")
    return Head(0, GENESIS) if row is None else Head(int(row[0]), bytes(row[1]))


def _link(previous: bytes, fields: list[Any], payload_mac: bytes) -> bytes:
    body = codec.canonical([*fields, payload_mac.hex()]).encode()
    return hashlib.sha256(previous + body).digest()


def append(db: Database, key: bytes, event: Event) -> Head:
    """Chain `event` to the log. `key` is the vault's event key (32 bytes)."""
    last = head(db)
    seq = last.seq + 1
    salt = secrets.token_bytes(16)
    body = codec.canonical(event.payload or {})
    mac = hmac.digest(key, salt + body.encode(), "sha256")
    fields = [seq, *(getattr(event, name) for name in _FIELDS[1:])]
    link = _link(last.hash, fields, mac)
    marks = ", ".join("?" * (len(_FIELDS) + 2))
    db.run(f"INSERT INTO event({_COLUMNS}, payload_mac, hash) VALUES({marks})", [*fields, mac, link])
    if event.payload:
        db.run("INSERT INTO event_payload VALUES(?, ?, ?, ?)", (seq, event.memory, salt, body))
    return Head(seq, link)


def hash_at(db: Database, seq: int) -> bytes | None:
    row = db.maybe("SELECT hash FROM event WHERE seq = ?", (seq,))
    return None if row is None else bytes(row[0])


@dataclass(frozen=True, slots=True)
class Times:
    """When events happened, in the order of their numbers (ISO 8601; None: there is none).

    `settled`: the newest event older than some instant; `after`: the earliest of those behind it.
    """

    settled: str | None
    after: str | None
    newest: str | None


def times(db: Database, before: str) -> Times:
    """The times around `before` (ISO 8601)."""
    newest = db.maybe("SELECT at FROM event ORDER BY seq DESC LIMIT 1")
    settled = db.maybe("SELECT at, seq FROM event WHERE at < ? ORDER BY seq DESC LIMIT 1", (before,))
    if settled is None:
        return Times(None, None, None if newest is None else newest[0])
    after = db.one("SELECT min(at) FROM event WHERE seq > ?", (settled[1],))[0]
    return Times(settled[0], after, None if newest is None else newest[0])


def first_broken(db: Database, key: bytes) -> int | None:
    """The first event whose number, link or payload does not fit; None for a whole chain.

    An erased payload is not a break: its HMAC stays in the chain. Nor are events that damage took, once a
    recovery has noted them: the chain goes on behind them.
    """
    previous: bytes | None = GENESIS
    expected, lost = 1, dict(gaps(db))
    sql = (
        f"SELECT e.{_COLUMNS.replace(', ', ', e.')}, e.payload_mac, e.hash, p.salt, p.body"
        " FROM event e LEFT JOIN event_payload p ON p.seq = e.seq ORDER BY e.seq"
    )
    for row in db.stream(sql):
        fields, (mac, link, salt, body) = list(row[: len(_FIELDS)]), row[len(_FIELDS) :]
        if fields[0] != expected and lost.get(expected) == fields[0] - 1:
            previous, expected = None, fields[0]
        if fields[0] != expected or (previous is not None and _link(previous, fields, mac) != link):
            return expected
        if salt is not None and hmac.digest(key, bytes(salt) + body.encode(), "sha256") != mac:
            return expected
        previous, expected = bytes(link), expected + 1
    return None


_GAPS = "event:gaps"


def gaps(db: Database) -> list[tuple[int, int]]:
    """(first, last) of the events that damage took and a recovery has noted."""
    raw = settings.get(db, _GAPS)
    return [] if raw is None else [(int(first), int(last)) for first, last in json.loads(raw)]


def note_gaps(db: Database) -> int:
    """Note every number that is missing before the last event; returns how many are in all."""
    found: list[tuple[int, int]] = []
    expected = 1
    for (seq,) in db.stream("SELECT seq FROM event ORDER BY seq"):
        if seq != expected:
            found.append((expected, int(seq) - 1))
        expected = int(seq) + 1
    if found:
        settings.put(db, _GAPS, codec.canonical(found).encode())
    return sum(last - first + 1 for first, last in found)


def _readable(row: Row) -> dict[str, Any]:
    found = dict(zip(_FIELDS, row[: len(_FIELDS)], strict=True))
    body = row[len(_FIELDS)]
    payload: dict[str, Any] = {} if body is None else json.loads(body)
    return {
        "seq": found["seq"],
        "at": found["at"],
        "type": found["type"],
        "id": found["memory"],
        "run": found["run"],
        "actor": found["actor"],
        "from": found["from_status"],
        "to": found["to_status"],
        "before_version": found["before_version"],
        "after_version": found["after_version"],
        "reason": payload.get("reason"),
        "details": payload,
    }


def _select(db: Database, condition: str, values: tuple[Any, ...]) -> list[dict[str, Any]]:
    sql = (
        f"SELECT e.{_COLUMNS.replace(', ', ', e.')}, p.body"
        " FROM event e LEFT JOIN event_payload p ON p.seq = e.seq"
        f" WHERE {condition} ORDER BY e.seq"
    )
    return [_readable(row) for row in db.all(sql, values)]


def of_memory(db: Database, memory: str) -> list[dict[str, Any]]:
    return _select(db, "e.memory = ?", (memory,))


def of_run(db: Database, run: str) -> list[dict[str, Any]]:
    return _select(db, "e.run = ?", (run,))


def later_runs(db: Database, memory: str, run: str) -> list[str]:
    """Runs other than `run` that changed `memory` after `run` last did, oldest first."""
    sql = (
        "SELECT run, min(seq) FROM event WHERE memory = ? AND run <> ? AND seq >"
        " (SELECT max(seq) FROM event WHERE memory = ? AND run = ?) AND type <> 'verify'"
        " GROUP BY run ORDER BY 2"
    )
    return [row[0] for row in db.all(sql, (memory, run, memory, run))]


def erase_payloads(db: Database, memory: str) -> None:
    """Forget what the events of `memory` said; the chain stays whole."""
    db.run("DELETE FROM event_payload WHERE memory = ?", (memory,))
