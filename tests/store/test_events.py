"""SPEC 4: the event log is chained; what was tampered with shows, what was erased does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from memvault.keys.envelope import VaultKey
from memvault.services.vault import check_mark
from memvault.store import events
from memvault.store.connection import Database
from memvault.store.events import GENESIS, Event, Head
from memvault.store.mark import Mark

KEY = b"k" * 32
AT = "2026-03-02T09:00:00.000Z"


def append(db: Database, number: int, memory: str = "m1") -> Head:
    event = Event(
        "edit", AT, "person", memory, f"run{number}", "active", "active", number, number + 1,
        {"reason": f"because {number}"},
    )  # fmt: skip
    return events.append(db, KEY, event)


@pytest.fixture
def log(db: Database) -> Database:
    """A log of eight events about two memories."""
    for number in range(1, 9):
        append(db, number, "m1" if number % 2 else "m2")
    return db


def test_a_log_that_nobody_touched_is_whole(log: Database) -> None:
    assert events.first_broken(log, KEY) is None
    assert events.head(log).seq == 8


def test_an_empty_log_begins_at_genesis(db: Database) -> None:
    assert events.head(db) == Head(0, GENESIS)
    assert events.first_broken(db, KEY) is None


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("at", "2020-01-01T00:00:00.000Z"),
        ("type", "delete"),
        ("memory", "m3"),
        ("memory", None),
        ("run", "other"),
        ("actor", "agent:x"),
        ("from_status", "candidate"),
        ("to_status", "deleted"),
        ("before_version", 9),
        ("after_version", None),
        ("payload_mac", b"\0" * 32),
        ("hash", b"\0" * 32),
    ],
)
def test_any_changed_field_shows_at_its_event(log: Database, column: str, value: object) -> None:
    log.run(f"UPDATE event SET {column} = ? WHERE seq = 5", (value,))
    assert events.first_broken(log, KEY) == 5


@pytest.mark.parametrize(("column", "value"), [("body", '{"reason":"another"}'), ("salt", b"\1" * 16)])
def test_a_changed_reason_or_salt_shows(log: Database, column: str, value: object) -> None:
    log.run(f"UPDATE event_payload SET {column} = ? WHERE seq = 5", (value,))
    assert events.first_broken(log, KEY) == 5


def test_a_rewritten_link_shows_at_the_next_event(log: Database) -> None:
    row = log.one("SELECT seq, at, type, memory, run, actor, from_status, to_status, before_version,"
                  " after_version, payload_mac FROM event WHERE seq = 5")  # fmt: skip
    fields = [*row[:5], "agent:x", *row[6:10]]
    previous = events.hash_at(log, 4)
    assert previous is not None
    forged = events._link(previous, fields, row[10])
    log.run("UPDATE event SET actor = 'agent:x', hash = ? WHERE seq = 5", (forged,))
    assert events.first_broken(log, KEY) == 6


def test_a_removed_event_shows(log: Database) -> None:
    log.run("DELETE FROM event WHERE seq = 5")
    assert events.first_broken(log, KEY) == 5


def test_a_removed_event_shows_even_when_the_rest_is_numbered_anew(log: Database) -> None:
    log.run("DELETE FROM event WHERE seq = 5")
    log.run("DELETE FROM event_payload WHERE seq = 5")
    for seq in (6, 7, 8):
        log.run("UPDATE event SET seq = seq - 1 WHERE seq = ?", (seq,))
        log.run("UPDATE event_payload SET seq = seq - 1 WHERE seq = ?", (seq,))
    assert events.first_broken(log, KEY) == 5


def test_two_events_in_another_order_show(log: Database) -> None:
    for table in ("event", "event_payload"):
        log.run(f"UPDATE {table} SET seq = 99 WHERE seq = 3")
        log.run(f"UPDATE {table} SET seq = 3 WHERE seq = 4")
        log.run(f"UPDATE {table} SET seq = 4 WHERE seq = 99")
    assert events.first_broken(log, KEY) == 3


def test_a_log_written_under_another_key_shows(log: Database) -> None:
    assert events.first_broken(log, b"x" * 32) == 1


def test_an_erased_payload_is_no_break_and_the_other_memory_keeps_its_reasons(log: Database) -> None:
    events.erase_payloads(log, "m1")
    assert events.first_broken(log, KEY) is None
    assert {event["reason"] for event in events.of_memory(log, "m1")} == {None}
    assert events.of_memory(log, "m2")[0]["reason"] == "because 2"
    assert "because 1" not in str(log.all("SELECT * FROM event_payload"))


def test_truncation_shows_against_the_mark_outside(log: Database, tmp_path: Path) -> None:
    mark = Mark(tmp_path / "mark", KEY)
    mark.write(events.head(log))
    assert check_mark(log, mark) == []
    log.run("DELETE FROM event WHERE seq > 6")
    assert events.first_broken(log, KEY) is None, "the chain alone cannot know"
    (warning,) = check_mark(log, mark)
    assert "2 acknowledged changes are missing" in warning
    mark.close()


def test_an_older_copy_that_grew_again_shows_against_the_mark(log: Database, tmp_path: Path) -> None:
    mark = Mark(tmp_path / "mark", KEY)
    mark.write(events.head(log))
    log.run("DELETE FROM event WHERE seq > 6")
    log.run("DELETE FROM event_payload WHERE seq > 6")
    for number in (70, 80, 90):
        append(log, number)
    assert events.first_broken(log, KEY) is None
    (warning,) = check_mark(log, mark)
    assert "older copy" in warning
    mark.close()


def test_a_mark_that_lags_is_no_warning(log: Database, tmp_path: Path) -> None:
    mark = Mark(tmp_path / "mark", KEY)
    mark.write(events.head(log))
    append(log, 9)
    assert check_mark(log, mark) == []
    mark.close()


def test_the_salt_keeps_equal_reasons_apart(db: Database) -> None:
    append(db, 1)
    append(db, 1)
    macs = {row[0] for row in db.all("SELECT payload_mac FROM event")}
    assert len(macs) == 2


@pytest.mark.parametrize("turn", [0, 1])
def test_the_mark_survives_one_torn_slot(tmp_path: Path, turn: int) -> None:
    mark = Mark(tmp_path / "mark", KEY)
    for seq in range(1, 6):
        mark.write(Head(seq, bytes([seq]) * 32))
    mark.close()
    raw = bytearray((tmp_path / "mark").read_bytes())
    raw[turn * 512 + 20] ^= 1
    (tmp_path / "mark").write_bytes(raw)
    again = Mark(tmp_path / "mark", KEY)
    found = again.read()
    assert found.seq in (4, 5)
    again.write(Head(6, b"\6" * 32))
    assert again.read().seq == 6
    again.close()


def test_a_mark_of_another_vault_or_made_up_counts_for_nothing(tmp_path: Path) -> None:
    mark = Mark(tmp_path / "mark", KEY)
    mark.write(Head(9, b"\7" * 32))
    mark.close()
    foreign = Mark(tmp_path / "mark", b"other" + KEY[5:])
    assert foreign.read() == Head(0, GENESIS)
    foreign.close()
    (tmp_path / "mark").write_bytes(b"\0" * 3_000)
    empty = Mark(tmp_path / "mark", KEY)
    assert empty.read().seq == 0
    empty.close()


def test_a_vault_key_gives_one_mark_key(key: VaultKey) -> None:
    assert key.derive("mark") == key.derive("mark") != key.derive("header")
