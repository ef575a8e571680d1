"""context.compile over the socket: the shape of SPEC 14, the inputs of SPEC 9, who gets what, sessions."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ZONES = ["policy", "preferences", "project", "working set", "hints", "audit", "index"]


def repository(path: Path) -> Path:
    path.mkdir()
    subprocess.run(["git", "init", "-q", path], check=True)
    return path


def fill(person: Any, fact: Any, project: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind, content in {
        "policy": f"Never deploy {project} on a Friday.",
        "preference": f"Answer in short sentences about {project}.",
        "fact": f"The gateway of {project} is deployed by a script.",
    }.items():
        found[kind] = person.call("memory.add", fact(content, kind=kind, project=project))["id"]
    return found


def test_a_context_has_the_shape_of_spec_14(shared_home: Any, fact: Any) -> None:
    person = shared_home.person()
    ids = fill(person, fact, "shape")
    answer = person.call("context.compile", {"objective": "deploy the gateway", "project": "shape"})
    assert [zone["name"] for zone in answer["zones"]] == ZONES
    assert answer["mode"] == "M1"
    assert answer["drift"] == []
    assert set(ids.values()) <= {id_ for zone in answer["zones"] for id_ in zone["ids"]}
    assert 0 < answer["tokens"] <= answer["budget"] == 1_000
    assert len(answer["stable_hash"]) == 64
    stable = answer["text"].encode()[: answer["stable_bytes"]].decode()
    assert "Friday" in stable
    assert "gateway" not in stable
    assert answer["counted_by"] == "fake-hash-384"
    person.close()


def test_every_input_reaches_the_context(shared_home: Any, fact: Any) -> None:
    person = shared_home.person()
    ids = fill(person, fact, "inputs")
    secret = person.call(
        "memory.add", fact("The gateway of inputs costs money.", project="inputs", sensitivity="restricted")
    )["id"]

    def shown(**how: Any) -> set[str]:
        asked = {"objective": "deploy the gateway of inputs", "project": "inputs", **how}
        return {id_ for zone in person.call("context.compile", asked)["zones"] for id_ in zone["ids"]}

    assert shown() >= {*ids.values(), secret}
    assert secret not in shown(sensitivity="personal")
    assert ids["preference"] not in shown(mode="M0")
    assert ids["preference"] not in shown(novelty="high")
    assert shown(risk="high") & {*ids.values(), secret} == {ids["policy"]}
    assert shown(budget=0) == set()
    objective = {"objective": "ignore past work and draw", "project": "inputs"}
    assert person.call("context.compile", objective)["mode"] == "M0"
    assert person.call("context.compile", {**objective, "continuity": "high", "mode": "M2"})["mode"] == "M2"
    with pytest.raises(Exception, match="8,000"):
        person.call("context.compile", {"objective": "x", "budget": 8_001})
    with pytest.raises(Exception, match="empty"):
        person.call("context.compile", {"objective": "  "})
    person.close()


def test_an_agent_gets_its_own_project_whatever_it_names(
    shared_home: Any, puppet: Callable[..., Any], fact: Any, tmp_path: Path
) -> None:
    person = shared_home.person()
    person.call("agents.add", {"name": "claude-code"})
    mine, other = fill(person, fact, "mine"), fill(person, fact, "other")
    agent = puppet(shared_home.root, marks={"CLAUDECODE": "1"}, cwd=repository(tmp_path / "mine"))
    asked = {"objective": "deploy the gateway of other"}
    for params in (asked, {**asked, "project": "mine"}):
        answer = agent.call("context.compile", params)
        assert answer["project"] == "mine"
        assert mine["fact"] in str(answer)
        assert not [id_ for id_ in other.values() if id_ in str(answer)]
    foreign = agent.ask("context.compile", {**asked, "project": "other"})
    unknown = agent.ask("context.compile", {**asked, "project": "no-such-project"})
    assert foreign == unknown
    assert foreign["error"] == "not_found"
    assert agent.ask("context.index", {"project": "other"}) == foreign
    listed = agent.call("context.index", {})
    assert mine["fact"] in listed["text"]
    assert other["fact"] not in listed["text"]
    person.close()


def test_an_audit_is_for_a_person(
    shared_home: Any, puppet: Callable[..., Any], fact: Any, tmp_path: Path
) -> None:
    person = shared_home.person()
    person.call("agents.add", {"name": "claude-code"})
    fill(person, fact, "audited")
    agent = puppet(shared_home.root, marks={"CLAUDECODE": "1"}, cwd=repository(tmp_path / "audited"))
    asked = {"objective": "deploy the gateway of audited", "mode": "M3"}
    assert agent.ask("context.compile", asked)["error"] == "presence_required"
    answer = person.call("context.compile", {**asked, "project": "audited"})
    audit = next(zone["lines"] for zone in answer["zones"] if zone["name"] == "audit")
    assert any("event 20" in line for line in audit)
    person.close()


def test_a_session_keeps_its_stable_zone_over_a_restart_and_hears_why_it_changed(
    daemon_home: Any, fact: Any
) -> None:
    person = daemon_home.person()
    ids = fill(person, fact, "app")
    asked = {"objective": "deploy", "project": "app", "session": "s1"}
    before = person.call("context.compile", asked)
    person.call("memory.add", fact("Always use tabs.", kind="preference", project="app"))
    daemon_home.kill()
    daemon_home.hang_up()
    person = daemon_home.person()
    again = person.call("context.compile", {**asked, "objective": "write the notes"})
    assert (again["stable_hash"], again["drift"]) == (before["stable_hash"], [])
    assert "tabs" in again["text"]
    person.call("memory.disable", {"id": ids["preference"]})
    changed = person.call("context.compile", asked)
    assert [(one["id"], one["reason"]) for one in changed["drift"]] == [(ids["preference"], "disabled")]
    assert changed["stable_hash"] != before["stable_hash"]
    person.call("memory.delete", {"ids": [ids["policy"]]})
    gone = person.call("context.compile", asked)
    assert [(one["id"], one["reason"]) for one in gone["drift"]] == [(ids["policy"], "deleted")]
    assert "Friday" not in gone["text"]


def test_a_context_is_logged_and_its_memories_counted_as_used(
    daemon_home: Any, fact: Any, until: Callable[..., Any]
) -> None:
    person = daemon_home.person()
    ids = fill(person, fact, "app")
    asked = {"objective": "deploy the gateway", "project": "app"}
    person.call("context.compile", {**asked, "log": False})
    person.call("context.compile", asked)
    used = until(lambda: person.call("memory.get", {"id": ids["policy"]})["usage_count"], "the use")
    assert used == 1


def test_two_packs_and_a_blind_verdict(shared_home: Any, fact: Any) -> None:
    person = shared_home.person()
    fill(person, fact, "blind")
    asked = {"objective": "deploy the gateway of blind", "project": "blind"}
    pair = person.call("context.compile", {**asked, "mode": "M4"})
    assert (pair["mode"], pair["without"]["mode"]) == ("M4", "M0")
    assert "by a script" in pair["text"]
    assert "by a script" not in pair["without"]["text"]
    orders: set[bool] = set()
    for seed in range(12):
        shown = person.call("context.compare", {**asked, "seed": seed})
        assert shown.keys() == {"comparison", "A", "B"}
        assert {shown["A"], shown["B"]} == {pair["text"], pair["without"]["text"]}
        again = person.call("context.compare", {**asked, "seed": seed})
        assert again["A"] == shown["A"], "the seed fixes the order"
        orders.add(shown["A"] == pair["text"])
        verdict = person.call("context.prefer", {"comparison": shown["comparison"], "picked": "A"})
        assert verdict["picked"] == ("with" if shown["A"] == pair["text"] else "without")
        with pytest.raises(Exception, match="verdict already"):
            person.call("context.prefer", {"comparison": shown["comparison"], "picked": "B"})
    assert orders == {True, False}
    assert sum(verdict["so_far"].values()) == 12
    answers = {"with_memory": "one answer", "without_memory": "another answer"}
    shown = person.call("context.compare", {**asked, **answers})
    assert {shown["A"], shown["B"]} == set(answers.values())
    with pytest.raises(Exception, match="both answers or none"):
        person.call("context.compare", {**asked, "with_memory": "x"})
    with pytest.raises(Exception, match="no such comparison"):
        person.call("context.prefer", {"comparison": "x", "picked": "A"})
    person.close()


def test_a_locked_vault_compiles_nothing(daemon_home: Any, fact: Any) -> None:
    person = daemon_home.person()
    fill(person, fact, "app")
    person.call("vault.lock")
    with pytest.raises(Exception, match="locked"):
        person.call("context.compile", {"objective": "deploy"})


def test_the_index_names_procedures_first_and_reports_large_topics(shared_home: Any, fact: Any) -> None:
    person = shared_home.person()
    made: dict[str, str] = {}
    for name in ("fact", "procedure"):
        given = fact(f"Do {name} x.", kind=name, project="indexed", subject=f"the {name}", attribute="x")
        made[name] = person.call("memory.add", given)["id"]
    person.call("memory.add", fact("y " * 20_100, project="indexed", subject="the long page", attribute="x"))
    answer = person.call("context.index", {"project": "indexed"})
    lines = answer["text"].splitlines()
    assert answer["lines"] == len(lines)
    places = [
        next(at for at, line in enumerate(lines) if made[name] in line) for name in ("procedure", "fact")
    ]
    assert places == sorted(places)
    assert [topic["subject"] for topic in answer["large_topics"]] == ["the long page"]
    person.close()
