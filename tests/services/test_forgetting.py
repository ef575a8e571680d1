"""Forgetting by time (SPEC 2, 4 and 10): what is due, what is exempt, and that a rollback takes it back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memvault.clock import iso
from memvault.model import Kind, Sensitivity, Status
from memvault.services import forgetting, maintain, recollect, remember
from memvault.services.caller import PERSON
from memvault.services.forgetting import CLOCK_JUMPED, Summary, forget
from memvault.services.plain import NEEDS_VERIFICATION
from memvault.store import memories, recalls, runs

DAY_S = 86_400
ABOUT = {"subject": "project:alpha"}


def days(clock: Any, number: float) -> str:
    return iso(clock.now() + timedelta(days=number))


def use(desk: Any, memory: str) -> None:
    with desk.vault.writer.transaction():
        recalls.use(desk.vault.writer, desk.vault.now(), [memory])


def age(desk: Any, number: float) -> None:
    """Let days pass in a vault that is used meanwhile, without touching what is in it."""
    while number > 0:
        desk.clock.advance(min(number, 300.0) * DAY_S)
        number -= 300.0
        desk.delete(desk.add(f"A passing remark, {number} days before the end.").id)


def run_of(found: Summary) -> str:
    assert found.run is not None
    return found.run


@pytest.mark.parametrize("field", ["valid_to", "expires_at"])
@pytest.mark.parametrize("kind", list(Kind))
def test_active_becomes_expired_past_valid_to_or_expires_at(
    desk: Any, clock: Any, field: str, kind: Kind
) -> None:
    sensitivity = Sensitivity.PERSONAL
    claim = {"kind": kind, "sensitivity": sensitivity, field: days(clock, 10)}
    memory = desk.add("The old gateway answers on port 8080.", **claim).id
    clock.advance(10 * DAY_S - 1)
    assert forget(desk.vault) == Summary()
    clock.advance(1)
    done = forget(desk.vault)
    assert (done.expired, desk.get(memory).status) == (1, Status.EXPIRED)
    last = desk.events(memory)[-1]
    assert (last["type"], last["actor"], last["from"], last["to"]) == (
        "expire",
        "memvault",
        "active",
        "expired",
    )
    desk.whole()


def test_the_earlier_of_two_dates_decides(desk: Any, clock: Any) -> None:
    memory = desk.add("The trial runs.", valid_to=days(clock, 50), expires_at=days(clock, 5)).id
    clock.advance(6 * DAY_S)
    forget(desk.vault)
    assert desk.get(memory).status is Status.EXPIRED


@pytest.mark.parametrize(
    ("kind", "limit"),
    [(Kind.FACT, 180), (Kind.RELATIONSHIP, 365), (Kind.PROCEDURE, 180), (Kind.REFLECTION, 90)],
)
@pytest.mark.parametrize("verified", [False, True])
def test_unverified_for_so_long_it_is_flagged_needs_verification_and_a_verification_takes_it_off(
    desk: Any, clock: Any, kind: Kind, limit: int, verified: bool
) -> None:
    memory = desk.add("The build needs the large runner.", kind=kind).id
    if verified:
        age(desk, 50)
        remember.verify(desk.vault, PERSON, memory)
    age(desk, limit - 1)
    use(desk, memory)
    assert forget(desk.vault) == Summary()
    version, told = desk.get(memory).version, desk.events(memory)
    age(desk, 1)
    done = forget(desk.vault)
    assert (done.flagged, desk.get(memory).flags) == (1, (NEEDS_VERIFICATION,))
    assert desk.get(memory).status is Status.ACTIVE
    assert (desk.get(memory).version, desk.events(memory)) == (version, told), "neither version nor event"
    assert forget(desk.vault) == Summary(), "it is flagged once"
    assert remember.verify(desk.vault, PERSON, memory).flags == ()
    assert forget(desk.vault) == Summary()


@pytest.mark.parametrize("kind", [Kind.POLICY, Kind.PREFERENCE])
def test_policy_and_preference_never_by_time(desk: Any, kind: Kind) -> None:
    memory = desk.add("Always answer in English.", kind=kind).id
    age(desk, 3_000)
    assert forget(desk.vault) == Summary()
    assert (desk.get(memory).status, desk.get(memory).flags) == (Status.ACTIVE, ())


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.EPISODE, Kind.PROCEDURE, Kind.REFLECTION])
def test_active_becomes_archived_at_the_floor_and_unused_for_180_days(desk: Any, kind: Kind) -> None:
    memory = desk.add("The release was late because of the mirror.", kind=kind).id
    age(desk, 179)
    forget(desk.vault)
    assert desk.get(memory).status is Status.ACTIVE
    age(desk, 1)
    assert forget(desk.vault).archived == 1
    assert desk.get(memory).status is Status.ARCHIVED


def test_a_relationship_unused_for_180_days_but_above_the_floor_stays(desk: Any) -> None:
    memory = desk.add("Kim leads the platform group.", kind=Kind.RELATIONSHIP).id
    age(desk, 200)
    assert forget(desk.vault) == Summary()
    age(desk, 100)
    assert forget(desk.vault).archived == 1
    assert desk.get(memory).status is Status.ARCHIVED


def test_what_was_used_within_180_days_is_not_archived(desk: Any) -> None:
    memory = desk.add("The release was late because of the mirror.", kind=Kind.EPISODE).id
    age(desk, 100)
    use(desk, memory)
    age(desk, 179)
    assert forget(desk.vault) == Summary()
    age(desk, 1)
    assert forget(desk.vault).archived == 1


def test_an_old_claim_that_came_yesterday_is_asked_to_be_checked_not_archived(desk: Any, clock: Any) -> None:
    draft = desk.draft("The queue is redis.")
    old = remember.add(desk.vault, PERSON, replace(draft, created_at=days(clock, -900)), correct=False)
    clock.advance(DAY_S)
    done = forget(desk.vault)
    assert (done.archived, done.flagged) == (0, 1)
    assert desk.get(old.id).status is Status.ACTIVE


def crowd(desk: Any, number: int, **claim: Any) -> list[str]:
    return [
        desk.add(
            f"Part {n} of alpha is built in hall {n}.", **{**ABOUT, "attribute": f"part {n}", **claim}
        ).id
        for n in range(number)
    ]


def test_caps_per_subject_the_lowest_weight_archived_first_policies_and_preferences_exempt(
    desk: Any, clock: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(forgetting, "MOST_ABOUT_ONE", 5)
    low = crowd(desk, 3)
    clock.advance(30 * DAY_S)
    use(desk, low[1])
    exempt = [
        desk.add(f"Always paint part {n} of alpha green.", kind=kind, **ABOUT, attribute=f"paint {n}").id
        for n, kind in enumerate([Kind.POLICY, Kind.PREFERENCE] * 3)
    ]
    fresh = [
        desk.add(f"Door {n} of alpha opens east.", subject="Project:ALPHA", attribute=f"door {n}").id
        for n in range(4)
    ]
    elsewhere = crowd(desk, 5, project="beta")
    assert forget(desk.vault).archived == 2
    archived = {memory for memory in low + exempt + fresh + elsewhere if desk.get(memory).status != "active"}
    assert archived == {low[0], low[2]}
    assert forget(desk.vault) == Summary()


def test_the_cap_is_200_memories_per_subject() -> None:
    assert forgetting.MOST_ABOUT_ONE == 200


def test_the_whole_run_is_one_and_can_be_rolled_back(desk: Any, clock: Any) -> None:
    dated = desk.add("The trial runs.", expires_at=days(clock, 5)).id
    faded = desk.add("The release was late because of the mirror.", kind=Kind.EPISODE).id
    stale = desk.add("The queue is redis.").id
    age(desk, 100)
    use(desk, stale)
    age(desk, 90)
    done = forget(desk.vault)
    assert (done.expired, done.archived, done.flagged) == (1, 1, 1)
    kept = runs.get(desk.vault.writer, run_of(done))
    assert kept is not None
    assert (kept["kind"], kept["actor"]) == ("forget", "memvault")
    assert kept["summary"] == {"memories": 3, "expired": 1, "archived": 1, "flagged": 1, "left": 0}
    assert set(desk.roll_back(done.run).restored) == {dated, faded, stale}
    assert [desk.get(memory).status for memory in (dated, faded, stale)] == [Status.ACTIVE] * 3
    assert desk.get(stale).flags == ()
    again = forget(desk.vault)
    assert (again.expired, again.archived) == (0, 0), "what a person brought back stays"
    desk.whole()


def test_a_rollback_that_takes_a_flag_off_keeps_an_edit_made_since(desk: Any) -> None:
    stale = desk.add("The queue is redis.").id
    age(desk, 100)
    use(desk, stale)
    age(desk, 90)
    done = forget(desk.vault)
    remember.edit(desk.vault, PERSON, stale, {"content": "The queue is kafka."}, None, None)
    desk.roll_back(done.run)
    assert desk.get(stale).claim.content == "The queue is kafka."


def test_expired_is_active_again_when_verified_and_stays_so(desk: Any, clock: Any) -> None:
    memory = desk.add("The trial runs.", expires_at=days(clock, 5)).id
    clock.advance(6 * DAY_S)
    forget(desk.vault)
    remember.verify(desk.vault, PERSON, memory)
    clock.advance(DAY_S)
    assert forget(desk.vault) == Summary()
    assert desk.get(memory).status is Status.ACTIVE


def test_what_is_not_active_is_left_alone(desk: Any, clock: Any) -> None:
    memory = desk.add("The trial runs.", expires_at=days(clock, 5)).id
    remember.switch(desk.vault, PERSON, memory, on=False)
    age(desk, 300)
    assert forget(desk.vault) == Summary()
    assert desk.get(memory).status is Status.DISABLED


def test_one_run_touches_a_bounded_number_and_the_next_goes_on(
    desk: Any, clock: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(forgetting, "MOST_A_RUN", 2)
    for n in range(3):
        desk.add(f"Trial {n} runs.", expires_at=days(clock, 5))
    clock.advance(6 * DAY_S)
    first, second = forget(desk.vault), forget(desk.vault)
    assert (first.expired, first.left, second.expired, second.left) == (2, 1, 1, 0)


# ----------------------------------------------------------------------------------------- SECURITY, check 24


def old_and_new(desk: Any, clock: Any) -> list[str]:
    dated = desk.add("The certificate is renewed by hand.", expires_at=days(clock, 365)).id
    return [dated, *crowd(desk, 5)]


@pytest.mark.parametrize("years", [10, -10])
def test_clock_back_or_ten_years_ahead_no_mass_expiry(desk: Any, clock: Any, years: int) -> None:
    mine = old_and_new(desk, clock)
    right = clock.instant
    clock.instant = right + timedelta(days=365 * years)
    assert forget(desk.vault) == forget(desk.vault) == Summary(held=True)
    assert desk.vault.warnings == [CLOCK_JUMPED]
    clock_check = next(check for check in maintain.examine(desk.vault) if check["name"] == "clock")
    assert not clock_check["ok"]
    assert {desk.get(memory).status for memory in mine} == {Status.ACTIVE}
    clock.instant = right + timedelta(days=1)
    assert forget(desk.vault) == Summary()
    assert desk.vault.warnings == []


def test_one_change_under_a_wrong_clock_does_not_make_it_right(desk: Any, clock: Any) -> None:
    mine = old_and_new(desk, clock)
    clock.advance(3_650 * DAY_S)
    desk.add("Written while the clock was wrong.")
    clock.advance(DAY_S)
    assert forget(desk.vault).held
    assert {desk.get(memory).status for memory in mine} == {Status.ACTIVE}


def test_a_vault_that_was_left_for_years_ages_again_after_a_week_of_use(desk: Any, clock: Any) -> None:
    mine = old_and_new(desk, clock)
    clock.advance(800 * DAY_S)
    desk.add("Back at work.")
    clock.advance(8 * DAY_S)
    assert forget(desk.vault).expired == 1
    assert desk.get(mine[0]).status is Status.EXPIRED
    assert memories.count(desk.vault.writer) == len(mine) + 1


def test_archived_ones_come_only_on_request(desk: Any) -> None:
    desk.add("The release was late because of the mirror.", kind=Kind.EPISODE)
    desk.embed()
    age(desk, 190)
    forget(desk.vault)
    assert desk.recall("why was the release late") == []
    found = recollect.checked(recollect.Question("why was the release late", include=("archived",)))
    vector = desk.embedder.embed_query("why was the release late")
    assert len(recollect.recall(desk.vault, PERSON, found, vector, "hybrid").results) == 1
