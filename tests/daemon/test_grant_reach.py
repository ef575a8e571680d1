"""Every reading method x grant x own and other project x scope x sensitivity: nothing outside is shown."""

from __future__ import annotations

import importlib.util
import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault.clock import SystemClock
from memvault.daemon.handlers import table
from memvault.daemon.methods import Who


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


at_work, living = _load("grants_at_work"), _load("living")
METHODS = table().table
OLD_VERSION = "01999999-0000-7000-8000-00000000000e"
"""Stands for the version before of a memory that may be read."""

SCOPES = ("private", "team")
LEVELS = ("public", "internal", "personal", "restricted")
OTHER = "othermarsh"


class Planted:
    """Memories by what decides who may read them; `words` of each stand nowhere else."""

    def __init__(self, daemon: Any) -> None:
        self.daemon = daemon
        self.cells: dict[str, tuple[Any, ...]] = {}
        self.words: dict[str, tuple[str, str]] = {}
        for project, scope, level in itertools.product(("own", OTHER, None), SCOPES, LEVELS):
            self.plant((project, scope, level))
        self.states()

    def plant(self, cell: tuple[Any, ...]) -> str:
        project, scope, level = cell[:3]
        key, canary = f"kestrel{len(self.cells)}x", f"zanzibar{len(self.cells)}q"
        given = at_work.fact(
            f"The {key} hangs beside the {canary} always.",
            ref=f"ref-{canary}", scope=scope, sensitivity=level, subject=key, attribute="place", value=canary,
            why=f"because of {canary}", how_to_apply=f"with {canary}", context=f"at {canary}",
            about=f"about {canary}",
        )  # fmt: skip
        given["source"] |= {"task": f"task-{canary}", "evidence": f"{canary} was seen"}
        id_ = self.daemon.as_person("memory.add", given | ({"project": project} if project else {}))["id"]
        self.cells[id_], self.words[id_] = cell, (key, canary)
        return id_

    def states(self) -> None:
        """What only a person meets: switched off, deleted, replaced, an old version, a task of another."""
        do, cell = self.daemon.as_person, ("own", "private", "internal", "hidden")
        do("memory.disable", {"id": self.plant(cell)})
        do("memory.delete", {"ids": [self.plant(cell)]})
        old = self.plant(cell)
        key, _ = self.words[old]
        new = at_work.fact(
            "It was moved.", project="own", subject=key, attribute="place", value="moved", correct=True
        )
        assert do("memory.add", new)["outcome"] == "superseded"
        self.words[old] = (self.words[old][1],) * 2  # the new one is about the same thing
        words = ("kestrel80x", "zanzibar80q")
        edited = do("memory.add", at_work.fact(" ".join(words), project="own", why=words[0], about=words[1]))[
            "id"
        ]
        do("memory.edit", {"id": edited, "changes": {"content": "It is quiet.", "why": None, "about": None}})
        self.cells[OLD_VERSION], self.words[OLD_VERSION] = cell, words
        task = do("task.open", {"title": "Of zanzibar90q", "task": "kestrel90x"})["id"]
        do("task.note", {"task": task, "kind": "finding", "text": "kestrel90x zanzibar90q"})
        self.cells[task], self.words[task] = cell, ("kestrel90x", "zanzibar90q")

    def allowed(self, grant: str) -> set[str]:
        return {memory for memory, cell in self.cells.items() if _allows(grant, cell)}


def _allows(grant: str, cell: tuple[Any, ...]) -> bool:
    rights, (project, scope, level) = at_work.RIGHTS[grant], cell[:3]
    if grant in ("proposes", "revoked", "unknown", "host") or len(cell) > 3:
        return False
    within = {"all": ("own", OTHER, None), "current": ("own", None)}
    projects = rights.get("projects", "current")
    return (
        project in (within[projects] if isinstance(projects, str) else (*projects, None))
        and scope in SCOPES
        and LEVELS.index(level) <= LEVELS.index(rights.get("ceiling", "internal"))
    )


def questions(memory: str, key: str, canary: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All that an agent can ask by the id, a word, the project, the session or the task of a memory."""
    for id_ in (memory, memory.upper(), f"{memory}@1"):
        yield "memory.get", {"id": id_}
    for word in (key, canary):
        for place in ({}, {"project": OTHER}, {"project": "own"}):
            yield "recall", {"query": f"Where is the {word}?", "limit": 50, "log": False, **place}
            yield "memory.list", {"text": word, **place}
        yield "recall", {"query": word, "include": ["archived", "expired"], "kind": "fact", "limit": 50}
        yield "context.compile", {"objective": f"Hang the {word}", "session": "shared", "log": False}
        yield "hook.event", {"event": "UserPromptSubmit", "session": word, "prompt": f"Where is the {word}?"}
    yield "memory.list", {"ids": [memory]}
    yield "memory.list", {"subject": key}
    yield "memory.list", {"source": f"ref-{canary}"}
    yield "memory.feedback", {"id": memory, "verdict": "wrong", "evidence": "it fell down"}
    yield (
        "memory.add",
        at_work.fact(f"The {key} always hangs in the hall.", subject=key, attribute="place", value="hall"),
    )
    for task in (memory, key, f"task-{canary}"):
        yield "task.get", {"task": task}
        yield "task.note", {"task": task, "kind": "todo", "text": "x"}
        yield "task.done", {"task": task, "note": 1}
        yield "task.reopen", {"task": task, "note": 1, "why": "x"}
        yield "task.close", {"task": task}


GENERAL: list[tuple[str, dict[str, Any]]] = [
    *(("memory.list", {"limit": 500, "sort": sort}) for sort in ("updated", "created", "used", "subject")),
    *(("memory.list", {"limit": 500, "scope": scope}) for scope in ("task", *SCOPES)),
    *(
        ("memory.list", {"limit": 500, "status": status})
        for status in ("candidate", "active", "superseded", "disabled", "conflict", "deleted")
    ),
    *(("memory.list", {"limit": 500, "project": project}) for project in ("own", OTHER, OTHER.upper(), "")),
    *(
        ("context.compile", {"objective": "Hang everything", "mode": mode, "budget": 8_000, **more})
        for mode in ("M0", "M1", "M2", "M3", "M4")
        for more in ({}, {"sensitivity": "restricted"}, {"project": OTHER}, {"session": "shared"})
    ),
    ("context.index", {}),
    ("context.index", {"project": OTHER}),
    *(("hook.event", {"event": "SessionStart", "session": name}) for name in ("shared", "hook:shared")),
    *(("recall", {"query": "kestrel hangs beside", "limit": 100, "project": p}) for p in ("own", OTHER)),
    ("task.list", {"limit": 500}),
    ("task.open", {"title": "Mine"}),
]


@pytest.fixture
def daemon(daemon_home: Any) -> Iterator[Any]:
    running = living.Living(daemon_home, SystemClock(), at_work.UNLIMITED)
    yield running
    running.stop()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository that every agent works in."""
    folder = tmp_path / "own"
    subprocess.run(["git", "init", "-q", folder], check=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("grant", at_work.RIGHTS)
def test_nothing_outside_a_grant_is_in_any_answer(
    daemon: Any, own: Path, puppet: Callable[..., Any], grant: str
) -> None:
    """In no result, error or count: the words of each memory stand in no answer to who may not read it."""
    planted = Planted(daemon)
    agent = at_work.enter(daemon, grant, puppet, own)
    daemon.as_person("context.compile", {"objective": "Hang it", "session": "shared", "project": OTHER})
    daemon.as_person("context.compile", {"objective": "Hang it", "session": "hook:shared", "project": "own"})
    allowed = planted.allowed(grant)
    hidden = planted.cells.keys() - allowed
    asked, seen, said = set[str](), set[str](), set[str]()
    nothing: dict[str, str] = {}

    def ask(method: str, params: dict[str, Any]) -> Any:
        code, line, result = agent.ask(method, params)
        asked.add(method)
        given = json.dumps(params)
        if method == "memory.add":
            said.add(params["subject"])  # its own word comes back to who may write
        for memory in planted.cells:
            words = [word for word in planted.words[memory] if word not in given and word not in said]
            told = [word for word in words if word in line]
            told += [memory] if memory in line and memory not in given.lower() else []
            assert not told or memory in allowed, (method, params, line)
            seen.update([memory] if told else [])
        return code, line, result

    for method, params in GENERAL:
        _, line, _ = ask(method, params)
        assert OTHER in json.dumps(params).lower() or OTHER not in line or grant in ("wide", "elsewhere")
    assert seen == allowed, "what may be read is shown"
    for memory in sorted(hidden):
        for method, params in questions(memory, *planted.words[memory]):
            code, line, result = ask(method, params)
            if method == "memory.list" and code is None:
                assert (result["items"], result["total"]) == ([], 0), (params, line)
            if "id" in params or "task" in params:
                other = {**params, **{name: at_work.NOWHERE for name in ("id", "task") if name in params}}
                key = json.dumps([method, other])
                if key not in nothing:
                    nothing[key] = agent.ask(method, other)[1]
                assert (code, line) == ("not_found", nothing[key])
    _, _, opened = ask("task.open", {"title": "Mine", "task": "kestrel90x"})
    assert opened is None or (opened["resumed"], opened["notes"]) == (False, [])
    assert asked == {name for name, method in METHODS.items() if method.who is Who.READER}
