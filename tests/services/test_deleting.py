"""SPEC 7: deletion is physical and final; what returns is recognised, what differs passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memvault.errors import NotFound, Usage
from memvault.model import Outcome
from memvault.recall.terms import decode
from memvault.services import erase, recollect, remember
from memvault.services.caller import PERSON
from memvault.services.erase import Selection
from memvault.store import settings
from memvault.store.connection import Database

TEXT = "The contractor Wexelblatt is paid on the first Monday."
CLAIM = {"project": "p", "subject": "Wexelblatt", "attribute": "pay day", "value": "first Monday"}


@pytest.mark.parametrize(
    "again",
    [
        TEXT,
        TEXT.lower(),
        TEXT.upper(),
        "  The contractor   Wexelblatt is paid on the first Monday",
        "On the first Monday the contractor Wexelblatt is paid.",
        "The contractor Ｗexelblatt is paid on the first Monday!",
    ],
)
def test_what_was_deleted_is_refused_in_any_case_order_and_spacing(desk: Any, again: str) -> None:
    desk.delete(desk.add(TEXT).id)
    assert desk.add(again).outcome is Outcome.REFUSED
    assert settings.counters(desk.vault.reader)["prevented_resurrections"] == 1


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("Monday", "Tuesday"),
        TEXT.replace("first", "second"),
        TEXT.replace("Wexelblatt", "Wexelbaum"),
        TEXT.replace("is paid", "is not paid"),
        TEXT.replace("first Monday", "1st Monday of 2027"),
    ],
)
def test_another_number_name_day_or_negation_is_another_claim_and_passes(desk: Any, other: str) -> None:
    desk.delete(desk.add(TEXT).id)
    assert desk.add(other).outcome is Outcome.ACTIVE


def test_chinese_text_is_recognised_and_a_different_day_passes(desk: Any) -> None:
    desk.delete(desk.add("承包商周一付款。").id)
    assert desk.add("承包商周一付款").outcome is Outcome.REFUSED
    assert desk.add("周一付款承包商").outcome is Outcome.REFUSED
    assert desk.add("承包商周二付款。").outcome is Outcome.ACTIVE


def test_the_claim_is_recognised_by_its_value_in_whatever_words(desk: Any) -> None:
    desk.delete(desk.add(TEXT, **CLAIM).id)
    assert desk.add("Pay Wexelblatt early in the month.", **CLAIM).outcome is Outcome.REFUSED
    other = {**CLAIM, "value": "last Friday"}
    assert desk.add("Pay Wexelblatt late in the month.", **other).outcome is Outcome.ACTIVE


def test_no_version_the_memory_ever_had_comes_back(desk: Any) -> None:
    written = desk.add("Port 3000.", subject="app", attribute="port", value="3000")
    remember.edit(desk.vault, PERSON, written.id, {"value": "3500"}, None, None)
    remember.edit(desk.vault, PERSON, written.id, {"content": "Port 4000.", "value": "4000"}, None, None)
    desk.delete(written.id)
    for text in ("port 3000", "PORT 4000"):
        assert desk.add(text).outcome is Outcome.REFUSED
    for value in ("3000", "3500", "4000"):
        claim = {"subject": "app", "attribute": "port", "value": value}
        assert desk.add(f"It listens on {value}.", **claim).outcome is Outcome.REFUSED, value


@pytest.mark.parametrize(
    ("wanted", "later"),
    [
        ({"source": "chat-7"}, {"source": "conversation:chat-7"}),
        ({"source": "conversation:chat-7"}, {"source": "conversation:chat-7"}),
    ],
)
def test_a_source_that_was_deleted_stays_out_whichever_way_it_was_named(
    desk: Any, wanted: dict[str, str], later: dict[str, str]
) -> None:
    desk.add("One.", source="conversation:chat-7")
    desk.add("Two.", source="conversation:chat-7")
    kept = desk.add("Three.", source="conversation:chat-8")
    assert len(desk.delete(**wanted).ids) == 2
    assert desk.get(kept.id)
    assert desk.add("Four, of the same source.", **later).outcome is Outcome.REFUSED
    assert desk.add("Five.", source="conversation:chat-8").outcome is Outcome.ACTIVE


def test_deleting_by_id_forbids_the_claim_but_not_its_source(desk: Any) -> None:
    desk.delete(desk.add("One.", source="conversation:chat-7").id)
    assert desk.add("Two.", source="conversation:chat-7").outcome is Outcome.ACTIVE


def test_deleting_by_subject_or_project_takes_all_of_it_and_nothing_else(desk: Any) -> None:
    about = {"subject": "Orla", "attribute": "tea"}
    one = desk.add("Orla likes tea.", **about, value="tea", project="p")
    two = desk.add("Orla sits upstairs.", subject="Orla", attribute="room", value="up")
    three = desk.add("Bob likes tea.", subject="Bob", attribute="tea", value="tea", project="p")
    assert set(desk.delete(subject="Orla").ids) == {one.id, two.id}
    assert desk.delete(project="p").ids == [three.id]


def test_a_deletion_says_what_is_wrong_with_it(desk: Any) -> None:
    with pytest.raises(Usage):
        desk.delete()
    kept = desk.add("Kept.")
    with pytest.raises(NotFound):
        desk.delete(kept.id, "0197-no-such-id")
    assert desk.get(kept.id), "all or nothing"


def test_more_memories_than_one_statement_binds_can_be_deleted_at_once(desk: Any) -> None:
    ids = [desk.add(f"Ticket {number} is closed.").id for number in range(510)]
    assert len(desk.delete(*ids).ids) == 510
    assert recollect.page(desk.vault, PERSON, recollect.Filter(), "updated", 1, 0)["total"] == 0


def _hashes(terms: bytes) -> set[int]:
    return set(decode([terms]).hashes.tolist())


def _everything(db: Database) -> str:
    """Every value of every table, readable or not, as one text."""
    tables = [row[0] for row in db.all("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return "\n".join(repr(row) for table in tables for row in db.all(f"SELECT * FROM {table}"))


def test_no_row_of_any_table_holds_anything_of_a_deleted_memory(desk: Any) -> None:
    kept = desk.add("Port 3000 belongs to the gateway.")
    words = ["zanzibar", "quokka", "翡翠", "evidenced", "because-of", "pangolin"]
    gone = desk.add(
        "The zanzibar code opens the 翡翠 door.",
        evidence="evidenced by hand",
        subject="quokka",
        attribute="a",
        value="v",
        why="because-of reasons",
    )
    remember.edit(desk.vault, PERSON, gone.id, {"content": "The zanzibar code changed."}, None, "pangolin")
    desk.embed()
    desk.recall("zanzibar code 翡翠")
    before = _everything(desk.vault.writer)
    assert all(word in before for word in words)
    vector = desk.embedder.embed_passages(["The zanzibar code changed."])[0][0].astype("<f4")
    terms = desk.vault.derive(desk.get(gone.id).claim).terms
    assert repr(vector.tobytes()) in before
    assert repr(terms) in before

    desk.delete(gone.id)
    after = _everything(desk.vault.writer)
    assert not [word for word in words if word in after]
    assert repr(vector.tobytes()) not in after
    assert repr(terms) not in after
    shared = _hashes(desk.vault.derive(desk.get(kept.id).claim).terms)
    left = {found for (blob,) in desk.vault.writer.all("SELECT terms FROM memory") for found in _hashes(blob)}
    assert not (_hashes(terms) - shared) & left
    assert desk.get(kept.id)
    desk.whole()


def test_the_index_in_memory_forgets_as_well(desk: Any) -> None:
    desk.add("Port 3000 belongs to the gateway.")
    gone = desk.add("The zanzibar code opens the door.")
    desk.embed()
    row = desk.embedder.embed_passages(["The zanzibar code opens the door."])[0][0]
    desk.delete(gone.id)
    assert desk.recall("zanzibar code") == []
    index = desk.vault.index
    held = [part for part in _arrays(index) if part.dtype in (np.float32, np.float16, np.int8)]
    for part in held:
        if part.ndim == 2 and part.shape[1] == len(row) and len(part):
            near = part.astype(np.float32) @ row
            scale = np.linalg.norm(part.astype(np.float32), axis=1) + 1e-9
            assert (near / scale).max() < 0.9


def _arrays(thing: Any, seen: set[int] | None = None) -> list[np.ndarray]:
    seen = seen if seen is not None else set()
    if id(thing) in seen:
        return []
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return [thing]
    inner = list(thing.values()) if isinstance(thing, dict) else []
    inner += list(thing) if isinstance(thing, (list, tuple)) else []
    inner += [getattr(thing, name) for name in getattr(thing, "__dict__", {})]
    return [found for part in inner for found in _arrays(part, seen)]


def test_the_chain_stays_whole_over_deletions_and_restarts(desk: Any) -> None:
    ids = [desk.add(f"Ticket {number} is closed.").id for number in range(6)]
    desk.delete(*ids[:3])
    desk.reopen()
    desk.delete(ids[3])
    desk.whole()
    assert [e["type"] for e in recollect.events.of_memory(desk.vault.reader, ids[3])] == ["create", "delete"]


def test_the_write_ahead_log_is_empty_when_a_deletion_is_acknowledged(desk: Any) -> None:
    gone = desk.add("The zanzibar code opens the door.")
    wal = desk.layout.database.with_name("vault.db-wal")
    assert wal.stat().st_size > 0
    desk.delete(gone.id)
    assert wal.stat().st_size == 0


def test_older_backups_are_named(desk: Any) -> None:
    desk.layout.backups.mkdir()
    made = desk.layout.backups / "2026-02.mvbackup"
    made.touch()
    assert desk.delete(desk.add("Gone.").id).older_backups == [str(made)]


def test_a_deletion_keeps_no_reason_that_could_quote_the_text(desk: Any) -> None:
    gone = desk.add("The zanzibar code opens the door.")
    erase.erase(desk.vault, PERSON, Selection((gone.id,)), "it names the zanzibar code")
    assert "zanzibar" not in _everything(desk.vault.writer)
