"""A month in which one agent says everything that is said, over the real socket, and a person judges some.

Owns what the agent says and asks, and the person's acts. What must hold of them is with the tests.
"""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memvault.errors import MemvaultError
from memvault.model import Record
from memvault.services import daily
from memvault.services.change import EVERYTHING
from memvault.store import events, memories

AGENT = "wanderer"
PROJECTS = ("alpha", "beta", "gamma")
PACE_S = 61
"""Between two things that are said: one agent may propose sixty an hour."""
OLDER_S = 3.5
"""By so much a file is older than the sitting of whoever cites it: the kernel's clocks are coarse."""


def load(name: str, path: Path) -> Any:
    """A module of the tests that is no package's."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


Living = load("living_daemon", Path(__file__).with_name("living.py")).Living
month = load("month_over_the_socket", Path(__file__).parents[1] / "services" / "month.py")


def repositories(folder: Path) -> dict[str, Path]:
    """A repository for each project."""
    found = {name: folder / name for name in PROJECTS}
    for path in found.values():
        path.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", path], check=True)
    return found


def params_of(said: Any) -> dict[str, Any]:
    """A step of the month as parameters of memory.add; the project is the repository's it is said in."""
    kind, _, ref = said.source.partition(":")
    given: dict[str, Any] = {"content": said.content, "kind": str(said.kind), "scope": "private"}
    for name in ("subject", "attribute", "value", "conditions"):
        if getattr(said, name) is not None:
            given[name] = getattr(said, name)
    given["source"] = {"type": kind, "ref": ref, "task": ref}
    if said.evidence is not None:
        given["source"]["evidence"] = said.evidence
    return given if said.project is not None else {**given, "everywhere": True}


def speech(subject: str, value: str, source: dict[str, Any]) -> dict[str, Any]:
    content = f"For {subject}, the gateway always listens on {value}."
    given = {"content": content, "kind": "fact", "scope": "private", "source": source}
    return {**given, "subject": subject, "attribute": "port", "value": value}


class Month:
    """What is said and done, and what the daemon answered."""

    def __init__(self, living: Any, folder: Path, seed: int) -> None:
        self.living, self.clock, self.rnd = living, living.clock, random.Random(seed)
        self.repositories = repositories(folder)
        self.start = datetime.now(UTC).replace(hour=8, minute=0, second=0, microsecond=0) + timedelta(days=2)
        self.answers: list[tuple[datetime, dict[str, Any], dict[str, Any]]] = []
        """When, with what parameters, and what was answered."""
        self.said_at: dict[str, datetime] = {}
        self.topics: dict[int, list[str]] = {}
        self.runs: dict[int, str] = {}
        self.deleted: list[tuple[int, Record]] = []
        """With the number of the last event then."""
        self.counts: Counter[str] = Counter()
        self.watched: list[Callable[[], None]] = []
        """What is looked at after everything that is said or done."""
        self.at(0)
        living.let_in(AGENT)

    def at(self, day: int) -> None:
        """Go on to the morning of a day, through the daily upkeep."""
        self.clock.advance((self.start + timedelta(days=day) - self.clock.now()).total_seconds())
        self.living.inside(daily.tidy)
        self.look()

    def look(self) -> None:
        for look in self.watched:
            look()

    def play(self, writes: int) -> Iterator[int]:
        """Yields every day after what is said and done on it."""
        for day, steps in month.days(self.rnd.randrange(2**20), writes):
            self.at(day)
            for step in steps:
                self.clock.advance(PACE_S)
                if isinstance(step, month.Say):
                    self.say(step)
                else:
                    self.do(step)
                self.look()
            self.judge_inbox()
            yield day

    # ------------------------------------------------------------------------------------------- what is said

    def ask(self, method: str, params: dict[str, Any], project: str = "alpha") -> dict[str, Any]:
        return self.living.speaker(AGENT, self.repositories[project]).ask(method, params)

    def add(self, params: dict[str, Any], project: str = "alpha") -> dict[str, Any]:
        """Propose something; its answer is kept to be judged."""
        answer = self.ask("memory.add", params, project)
        assert "result" in answer, (params, answer)
        found: dict[str, Any] = answer["result"]
        self.answers.append((self.clock.now(), params, found))
        self.counts[f"said:{found['outcome']}"] += 1
        if found["id"] is not None:
            self.said_at[found["id"]] = self.clock.now()
        return found

    def say(self, said: Any) -> None:
        found = self.add(params_of(said), said.project or "alpha")
        known = self.topics.setdefault(said.topic, [])
        if found["id"] is not None and found["id"] not in known:
            known.append(found["id"])
        if found["run"] is not None:
            self.runs[said.topic] = found["run"]

    def wait_until_older(self, paths: list[Path], until: Callable[..., Any]) -> None:
        newest = max(path.stat().st_ctime for path in paths)
        until(lambda: time.time() > newest + OLDER_S, "files that are older than a session")

    # ------------------------------------------------------------------------------------- what a person does

    def records(self, ids: list[str]) -> list[Record]:
        found = self.living.inside(lambda vault: memories.get(vault.writer, ids, EVERYTHING))
        return [found[id_] for id_ in ids if id_ in found]

    def do(self, step: Any) -> None:
        ids = [record.id for record in self.records(self.topics.get(step.topic, []))]
        if ids and step.what != "leave":
            self.act(step, ids)

    def act(self, step: Any, ids: list[str]) -> None:
        newest = {"id": ids[-1]}
        match step.what.split():
            case ["keep", side]:
                keep = {"new": ids[-1], "old": ids[0]}.get(side, side)
                named = {id_: f"case {n}" for n, id_ in enumerate(ids)} if side == "both" else {}
                given = {"conflict": ids[-1], "keep": keep, "conditions": named, "why": "as decided"}
                self.bury("conflicts.resolve", given, ids if side == "neither" else [])
            case ["delete"]:
                self.bury("memory.delete", {"ids": ids}, ids)
            case ["roll", "back"] if step.topic in self.runs:
                self.person("runs.rollback", {"run": self.runs[step.topic], "with_dependents": True})
            case ["confirm"]:
                self.person("review.confirm", newest)
            case ["reject"]:
                self.bury("review.reject", newest, ids[-1:])
            case [("verify" | "enable" | "disable") as what]:
                self.person(f"memory.{what}", newest)
            case _:
                pass

    def person(self, method: str, params: dict[str, Any]) -> bool:
        """Whether it was done; a state may forbid it."""
        try:
            self.living.as_person(method, params)
        except MemvaultError as error:
            assert error.message, "every refusal has a reason"
            self.counts[f"refused:{method}"] += 1
            return False
        self.counts[f"did:{method}"] += 1
        return True

    def bury(self, method: str, params: dict[str, Any], ids: list[str]) -> None:
        before = self.records(ids)
        if self.person(method, params):
            left = {record.id for record in self.records(ids)}
            head = self.living.inside(lambda vault: events.head(vault.writer).seq)
            self.deleted += [(head, record) for record in before if record.id not in left]

    def judge_inbox(self) -> None:
        """Of what waits, some is confirmed, less is rejected, most is left."""
        waiting = [item["id"] for item in self.living.as_person("inbox", {"limit": 40})["items"]]
        for memory in waiting:
            drawn = self.rnd.random()
            if drawn < 0.08:
                self.person("review.confirm", {"id": memory})
            elif drawn < 0.12:
                self.bury("review.reject", {"id": memory}, [memory])
            self.look()
