"""SPEC 7 at every door: what is refused, what is only held, what a person lifts, and what is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import Illegal, NotFound, Refused
from memvault.model import Draft, Outcome, Source, SourceType, Status
from memvault.recall.terms import decode
from memvault.services import candidates, graves, lifting, remember
from memvault.services.caller import PERSON, Caller
from memvault.services.change import change
from memvault.services.graves import HELD, RESEMBLES
from memvault.store import settings, tombstones

TEXT = "The contractor Wexelblatt comes in on the first Monday."
ALIKE = "Please note: the contractor Wexelblatt, by the way, comes in on the first Monday."
CHINESE, CHINESE_ALIKE = "承包商周一来办公室。", "请注意,承包商其实是周一来办公室的。"


def listed(desk: Any) -> list[dict[str, Any]]:
    return lifting.listing(desk.vault, 100, 0)["items"]


def counted(desk: Any, name: str) -> int:
    return settings.counters(desk.vault.reader).get(name, 0)


def waiting(desk: Any, content: str) -> str:
    """A candidate from a source of its own, past the gate."""
    draft = Draft(desk.draft(content).claim, (Source(SourceType.USER, "s1"),))
    with change(desk.vault, "add", "agent:x") as work:
        return str(candidates.propose(work, PERSON, draft).id)


@pytest.mark.parametrize(("gone", "again"), [(TEXT, ALIKE), (CHINESE, CHINESE_ALIKE)])
def test_what_matches_only_the_sketch_is_held_as_resembling_something_you_deleted(
    desk: Any, gone: str, again: str
) -> None:
    desk.delete(desk.add(gone).id)
    written = desk.add(again)
    assert (written.outcome, written.reason.split(";")[0]) == (Outcome.CANDIDATE, HELD)
    assert (desk.get(written.id).status, desk.get(written.id).flags) == (Status.CANDIDATE, (RESEMBLES,))
    assert counted(desk, "held_resemblances") == 1
    assert counted(desk, "prevented_resurrections") == 0


def test_an_agent_is_told_nothing_of_what_was_deleted(desk: Any, robot: Caller) -> None:
    desk.delete(desk.add(TEXT).id)
    refused = desk.add(TEXT, caller=robot)
    assert (refused.outcome, refused.id, refused.reason) == (
        Outcome.REFUSED, None, "refused by a rule of this vault",
    )  # fmt: skip
    draft = desk.draft(ALIKE)
    with change(desk.vault, "add", robot.actor) as work:
        held = remember.write(work, robot, draft, held=graves.tombstoned(desk.vault, draft) is not None)
    assert (held.outcome, held.reason) == (Outcome.CANDIDATE, candidates.PENDING)
    assert desk.get(held.id).flags == (RESEMBLES,)


def test_what_is_held_is_never_active_by_itself(desk: Any, robot: Caller) -> None:
    """Not even when two independent observations say it, nor when it waited before the deletion."""
    before = waiting(desk, ALIKE)
    desk.delete(desk.add(TEXT).id)
    for number in range(3):
        source = Source(SourceType.USER, f"other-{number}")
        draft = Draft(desk.draft(ALIKE).claim, (source,))
        assert graves.tombstoned(desk.vault, draft)
        with change(desk.vault, "add", robot.actor) as work:
            assert remember.write(work, robot, draft, held=True).id == before
    assert desk.get(before).status is Status.CANDIDATE
    assert candidates.confirm(desk.vault, PERSON, before).status is Status.ACTIVE
    assert desk.get(before).flags == ()


def test_a_candidate_whose_text_was_deleted_meanwhile_cannot_be_confirmed(desk: Any) -> None:
    before = waiting(desk, TEXT)
    twin = desk.add(TEXT, project="elsewhere")
    desk.delete(twin.id)
    with pytest.raises(Refused):
        candidates.confirm(desk.vault, PERSON, before)
    assert counted(desk, "prevented_resurrections") == 1
    assert desk.get(before).status is Status.CANDIDATE


def test_an_edit_brings_back_neither_the_text_nor_what_resembles_it(desk: Any) -> None:
    desk.delete(desk.add(TEXT).id)
    other = desk.add("The plumber comes whenever he likes.").id
    for text in (TEXT, TEXT.upper(), ALIKE):
        with pytest.raises(Refused) as caught:
            remember.edit(desk.vault, PERSON, other, {"content": text}, None, None)
        assert "tombstones lift" in str(caught.value.hint)
    assert desk.get(other).version == 1
    passes = TEXT.replace("Monday", "Tuesday")
    assert remember.edit(desk.vault, PERSON, other, {"content": passes}, None, None).version == 2


def test_a_memory_that_stayed_when_its_double_was_deleted_can_be_edited_and_said_again(desk: Any) -> None:
    kept, double = desk.add(ALIKE).id, desk.add(TEXT).id
    desk.delete(double)
    again = desk.add(ALIKE, source="user:later")
    assert (again.outcome, again.id) == (Outcome.MERGED, kept)
    remember.edit(desk.vault, PERSON, kept, {"content": f"{ALIKE} Indeed."}, None, None)
    assert desk.get(kept).status is Status.ACTIVE
    with pytest.raises(Refused):
        remember.edit(desk.vault, PERSON, kept, {"content": TEXT}, None, None)


def test_an_import_refuses_what_was_deleted_and_holds_what_resembles_it(desk: Any, tmp_path: Path) -> None:
    desk.delete(desk.add(TEXT).id)
    for name, text in (("a", TEXT), ("b", ALIKE), ("c", TEXT.replace("Monday", "Friday"))):
        (tmp_path / f"{name}.md").write_text(f"---\nkind: fact\n---\n{text}\n")
    report = desk.take(tmp_path)
    assert (report.added, report.candidates, len(report.refused)) == (1, 1, 1)
    assert (counted(desk, "prevented_resurrections"), counted(desk, "held_resemblances")) == (1, 1)


def test_taking_a_run_back_does_not_bring_back_what_was_deleted_since(desk: Any) -> None:
    memory = desk.add(TEXT, project="one").id
    desk.clock.advance(1)
    remember.edit(desk.vault, PERSON, memory, {"content": "The contractor retired."}, None, None)
    edited = desk.events(memory)[-1]["run"]
    double = desk.add(TEXT, project="two").id
    desk.delete(double)
    with pytest.raises(Refused):
        desk.roll_back(edited)
    assert desk.get(memory).claim.content == "The contractor retired."


ABOUT = {"subject": "Wexelblatt", "attribute": "day", "project": "p"}


def test_another_value_of_the_same_attribute_passes_however_alike_the_sentence(desk: Any) -> None:
    desk.delete(desk.add(TEXT, **ABOUT, value="first Monday").id)
    assert desk.add(ALIKE, **ABOUT, value="last Friday").outcome is Outcome.ACTIVE


def test_the_same_value_in_other_words_is_held(desk: Any) -> None:
    desk.delete(desk.add(TEXT, **ABOUT, value="first Monday").id)
    again = desk.add("He shows up early in the month.", **ABOUT, value="the first Monday, please")
    assert again.outcome is Outcome.CANDIDATE


@pytest.mark.parametrize(
    ("gone", "other"),
    [
        ("Deploy with npm", "Do not deploy with npm"),
        ("Deploy with npm", "Deploy with pnpm"),
        ("Deploy with npm", "Deploy with npm 10"),
        ("Indent with tabs", "Indent with spaces"),
        ("Ask Orla about the gateway", "Ask Bertram about the gateway"),
        ("ask orla about the gateway", "ask bertram about the gateway"),
        ("The queue is written in C++", "The queue is written in C#"),
        ("👍 means approved", "👎 means approved"),
        ("用npm部署", "不要用npm部署"),
        ("找张伟批准发布", "找李娜批准发布"),
        ("上午发布", "下午发布"),
        ("每三天备份", "每五天备份"),
    ],
)
def test_a_different_number_name_negation_or_value_is_a_different_claim_and_passes(
    desk: Any, gone: str, other: str
) -> None:
    desk.vault.secrets = replace(desk.vault.secrets, tombstones=b"t" * 32)
    desk.delete(desk.add(gone).id)
    assert graves.tombstoned(desk.vault, desk.draft(other)) is None


def test_texts_without_words_do_not_refuse_each_other(desk: Any) -> None:
    desk.delete(desk.add("👍👍").id)
    assert graves.tombstoned(desk.vault, desk.draft("👎")) is None
    assert graves.tombstoned(desk.vault, desk.draft("👍👍")) is not None


def test_tombstones_are_listed_without_any_text_newest_first(desk: Any) -> None:
    one = desk.add(TEXT).id
    first = desk.delete(one)
    desk.clock.advance(5)
    two = desk.add("Ticket 7 is closed.", source="conversation:chat-7").id
    second = desk.delete(source="chat-7")
    items = listed(desk)
    assert [(i["memory"], i["by_source"], i["run"]) for i in items] == [
        (None, True, second.run), (two, True, second.run), (one, False, first.run),
    ]  # fmt: skip
    assert set(items[0]) == {"id", "at", "run", "memory", "by_source"}
    assert (first.tombstones, second.tombstones) == (1, 2)


def test_a_person_can_lift_a_tombstone_and_the_same_text_may_be_written_again(desk: Any) -> None:
    memory = desk.add(TEXT, subject="s", attribute="a", value="v")
    remember.edit(
        desk.vault, PERSON, memory.id, {"content": "The contractor left.", "value": "w"}, None, None
    )
    desk.delete(memory.id)
    (stone,) = listed(desk)
    done = lifting.lift(desk.vault, PERSON, stone["id"])
    assert done.ids == [stone["id"]]
    assert listed(desk) == []
    for text, value in ((TEXT, "v"), ("The contractor left.", "w")):
        again = desk.add(text, subject="s", attribute="a", value=value, project=value)
        assert again.outcome is Outcome.ACTIVE
    event = desk.vault.reader.one("SELECT actor, memory FROM event WHERE type = 'lift'")
    assert event == ("person", memory.id)
    desk.whole()


def test_lifting_takes_along_other_tombstones_of_the_very_same_text(desk: Any) -> None:
    one, two = desk.add(TEXT, project="one").id, desk.add(TEXT, project="two").id
    desk.delete(one)
    desk.delete(two)
    done = lifting.lift(desk.vault, PERSON, listed(desk)[0]["id"])
    assert len(done.ids) == 2
    assert desk.add(TEXT).outcome is Outcome.ACTIVE


def test_lifting_is_never_undone(desk: Any) -> None:
    desk.delete(desk.add(TEXT).id)
    done = lifting.lift(desk.vault, PERSON, listed(desk)[0]["id"])
    with pytest.raises(Illegal):
        desk.roll_back(done.run)
    with pytest.raises(NotFound):
        lifting.lift(desk.vault, PERSON, done.ids[0])
    assert desk.add(TEXT).outcome is Outcome.ACTIVE


def test_lifting_outlives_the_restore_of_a_backup_that_still_has_the_tombstone(house: Any) -> None:
    desk = house.desk
    desk.delete(desk.add(TEXT).id)
    path = house.back_up()
    lifting.lift(desk.vault, PERSON, listed(desk)[0]["id"])
    house.restore(path)
    assert listed(desk) == []
    assert desk.add(TEXT).outcome is Outcome.ACTIVE


def test_a_restore_carries_along_what_only_resembles(house: Any) -> None:
    desk = house.desk
    path = house.back_up()
    desk.delete(desk.add(TEXT).id)
    house.restore(path)
    assert desk.add(TEXT).outcome is Outcome.REFUSED
    assert desk.add(ALIKE).outcome is Outcome.CANDIDATE


@pytest.mark.parametrize(
    ("wanted", "later", "task"),
    [
        ({"source": "chat-7"}, "conversation:chat-7", None),
        ({"source": "conversation:chat-7"}, "conversation:chat-7", None),
        ({"session": "s-1"}, "conversation:chat-9", "s-1"),
        ({"source": "chat-7", "session": "s-1"}, "conversation:chat-7", "s-1"),
    ],
)
def test_a_deleted_source_or_session_stays_out_until_it_is_lifted(
    desk: Any, wanted: dict[str, str], later: str, task: str | None
) -> None:
    def say(content: str, source: str, task: str | None) -> Any:
        kind, _, ref = source.partition(":")
        draft = Draft(desk.draft(content).claim, (Source(SourceType(kind), ref, task),))
        return remember.add(desk.vault, PERSON, draft, correct=False)

    for number in range(3):
        say(f"Ticket {number} is closed.", "conversation:chat-7", "s-1")
    assert len(desk.delete(**wanted).ids) == 3
    refused = say("The gateway moved.", later, task)
    assert refused.outcome is Outcome.REFUSED
    assert "its source was deleted for good" in refused.reason
    assert say("The gateway is old.", "conversation:chat-8", "s-2").outcome is Outcome.ACTIVE
    stone = next(item for item in listed(desk) if item["memory"] is None)
    lifting.lift(desk.vault, PERSON, stone["id"])
    assert say("The gateway moved.", later, task).outcome is Outcome.ACTIVE
    assert say("Ticket 1 is closed.", later, task).outcome is Outcome.REFUSED, (
        "what was deleted stays deleted"
    )


def test_a_source_of_which_only_a_part_was_deleted_is_not_forbidden(desk: Any) -> None:
    desk.add("Ticket 1 is closed.", source="conversation:chat-7", project="p")
    desk.add("Ticket 2 is closed.", source="conversation:chat-7", project="q")
    assert len(desk.delete(source="chat-7", project="p").ids) == 1
    assert desk.add("Ticket 3 is closed.", source="conversation:chat-7").outcome is Outcome.ACTIVE


def test_nothing_in_a_tombstone_is_text_or_a_term_of_the_index(desk: Any) -> None:
    memory = desk.add(f"{TEXT} {CHINESE}", subject="Wexelblatt", attribute="day", value="first Monday")
    remember.edit(desk.vault, PERSON, memory.id, {"content": f"{TEXT} {CHINESE} Again."}, None, None)
    terms = set(decode([desk.vault.derive(desk.get(memory.id).claim).terms]).hashes.tolist())
    derived = desk.vault.derive(desk.get(memory.id).claim)
    desk.delete(memory.id)
    tables = ("tombstone", "tombstone_print", "tombstone_band")
    values = [
        value for table in tables for row in desk.vault.reader.all(f"SELECT * FROM {table}") for value in row
    ]
    whole = "\n".join(map(repr, values)).casefold()
    for word in ("wexelblatt", "contractor", "monday", "承包", "first"):
        assert word not in whole
    blobs = [bytes(value) for value in values if isinstance(value, bytes)]
    assert len(desk.vault.reader.all("SELECT 1 FROM tombstone_print")) == 2, "one for each version"
    as_stored = [term.to_bytes(8, "little") for term in terms] + [term.to_bytes(8, "big") for term in terms]
    assert not [term for term in as_stored if any(term in blob for blob in blobs)]
    assert not any(key and key in blob for blob in blobs for key in (derived.claim_key, derived.content_key))


def test_a_lifted_tombstone_keeps_no_hash(desk: Any) -> None:
    desk.delete(desk.add(TEXT, source="conversation:chat-7").id)
    desk.delete(desk.add("Ticket 7 is closed.", source="conversation:chat-8").id)
    for stone in listed(desk):
        lifting.lift(desk.vault, PERSON, stone["id"])
    assert desk.vault.reader.all("SELECT 1 FROM tombstone_print") == []
    assert desk.vault.reader.all("SELECT 1 FROM tombstone_band") == []
    assert desk.vault.reader.all("SELECT 1 FROM tombstone WHERE source IS NOT NULL") == []


def test_what_was_deleted_lifted_written_and_deleted_again_is_out_again(desk: Any) -> None:
    for _ in range(2):
        desk.delete(desk.add(TEXT).id)
        assert desk.add(TEXT).outcome is Outcome.REFUSED
        lifting.lift(desk.vault, PERSON, listed(desk)[0]["id"])
    desk.delete(desk.add(TEXT).id)
    assert desk.add(TEXT).outcome is Outcome.REFUSED
    assert tombstones.count(desk.vault.reader) == 1


def test_a_look_up_reads_no_more_tombstones_than_it_must(desk: Any) -> None:
    """By the bands' index, with the marks in them: many alike but for a number do not slow it down."""
    ids = [desk.add(f"Ticket {number} of the gateway is closed since Monday.").id for number in range(60)]
    desk.delete(*ids)
    draft = desk.draft("Ticket 7777 of the gateway is closed, as mentioned, since Monday.")
    features = graves.likeness(draft.claim.content)
    prints = graves._prints(desk.vault.secrets.tombstones, draft.claim, features)
    assert len(tombstones.near(desk.vault.reader, prints)) == 0
    plan = desk.vault.reader.all(
        "EXPLAIN QUERY PLAN SELECT tombstone FROM tombstone_print WHERE worth = ? OR"
        " id IN (SELECT print FROM tombstone_band WHERE band IN (?, ?)) AND marks = ?",
        (b"", 1, 2, b""),
    )
    assert not [row for row in plan if "SCAN" in str(row[-1])], plan


def test_deleting_what_a_person_said_shuts_out_the_claim_not_the_person(desk: Any) -> None:
    desk.add("The gate is green.", source="user:cli")
    desk.delete(source="user:cli")
    assert desk.add("The gate is green.", source="user:cli").outcome == "refused"
    assert desk.add("The roof is blue.", source="user:cli").outcome == "active"
