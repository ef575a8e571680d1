"""The inbox: candidates, replacements, doubts, and a notice 14 days ahead of an end (SPEC 2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memvault.clock import iso
from memvault.model import Kind
from memvault.services import forgetting, inbox, remember
from memvault.services.caller import PERSON, Caller
from memvault.services.change import change

DAY_S = 86_400


def shown(desk: Any) -> list[tuple[str, str]]:
    items = inbox.page(desk.vault, PERSON, 50, 0)["items"]
    return [(item["content"], item["because"]) for item in items]


@pytest.mark.parametrize("field", ["expires_at", "valid_to"])
def test_notice_in_the_inbox_14_days_ahead_of_an_explicit_end(desk: Any, clock: Any, field: str) -> None:
    ends = iso(clock.now() + timedelta(days=30))
    desk.add("The trial of beta runs.", **{field: ends})
    clock.advance(15 * DAY_S)
    assert shown(desk) == []
    clock.advance(DAY_S)
    (item,) = inbox.page(desk.vault, PERSON, 50, 0)["items"]
    assert (item["because"], item["due_at"]) == ("expiring", ends)
    clock.advance(15 * DAY_S)
    assert forgetting.forget(desk.vault).expired == 1
    assert shown(desk) == []


@pytest.mark.parametrize(
    ("kind", "days"), [(Kind.FACT, 180), (Kind.PROCEDURE, 180), (Kind.RELATIONSHIP, 365)]
)
def test_notice_in_the_inbox_14_days_ahead_of_counting_as_unverified(
    desk: Any, clock: Any, kind: Kind, days: int
) -> None:
    written = desk.add("Noor keeps the keys of the office.", kind=kind)
    due = iso(clock.now() + timedelta(days=days))
    clock.advance((days - 15) * DAY_S)
    assert shown(desk) == []
    clock.advance(DAY_S)
    (item,) = inbox.page(desk.vault, PERSON, 50, 0)["items"]
    assert (item["because"], item["due_at"]) == ("expiring", due)
    remember.verify(desk.vault, PERSON, written.id)
    assert shown(desk) == [], "a new check puts it off"
    clock.advance((days - 14) * DAY_S)
    assert shown(desk) == [("Noor keeps the keys of the office.", "expiring")]


@pytest.mark.parametrize("kind", [Kind.PREFERENCE, Kind.POLICY, Kind.REFLECTION, Kind.EPISODE])
def test_other_kinds_give_no_notice(desk: Any, clock: Any, kind: Kind) -> None:
    desk.add("Tabs, never spaces.", kind=kind)
    clock.advance(80 * DAY_S)
    assert shown(desk) == []


def test_each_entry_says_why_it_is_there_proposals_first(desk: Any, robot: Caller, clock: Any) -> None:
    content = "Always deploy alpha with the script, never by hand."
    desk.add(content, caller=robot, source="conversation:c1")
    clock.advance(1)
    doubtful = desk.add("Beta is written in Rust.")
    with change(desk.vault, "forget", "memvault") as work:
        work.flag(desk.get(doubtful.id), "needs_verification")
    clock.advance(1)
    desk.add("The trial runs.", expires_at=iso(clock.now() + timedelta(days=3)))
    old = desk.add("Gamma uses npm.", subject="gamma", attribute="tool", value="npm", source="tool:a")
    clock.advance(8 * DAY_S)
    new = desk.add("Gamma uses pnpm.", subject="gamma", attribute="tool", value="pnpm", source="user:b")
    with change(desk.vault, "x", "person") as work:
        work.flag(desk.get(new.id), "review_replacement")
    assert old.id != new.id
    assert shown(desk)[0] == (content, "candidate")
    assert set(shown(desk)[1:]) == {("Beta is written in Rust.", "flagged"), ("Gamma uses pnpm.", "replaced")}


def test_pages_hold_each_entry_once(desk: Any, clock: Any) -> None:
    for number in range(7):
        desk.add(f"Trial {number} runs.", expires_at=iso(clock.now() + timedelta(days=1 + number)))
    pages = [inbox.page(desk.vault, PERSON, 3, offset) for offset in (0, 3, 6)]
    assert {page["total"] for page in pages} == {7}
    assert len({item["id"] for page in pages for item in page["items"]}) == 7
