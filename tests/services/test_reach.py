"""SPEC 3: what a caller may not read takes part in nothing it reads: item, count, score or error."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from memvault.errors import NotFound
from memvault.model import Scope, Sensitivity, Status
from memvault.services import recollect, remember
from memvault.services.caller import PERSON, Caller
from memvault.store.memories import SORTS, Filter

PROJECTS = (None, "alpha", "beta")


@pytest.fixture
def mixed(desk: Any, robot: Caller) -> dict[str, set[str]]:
    """Memories of every project, sensitivity and state, all about one thing: which an agent may see."""
    shown: set[str] = set()
    hidden: set[str] = set()
    for number, (project, level, scope) in enumerate(
        itertools.product(PROJECTS, Sensitivity, (Scope.PRIVATE, Scope.TEAM))
    ):
        written = desk.add(
            f"The lantern number {number} hangs in the harbour.",
            project=project, sensitivity=level, scope=scope, subject=f"lantern {number}", attribute="place",
            value="harbour", source=f"conversation:s{number}",
        )  # fmt: skip
        may = project in (None, "alpha") and level.rank <= Sensitivity.INTERNAL.rank
        (shown if may else hidden).add(written.id)
    waiting = desk.add("The lantern of the candidate hangs in the harbour.", caller=robot)
    off = desk.add("The lantern of the cellar hangs in the harbour.")
    remember.switch(desk.vault, PERSON, off.id, on=False)
    about = {"subject": "lantern", "attribute": "colour"}
    old = desk.add("The lantern in the harbour is red.", **about, value="red")
    new = desk.add("The lantern in the harbour is blue.", **about, value="blue", correct=True)
    shown.add(new.id)
    hidden |= {waiting.id, off.id, old.id}
    desk.embed()
    return {"shown": shown, "hidden": hidden}


def test_every_reading_way_shows_an_agent_the_same_permitted_memories(
    desk: Any, robot: Caller, mixed: dict[str, set[str]]
) -> None:
    vault, shown = desk.vault, mixed["shown"]
    for sort in SORTS:
        listed = recollect.page(vault, robot, Filter(), sort, 500, 0)
        assert {item["id"] for item in listed["items"]} == shown, sort
        assert listed["total"] == len(shown)
    found = {hit["id"] for hit in desk.recall("lantern harbour", robot, limit=100)}
    assert found
    assert found <= shown
    facets = recollect.facets(vault, robot, Filter())
    for counts in facets.values():
        assert sum(counts.values()) == len(shown)
    assert set(facets["projects"]) <= {"", "alpha"}
    exported = recollect.export_page(vault, robot, Filter(), 0, 500)
    assert {item["id"] for item in exported["items"]} == shown


def test_asking_for_a_hidden_id_is_answered_as_for_one_that_never_was(
    desk: Any, robot: Caller, mixed: dict[str, set[str]]
) -> None:
    from memvault.ids import new_id

    def answer(call: Any, memory: str) -> tuple[str, str, str]:
        with pytest.raises(NotFound) as refusal:
            call(desk.vault, robot, memory)
        return refusal.value.code, refusal.value.message, refusal.value.hint

    for call in (recollect.get, recollect.history, remember.verify):
        answers = {answer(call, memory) for memory in [new_id(), *mixed["hidden"]]}
        assert len(answers) == 1


@pytest.mark.parametrize(
    "asked",
    [
        {"project": "beta"},
        {"status": "candidate"},
        {"status": "superseded"},
        {"status": "disabled"},
        {"scope": "task"},
        {"text": "cellar"},
        {"source": "s23"},
        {"subject": "lantern 23"},
    ],
)
def test_no_filter_reaches_beyond(
    desk: Any, robot: Caller, mixed: dict[str, set[str]], asked: dict[str, Any]
) -> None:
    wanted = Filter(**asked)
    empty = {"items": [], "total": 0, "next": None}
    assert recollect.page(desk.vault, robot, wanted, "updated", 500, 0) == empty
    assert (
        recollect.page(desk.vault, robot, Filter(ids=tuple(mixed["hidden"])), "updated", 500, 0)["total"] == 0
    )
    assert all(not counts for counts in recollect.facets(desk.vault, robot, wanted).values())


def test_scores_of_an_agent_do_not_depend_on_what_it_may_not_see(desk: Any, robot: Caller) -> None:
    for number in range(6):
        desk.add(f"The lantern number {number} hangs in the harbour.", project="alpha")
    desk.embed()

    def scores() -> list[tuple[str, float]]:
        return [(hit["id"], hit["score"]) for hit in desk.recall("lantern harbour 3", robot, limit=20)]

    before = scores()
    assert before
    for number in range(40):
        desk.add(f"A hidden lantern {number} in another harbour.", project="beta")
        desk.add(f"A secret lantern {number}, harbour side.", sensitivity=Sensitivity.RESTRICTED)
    desk.embed()
    assert scores() == before


def test_a_question_in_a_project_sees_that_project_and_what_belongs_to_none(
    desk: Any, mixed: dict[str, set[str]]
) -> None:
    for asked in ("alpha", "beta"):
        found = desk.recall("lantern harbour", project=asked, limit=100)
        assert {hit["project"] for hit in found} == {None, asked}
    assert {hit["project"] for hit in desk.recall("lantern harbour", limit=100)} == set(PROJECTS)


def test_an_agent_cannot_ask_its_way_into_another_project(desk: Any, robot: Caller, mixed: Any) -> None:
    assert {hit["project"] for hit in desk.recall("lantern harbour", robot, project="beta", limit=100)} == {
        None
    }


def test_what_waits_is_off_or_was_replaced_is_never_recalled(desk: Any, mixed: dict[str, set[str]]) -> None:
    include = ("archived", "expired")
    found = {
        hit["status"]
        for hit in desk.recall("lantern harbour red cellar candidate", limit=100, include=include)
    }
    assert found == {Status.ACTIVE}


def test_archived_and_expired_come_on_request_only_and_each_on_its_own(desk: Any) -> None:
    ids = {
        state: desk.add(f"The lantern called {state} is lit.").id
        for state in ("active", "archived", "expired")
    }
    desk.embed()
    for state, memory in ids.items():
        desk.vault.writer.run("UPDATE memory SET status = ? WHERE id = ?", (state, memory))
    desk.vault.refresh(list(ids.values()), set())

    def found(*include: str) -> set[str]:
        return {hit["status"] for hit in desk.recall("lantern lit", include=include)}

    assert found() == {"active"}
    assert found("archived") == {"active", "archived"}
    assert found("expired") == {"active", "expired"}
    assert found("archived", "expired") == {"active", "archived", "expired"}


@pytest.mark.parametrize("name", ["expires_at", "valid_to"])
def test_past_its_date_a_memory_counts_as_expired(desk: Any, clock: Any, name: str) -> None:
    desk.add("The lantern is lit until Tuesday.", **{name: "2026-03-03"})
    desk.embed()
    assert desk.recall("lantern lit")
    clock.advance(86_400)
    assert desk.recall("lantern lit") == []
    assert desk.recall("lantern lit", include=("expired",))


@pytest.mark.parametrize("seed", range(5))
def test_random_filters_never_show_an_agent_more_than_its_reach(
    desk: Any, robot: Caller, mixed: dict[str, set[str]], seed: int
) -> None:
    rnd = random.Random(seed)
    for _ in range(60):
        asked = Filter(
            kind=rnd.choice([None, "fact"]),
            scope=rnd.choice([None, "private", "team", "task"]),
            project=rnd.choice([None, "alpha", "beta", "' OR 1=1 --"]),
            status=rnd.choice([None, *Status]),
            subject=rnd.choice([None, f"lantern {rnd.randrange(24)}"]),
            source=rnd.choice([None, f"s{rnd.randrange(24)}", f"conversation:s{rnd.randrange(24)}"]),
            text=rnd.choice([None, "lantern", "%", "_", "HARBOUR"]),
        )
        page = recollect.page(
            desk.vault, robot, asked, rnd.choice(list(SORTS)), rnd.randrange(30), rnd.randrange(4)
        )
        assert {item["id"] for item in page["items"]} <= mixed["shown"]
        assert page["total"] <= len(mixed["shown"])
        mine = recollect.page(desk.vault, PERSON, asked, "updated", 500, 0)
        assert page["total"] == len({item["id"] for item in mine["items"]} & mixed["shown"])
