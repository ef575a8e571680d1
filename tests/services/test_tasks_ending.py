"""SPEC 3 and 7: a task that closes or lapses leaves nothing; what is worth keeping is proposed first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from memvault.clock import iso
from memvault.errors import NotFound, TextUnusable, Usage
from memvault.gate.score import MOST_CANDIDATES
from memvault.keys.envelope import VaultKey
from memvault.model import Claim, Draft, Kind, NoteKind, Outcome, Scope, Source, SourceType, Status
from memvault.paths import HomeLayout
from memvault.services import daily, erase, maintain, recollect, tasks
from memvault.services.caller import PERSON, Caller
from memvault.services.tasks import Keeping
from memvault.store import tombstones
from memvault.store.connection import Database

pytestmark = pytest.mark.slow

DAY_S = 86_400
WORDS = ("zanzibarquokka", "pangolinfirefly", "turnipsextant", "青铜翡翠钥匙", "obsidianferret")
TABLES = ("task_head", "task_note", "task_step")


def fill(desk: Any, caller: Caller, notes: int = 40) -> str:
    """A task with all of WORDS in it, and enough text for pages of its own."""
    opened = tasks.open_task(desk.vault, caller, "Port the zanzibarquokka", "pangolinfirefly")
    task = str(opened["id"])
    for number in range(notes):
        text = f"{number}: turnipsextant, 青铜翡翠钥匙 " + f"and sack {number} " * 20
        tasks.note(desk.vault, caller, task, NoteKind.TO_DO, text)
    tasks.done(desk.vault, caller, task, 1)
    tasks.reopen(desk.vault, caller, task, 1, "the obsidianferret is back")
    return task


def pages(path: Path, key: VaultKey) -> bytes:
    """The plain text of every page of a database file, free ones included, by the cipher's own key."""
    raw, size, reserve = path.read_bytes(), 4096, 80
    bare = bytes.fromhex(key.sqlcipher_key()[2:-1].decode())
    out = bytearray()
    for start in range(0, len(raw), size):
        page = raw[start : start + size]
        iv = page[size - reserve : size - reserve + 16]
        cipher = Cipher(algorithms.AES(bare), modes.CBC(iv)).decryptor()
        out += cipher.update(page[16 if start == 0 else 0 : size - reserve]) + cipher.finalize()
    return bytes(out)


def found_in(path: Path, key: VaultKey) -> list[str]:
    plain = pages(path, key)
    return [word for word in WORDS if word.encode() in plain]


def tables_of(db: Database) -> dict[str, list[Any]]:
    names = [str(row[0]) for row in db.all("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: db.all(f'SELECT * FROM "{name}"') for name in names}


def conclusion(content: str, **more: Any) -> Keeping:
    source = Source(SourceType.CONVERSATION, more.pop("ref", "chat-7"), evidence=content)
    claim = Claim(more.pop("kind", Kind.FACT), Scope.PRIVATE, content, **more)
    return Keeping(Draft(claim, (source,)))


ALWAYS = "From now on always run the smoke test {} after a deploy."


@pytest.mark.parametrize("how", ["closed", "forgotten"])
def test_no_page_log_or_row_holds_anything_of_it(desk: Any, robot: Caller, clock: Any, how: str) -> None:
    desk.add("Port 3000 belongs to the gateway.")
    before = tables_of(desk.vault.writer)
    task = fill(desk, robot)
    desk.vault.writer.truncate_log()
    assert found_in(desk.layout.database, desk.key) == list(WORDS), "there is something to find"
    assert tables_of(desk.vault.writer) != before
    if how == "closed":
        assert tasks.close(desk.vault, robot, task, ()).erased == 40
    else:
        clock.advance(7 * DAY_S)
        assert tasks.lapse_tasks(desk.vault) == 1
    assert desk.layout.database.with_name("vault.db-wal").stat().st_size == 0
    assert found_in(desk.layout.database, desk.key) == []
    assert b"and sack 7" not in pages(desk.layout.database, desk.key)
    assert tables_of(desk.vault.writer) == before, "neither event nor run, counter, tombstone or news"
    with pytest.raises(NotFound):
        tasks.get(desk.vault, robot, task)


def test_a_reader_in_the_way_is_told_and_made_up_for(
    desk: Any, robot: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = fill(desk, robot)
    reader = Database(desk.layout.database, desk.key, writable=False)
    reader.run("BEGIN")
    reader.all("SELECT count(*) FROM task_note")
    monkeypatch.setattr(erase, "CHECKPOINT_TIMEOUT_S", 0.0)
    closed = tasks.close(desk.vault, robot, task, ())
    assert (closed.erased, closed.overwritten) == (40, False)
    reader.run("ROLLBACK")
    reader.close()
    other = tasks.open_task(desk.vault, robot, "Another", None)["id"]
    assert tasks.close(desk.vault, robot, other, ()).overwritten
    assert found_in(desk.layout.database, desk.key) == []


def test_it_leaves_the_notes_of_other_tasks(desk: Any, robot: Caller) -> None:
    kept = tasks.open_task(desk.vault, robot, "Another", None)["id"]
    tasks.note(desk.vault, robot, kept, NoteKind.PLAN, "Stay here.")
    tasks.close(desk.vault, robot, fill(desk, robot, notes=3), ())
    assert [note["text"] for note in tasks.get(desk.vault, robot, kept)["notes"]] == ["Stay here."]


def test_opening_and_noting_make_no_event_no_run_and_no_news(desk: Any, robot: Caller) -> None:
    before, news = tables_of(desk.vault.writer), list(desk.news)
    fill(desk, robot)
    after = tables_of(desk.vault.writer)
    assert {name for name in after if after[name] != before[name]} == set(TABLES)
    assert desk.news == news


def test_a_restored_backup_holds_nothing_of_running_tasks(
    desk: Any, house: Any, robot: Caller, new_layout: HomeLayout
) -> None:
    desk.add("Port 3000 belongs to the gateway.")
    task = fill(desk, robot)
    path = house.back_up()
    house.put_back(new_layout, path)
    assert found_in(new_layout.database, desk.key) == []
    assert b"Port 3000 belongs" in pages(new_layout.database, desk.key), "the pages are decrypted"
    copy = Database(new_layout.database, desk.key, writable=False)
    assert {name: copy.all(f"SELECT * FROM {name}") for name in TABLES} == {name: [] for name in TABLES}
    copy.close()
    assert len(tasks.get(desk.vault, robot, task)["notes"]) == 40, "the vault itself keeps them"


def test_every_table_of_notes_is_one_that_a_backup_leaves_out(desk: Any, robot: Caller) -> None:
    before = tables_of(desk.vault.writer)
    fill(desk, robot)
    after = tables_of(desk.vault.writer)
    touched = {name for name in after if after[name] != before[name]}
    assert touched
    assert all(name.startswith("task_") for name in touched)


def test_a_task_lapses_seven_days_after_its_last_change(desk: Any, robot: Caller, clock: Any) -> None:
    idle, busy = fill(desk, robot, notes=2), tasks.open_task(desk.vault, PERSON, "Busy", None)["id"]
    shown = tasks.get(desk.vault, robot, idle)["lapses_at"]
    clock.advance(6 * DAY_S)
    tasks.get(desk.vault, robot, idle)
    tasks.note(desk.vault, PERSON, busy, NoteKind.FINDING, "Still at it.")
    clock.advance(DAY_S - 1)
    daily.tidy(desk.vault)
    assert tasks.listing(desk.vault, PERSON, 50, 0)["total"] == 2
    clock.advance(1)
    assert iso(clock.now()) == shown
    daily.tidy(desk.vault)
    assert [item["id"] for item in tasks.listing(desk.vault, PERSON, 50, 0)["items"]] == [busy]


def test_a_clock_ten_years_ahead_erases_no_task(desk: Any, robot: Caller, clock: Any) -> None:
    desk.add("Port 3000 belongs to the gateway.")
    task = fill(desk, robot, notes=1)
    clock.advance(3_650 * DAY_S)
    daily.tidy(desk.vault)
    assert tasks.get(desk.vault, robot, task)["notes"]


def test_what_is_worth_keeping_is_proposed_and_names_the_task(desk: Any, robot: Caller) -> None:
    task = fill(desk, robot, notes=1)
    closed = tasks.close(desk.vault, robot, task, [conclusion(ALWAYS.format(1), project="alpha")])
    (kept,) = closed.kept
    record = desk.get(kept.id)
    assert (kept.outcome, record.status) == (Outcome.CANDIDATE, Status.CANDIDATE)
    assert record.sources[0].task == "pangolinfirefly"
    (event,) = desk.events(kept.id)
    assert event["actor"] == "agent:claude-code"


def test_the_gate_judges_conclusions_like_any_proposal(desk: Any, robot: Caller) -> None:
    task = fill(desk, robot, notes=1)
    closed = tasks.close(desk.vault, robot, task, [conclusion("The build is broken right now.")])
    assert [kept.outcome for kept in closed.kept] == [Outcome.REFUSED]
    with pytest.raises(NotFound):
        tasks.get(desk.vault, robot, task)


def test_a_person_keeps_directly_what_a_task_taught(desk: Any) -> None:
    task = fill(desk, PERSON, notes=1)
    closed = tasks.close(desk.vault, PERSON, task, [conclusion("The mill turns clockwise.")])
    assert [kept.outcome for kept in closed.kept] == [Outcome.ACTIVE]


def test_an_agent_keeps_at_most_three_conclusions_of_one_task(desk: Any, robot: Caller) -> None:
    task = fill(desk, robot, notes=1)
    four = [conclusion(ALWAYS.format(n), ref=f"chat-{n}") for n in range(MOST_CANDIDATES + 1)]
    with pytest.raises(Usage, match="at most 3"):
        tasks.close(desk.vault, robot, task, four)
    assert recollect.page(desk.vault, PERSON, recollect.Filter(), "created", 50, 0)["total"] == 0
    assert len(tasks.close(desk.vault, robot, task, four[:3]).kept) == 3
    again = tasks.open_task(desk.vault, robot, "Again", "pangolinfirefly")["id"]
    tasks.close(desk.vault, robot, again, [conclusion(ALWAYS.format(n), ref="one") for n in range(10, 13)])
    last = tasks.open_task(desk.vault, robot, "Last", "pangolinfirefly")["id"]
    (more,) = tasks.close(desk.vault, robot, last, [conclusion(ALWAYS.format(13), ref="one")]).kept
    assert more.outcome is Outcome.REFUSED, "at most 3 of one turn and source"


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (conclusion(" "), TextUnusable),
        (conclusion("Fine.", attribute="a"), Usage),
        (Keeping(Draft(Claim(Kind.FACT, Scope.TASK, "Fine."), (Source(SourceType.USER, "x"),))), Usage),
        (Keeping(Draft(Claim(Kind.FACT, Scope.PRIVATE, "Fine."), (Source(SourceType.USER, " "),))), Usage),
    ],
)
def test_a_conclusion_that_cannot_be_a_memory_leaves_everything_as_it_is(
    desk: Any, bad: Keeping, error: type[Exception]
) -> None:
    task = fill(desk, PERSON, notes=3)
    before = tables_of(desk.vault.writer)
    with pytest.raises(error):
        tasks.close(desk.vault, PERSON, task, [conclusion("The mill turns clockwise."), bad])
    assert tables_of(desk.vault.writer) == before


def test_doctor_finds_nothing_wrong_with_a_vault_that_holds_notes(desk: Any, robot: Caller) -> None:
    fill(desk, robot)
    assert not [check for check in maintain.examine(desk.vault) if not check["ok"]]
    assert not tombstones.any_standing(desk.vault.writer)
