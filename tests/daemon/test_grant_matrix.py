"""Grant matrix: every method x every grant: exactly the allowed ones answer, by enumeration."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault.client import hello_params
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
    agents.rotate agents.set agents.written aliases.list aliases.remove aliases.set audit.verify
    backup.list backup.make backup.restore conflicts.list conflicts.resolve context.compare
    context.prefer doctor events.subscribe export.page gate.calibrate gate.explain gate.set_theta
    import.found import.run inbox keys.add_keychain keys.add_passphrase keys.change_passphrase keys.list
    keys.new_recovery_code keys.remove keys.rotate memory.about memory.delete memory.delete_preview
    memory.disable memory.edit memory.enable memory.facets memory.history memory.verify models.calibrate
    models.set_shift models.use recall.explain review.confirm review.reject runs.list runs.rollback
    runs.show stats tombstones.lift tombstones.list undo vault.check vault.recover
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


def test_every_method_has_its_row() -> None:
    assert rows().keys() | persons() == METHODS.keys()
    assert not rows().keys() & persons()
    assert {name for name, method in METHODS.items() if method.who in (Who.PERSON, Who.PRESENT)} == persons()
    assert all(row.keys() == at_work.RIGHTS.keys() for row in rows().values())


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
        "memory.add": at_work.fact(
            f"From now on always mow meadow {number} of {grant} in June, never in May."
        ),
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


@pytest.mark.parametrize("grant", at_work.RIGHTS)
def test_exactly_the_allowed_methods_answer(
    daemon: Any, own: Path, puppet: Callable[..., Any], grant: str
) -> None:
    memory = daemon.as_person("memory.add", at_work.fact("The meadow is behind the mill."))["id"]
    agent = at_work.enter(daemon, grant, puppet, own)
    nothing = {agent.ask("memory.get", {"id": at_work.NOWHERE})[0], "not_found"}
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
