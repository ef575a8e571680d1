"""The same question gets the same answer all day (SPEC 8): in another session, after uses were counted, after
agents asked and gave feedback, after the daemon was started anew."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault.client import Client

DAY_S = 86_400.0
QUESTION = "which port does the gateway of the northern site use"
NAMED = "what is the port of the harbour gateway?"
PLACES = ("market", "harbour", "tower", "mill", "orchard", "quarry", "chapel", "depot")


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


at_work, living = _load("grants_at_work"), _load("living")


@pytest.fixture
def running(daemon_home: Any, clock: Any) -> Iterator[Any]:
    made = [living.Living(daemon_home, clock, at_work.UNLIMITED)]

    def again() -> Any:
        made[-1].stop()
        made.append(living.Living(daemon_home, clock, at_work.UNLIMITED))
        return made[-1]

    made[0].again = again
    yield made[0]
    made[-1].stop()


def asked(client: Any, question: str, *, log: bool = True) -> Any:
    return client.call("recall", {"query": question, "limit": 8, "log": log})["results"]


def used(client: Any, memory: str) -> int:
    return client.call("memory.get", {"id": memory})["usage_count"]


def test_asking_feedback_another_session_and_a_restart_change_no_answer_of_the_day(
    running: Any, clock: Any, until: Any, tmp_path: Path
) -> None:
    person = running.person
    for number, name in enumerate(PLACES):
        text = f"The gateway in {name} of the northern site answers on port {8_000 + number}."
        about = {"subject": f"{name} gateway", "attribute": "port", "value": str(8_000 + number)}
        added = running.as_person("memory.add", at_work.fact(text, ref=name, **about))
        assert added["outcome"] == "active"
        clock.advance(9 * DAY_S)
    until(lambda: person.call("status")["model"]["pending"] == 0, "vectors")
    running.let_in("claude-code", scopes=["private", "team"], projects="all")
    robot = running.speaker("claude-code", tmp_path)

    early = asked(person, QUESTION)
    until(lambda: all(used(person, hit["id"]) for hit in early), "uses to be counted")
    clock.advance(5 * DAY_S)

    first, named = asked(person, QUESTION), asked(person, NAMED)
    assert len(first) == 8
    assert "the question names its subject and attribute" in named[0]["why"]
    until(lambda: all(used(person, hit["id"]) > 1 for hit in first), "uses to be counted")

    assert robot.ask("memory.feedback", {"id": first[-1]["id"], "verdict": "used"})["result"]
    robot.ask("recall", {"query": QUESTION})
    for number in range(45):
        asked(person, f"is port {number} of the gateway at the northern site open")
    until(lambda: used(person, first[-1]["id"]) > 10, "uses to be counted")

    with Client(running.home.root, name="other", autostart=False) as other:
        assert (asked(other, QUESTION), asked(other, NAMED)) == (first, named)
    anew = running.again()
    assert (asked(anew.person, QUESTION), asked(anew.person, NAMED)) == (first, named)

    clock.advance(DAY_S)
    anew.as_person("status", {})
    tomorrow = asked(anew.person, QUESTION)
    scores = {hit["id"]: hit["score"] for hit in first}
    assert any(hit["score"] > scores.get(hit["id"], 1.0) for hit in tomorrow), "the day's uses count now"
