"""Conflict sets and verdicts (SPEC 4 and 6): a person decides, the reason is kept, nothing skips a state."""

from __future__ import annotations

from typing import Any

import pytest

from memvault.errors import Illegal, NotFound, Refused, Usage
from memvault.model import Authority, Outcome, Status
from memvault.services import candidates, recollect, remember, verdicts
from memvault.services.caller import PERSON

ABOUT = {"project": "p", "subject": "project:p", "attribute": "port"}


def contradict(desk: Any, *values: str, **about: Any) -> list[str]:
    """Several values of one attribute, each from a conversation of its own; the ids."""
    found = [
        desk.add(f"The port is {value}.", value=value, source=f"conversation:{value}", **{**ABOUT, **about})
        for value in values
    ]
    assert found[-1].outcome is Outcome.CONFLICT
    return [written.id for written in found]


def listed(desk: Any, limit: int = 50, offset: int = 0) -> dict[str, Any]:
    return verdicts.listing(desk.vault, PERSON, limit, offset)


def decide(desk: Any, conflict: str, keep: str, **how: Any) -> verdicts.Decided:
    return verdicts.resolve(desk.vault, PERSON, conflict, keep, how.get("why"), how.get("conditions"))


def moves(desk: Any, memory: str, run: str) -> list[tuple[str | None, str | None]]:
    events = [event for event in desk.events(memory) if event["run"] == run]
    return [(event["from"], event["to"]) for event in events if event["from"] != event["to"]]


def test_a_conflict_is_listed_with_its_sides_since_when_and_what_else_would_change(
    desk: Any, robot: Any, clock: Any
) -> None:
    resting = desk.add("The port is 1.", value="1", source="conversation:old", **ABOUT)
    remember.switch(desk.vault, PERSON, resting.id, on=False)
    clock.advance(60)
    since = desk.vault.now()
    one, two = contradict(desk, "3000", "4000")
    said = "Always use port 5000 for the gateway."
    waiting = desk.add(said, value="5000", caller=robot, source="conversation:b", **ABOUT)
    contradict(desk, "a", "b", subject="other")
    found = listed(desk)
    assert found["total"] == 2
    first = found["items"][0]
    assert first["id"] == min(one, two)
    assert [side["id"] for side in first["sides"]] == [one, two]
    assert {side["content"] for side in first["sides"]} == {"The port is 3000.", "The port is 4000."}
    assert (first["since"], first["subject"], first["attribute"]) == (since, "project:p", "port")
    assert {row["id"]: row["status"] for row in first["would_change"]} == {
        resting.id: "disabled",
        waiting.id: "candidate",
    }
    assert [len(listed(desk, 1, n)["items"]) for n in range(3)] == [1, 1, 0]


def test_a_third_value_joins_the_conflict(desk: Any) -> None:
    ids = contradict(desk, "3000", "4000", "5000")
    (item,) = listed(desk)["items"]
    assert [side["id"] for side in item["sides"]] == ids
    assert {round(side["confidence"], 4) for side in item["sides"]} == {round(0.95 * 0.7, 4)}


@pytest.mark.parametrize("named", [0, 1])
def test_a_verdict_first_makes_the_winner_active_and_only_then_the_losers_are_superseded(
    desk: Any, named: int
) -> None:
    ids = contradict(desk, "3000", "4000")
    loser, winner = ids
    done = decide(desk, ids[named], winner, why="the gateway moved")
    assert (desk.get(winner).status, desk.get(loser).status) == (Status.ACTIVE, Status.SUPERSEDED)
    assert moves(desk, winner, done.run) == [("conflict", "active")]
    assert moves(desk, loser, done.run) == [("conflict", "active"), ("active", "superseded")]
    first, *later = [e for id_ in ids for e in desk.events(id_) if e["run"] == done.run and e["id"] == winner]
    assert first["actor"] == "person"
    assert "the gateway moved" in first["reason"]
    assert later == []
    order = [event["id"] for event in sorted(
        (e for id_ in ids for e in desk.events(id_) if e["run"] == done.run), key=lambda e: e["seq"]
    )]  # fmt: skip
    assert order[0] == winner
    assert desk.get(winner).supersedes.startswith(loser)
    assert desk.get(loser).claim.valid_to is not None
    assert listed(desk)["total"] == 0
    desk.whole()


def test_confidence_lowered_on_conflict_is_restored_on_the_verdict(desk: Any) -> None:
    one, two = contradict(desk, "3000", "4000")
    decide(desk, one, two)
    assert desk.get(two).confidence == pytest.approx(0.95)
    assert desk.get(two).authority is Authority.USER_CONFIRMED
    three, four = contradict(desk, "3000", "4000", subject="again")
    desk.add("The port is 4000.", value="4000", source="conversation:c", **{**ABOUT, "subject": "again"})
    assert desk.get(four).confidence == pytest.approx(0.99 * 0.7), "agreement counts, and stays lowered"
    decide(desk, three, four)
    assert desk.get(four).confidence == pytest.approx(0.99)


def test_both_adds_a_condition_to_each_and_makes_both_active(desk: Any) -> None:
    one, two = contradict(desk, "3000", "4000")
    for conditions in ({}, {one: "production"}, {one: "tests", two: "Tests."}):
        with pytest.raises(Usage, match="conditions"):
            decide(desk, one, "both", conditions=conditions)
    done = decide(desk, one, "both", conditions={one: "production", two: "测试"}, why="two places")
    assert [record.claim.conditions for record in done.records] == ["production", "测试"]
    assert {record.status for record in done.records} == {Status.ACTIVE}
    assert [record.confidence for record in done.records] == [pytest.approx(0.95)] * 2
    assert {hit["id"] for hit in desk.recall("port")} == {one, two}
    again = desk.add("The port is 4000.", value="4000", conditions="测试", **ABOUT)
    assert (again.outcome, again.id) == (Outcome.MERGED, two)


def test_neither_deletes_all_sides_and_cannot_be_undone(desk: Any) -> None:
    one, two = contradict(desk, "3000", "4000")
    done = decide(desk, two, "neither")
    assert set(done.deleted) == {one, two}
    for memory in (one, two):
        with pytest.raises(NotFound):
            desk.get(memory)
    with pytest.raises(Illegal):
        desk.roll_back(done.run)
    for value in ("3000", "4000"):
        refused = desk.add(f"The port is {value}.", value=value, **ABOUT)
        assert refused.outcome is Outcome.REFUSED
    assert desk.add("The port is 5000.", value="5000", **ABOUT).outcome is Outcome.ACTIVE
    desk.whole()


def test_a_side_is_put_aside_without_a_verdict_and_comes_back_into_the_conflict(desk: Any) -> None:
    one, two = contradict(desk, "3000", "4000")
    assert remember.switch(desk.vault, PERSON, one, on=False).status is Status.DISABLED
    assert desk.get(two).status is Status.CONFLICT
    assert remember.switch(desk.vault, PERSON, one, on=True).status is Status.CONFLICT
    remember.switch(desk.vault, PERSON, one, on=False)
    decide(desk, two, two)
    assert (desk.get(one).status, desk.get(two).status) == (Status.DISABLED, Status.ACTIVE)


def test_what_is_no_conflict_cannot_be_decided(desk: Any) -> None:
    active = desk.add("Something else.").id
    one, two = contradict(desk, "3000", "4000")
    with pytest.raises(Illegal, match="active"):
        decide(desk, active, active)
    with pytest.raises(NotFound):
        decide(desk, "0190b2c0-0000-7000-8000-000000000000", one)
    with pytest.raises(Usage):
        decide(desk, one, active)
    with pytest.raises(Usage):
        decide(desk, one, "neither", conditions={two: "x"})
    with pytest.raises(Usage):
        decide(desk, one, "both", conditions={active: "x", one: "y", two: "z"})
    assert {desk.get(id_).status for id_ in (one, two)} == {Status.CONFLICT}


def test_a_credential_in_the_reason_or_a_condition_of_a_verdict_is_refused(desk: Any) -> None:
    one, two = contradict(desk, "3000", "4000")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for how in ({"why": f"see {secret}"}, {"conditions": {one: secret, two: "tests"}}):
        with pytest.raises(Refused) as refusal:
            decide(desk, one, one if "why" in how else "both", **how)
        assert secret not in refusal.value.message
    assert desk.get(one).status is Status.CONFLICT


def test_a_verdict_is_rolled_back_as_one_and_that_can_be_taken_back_again(desk: Any) -> None:
    one, two = contradict(desk, "3000", "4000")
    before = [desk.get(id_) for id_ in (one, two)]
    done = decide(desk, one, two)
    back = desk.roll_back(done.run)
    after = [desk.get(id_) for id_ in (one, two)]
    assert [(r.status, r.confidence, r.claim, r.supersedes) for r in after] == [
        (r.status, r.confidence, r.claim, r.supersedes) for r in before
    ]
    desk.roll_back(back.run)
    assert (desk.get(one).status, desk.get(two).status) == (Status.SUPERSEDED, Status.ACTIVE)
    assert ("conflict", "superseded") not in {(e["from"], e["to"]) for e in desk.events(one)}


def test_an_explicit_correction_is_a_verdict_on_an_open_conflict(desk: Any) -> None:
    one, two = contradict(desk, "3000", "4000")
    new = desk.add("The port is 5000.", value="5000", correct=True, **ABOUT)
    assert new.outcome is Outcome.SUPERSEDED
    assert {desk.get(id_).status for id_ in (one, two)} == {Status.SUPERSEDED}
    assert moves(desk, one, new.run) == [("conflict", "active"), ("active", "superseded")]


def test_what_was_switched_off_cannot_come_back_over_a_newer_claim_unseen(desk: Any, clock: Any) -> None:
    old = desk.add("The port is 1.", value="1", source="conversation:a", **ABOUT)
    remember.switch(desk.vault, PERSON, old.id, on=False)
    new = desk.add("The port is 2.", value="2", source="conversation:b", **ABOUT)
    assert new.outcome is Outcome.ACTIVE, "what rests contradicts nothing"
    assert remember.switch(desk.vault, PERSON, old.id, on=True).status is Status.CONFLICT
    assert desk.get(new.id).status is Status.CONFLICT
    decide(desk, new.id, new.id)
    remember.switch(desk.vault, PERSON, new.id, on=False)
    clock.advance(30 * 86_400)
    newest = desk.add("The port is 3.", value="3", source="file:/etc/x", **ABOUT)
    assert newest.outcome is Outcome.SUPERSEDED
    with pytest.raises(Illegal):
        remember.switch(desk.vault, PERSON, new.id, on=True)


def test_an_edit_that_takes_the_place_of_another_claim_replaces_it(desk: Any) -> None:
    one = desk.add("The port is 1.", value="1", conditions="tests", source="conversation:a", **ABOUT)
    two = desk.add("The port is 2.", value="2", conditions="production", source="conversation:b", **ABOUT)
    remember.edit(desk.vault, PERSON, two.id, {"conditions": "tests"}, None, None)
    assert (desk.get(one.id).status, desk.get(two.id).status) == (Status.SUPERSEDED, Status.ACTIVE)


def test_a_replacement_that_time_alone_decided_waits_in_the_inbox_until_it_was_seen(
    desk: Any, clock: Any
) -> None:
    old = desk.add("The port is 1.", value="1", source="conversation:a", **ABOUT)
    clock.advance(8 * 86_400)
    new = desk.add("The port is 2.", value="2", source="conversation:b", **ABOUT)
    assert (new.outcome, desk.get(old.id).status) == (Outcome.SUPERSEDED, Status.SUPERSEDED)

    def inbox() -> list[str]:
        page = recollect.page(desk.vault, PERSON, recollect.Filter(waiting=True), "created", 10, 0)
        return [item["id"] for item in page["items"]]

    assert inbox() == [new.id]
    assert candidates.confirm(desk.vault, PERSON, new.id).flags == ()
    assert inbox() == []
    assert desk.get(old.id).status is Status.SUPERSEDED
    with pytest.raises(Illegal):
        candidates.confirm(desk.vault, PERSON, new.id)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The retry limit of the client is 5.", "The retry limit of the server is 5."),
        ("客户端重试上限是 5。", "服务端重试上限是 5。"),
    ],
)
def test_two_facts_about_different_attributes_never_retire_each_other(
    desk: Any, one: str, other: str
) -> None:
    first = desk.add(one, subject="app", attribute="client retries", value="5", source="conversation:a")
    second = desk.add(other, subject="app", attribute="server retries", value="5", source="conversation:b")
    third = desk.add(other, subject="app", attribute="server retries", value="6", correct=True)
    assert (first.outcome, second.outcome, third.outcome) == (
        Outcome.ACTIVE, Outcome.ACTIVE, Outcome.SUPERSEDED,
    )  # fmt: skip
    assert desk.get(first.id).status is Status.ACTIVE
