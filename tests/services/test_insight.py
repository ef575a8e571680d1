"""SPEC 7, "everything about me" as a list; SPEC 8, why and why not; SPEC 13, the numbers and their alarm."""

from __future__ import annotations

import json
import random
import string
from datetime import timedelta
from typing import Any

import pytest

from memvault.clock import iso
from memvault.errors import NotFound, TextUnusable, Usage
from memvault.model import Draft, Kind, Source, SourceType
from memvault.services import about, candidates, recollect, remember, stats, why
from memvault.services.caller import PERSON, Caller
from memvault.services.change import change, fetch
from memvault.services.forgetting import forget
from memvault.services.plain import NEEDS_VERIFICATION
from memvault.services.recollect import Question

DAY_S = 86_400

# ------------------------------------------------------------------------------------------------------ about


def named(desk: Any, subject: str, **how: Any) -> dict[str, Any]:
    return about.page(desk.vault, PERSON, subject, how.get("limit", 50), how.get("offset", 0))


def test_everything_about_somebody_is_a_list_with_ids_reasons_and_counts(desk: Any) -> None:
    tea = desk.add("Drinks tea.", subject="person:Orla", attribute="drink", value="tea", project="p").id
    room = desk.add("The corner room.", about="Orla's desk", scope="team").id
    said = desk.add("Ask ORLA before a release.").id
    quoted = desk.add("Releases wait for a person.", evidence="Orla told us so").id
    why_ = desk.add("Releases are on Monday.", why="because Orla is there").id
    value = desk.add("Somebody signs.", subject="release", attribute="signer", value="orla").id
    for other in ("Orlando is far.", "Folklore is nice.", "The X-Orlax runs."):
        desk.add(other)
    found = named(desk, "orla")
    because = {item["id"]: item["because"] for item in found["items"]}
    assert because == {
        tea: ["subject"], room: ["about"], said: ["content"], quoted: ["evidence"], why_: ["why"],
        value: ["value"],
    }  # fmt: skip
    assert {item["id"] for item in found["items"][:2]} == {tea, room}, "what is about her comes first"
    assert (found["total"], found["next"]) == (6, None)
    assert (found["scopes"], found["projects"]) == ({"private": 5, "team": 1}, {"": 5, "p": 1})
    assert found["kinds"] == {"fact": 6}
    assert found["statuses"] == {"active": 6}


@pytest.mark.parametrize("content", ["由张伟签署发布说明。", "张伟不喝咖啡。", "发布说明找张伟"])
def test_a_chinese_name_is_found_between_its_neighbours(desk: Any, content: str) -> None:
    memory = desk.add(content).id
    desk.add("李娜喝茶。")
    assert [item["id"] for item in named(desk, "张伟")["items"]] == [memory]


def test_a_latin_name_is_found_between_chinese_characters(desk: Any) -> None:
    memory = desk.add("由Orla签署发布说明。").id
    assert [item["id"] for item in named(desk, "Orla")["items"]] == [memory]


def test_every_state_is_in_the_list(desk: Any, robot: Caller) -> None:
    off = desk.add("Orla is off.").id
    remember.switch(desk.vault, PERSON, off, on=False)
    waits = desk.add(
        "From now on always ask Orla before a release.", caller=robot, source="conversation:c"
    ).id
    old = desk.add("Orla sits left.", subject="Orla", attribute="seat", value="left").id
    desk.add("Orla sits right.", subject="Orla", attribute="seat", value="right", correct=True)
    found = named(desk, "Orla")
    assert {off, waits, old} <= {item["id"] for item in found["items"]}
    assert found["statuses"] == {"active": 1, "superseded": 1, "candidate": 1, "disabled": 1}


def test_the_list_goes_page_by_page_without_gaps_or_doubles(desk: Any) -> None:
    ids = {desk.add(f"Orla has ticket {number}.").id for number in range(45)}
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = named(desk, "Orla", limit=7, offset=offset)
        seen += [item["id"] for item in page["items"]]
        assert page["total"] == 45
        offset = page["next"]
    assert sorted(seen) == sorted(ids)


def test_what_names_nobody_is_a_usage_error(desk: Any) -> None:
    for nobody in ("...", "  "):
        with pytest.raises((Usage, TextUnusable)):
            named(desk, nobody)
    with pytest.raises(Usage):
        named(desk, "Orla", limit=501)


# -------------------------------------------------------------------------------------------------------- why


def reasons_for(desk: Any, query: str, memory: str | None = None, **how: Any) -> dict[str, Any]:
    question = recollect.checked(Question(query, **how))
    vector = desk.embedder.embed_query(query)
    return why.explain(desk.vault, PERSON, question, memory, vector, "hybrid")


def test_why_was_this_returned_is_answered_for_the_very_answer_of_recall(desk: Any) -> None:
    for number in range(9):
        desk.add(f"The gateway of site {number} listens on port {8000 + number}.")
    desk.add("The office plants are watered on Friday.")
    desk.embed()
    recalled = desk.recall("gateway port", limit=3)
    items = reasons_for(desk, "gateway port", limit=3)["items"]
    returned = [item for item in items if item["verdict"] == "returned"]
    assert [(item["id"], item["score"]) for item in returned] == [
        (hit["id"], hit["score"]) for hit in recalled
    ]
    assert [item["rank"] for item in returned] == [1, 2, 3]
    assert all(any("words: " in reason for reason in item["reasons"]) for item in returned)
    beyond = [item for item in items if item["verdict"] == "beyond_limit"]
    assert [item["rank"] for item in beyond] == [4, 5, 6, 7, 8]
    assert not desk.vault.writer.all("SELECT 1 FROM recall_log"), "asking why is no use"


def test_what_was_near_the_threshold_is_shown_with_its_relevance(desk: Any) -> None:
    for number in range(12):
        desk.add(f"Lamp {number} of the northern harbour is green, says the keeper of the port.")
    desk.embed()
    found = reasons_for(desk, "which colour has the roof of the port authority in summer")
    low = [item for item in found["items"] if item["verdict"] == "below_threshold"]
    assert low
    assert len(low) <= why.NEAR
    assert all(item["relevance"] < found["threshold"] and item["rank"] is None for item in low)
    assert [item["relevance"] for item in low] == sorted((item["relevance"] for item in low), reverse=True)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("disabled", "switched off"), ("archived", "archived"), ("expired", "expired"),
        ("past", "its date has passed"), ("candidate", "candidate"), ("superseded", "replaced"),
        ("elsewhere", "belongs to another"),
    ],
)  # fmt: skip
def test_why_was_that_not_returned_names_what_kept_it_out(
    desk: Any, robot: Caller, state: str, reason: str
) -> None:
    content, query, project = "From now on always use port 8080 for the gateway.", "gateway port", None
    end = iso(desk.clock.now() + timedelta(days=3))
    about_ = {"subject": "gateway", "attribute": "port"}
    if state == "candidate":
        memory = desk.add(content, caller=robot, source="conversation:c").id
    elif state == "elsewhere":
        memory, project = desk.add(content, project="beta").id, "alpha"
    else:
        dated = {"expires_at": end} if state in ("expired", "past") else {}
        memory = desk.add(content, **about_, value="8080", **dated).id
    if state == "disabled":
        remember.switch(desk.vault, PERSON, memory, on=False)
    elif state == "superseded":
        desk.add("The gateway uses port 9090.", **about_, value="9090", correct=True)
    elif state == "archived":
        with change(desk.vault, "test", "memvault") as work:
            work.move(fetch(desk.vault, memory), "archive", "archived", "for a test")  # type: ignore[arg-type]
    elif state in ("expired", "past"):
        desk.clock.advance(5 * DAY_S)
        if state == "expired":
            forget(desk.vault)
    desk.embed()
    (item,) = reasons_for(desk, query, memory, project=project)["items"]
    assert item["verdict"] == "kept_out"
    assert reason in item["reasons"][0]
    assert memory not in [hit["id"] for hit in desk.recall(query, project=project)]


def test_what_was_asked_for_beside_is_ranked_and_not_kept_out(desk: Any) -> None:
    memory = desk.add("The gateway listens on port 8080.").id
    current = desk.add("The gateway port is closed at night.").id
    with change(desk.vault, "test", "memvault") as work:
        work.move(fetch(desk.vault, memory), "archive", "archived", "for a test")  # type: ignore[arg-type]
    desk.embed()
    (item,) = reasons_for(desk, "gateway port", memory, include=("archived",))["items"]
    assert (item["verdict"], item["rank"]) == ("returned", 1)
    items = reasons_for(desk, "gateway port", include=("archived",))["items"]
    assert [(item["id"], item["rank"]) for item in items] == [(memory, 1), (current, 2)]
    (item,) = reasons_for(desk, "gateway port", current, include=("expired",))["items"]
    assert (item["verdict"], item["rank"]) == ("returned", 1), "what was not asked for takes no rank"
    items = reasons_for(desk, "gateway port", include=("expired",))["items"]
    assert [(item["id"], item["verdict"], item["rank"]) for item in items] == [
        (memory, "kept_out", None), (current, "returned", 1),
    ]  # fmt: skip


def test_another_kind_than_asked_for_is_named_as_the_reason(desk: Any) -> None:
    memory = desk.add("The gateway listens on port 8080.").id
    desk.embed()
    (item,) = reasons_for(desk, "gateway port", memory, kind="policy")["items"]
    assert item["verdict"] == "kept_out"
    assert item["reasons"] == ["the question asks for the kind policy alone, it is of the kind fact"]
    assert reasons_for(desk, "gateway port", kind="policy")["items"] == []


def test_what_shares_no_word_says_whether_its_meaning_was_looked_at(desk: Any) -> None:
    memory = desk.add("The gateway listens on port 8080.").id
    (item,) = reasons_for(desk, "zebra crossing", memory)["items"]
    assert item["verdict"] == "not_matched"
    assert "has not been computed yet" in item["reasons"][0]
    desk.embed()
    question = recollect.checked(Question("zebra crossing"))
    (item,) = why.explain(desk.vault, PERSON, question, memory, None, "keyword")["items"]
    assert "searched by words alone" in item["reasons"][0]
    (item,) = reasons_for(desk, "zebra crossing", memory)["items"]
    assert item["verdict"] == "below_threshold"
    assert item["relevance"] < 0.5


def test_the_rank_beyond_the_limit_is_told_for_one_memory_as_in_the_list(desk: Any) -> None:
    for number in range(9):
        desk.add(f"The gateway of site {number} listens on port {8000 + number}.")
    desk.embed()
    items = reasons_for(desk, "gateway port", limit=3)["items"]
    for item in items:
        (alone,) = reasons_for(desk, "gateway port", item["id"], limit=3)["items"]
        assert (alone["verdict"], alone["rank"], alone["score"]) == (
            item["verdict"], item["rank"], item["score"],
        )  # fmt: skip


def test_a_structured_match_is_among_the_reasons(desk: Any) -> None:
    memory = desk.add("Run ship.sh.", subject="api", attribute="deploy_command", value="ship.sh").id
    desk.embed()
    (item,) = reasons_for(desk, "what is the deploy command of the api?", memory)["items"]
    assert item["verdict"] == "returned"
    assert "the question names its subject and attribute" in item["reasons"]


def test_to_an_agent_what_it_may_not_see_is_as_what_is_not_there(desk: Any, robot: Caller) -> None:
    memory = desk.add("The gateway listens on port 8080.", project="beta").id
    desk.embed()
    question, vector = Question("gateway port"), desk.embedder.embed_query("gateway port")
    told: list[str] = []
    for one in (memory, "01999999-0000-7000-8000-000000000000"):
        with pytest.raises(NotFound) as caught:
            why.explain(desk.vault, robot, question, one, vector, "hybrid")
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert why.explain(desk.vault, robot, question, None, vector, "hybrid")["items"] == []


def test_why_knows_no_memory_that_is_not_there(desk: Any) -> None:
    with pytest.raises(NotFound):
        reasons_for(desk, "gateway", "01999999-0000-7000-8000-000000000000")


# ------------------------------------------------------------------------------------------------------ stats


def numbers(desk: Any) -> dict[str, Any]:
    return stats.stats(desk.vault, PERSON)


def test_an_empty_vault_has_numbers_as_well(desk: Any) -> None:
    found = numbers(desk)
    assert (found["memories"], found["recalls"]["hit_rate"], found["sources"]["complete"]) == (0, None, None)
    assert found["citations"] == {"cited": 0, "stale": 0, "share": None, "alarm": False}
    assert [week["added"] for week in found["growth"]] == [0] * stats.WEEKS


def test_counts_by_kind_scope_status_project_and_growth_per_week(desk: Any) -> None:
    desk.add("Lamp 1 is lit.", project="alpha", evidence="I lit it")
    desk.add("Lamp 1 is lit.", project="alpha", source="user:other")
    desk.clock.advance(14 * DAY_S)
    desk.add("Lamp 2 is lit.", kind=Kind.PREFERENCE, scope="team")
    gone = desk.add("Lamp 3 is lit.").id
    desk.delete(gone)
    found = numbers(desk)
    assert found["memories"] == 2
    assert found["kinds"] == {"fact": 1, "preference": 1}
    assert found["scopes"] == {"private": 1, "team": 1}
    assert found["projects"] == {"": 1, "alpha": 1}
    assert found["statuses"] == {"active": 2}
    assert [(week["week"], week["added"], week["removed"]) for week in found["growth"][-3:]] == [
        ("2026-03-02", 1, 0), ("2026-03-09", 0, 0), ("2026-03-16", 2, 1),
    ]  # fmt: skip
    assert found["duplicates"] == {"merged": 1, "seen_again": 0}
    assert found["sources"] == {
        "memories": 2, "with_source": 2, "with_excerpt": 1, "with_several": 1, "complete": 0.5,
    }  # fmt: skip
    assert found["unused"] == {"standing": 2, "never_recalled": 2, "share": 1.0}
    assert found["index"]["memories"] == 2
    assert found["index"]["database_bytes"] > 50_000


def test_refusals_are_counted_by_reason(desk: Any, robot: Caller) -> None:
    desk.delete(desk.add("Lamp 1 is lit.").id)
    desk.add("Lamp 1 is lit.")
    letters = random.Random(11).choices(string.ascii_letters + string.digits, k=36)
    desk.add(f"The deploy key is {'gh' + 'p_' + ''.join(letters)}.")
    desk.add("It might rain today, perhaps?", caller=robot, source="conversation:c")
    refusals = numbers(desk)["refusals"]
    assert (refusals["resurrection"], refusals["credential"]) == (1, 1)
    assert sum(count for name, count in refusals.items() if name.startswith("gate_")) == 1


@pytest.mark.parametrize(("stale", "alarm"), [(0, False), (1, False), (2, True)])
def test_stale_citations_over_10_percent_raise_an_alarm(desk: Any, stale: int, alarm: bool) -> None:
    for number in range(10):
        source = Source(SourceType.FILE, f"/a/{number}.py", content_hash="0" * 64, evidence="x")
        draft = Draft(desk.draft(f"Lamp {number} is lit.").claim, (source,))
        memory = remember.add(desk.vault, PERSON, draft, correct=False).id
        if number < stale:
            with change(desk.vault, "test", "memvault") as work:
                work.flag(fetch(desk.vault, str(memory)), NEEDS_VERIFICATION)
    assert numbers(desk)["citations"] == {"cited": 10, "stale": stale, "share": stale / 10, "alarm": alarm}


def test_candidates_are_counted_by_who_proposed_them_and_how_they_were_judged(
    desk: Any, robot: Caller
) -> None:
    ids = [
        str(
            desk.add(f"From now on always run check {n} first.", caller=robot, source=f"conversation:c{n}").id
        )
        for n in range(4)
    ]
    candidates.confirm(desk.vault, PERSON, ids[0])
    candidates.reject(desk.vault, PERSON, ids[1])
    desk.clock.advance(20 * DAY_S)
    (row,) = numbers(desk)["candidates"]
    assert row.pop("refused") >= 0
    assert row == {
        "actor": robot.actor, "proposed": 4, "confirmed": 1, "promoted": 0, "rejected": 1, "lapsed": 0,
        "waiting": 2,
    }  # fmt: skip
    desk.clock.advance(20 * DAY_S)
    candidates.lapse_candidates(desk.vault)
    (row,) = numbers(desk)["candidates"]
    assert (row["lapsed"], row["waiting"]) == (2, 0)


def test_the_hit_rate_counts_recalls_that_found_nothing(desk: Any, robot: Caller) -> None:
    desk.add("The gateway listens on port 8080.")
    desk.embed()
    for caller, query in (
        (PERSON, "gateway port"),
        (PERSON, "zebra"),
        (robot, "gateway port"),
        (robot, "moon"),
    ):
        vector = desk.embedder.embed_query(query)
        answer = recollect.recall(desk.vault, caller, recollect.checked(Question(query)), vector, "hybrid")
        recollect.note_uses(desk.vault, [recollect.Use(caller.actor, answer)])
    found = numbers(desk)["recalls"]
    assert (found["asked"], found["answered"], found["hit_rate"]) == (4, 2, 0.5)
    assert {(row["actor"], row["asked"], row["answered"]) for row in found["by"]} == {
        ("person", 2, 1), (robot.actor, 2, 1),
    }  # fmt: skip


def test_no_text_of_a_memory_is_in_the_numbers(desk: Any) -> None:
    desk.add(
        "The zanzibar code opens the quokka door.", subject="pangolin", attribute="tapir", value="okapi",
        why="numbat", evidence="dugong", source="user:manatee",
    )  # fmt: skip
    text = json.dumps(numbers(desk))
    assert not [
        word
        for word in ("zanzibar", "quokka", "pangolin", "tapir", "okapi", "numbat", "dugong", "manatee")
        if word in text
    ]
