"""conflicts and resolve: the documents of SPEC 14, exit statuses, and who may decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conftest import Home

NOBODY = {"MEMVAULT_PASSPHRASE_FILE": ""}


def contradict(home: Home, project: str) -> list[str]:
    """Two values of one attribute from two conversations; their ids."""
    found: list[str] = []
    for value, status in (("3000", 0), ("4000", 7)):
        made: dict[str, Any] = home.json(
            "add", f"The port of {project} is {value}.", "--kind", "fact", "--scope", "private",
            "--source", f"conversation:{value}", "--evidence", f"use {value}", "--project", project,
            "--subject", f"project:{project}", "--attribute", "port", "--value", value, status=status,
        )  # fmt: skip
        found.append(made["id"])
    return found


def conflict_of(home: Home, project: str) -> dict[str, Any] | None:
    items = home.json("conflicts")["items"]
    return next((item for item in items if item["project"] == project), None)


def test_conflicts_lists_both_sides_with_their_sources(shared: Home) -> None:
    one, two = contradict(shared, "cside")
    found = conflict_of(shared, "cside")
    assert found is not None
    assert found["id"] == min(one, two)
    assert [side["id"] for side in found["sides"]] == [one, two]
    assert found["would_change"] == []
    assert shared.json("conflicts")["total"] >= 1
    shown = shared.run("conflicts").out
    for piece in (one, two, "project:cside / port", "The port of cside is 3000.", "“use 4000”"):
        assert piece in shown


def test_resolve_keep_names_the_winner_and_the_reason_is_kept(shared: Home) -> None:
    one, two = contradict(shared, "ckeep")
    done = shared.json("resolve", one, "--keep", two, "--why", "the gateway moved")
    assert (done["verdict"], done["deleted"], done["total"]) == (two, [], 2)
    assert {item["id"]: item["status"] for item in done["items"]} == {one: "superseded", two: "active"}
    reasons = [event["reason"] for event in shared.json("history", two)["events"]]
    assert any("the gateway moved" in reason for reason in reasons if reason)
    assert conflict_of(shared, "ckeep") is None
    assert shared.error("resolve", one, "--keep", two, status=7)["code"] == "illegal_transition"


def test_resolve_both_needs_a_condition_for_each(shared: Home) -> None:
    one, two = contradict(shared, "cboth")
    shared.error("resolve", one, "--both", status=2)
    done = shared.json(
        "resolve", two, "--both", "--condition", f"{one}=production", "--condition", f"{two}=测试"
    )
    assert [(item["status"], item["conditions"]) for item in done["items"]] == [
        ("active", "production"),
        ("active", "测试"),
    ]


def test_resolve_neither_erases_every_side_for_good(shared: Home) -> None:
    one, two = contradict(shared, "cneither")
    done = shared.json("resolve", one, "--neither")
    assert sorted(done["deleted"]) == sorted([one, two])
    assert done["items"] == []
    for ident in (one, two):
        shared.error("get", ident, status=3)
    shared.error("rollback", done["run"], status=7)


def test_a_verdict_is_one_of_three_and_names_a_conflict(shared: Home) -> None:
    one, two = contradict(shared, "cwrong")
    for args in ((), ("--keep", one, "--both"), ("--both", "--neither"), ("--both", "--condition", one)):
        shared.error("resolve", one, *args, status=2)
    shared.error("resolve", "nonsense", "--keep", one, status=3)
    shared.error("resolve", "0190b2c0-0000-7000-8000-000000000000", "--keep", one, status=3)
    assert shared.json("get", two)["status"] == "conflict"


def test_only_a_person_decides(shared: Home) -> None:
    one, two = contradict(shared, "cperson")
    for env in (NOBODY, {**NOBODY, "AGENT": "1"}):
        error = shared.error("resolve", one, "--keep", two, status=4, env=env, exec_it=True)
        assert error["code"] == "presence_required"
    error = shared.error("conflicts", status=4, env={**NOBODY, "AGENT": "1"}, exec_it=True)
    assert error["code"] == "presence_required"
    assert shared.json("get", one)["status"] == "conflict"


def test_a_verdict_can_be_taken_back(fresh: Home) -> None:
    one, two = contradict(fresh, "cundo")
    fresh.json("resolve", one, "--keep", one)
    fresh.json("undo")
    assert {fresh.json("get", ident)["status"] for ident in (one, two)} == {"conflict"}


def test_an_agent_proposes_at_most_three_of_a_turn(fresh: Home) -> None:
    agent = {**NOBODY, "AGENT": "1"}
    for number in range(4):
        made = fresh.json(
            "add", f"Always deploy office {number} with the script.", "--kind", "fact", "--scope", "private",
            "--source", "conversation:s1", "--task", "t1", "--message-index", "3",
            status=5 if number < 3 else 6, env=agent, exec_it=True,
        )  # fmt: skip
    assert made["outcome"] == "refused"
    assert "3 proposals" in made["reason"]
