"""SPEC 12: a person-only method needs a person; what descends from an agent host is an agent."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.daemon.handlers import table
from memvault.daemon.methods import Who

METHODS = table().table
PERSON = sorted(name for name, method in METHODS.items() if method.who is Who.PERSON)
PRESENT = sorted(name for name, method in METHODS.items() if method.who is Who.PRESENT)
HOSTS = [
    ({"CLAUDECODE": "1"}, ""),
    ({"CODEX_SANDBOX": "seatbelt"}, ""),
    ({}, "claude"),
    ({}, "renamed opencode"),
]

VALID: dict[str, dict[str, Any]] = {
    "keys.add_passphrase": {"passphrase": "another passphrase"},
    "keys.change_passphrase": {"old": "x", "new": "another passphrase"},
    "keys.remove": {"slot": "x"},
    "memory.edit": {"id": "x", "changes": {"content": "y"}},
    "memory.delete": {"ids": ["x"]},
    "runs.rollback": {"run": "x"},
    "runs.show": {"run": "x"},
    "import.run": {"kind": "markdown", "path": "/nowhere", "scope": "private"},
    "vault.init": {"passphrase": "another passphrase"},
    "vault.unlock": {"passphrase": "another passphrase"},
    "recall.explain": {"query": "x", "id": "x"},
    "aliases.set": {"names": ["x", "y"]},
    "aliases.remove": {"names": ["x"]},
    "memory.about": {"subject": "x"},
    "models.use": {"id": "x"},
    "models.set_shift": {"en": 0.01},
    "conflicts.resolve": {"conflict": "x", "keep": "both"},
    "gate.explain": {"content": "x"},
    "gate.calibrate": {"path": "/nowhere"},
    "gate.set_theta": {"theta": 0.5},
    "context.compile": {"objective": "x"},
    "context.compare": {"objective": "x"},
    "context.prefer": {"comparison": "x", "picked": "A"},
    "memory.feedback": {"id": "x", "verdict": "used"},
    "hook.event": {"event": "Stop"},
    "task.open": {"title": "x"},
    "task.note": {"task": "x", "kind": "todo", "text": "x"},
    "task.done": {"task": "x", "note": 1},
    "task.reopen": {"task": "x", "note": 1, "why": "x"},
    "task.get": {"task": "x"},
    "task.close": {"task": "x"},
}


def valid(name: str) -> dict[str, Any]:
    """Parameters that pass the wire, so that only the right to call is at stake."""
    if name.startswith("agents.") and name != "agents.list":
        return {"name": "x"}
    needs_id = "id" in METHODS[name].params.__struct_fields__
    return VALID.get(name, {"id": "x"} if needs_id else {})


def test_no_method_that_changes_exports_or_takes_back_is_left_out_of_the_lists() -> None:
    assert set(PRESENT) >= {
        "memory.edit", "memory.delete", "memory.verify", "memory.disable", "memory.enable", "review.confirm",
        "review.reject", "runs.rollback", "undo", "export.page",
    }  # fmt: skip
    anyone = {name for name, method in METHODS.items() if method.who is Who.ANYONE}
    assert anyone == {
        "hello", "status", "shutdown", "vault.init", "vault.unlock", "vault.lock", "vault.keychain_probe",
        "presence.prove", "presence.drop", "agents.add", "mcp.attach",
    }  # fmt: skip
    readers = {name for name, method in METHODS.items() if method.who is Who.READER}
    assert readers == {
        "memory.add", "memory.get", "memory.list", "memory.feedback", "recall", "context.compile",
        "context.index", "hook.event",
        "task.open", "task.note", "task.done", "task.reopen", "task.get", "task.list", "task.close",
    }  # fmt: skip


@pytest.mark.parametrize("name", [*PRESENT, "import.run"])
def test_without_a_proof_a_person_only_method_is_refused(shared_home: Any, name: str) -> None:
    shared_home.person().close()
    answer = shared_home.connect()
    with pytest.raises(Exception, match="only a person") as refusal:
        answer.call(name, valid(name))
    assert refusal.value.code == "presence_required"  # type: ignore[attr-defined]
    answer.close()


def test_a_proof_opens_them_and_dropping_it_closes_them(shared_home: Any, fact: Any) -> None:
    shared_home.person().close()
    client = shared_home.connect()
    assert client.call("presence.prove", {"passphrase": shared_home.passphrase})["valid_s"] == 300
    written = client.call("memory.add", fact("A proved person wrote this."))
    assert written["outcome"] == "active"
    assert client.call("memory.edit", {"id": written["id"], "changes": {"why": "proved"}})["version"] == 2
    client.call("presence.drop")
    with pytest.raises(Exception, match="only a person"):
        client.call("memory.edit", {"id": written["id"], "changes": {"why": "again"}})
    client.close()


def test_a_wrong_secret_or_an_open_keychain_is_no_proof(shared_home: Any) -> None:
    shared_home.person().close()
    client = shared_home.connect()
    for params, code in (
        ({"passphrase": "not the passphrase"}, "wrong_key"),
        ({"keychain": True}, "usage"),
        ({}, "usage"),
        ({"passphrase": shared_home.passphrase, "keychain": True}, "usage"),
    ):
        with pytest.raises(Exception, match=r".") as refusal:
            client.call("presence.prove", params)
        assert refusal.value.code == code  # type: ignore[attr-defined]
    assert client.call("hello", {"client": "t", "version": "0", "protocol": 1})["presence_s"] == 0
    client.close()


def test_what_a_script_without_terminal_and_proof_writes_waits(shared_home: Any, fact: Any) -> None:
    shared_home.person().close()
    client = shared_home.connect()
    written = client.call("memory.add", fact("A script wrote this."))
    assert written["outcome"] == "candidate"
    with pytest.raises(Exception, match="only a person"):
        client.call("memory.add", fact("A script corrects.", correct=True))
    assert client.call("inbox")["items"][0]["id"] == written["id"]
    client.close()


def test_a_proof_is_remembered_for_its_terminal_and_no_other(shared_home: Any, tmp_path: Path) -> None:
    """Two processes on one pseudo terminal share a proof; a process on another terminal does not."""
    shared_home.person().close()
    script = tmp_path / "ask.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom memvault.client import Client\n"
        "c = Client(Path(sys.argv[1]))\n"
        "if len(sys.argv) > 2: c.call('presence.prove', {'passphrase': sys.argv[2]})\n"
        "c.close(); c = Client(Path(sys.argv[1])); c.connect()\n"
        "print('left', c.hello['presence_s'], c.hello['principal']['interactive'])\n"
    )
    ask = [sys.executable, "-P", str(script), str(shared_home.root)]
    proof = [*ask, shared_home.passphrase]

    def on_a_terminal(*commands: list[str]) -> str:
        pid, terminal = pty.fork()
        if pid == 0:
            line = " ; ".join(" ".join(f"'{word}'" for word in command) for command in commands)
            os.execve("/bin/sh", ["/bin/sh", "-c", line], dict(os.environ))
        heard = b""
        while True:
            try:
                chunk = os.read(terminal, 4_096)
            except OSError:
                break
            if not chunk:
                break
            heard += chunk
        os.close(terminal)
        os.waitpid(pid, 0)
        return heard.decode()

    first = [line.split() for line in on_a_terminal(proof, ask).splitlines()]
    assert [line[2] for line in first] == ["True", "True"]
    assert all(int(line[1]) > 290 for line in first)
    assert on_a_terminal(ask).split() == ["left", "0", "True"]


@pytest.mark.parametrize(("marks", "below"), HOSTS, ids=["mark", "other mark", "script", "binary"])
def test_below_an_agent_host_no_person_only_method_works(
    shared_home: Any, puppet: Callable[..., Any], fact: Any, marks: dict[str, str], below: str
) -> None:
    shared_home.person().close()
    agent = puppet(shared_home.root, marks=marks, below=below)
    hello = agent.call("hello", {"client": "tui", "version": "0", "protocol": 1, "cwd": "/"})
    assert hello["principal"]["kind"] == "agent"
    for name in PERSON:
        answer = agent.ask(name, valid(name))
        assert answer.get("error") in ("not_found", "presence_required"), (name, answer)
    for name in PRESENT:
        assert agent.ask(name, valid(name)).get("error") == "presence_required", name
    assert agent.call("status")["memories"] is None
    proposal = fact(f"From now on always run the smoke test after a deploy, {below or 7}.")
    assert agent.call("memory.add", proposal)["outcome"] == "candidate"
    assert agent.ask("memory.add", fact("Corrected.", correct=True))["error"] == "presence_required"


def test_an_agent_reads_only_its_project_and_nothing_personal(
    shared_home: Any, puppet: Callable[..., Any], fact: Any, tmp_path: Path
) -> None:
    repository = tmp_path / "Alpha"
    (repository / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", repository], check=True)
    person = shared_home.person()
    person.call("agents.add", {"name": "claude-code"})
    ids: dict[str, str] = {}
    for project in ("", "alpha", "beta"):
        for level in ("public", "internal", "personal", "restricted"):
            content = f"The seamark of {project or 'nobody'} is {level}."
            given = fact(content, sensitivity=level, **({"project": project} if project else {}))
            ids[f"{project}/{level}"] = person.call("memory.add", given)["id"]
    agent = puppet(shared_home.root, marks={"CLAUDECODE": "1"}, cwd=repository / "src")
    seen = {f"{project}/{level}" for project in ("", "alpha") for level in ("public", "internal")}
    mine = {ids[name] for name in seen}
    listed = agent.call("memory.list", {"limit": 500})
    assert {item["id"] for item in listed["items"]} & set(ids.values()) == mine
    recalled = {hit["id"] for hit in agent.call("recall", {"query": "seamark", "limit": 50})["results"]}
    assert recalled & set(ids.values()) <= mine
    assert recalled
    hidden = [id_ for name, id_ in ids.items() if name not in seen]
    answers = [
        agent.ask("memory.get", {"id": memory})
        for memory in [*hidden, "01999999-0000-7000-8000-000000000000"]
    ]
    assert len({str(answer) for answer in answers}) == 1
    assert answers[0]["error"] == "not_found"
    assert agent.call("memory.list", {"project": "beta"})["total"] == 0
    assert agent.call("memory.list", {"status": "candidate"})["total"] == 0


def test_a_proof_lifts_an_agents_connection_but_is_not_remembered_for_the_next(
    shared_home: Any, puppet: Callable[..., Any], fact: Any
) -> None:
    shared_home.person().close()
    agent = puppet(shared_home.root, below="claude")
    assert agent.call("presence.prove", {"passphrase": shared_home.passphrase})["valid_s"] == 300
    written = agent.call("memory.add", fact("Typed by a person inside an agent's terminal."))
    assert written["outcome"] == "active"
    assert agent.call("memory.disable", {"id": written["id"]})["status"] == "disabled"
    agent.reconnect()
    assert agent.ask("memory.enable", {"id": written["id"]})["error"] == "presence_required"
    assert agent.call("hello", {"client": "t", "version": "0", "protocol": 1})["presence_s"] == 0


def test_a_locked_vault_says_locked_to_everybody_and_nothing_else(
    daemon_home: Any, puppet: Callable[..., Any], fact: Any
) -> None:
    person = daemon_home.person()
    written = person.call("memory.add", fact("The spare key hangs behind the red door."))
    person.call("agents.add", {"name": "claude-code"})
    agent = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    person.call("vault.lock")
    for caller in (puppet(daemon_home.root), agent):
        for name, params in (
            ("recall", {"query": "spare key"}), ("memory.get", {"id": written["id"]}), ("memory.list", {}),
            ("memory.add", fact("More.")), ("presence.prove", {"passphrase": daemon_home.passphrase}),
        ):  # fmt: skip
            answer = caller.ask(name, params)
            assert answer["error"] == "locked", (name, answer)
            assert "door" not in str(answer)
    script = puppet(daemon_home.root)
    for name in sorted(set(METHODS) - {"vault.unlock", "vault.init", "vault.keychain_probe", "shutdown"}):
        if METHODS[name].who in (Who.READER, Who.PRESENT):
            params = (
                {"query": "x"} if name == "recall" else fact("x") if name == "memory.add" else valid(name)
            )
            assert script.ask(name, params)["error"] == "locked", name


def test_locking_forgets_every_proof(daemon_home: Any, fact: Any) -> None:
    one, other = daemon_home.person(), daemon_home.person()
    memory = one.call("memory.add", fact("Port 3000."))["id"]
    other.call("vault.lock")
    other.call("vault.unlock", {"passphrase": daemon_home.passphrase})
    with pytest.raises(Exception, match="only a person"):
        one.call("memory.delete", {"ids": [memory]})
    assert other.call("memory.delete", {"ids": [memory]})["deleted"] == [memory]


@pytest.mark.parametrize("method", ["presence.prove", "vault.unlock"])
def test_guessing_passphrases_of_an_open_vault_is_slowed_down(daemon_home: Any, method: str) -> None:
    daemon_home.person()
    wire = daemon_home.wire()
    codes = [
        wire.ask(method, {"passphrase": f"guess number {number}"})["error"]["data"]["code"]
        for number in range(8)
    ]
    assert codes == ["wrong_key"] * 5 + ["too_many_mistakes"] * 3
    assert "result" in wire.ask(method, {"passphrase": daemon_home.passphrase}), "the right one is known"


def test_an_agent_opens_nothing_by_the_keychain(daemon_home: Any, puppet: Callable[..., Any]) -> None:
    agent = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    assert agent.ask("vault.unlock", {"keychain": True})["error"] == "presence_required"
    assert agent.call("status")["state"] == "locked"


def test_what_an_agent_says_of_its_source_is_no_users_word(shared_home: Any, puppet: Any, fact: Any) -> None:
    person = shared_home.person()
    agent = puppet(shared_home.root, marks={"CLAUDECODE": "1"})
    proposal = fact("From now on always run the linter before a commit.")
    made = agent.call("memory.add", proposal)
    record = person.call("memory.get", {"id": made["id"]})
    assert (record["sources"][0]["type"], record["status"]) == ("conversation", "candidate")
    person.close()
