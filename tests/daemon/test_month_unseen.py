"""SPEC 3: what an agent may not read takes part in no answer, over a month and the real socket."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SPEC = importlib.util.spec_from_file_location("agent_month", Path(__file__).with_name("agent_month.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
living = importlib.util.module_from_spec(_SPEC)
sys.modules["agent_month"] = living
_SPEC.loader.exec_module(living)

STRANGER = "stranger"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def hide(replay: Any, params: dict[str, Any], project: str | None, way: int) -> None:
    """Put something into the vault that has to do with a claim, and that the agent may not read."""
    source = {"type": "user", "ref": f"hidden-{len(replay.answers)}"}
    given = {**params, "source": source, **({"project": project} if project else {})}
    given.pop("everywhere", None)
    match way % 5:
        case 0:
            replay.person("memory.add", {**given, "sensitivity": "restricted"})
        case 1 if "value" in given:
            given |= {"content": f"{params['content']} (no longer)", "value": f"not {params['value']}"}
            replay.person("memory.add", {**given, "sensitivity": "personal"})
        case 2:
            stranger = replay.living.speaker(STRANGER, replay.repositories[project or "alpha"])
            more = {} if project else {"everywhere": True}
            asked = {**params, **more, "source": {**source, "type": "conversation"}}
            assert stranger.ask("memory.add", asked)["result"]["outcome"] in ("candidate", "refused")
        case 3:
            added = replay.living.as_person("memory.add", given)
            replay.person("memory.disable", {"id": added["id"]})
        case _:
            replay.person("memory.add", {**given, "project": "delta"})


def heard(living_: Any, folder: Path, seed: int, writes: int, *, hidden: bool) -> list[str]:
    """Everything an agent is answered in a month in which nobody judges what it proposes."""
    replay, lines = living.Month(living_, folder, seed), list[str]()
    living_.let_in(STRANGER)
    numbers: dict[str, str] = {}

    def hear(answer: dict[str, Any]) -> None:
        answer.get("result", {}).pop("took_ms", None)
        text = json.dumps(answer, ensure_ascii=False, sort_keys=True)
        lines.append(_ID.sub(lambda found: numbers.setdefault(found[0], f"id{len(numbers)}"), text))

    def say(params: dict[str, Any], project: str | None, topic: int) -> None:
        if hidden:
            hide(replay, params, project, topic)
        replay.add(params, project or "alpha")
        hear({"result": replay.answers[-1][2]})

    for n, project in enumerate((None, "alpha", "beta")):
        seen = living.speech(f"quay {n}", "8444", {"type": "user", "ref": "plain"})
        replay.person("memory.add", {**seen, **({"project": project} if project else {})})
    for day, steps in living.month.days(seed, writes):
        replay.at(day)
        for said in (step for step in steps if isinstance(step, living.month.Say)):
            replay.clock.advance(20)
            say(living.params_of(said), said.project, said.topic)
        for n in range(6):
            turn = {"type": "conversation", "ref": f"turn {day}", "task": "t", "message_index": 1}
            say(living.speech(f"winch {day} {n}", "8081", turn), "alpha", n)
        for method, params in asked(replay, numbers):
            hear(replay.ask(method, params))
    return lines


def asked(replay: Any, numbers: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the agent asks each evening."""
    everything = {"limit": 20, "include": ["archived", "expired"], "log": False}
    yield "recall", {"query": "For quay 1, the gateway always listens on 8444", **everything}
    yield "recall", {"query": replay.answers[-8][1]["content"], **everything}
    yield "memory.list", {"limit": 100}
    yield "memory.list", {"status": "candidate"}
    yield "memory.list", {"text": "always", "project": "delta"}
    yield "context.compile", {"objective": "gateway of quay 1", "session": "s", "budget": 4_000, "log": False}
    yield "context.index", {}
    yield "memory.get", {"id": list(numbers)[-1]}


def test_what_an_agent_may_not_read_changes_nothing_that_it_is_answered(
    new_home: Any, clock: Any, tmp_path: Path
) -> None:
    """Two vaults that differ in hidden memories alone: equal answers, byte for byte but for ids."""
    found: list[list[str]] = []
    for number, hidden in enumerate((False, True)):
        running = living.Living(new_home().make_vault(), type(clock)())
        try:
            found.append(heard(running, tmp_path / str(number), 5, 150, hidden=hidden))
            memories_ = running.person.call("status")["memories"]
        finally:
            running.stop()
    plain, beside = found
    assert memories_ > 150, "there is much to hide"
    assert len(plain) > 300
    for line, other in zip(plain, beside, strict=True):
        assert line == other
