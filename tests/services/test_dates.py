"""SPEC 4, "expired, archived -> active: verified again / used again explicitly": then it is recalled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memvault.clock import iso
from memvault.model import Outcome, Status
from memvault.services import remember
from memvault.services.caller import PERSON
from memvault.services.forgetting import forget

DAY_S = 86_400
TEXT = "The trial gateway answers on port 8080."


def days(clock: Any, number: float) -> str:
    return iso(clock.now() + timedelta(days=number))


def recalled(desk: Any, **how: Any) -> list[str]:
    desk.embed()
    return [found["id"] for found in desk.recall("trial gateway port", **how)]


@pytest.mark.parametrize("dates", [("expires_at",), ("valid_to",), ("valid_to", "expires_at")])
@pytest.mark.parametrize("daily", [True, False], ids=["expired by the daily run", "before the daily run"])
def test_expired_becomes_active_when_verified_again_and_is_recalled(
    desk: Any, clock: Any, dates: tuple[str, ...], daily: bool
) -> None:
    memory = desk.add(TEXT, **dict.fromkeys(dates, days(clock, 5))).id
    clock.advance(6 * DAY_S)
    if daily:
        forget(desk.vault)
        assert desk.get(memory).status is Status.EXPIRED
    assert recalled(desk) == []

    found = remember.verify(desk.vault, PERSON, memory)
    assert (found.status, found.version, found.verified_at) == (Status.ACTIVE, 2, desk.vault.now())
    assert (found.claim.expires_at, found.claim.valid_to) == (None, None), "the date was wrong, so it is gone"
    said = [event for event in desk.events(memory) if event["type"] == "extend"]
    assert "date was taken off" in said[0]["reason"]
    assert recalled(desk) == [memory]
    clock.advance(DAY_S)
    forget(desk.vault)
    assert recalled(desk) == [memory], "the next daily run leaves it alone"
    desk.whole()


def test_a_verification_leaves_a_date_that_is_still_to_come(desk: Any, clock: Any) -> None:
    later = days(clock, 50)
    memory = desk.add(TEXT, valid_to=days(clock, 5), expires_at=later).id
    clock.advance(DAY_S)
    assert remember.verify(desk.vault, PERSON, memory).version == 1
    clock.advance(6 * DAY_S)
    found = remember.verify(desk.vault, PERSON, memory)
    assert (found.claim.valid_to, found.claim.expires_at) == (None, later)
    assert recalled(desk) == [memory]
    clock.advance(50 * DAY_S)
    assert recalled(desk) == [], "that one counts"


def test_the_verification_is_one_run_and_taken_back_the_date_is_as_before(desk: Any, clock: Any) -> None:
    end = days(clock, 5)
    memory = desk.add(TEXT, expires_at=end).id
    clock.advance(6 * DAY_S)
    forget(desk.vault)
    remember.verify(desk.vault, PERSON, memory)
    desk.roll_back(desk.events(memory)[-1]["run"])
    found = desk.get(memory)
    assert (found.status, found.claim.expires_at) == (Status.EXPIRED, end)
    assert recalled(desk) == []


def test_an_expiry_that_a_person_took_back_is_recalled_as_the_daily_run_spares_it(
    desk: Any, clock: Any
) -> None:
    memory = desk.add(TEXT, expires_at=days(clock, 5)).id
    clock.advance(6 * DAY_S)
    desk.roll_back(forget(desk.vault).run)
    assert desk.get(memory).status is Status.ACTIVE
    assert recalled(desk) == [memory]
    forget(desk.vault)
    assert recalled(desk) == [memory]


@pytest.mark.parametrize("source", ["user:test", "user:later"], ids=["same source", "another source"])
@pytest.mark.parametrize("until", [None, 90.0], ids=["without date", "with a new date"])
@pytest.mark.parametrize("daily", [True, False], ids=["expired by the daily run", "before the daily run"])
def test_used_again_explicitly_what_a_person_says_again_is_recalled(
    desk: Any, clock: Any, source: str, until: float | None, daily: bool
) -> None:
    memory = desk.add(TEXT, expires_at=days(clock, 5)).id
    clock.advance(6 * DAY_S)
    if daily:
        forget(desk.vault)
    end = None if until is None else days(clock, until)
    again = desk.add(TEXT, source=source, expires_at=end)
    assert (again.outcome, again.id) == (Outcome.MERGED, memory)
    assert (desk.get(memory).status, desk.get(memory).claim.expires_at) == (Status.ACTIVE, end)
    assert recalled(desk) == [memory]


def test_a_replaced_claim_keeps_the_date_it_was_replaced_at(desk: Any) -> None:
    about = {"subject": "gateway", "attribute": "port"}
    old = desk.add(TEXT, **about, value="8080").id
    desk.add("The trial gateway answers on port 9090.", **about, value="9090", correct=True)
    closed = desk.get(old)
    assert closed.status is Status.SUPERSEDED
    assert remember.verify(desk.vault, PERSON, old).claim.valid_to == closed.claim.valid_to
