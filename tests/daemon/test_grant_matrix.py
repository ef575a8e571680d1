"""Grant matrix: every method x every grant x own and other project x scope x sensitivity, by enumeration."""

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

from memvault.client import hello_params
from memvault.clock import SystemClock
from memvault.daemon.handlers import table
from memvault.daemon.limits import Limits
from memvault.daemon.methods import Who

_SPEC = importlib.util.spec_from_file_location("living_daemon", Path(__file__).with_name("living.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
living = importlib.util.module_from_spec(_SPEC)
sys.modules["living_daemon"] = living
_SPEC.loader.exec_module(living)

Answer = tuple[str | None, str, Any]
METHODS = table().table
NOWHERE = "01999999-0000-7000-8000-000000000000"

OLD_VERSION = "01999999-0000-7000-8000-00000000000e"
"""Stands for the version before of a memory that may be read."""

RIGHTS: dict[str, dict[str, Any]] = {
    "default": {},
    "reads": {"verbs": ["read"]},
    "proposes": {"verbs": ["propose"]},
    "writes": {"verbs": ["read", "write"]},
    "quarantined": {},
    "revoked": {},
    "unknown": {},
    "host": {},
    "wide": {"projects": "all", "ceiling": "restricted"},
    "elsewhere": {"projects": ["othermarsh"]},
}
"""Grants by the names of the columns. `unknown` shows a token that fits none, `host` was never let in."""

ANSWERS = """
                 default reads proposes writes quarantined revoked unknown host wide elsewhere
memory.get       +       +     -        +      +           -       -       -    +    +
memory.list      +       +     -        +      +           -       -       -    +    +
recall           +       +     -        +      +           -       -       -    +    +
context.compile  +       +     -        +      +           -       -       -    +    +
context.index    +       +     -        +      +           -       -       -    +    +
hook.event       +       +     -        +      +           -       -       -    +    +
memory.feedback  +       +     -        +      +           -       -       -    +    +
memory.add       +       -     +        +      -           -       -       +    +    -
task.open        +       -     +        +      -           -       -       +    +    -
task.note        +       -     +        +      -           -       -       +    +    -
task.done        +       -     +        +      -           -       -       +    +    -
task.reopen      +       -     +        +      -           -       -       +    +    -
task.get         +       -     +        +      -           -       -       +    +    -
task.list        +       -     +        +      -           -       -       +    +    -
task.close       +       -     +        +      -           -       -       +    +    -
hello            +       +     +        +      +           +       +       +    +    +
status           +       +     +        +      +           +       +       +    +    +
agents.add       +       +     +        +      +           +       +       +    +    +
presence.drop    +       +     +        +      +           +       +       +    +    +
presence.prove   +       +     +        +      +           +       +       +    +    +
vault.init       +       +     +        +      +           +       +       +    +    +
vault.unlock     +       +     +        +      +           +       +       +    +    +
vault.keychain_probe +   +     +        +      +           +       +       +    +    +
mcp.attach       +       +     +        +      +           +       +       +    +    +
shutdown         +       +     +        +      +           +       +       +    +    +
vault.lock       +       +     +        +      +           +       +       +    +    +
"""
"""`+`: answered. `-`: as if there were nothing ("not found"). Every other method is a person's."""

PERSONS = """
    agents.approve agents.list agents.purge agents.quarantine agents.remove agents.report agents.revoke
    agents.rotate agents.set agents.written audit.verify backup.list backup.make backup.restore conflicts.list
    conflicts.resolve context.compare context.prefer doctor events.subscribe export.page gate.calibrate
    gate.explain gate.set_theta import.found import.run inbox keys.add_keychain keys.add_passphrase
    keys.change_passphrase keys.list keys.new_recovery_code keys.remove keys.rotate memory.about
    memory.delete memory.delete_preview memory.disable memory.edit memory.enable memory.facets memory.history
    memory.verify models.use recall.explain review.confirm review.reject runs.list runs.rollback runs.show
    stats tombstones.lift tombstones.list undo vault.check vault.recover
"""
"""What no agent is answered, whatever its grant and its parameters: "only a person"."""

ANSWERED_BY_ERROR = {"vault.init": "illegal_transition", "mcp.attach": "usage"}
"""There is a vault already; only who shows a token may go over to MCP."""


def persons() -> frozenset[str]:
    return frozenset(PERSONS.split())


def rows() -> dict[str, dict[str, bool]]:
    head, *lines = [line.split() for line in ANSWERS.strip().splitlines()]
    return {
        name: {grant: cell == "+" for grant, cell in zip(head, cells, strict=True)} for name, *cells in lines
    }


class Asker:
    """One agent at work in one repository, heard as raw lines; a question may need a connection of its own."""

    def __init__(self, home: Any, name: str, token: str) -> None:
        self._home, self._hello = home, {**hello_params("matrix"), "agent": name, "token": token}
        self._wire: Any = None

    def ask(self, method: str, params: dict[str, Any]) -> Answer:
        """(error code, the whole answer as it was read, the result)."""
        if self._wire is None:
            self._wire = self._home.wire()
            self._wire.ask("hello", self._hello, 1)
        answer = self._wire.ask(method, params, 2)
        code = answer["error"]["data"]["code"] if "error" in answer else None
        return code, json.dumps(answer, ensure_ascii=False), answer.get("result")

    def renew(self) -> None:
        self._wire.close()
        self._wire = None


class HostAsker:
    """A process with the mark of a known host, which shows no token."""

    def __init__(self, puppet: Any) -> None:
        self._puppet = puppet

    def renew(self) -> None:
        self._puppet.reconnect()

    def ask(self, method: str, params: dict[str, Any]) -> Answer:
        answer = self._puppet.ask(method, params)
        return answer.get("error"), json.dumps(answer, ensure_ascii=False), answer.get("result")


@pytest.fixture
def daemon(daemon_home: Any) -> Iterator[Any]:
    """Without limits of speed: the matrix asks more than any agent."""
    limits = Limits(10**4, 10**4, 32, 1e9, 10**9, 1e9, 10**9)
    running = living.Living(daemon_home, SystemClock(), limits)
    yield running
    running.stop()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository that every agent works in."""
    folder = tmp_path / "own"
    subprocess.run(["git", "init", "-q", folder], check=True)
    monkeypatch.chdir(folder)
    return folder


def enter(daemon: Any, grant: str, puppet: Callable[..., Any], own: Path) -> Any:
    """An agent with the grant of that column."""
    if grant == "host":
        return HostAsker(puppet(daemon.home.root, marks={"GOOSE_TERMINAL": "1"}, cwd=own))
    token = daemon.as_person("agents.add", {"name": grant, **RIGHTS[grant]})["token"]
    if grant == "quarantined":
        daemon.as_person("agents.quarantine", {"name": grant})
    if grant == "revoked":
        daemon.as_person("agents.revoke", {"name": grant})
    return Asker(daemon.home, grant, "x" * 43 if grant == "unknown" else token)


def fact(content: str, **more: Any) -> dict[str, Any]:
    source = {"type": "user", "ref": more.pop("ref", "matrix")}
    return {"content": content, "kind": "fact", "scope": "private", "source": source, **more}


# -------------------------------------------------------------------------------------------- who is answered


def test_every_method_has_its_row() -> None:
    assert rows().keys() | persons() == METHODS.keys()
    assert not rows().keys() & persons()
    assert {name for name, method in METHODS.items() if method.who in (Who.PERSON, Who.PRESENT)} == persons()
    assert all(row.keys() == RIGHTS.keys() for row in rows().values())


def params_for(agent: Any, method: str, grant: str, memory: str, number: int) -> dict[str, Any]:
    """Parameters that reach something where the grant allows it."""
    task = "none"
    if method.startswith("task.") and method not in ("task.open", "task.list"):
        _, _, made = agent.ask("task.open", {"title": "A day of work"})
        task = made["id"] if made else task
        for step in ("a", "b"):
            agent.ask("task.note", {"task": task, "kind": "todo", "text": step})
        agent.ask("task.done", {"task": task, "note": 2})
    given: dict[str, dict[str, Any]] = {
        "memory.get": {"id": memory},
        "recall": {"query": "meadow"},
        "context.compile": {"objective": "meadow"},
        "hook.event": {"event": "Stop"},
        "memory.feedback": {"id": memory, "verdict": "used"},
        "memory.add": fact(f"From now on always mow meadow {number} of {grant} in June, never in May."),
        "task.open": {"title": "A day of work"},
        "task.note": {"task": task, "kind": "todo", "text": "c"},
        "task.done": {"task": task, "note": 1},
        "task.reopen": {"task": task, "note": 2, "why": "not yet"},
        "task.get": {"task": task},
        "task.close": {"task": task},
        "hello": hello_params("again"),
        "agents.add": {"name": f"friend-of-{grant}"},
        "presence.prove": {"passphrase": PASSPHRASE},
        "vault.unlock": {"passphrase": PASSPHRASE},
        "vault.init": {"passphrase": "another passphrase"},
    }
    return given.get(method, {})


PASSPHRASE = "correct horse battery staple"


@pytest.mark.parametrize("grant", RIGHTS)
def test_exactly_the_allowed_methods_answer(
    daemon: Any, own: Path, puppet: Callable[..., Any], grant: str
) -> None:
    memory = daemon.as_person("memory.add", fact("The meadow is behind the mill."))["id"]
    agent = enter(daemon, grant, puppet, own)
    nothing = {agent.ask("memory.get", {"id": NOWHERE})[0], "not_found"}
    assert nothing == {"not_found"}
    wrong: list[Any] = []
    for number, (method, row) in enumerate(rows().items()):
        agent.renew()
        code, line, _ = agent.ask(method, params_for(agent, method, grant, memory, number))
        if method == "vault.lock":
            daemon.person.call("vault.unlock", {"passphrase": daemon.home.passphrase})
        allowed = {None, ANSWERED_BY_ERROR.get(method)} if row[grant] else {"not_found"}
        if code not in allowed:
            wrong.append((method, code, line))
    agent.renew()
    for method in sorted(persons()):
        code, line, _ = agent.ask(method, {})
        if code != "presence_required":
            wrong.append((method, code, line))
    assert not wrong, wrong


# ---------------------------------------------------------------------------------------------- what is shown

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
        given = fact(
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
        new = fact(
            "It was moved.", project="own", subject=key, attribute="place", value="moved", correct=True
        )
        assert do("memory.add", new)["outcome"] == "superseded"
        self.words[old] = (self.words[old][1],) * 2  # the new one is about the same thing
        words = ("kestrel80x", "zanzibar80q")
        edited = do("memory.add", fact(" ".join(words), project="own", why=words[0], about=words[1]))["id"]
        do("memory.edit", {"id": edited, "changes": {"content": "It is quiet.", "why": None, "about": None}})
        self.cells[OLD_VERSION], self.words[OLD_VERSION] = cell, words
        task = do("task.open", {"title": "Of zanzibar90q", "task": "kestrel90x"})["id"]
        do("task.note", {"task": task, "kind": "finding", "text": "kestrel90x zanzibar90q"})
        self.cells[task], self.words[task] = cell, ("kestrel90x", "zanzibar90q")

    def allowed(self, grant: str) -> set[str]:
        return {memory for memory, cell in self.cells.items() if _allows(grant, cell)}


def _allows(grant: str, cell: tuple[Any, ...]) -> bool:
    rights, (project, scope, level) = RIGHTS[grant], cell[:3]
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
        fact(f"The {key} always hangs in the hall.", subject=key, attribute="place", value="hall"),
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


@pytest.mark.parametrize("grant", RIGHTS)
def test_nothing_outside_a_grant_is_in_any_answer(
    daemon: Any, own: Path, puppet: Callable[..., Any], grant: str
) -> None:
    """In no result, error or count: the words of each memory stand in no answer to who may not read it."""
    planted = Planted(daemon)
    agent = enter(daemon, grant, puppet, own)
    daemon.as_person("context.compile", {"objective": "Hang it", "session": "shared", "project": OTHER})
    daemon.as_person("context.compile", {"objective": "Hang it", "session": "hook:shared", "project": "own"})
    allowed = planted.allowed(grant)
    hidden = planted.cells.keys() - allowed
    asked, seen, said = set[str](), set[str](), set[str]()
    nothing: dict[str, str] = {}

    def ask(method: str, params: dict[str, Any]) -> Answer:
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
                other = {**params, **{name: NOWHERE for name in ("id", "task") if name in params}}
                key = json.dumps([method, other])
                if key not in nothing:
                    nothing[key] = agent.ask(method, other)[1]
                assert (code, line) == ("not_found", nothing[key])
    _, _, opened = ask("task.open", {"title": "Mine", "task": "kestrel90x"})
    assert opened is None or (opened["resumed"], opened["notes"]) == (False, [])
    assert asked == {name for name, method in METHODS.items() if method.who is Who.READER}
