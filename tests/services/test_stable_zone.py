"""SPEC 9 over a real vault: the stable zone of a session, what changes it, and the facts of the project."""

from __future__ import annotations

from typing import Any

import pytest
from tests.services.contexts import compiled, fill, reasons, zone

from memvault.compile.task import Mode
from memvault.model import Authority, Kind
from memvault.services import compiling, daily, feedback, gathering, recollect, remember
from memvault.services.caller import PERSON, agent


def test_the_stable_zone_is_byte_identical_whatever_the_objective_and_the_usage(desk: Any) -> None:
    fill(desk)
    one = compiled(desk, budget=900)
    recollect.note_uses(desk.vault, [recollect.Use("person", compiling.answer(desk.vault, PERSON, one))])
    desk.add("A new fact changes nothing in the stable zone.", project="app")
    desk.clock.advance(86_400)
    other = compiled(desk, "写一份关于缓存的说明", budget=900)
    assert one.pack.stable_text == other.pack.stable_text != ""
    assert one.pack.text.startswith(one.pack.stable_text)
    assert other.pack.text.startswith(one.pack.stable_text)
    assert one.pack.text != other.pack.text


def test_a_merge_or_a_verification_moves_no_byte_of_the_stable_zone(desk: Any) -> None:
    ids = fill(desk)
    before = compiled(desk, session="s").pack.stable_text
    desk.add("Answer in short sentences.", kind=Kind.PREFERENCE, project="app", source="user:another")
    remember.verify(desk.vault, PERSON, ids["preference"])
    desk.clock.advance(3_600)
    again = compiled(desk, session="s")
    assert (again.pack.stable_text, again.gathered.drift) == (before, ())


def test_what_is_written_mid_session_stays_dynamic_and_enters_the_next_session(desk: Any) -> None:
    fill(desk)
    before = compiled(desk, session="one")
    fresh = desk.add("Always write the changelog in English.", kind=Kind.PREFERENCE, project="app").id
    rule = desk.add("Never push on a Friday.", kind=Kind.POLICY, project="app").id
    during = compiled(desk, session="one")
    assert during.pack.stable_text == before.pack.stable_text
    for memory, words in ((fresh, "changelog in English"), (rule, "push on a Friday")):
        assert memory in during.pack.shown
        assert words in zone(during, "working set")
    assert "new in this session" in zone(during, "working set")
    other_mode = compiled(desk, session="one", mode=Mode.CONTINUITY)
    assert "changelog in English" not in other_mode.pack.stable_text
    later = compiled(desk, session="two")
    assert "changelog in English" in later.pack.stable_text
    assert "push on a Friday" in later.pack.stable_text


def test_what_nobody_confirmed_enters_no_stable_zone_before_it_is_verified(desk: Any) -> None:
    made = desk.add("Always use tabs from now on.", kind=Kind.PREFERENCE, project="app")
    with desk.vault.writer.transaction():
        desk.vault.writer.run(
            "UPDATE memory SET authority = ? WHERE id = ?", (Authority.CONVERSATION, made.id)
        )
    desk.vault.standing.forget()
    first = compiled(desk, session="one")
    assert made.id not in first.pack.shown
    assert reasons(first)[made.id] == "a preference that nobody confirmed"
    remember.verify(desk.vault, PERSON, made.id)
    assert made.id in compiled(desk, session="two").pack.shown


@pytest.mark.parametrize("how", ["delete", "disable", "edit", "expire", "supersede"])
def test_deleting_disabling_correcting_or_expiring_changes_it_at_once_and_says_why(
    desk: Any, how: str
) -> None:
    claim = {"kind": Kind.PREFERENCE, "subject": "user", "attribute": "indent"}
    ends = {"expires_at": "2026-03-03T00:00:00.000Z"} if how == "expire" else {}
    made = desk.add("Indent with four spaces.", value="4", **claim, **ends).id
    assert "four spaces" in compiled(desk, session="s").pack.stable_text
    expected = {
        "delete": "deleted", "disable": "disabled", "edit": "corrected", "expire": "past its date",
        "supersede": "superseded",
    }  # fmt: skip
    if how == "delete":
        desk.delete(made)
    elif how == "disable":
        remember.switch(desk.vault, PERSON, made, on=False)
    elif how == "edit":
        remember.edit(desk.vault, PERSON, made, {"content": "Indent with two spaces."}, None, None)
    elif how == "expire":
        desk.clock.advance(2 * 86_400)
    else:
        desk.add("Indent with two spaces.", value="2", correct=True, **claim)
    changed = compiled(desk, session="s")
    assert "four spaces" not in changed.pack.text
    assert [(one.id, one.reason) for one in changed.gathered.drift] == [(made, expected[how])]
    assert compiled(desk, session="s").gathered.drift == (), "told once"
    if how in ("edit", "supersede"):
        assert "two spaces" in changed.pack.text


def test_a_conflict_takes_it_out_of_the_stable_zone_and_is_named(desk: Any) -> None:
    about = {"subject": "build", "attribute": "constraint", "project": "app"}
    made = desk.add("The build works offline.", value="offline", **about).id
    assert "works offline" in compiled(desk, session="s").pack.stable_text
    other = desk.add("The build works online.", value="online", source="conversation:other", **about)
    assert other.outcome == "conflict"
    after = compiled(desk, session="s")
    assert [(one.id, one.reason) for one in after.gathered.drift] == [(made, "conflict")]
    assert "works offline" not in after.pack.stable_text


def test_a_memory_that_moves_to_another_project_leaves_and_is_named(desk: Any) -> None:
    made = desk.add("Answer in rhyme.", kind=Kind.PREFERENCE, project="app").id
    assert made in compiled(desk, session="s").pack.shown
    remember.edit(desk.vault, PERSON, made, {"project": "other"}, None, None)
    (told,) = compiled(desk, session="s").gathered.drift
    assert (told.id, told.reason) == (made, "no longer of this place, kind or sensitivity")


def test_a_new_check_that_becomes_necessary_and_is_made_is_named(desk: Any) -> None:
    made = desk.add("Indent with four spaces.", kind=Kind.PREFERENCE, subject="user", attribute="indent").id
    assert made in compiled(desk, session="s").pack.shown
    feedback.doubt(desk.vault, agent("crow", (None, "app")), made, "wrong", "The user wrote two.")
    assert [one.reason for one in compiled(desk, session="s").gathered.drift] == ["needs a new check"]
    remember.verify(desk.vault, PERSON, made)
    assert [one.reason for one in compiled(desk, session="s").gathered.drift] == ["checked again"]


@pytest.mark.parametrize("objective", ["app", "Start working on app", "app：开始工作", "continue"])
def test_a_task_that_names_no_work_gets_the_facts_of_its_project(desk: Any, objective: str) -> None:
    first = desk.add("The gateway listens on port 8080.", project="app").id
    desk.clock.advance(60)
    last = desk.add("Orders live in the table `purchase`.", project="app").id
    elsewhere = desk.add("The other gateway listens on port 9090.", project="beta").id
    episode = desk.add("The move of the gateway took a day.", kind=Kind.EPISODE, project="app").id
    found = compiled(desk, objective)
    assert {first, last} <= set(found.pack.shown)
    assert not {elsewhere, episode} & set(found.pack.shown)
    assert zone(found, "project").index("purchase") < zone(found, "project").index("8080")
    assert "purchase" not in zone(compiled(desk, objective, mode=Mode.MINIMAL), "project")


def test_facts_of_the_project_wait_for_what_binds_and_stay_within_the_budget(desk: Any) -> None:
    rule = desk.add("Never deploy on a Friday.", kind=Kind.POLICY, project="app").id
    for number in range(20):
        desk.add(f"Service {number} listens on port {8000 + number}.", subject=f"s{number}", attribute="port",
                 value=str(number), project="app")  # fmt: skip
    for budget in (0, 50, 120, 200, 400, 1_000):
        found = compiled(desk, "app", budget=budget)
        assert found.pack.tokens <= budget
        assert rule in found.pack.shown or not found.pack.shown
    named = zone(compiled(desk, "app", budget=400), "index")
    assert named, "what found no room is named in the index"
    whole = compiled(desk, "app", budget=4_000)
    shown = zone(whole, "project").count("listens on port")
    assert shown == gathering.MOST_FACTS
    assert zone(whole, "index").count("/ port") == 20 - shown, "a memory is shown or named, never both"


def test_a_confirmed_preference_without_room_in_the_stable_zone_uses_room_that_is_left(desk: Any) -> None:
    for number in range(3):
        desk.add(f"Policy number {number} holds for every one of the deployments.", kind=Kind.POLICY)
    made = desk.add("Answer in British English.", kind=Kind.PREFERENCE).id
    found = next(
        found
        for budget in range(60, 600, 10)
        if made in (found := compiled(desk, "zzz", budget=budget)).pack.shown
    )
    assert "British" in zone(found, "working set")
    assert "British" not in found.pack.stable_text


def test_what_is_kept_of_a_session_is_ids_and_versions_and_is_bounded(desk: Any) -> None:
    fill(desk)
    compiled(desk, session="private-name")
    rows = desk.vault.writer.all("SELECT session, variant, held FROM task_stable")
    assert len(rows) == 1
    assert b"private-name" not in rows[0][0]
    for words in ("Answer", "deploy", "private-name"):
        assert words not in f"{rows[0][1]}{rows[0][2]}"
    desk.clock.advance(31 * 86_400)
    compiled(desk, session="later")
    assert len(desk.vault.writer.all("SELECT session FROM task_stable")) == 1
    desk.clock.advance(31 * 86_400)
    daily.tidy(desk.vault)
    assert desk.vault.writer.all("SELECT session FROM task_stable") == []
