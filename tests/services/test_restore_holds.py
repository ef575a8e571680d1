"""SPEC 7, restore: what matches only the sketch is held as "resembles something you deleted"."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

from memvault.clock import iso
from memvault.errors import DependentChanges, Illegal, NotFound
from memvault.lifecycle import TABLE, Move
from memvault.model import Authority, Outcome, Status
from memvault.services import candidates, graves, maintain, recollect, remember
from memvault.services.caller import PERSON, agent
from memvault.services.change import change, fetch
from memvault.services.forgetting import forget
from memvault.services.graves import RESEMBLES
from memvault.store import settings
from memvault.store.memories import Filter

TEXT = "Deploy the billing service with the blue script on the staging machine."
ALIKE = f"Please remember: {TEXT} Thanks!"
CHINESE, CHINESE_ALIKE = "计费服务用蓝色脚本部署到测试机。", "请注意,计费服务其实是用蓝色脚本部署到测试机的。"
QUESTIONS = [
    TEXT,
    ALIKE,
    "billing service blue script",
    "how do we deploy",
    CHINESE,
    "计费服务 部署",
    "测试机 脚本",
]
STATES = [Status.ACTIVE, Status.CONFLICT, Status.EXPIRED, Status.ARCHIVED, Status.SUPERSEDED, Status.DISABLED]


def put_into(desk: Any, memory: str, state: Status) -> None:
    """By moves that SPEC 4 has."""
    if state is Status.DISABLED:
        remember.switch(desk.vault, PERSON, memory, on=False)
    elif state is not Status.ACTIVE:
        words = {
            Status.CONFLICT: Move.CONTRADICT, Status.EXPIRED: Move.EXPIRE, Status.ARCHIVED: Move.ARCHIVE,
            Status.SUPERSEDED: Move.SUPERSEDE,
        }  # fmt: skip
        with change(desk.vault, "test", "memvault") as work:
            work.move(fetch(desk.vault, memory), words[state], state, "for a test")


def brought_back(house: Any, state: Status, gone: str = TEXT, alike: str = ALIKE) -> str:
    """A memory that a restore brings back in `state`, though what it resembles was deleted since."""
    desk = house.desk
    written = desk.add(alike, project="alpha")
    double = desk.add(gone, project="beta").id
    put_into(desk, written.id, state)
    path = house.back_up()
    later = desk.events(written.id)[-1]["run"]
    if later != written.run:
        desk.roll_back(later)
    desk.roll_back(written.run)
    desk.delete(double)
    house.restore(path)
    desk.embed()
    return str(written.id)


def recalled(desk: Any, caller: Any = PERSON) -> set[str]:
    """Whatever any question brings up, archived and expired ones included."""
    found: set[str] = set()
    for question in QUESTIONS:
        for include in ((), ("archived", "expired")):
            for project in (None, "alpha"):
                how = {"include": include, "project": project, "limit": 50}
                found |= {hit["id"] for hit in desk.recall(question, caller, **how)}
    return found


@pytest.mark.parametrize(("gone", "alike"), [(TEXT, ALIKE), (CHINESE, CHINESE_ALIKE)])
@pytest.mark.parametrize("state", STATES)
def test_a_restored_memory_that_only_resembles_is_never_recalled_until_a_person_confirms_it(
    house: Any, state: Status, gone: str, alike: str
) -> None:
    desk, robot = house.desk, agent("claude-code", (None, "alpha"))
    memory = brought_back(house, state, gone, alike)
    record = desk.get(memory)
    if state is Status.DISABLED:
        assert (record.status, record.flags) == (Status.DISABLED, ()), "the person's own switch stays theirs"
        assert memory not in recalled(desk)
        return
    expected = Status.SUPERSEDED if state is Status.SUPERSEDED else Status.DISABLED
    assert (record.status, record.flags) == (expected, (RESEMBLES,))
    assert memory not in recalled(desk) | recalled(desk, robot)
    forget(desk.vault)
    desk.reopen()
    assert memory not in recalled(desk) | recalled(desk, robot)
    with pytest.raises(NotFound):
        recollect.get(desk.vault, robot, memory)
    if state is Status.SUPERSEDED:
        return
    inbox = recollect.page(desk.vault, PERSON, Filter(waiting=True), "created", 50, 0)["items"]
    assert [item["id"] for item in inbox] == [memory]
    confirmed = candidates.confirm(desk.vault, PERSON, memory)
    assert (confirmed.status, confirmed.flags) == (Status.ACTIVE, ())
    assert memory in recalled(desk)
    assert memory in recalled(desk, robot)
    desk.whole()


@pytest.mark.parametrize("state", [state for state in STATES if state is not Status.DISABLED])
def test_it_is_held_by_moves_that_the_table_has_within_the_restores_own_run(
    house: Any, state: Status
) -> None:
    memory = brought_back(house, state)
    events = house.desk.events(memory)
    run = max(event["run"] for event in events)
    moves = [event for event in events if event["run"] == run]
    if state is Status.SUPERSEDED:
        assert all(event["type"] != "disable" for event in moves)
        return
    for event in moves:
        assert Status(event["to"]) in TABLE[Move(event["type"])][Status(event["from"])]
        assert graves.HELD in event["reason"]
    assert moves[-1]["to"] == "disabled"
    summary = maintain.show_run(house.desk.vault, run)
    assert (summary["kind"], summary["summary"]["held"]) == ("restore", 1)
    assert settings.counters(house.desk.vault.reader)["held_resemblances"] == 1


@pytest.mark.parametrize("seed", range(4))
def test_property_nothing_a_program_or_an_agent_does_lets_it_back(house: Any, seed: int) -> None:
    """Random walks of everything that happens without a person's say over this very memory."""
    desk, robot = house.desk, agent("claude-code", (None, "alpha"))
    memory = brought_back(house, random.Random(seed).choice([Status.ACTIVE, Status.CONFLICT, Status.EXPIRED]))
    rnd = random.Random(seed)

    def proposed() -> None:
        desk.add(ALIKE, caller=robot, project="alpha", source=f"conversation:s{rnd.random()}")

    def imported() -> None:
        folder = house.layout.root.parent / f"notes-{rnd.random()}"
        folder.mkdir()
        (folder / "a.md").write_text(f"---\nkind: fact\n---\n{ALIKE}\n")
        desk.take(folder, project="alpha")

    def aged() -> None:
        desk.clock.advance(86_400 * rnd.randint(1, 20))
        forget(desk.vault)
        candidates.lapse_candidates(desk.vault)

    steps = [
        proposed, imported, aged, desk.reopen, desk.embed,
        lambda: remember.verify(desk.vault, PERSON, memory),
        lambda: house.restore(house.back_up()),
    ]  # fmt: skip
    for _ in range(12):
        rnd.choice(steps)()
        assert memory not in recalled(desk) | recalled(desk, robot)
    assert desk.get(memory).status is Status.DISABLED


def test_switching_it_on_is_a_persons_word_as_well(house: Any) -> None:
    memory = brought_back(house, Status.ACTIVE)
    assert remember.switch(house.desk.vault, PERSON, memory, on=True).flags == ()
    assert memory in recalled(house.desk)


def test_rejecting_it_deletes_it_for_good(house: Any) -> None:
    memory = brought_back(house, Status.ACTIVE)
    candidates.reject(house.desk.vault, PERSON, memory)
    with pytest.raises(NotFound):
        house.desk.get(memory)
    assert house.desk.add(ALIKE).outcome is Outcome.REFUSED


def test_what_expired_before_is_kept_without_its_date_when_a_person_confirms_it(house: Any) -> None:
    desk = house.desk
    end = iso(desk.clock.now() + timedelta(days=3))
    written = desk.add(ALIKE, project="alpha", expires_at=end)
    double = desk.add(TEXT, project="beta").id
    path = house.back_up()
    desk.roll_back(written.run)
    desk.delete(double)
    house.restore(path)
    desk.clock.advance(10 * 86_400)
    found = candidates.confirm(desk.vault, PERSON, str(written.id))
    assert (found.status, found.claim.expires_at) == (Status.ACTIVE, None)
    assert written.id in recalled(desk)


def test_neither_undo_nor_a_rollback_of_the_restore_lets_it_back(house: Any) -> None:
    desk = house.desk
    memory = brought_back(house, Status.ACTIVE)
    run = max(event["run"] for event in desk.events(memory))
    with pytest.raises(Illegal, match="restore"):
        desk.roll_back(run)
    with pytest.raises(DependentChanges):
        maintain.undo(desk.vault, PERSON)


def test_taking_back_an_older_run_with_what_depends_on_it_does_not_let_it_back(house: Any) -> None:
    """The hold is one of the dependents then: the flag stays."""
    desk = house.desk
    written = desk.add(ALIKE, project="alpha")
    remember.edit(desk.vault, PERSON, written.id, {"why": "the red one is broken"}, None, None)
    edited = desk.events(written.id)[-1]["run"]
    double = desk.add(TEXT, project="beta").id
    path = house.back_up()
    desk.roll_back(edited)
    desk.roll_back(written.run)
    desk.delete(double)
    house.restore(path)
    desk.roll_back(edited, with_dependents=True)
    desk.embed()
    assert desk.get(written.id).status is Status.ACTIVE
    assert written.id not in recalled(desk)
    candidates.confirm(desk.vault, PERSON, written.id)
    assert written.id in recalled(desk)


def test_a_replaced_one_that_a_rollback_makes_active_again_still_waits(house: Any) -> None:
    """The flag alone keeps it out, and the inbox shows it."""
    desk = house.desk
    about = {"subject": "billing", "attribute": "deploy", "project": "alpha"}
    old = desk.add(ALIKE, **about, value="blue script").id
    double = desk.add(TEXT, project="beta").id
    new = desk.add("Billing is deployed by the red pipeline.", **about, value="red pipeline", correct=True)
    path = house.back_up()
    desk.roll_back(new.run)
    desk.roll_back(desk.events(old)[0]["run"])
    desk.delete(double)
    house.restore(path)
    desk.roll_back(new.run)
    desk.embed()
    assert (desk.get(old).status, desk.get(old).authority) == (Status.ACTIVE, Authority.USER_CONFIRMED)
    assert old not in recalled(desk)
    inbox = recollect.page(desk.vault, PERSON, Filter(waiting=True), "created", 50, 0)["items"]
    assert [item["id"] for item in inbox] == [old]
    candidates.confirm(desk.vault, PERSON, old)
    assert old in recalled(desk)


def test_saying_it_again_does_not_slip_past_the_hold(house: Any) -> None:
    memory = brought_back(house, Status.ACTIVE)
    again = house.desk.add(ALIKE, project="alpha", source="user:later")
    assert (again.outcome, again.reason.split(";")[0]) == (Outcome.CANDIDATE, graves.HELD)
    assert not recalled(house.desk) & {memory, again.id}
    confirmed = candidates.confirm(house.desk.vault, PERSON, again.id)
    assert (confirmed.status, confirmed.flags) == (Status.ACTIVE, ())
