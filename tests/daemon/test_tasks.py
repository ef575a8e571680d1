"""SPEC 3: notes of running tasks survive a kill and a lock, are their agent's own, and show up nowhere."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from memvault.clock import SystemClock
from memvault.config import Config
from memvault.daemon.handlers import table
from memvault.daemon.keeper import Keeper
from memvault.keys import ring
from memvault.model import NoteKind
from memvault.paths import HomeLayout
from memvault.services import tasks
from memvault.services.caller import PERSON

DAY_S = 86_400
PASSPHRASE = "a passphrase for tests only"
WORDS = ("zanzibarquokka", "pangolinfirefly", "turnipsextant", "obsidianferret", "wisteriagalleon")


def fill(caller: Any, name: str = "wisteriagalleon") -> str:
    """A task with one item of each state, in which every text is one of WORDS."""
    task = caller.call("task.open", {"title": "The zanzibarquokka", "task": name})["id"]
    for kind, text in (("todo", "pangolinfirefly"), ("plan", "turnipsextant"), ("finding", "a pangolin")):
        caller.call("task.note", {"task": task, "kind": kind, "text": text})
    for number in (1, 2):
        caller.call("task.done", {"task": task, "note": number})
    caller.call("task.reopen", {"task": task, "note": 2, "why": "obsidianferret"})
    return task


def test_notes_survive_a_kill_and_a_lock(daemon_home: Any) -> None:
    client = daemon_home.person()
    task = fill(client)
    before = client.call("task.get", {"task": task})
    daemon_home.end(client.hello["pid"], signal.SIGKILL)
    locked = daemon_home.connect()
    with pytest.raises(Exception, match="locked"):
        locked.call("task.get", {"task": task})
    client = daemon_home.person()
    assert client.call("task.get", {"task": task}) == before
    client.call("vault.lock")
    client.call("vault.unlock", {"passphrase": daemon_home.passphrase})
    assert client.call("task.get", {"task": "wisteriagalleon"}) == before
    assert [note["state"] for note in before["notes"]] == ["done", "reopened", "noted"]


def test_nothing_of_them_is_readable_on_the_disk(daemon_home: Any) -> None:
    client = daemon_home.person()
    fill(client)
    for when in ("running", "locked"):
        for path, raw in daemon_home.files():
            found = [word for word in WORDS if word.encode() in raw]
            assert not found, (when, path.name)
        client.call("vault.lock")
    assert daemon_home.log() == ""


async def test_notes_survive_a_vault_that_locks_itself(tmp_path: Path) -> None:
    home = tmp_path / "h"
    home.mkdir(mode=0o700)
    keeper = Keeper(HomeLayout(home), Config(0.2, 0, None), SystemClock())
    locked = asyncio.Event()
    keeper.listeners.append(lambda _, news: locked.set() if news.get("state") == "locked" else None)
    try:
        await keeper.create(PASSPHRASE, False)
        task = (await keeper.write(tasks.open_task, PERSON, "Move the mill", None))["id"]
        await keeper.write(tasks.note, PERSON, task, NoteKind.TO_DO, "Grease the axle.")
        await asyncio.wait_for(locked.wait(), 20)
        await keeper.unlock(lambda header: ring.open_with_passphrase(header, PASSPHRASE))
        held = await keeper.write(tasks.get, PERSON, task)
        assert [note["text"] for note in held["notes"]] == ["Grease the axle."]
    finally:
        await keeper.stop()


@pytest.mark.parametrize(("days", "left"), [(6, 1), (7, 0), (30, 0)])
async def test_a_task_that_lapsed_while_the_vault_was_locked_is_erased_at_unlock(
    tmp_path: Path, clock: Any, days: int, left: int
) -> None:
    home = tmp_path / "h"
    home.mkdir(mode=0o700)
    layout = HomeLayout(home)
    keeper = Keeper(layout, Config(0, 0, None), clock)
    try:
        await keeper.create(PASSPHRASE, False)
        task = (await keeper.write(tasks.open_task, PERSON, "Move the mill", None))["id"]
        await keeper.write(tasks.note, PERSON, task, NoteKind.TO_DO, "Grease the axle.")
        await keeper.lock()
        clock.advance(days * DAY_S)
        await keeper.unlock(lambda header: ring.open_with_passphrase(header, PASSPHRASE))
        # Upkeep was queued before it.
        assert (await keeper.write(tasks.listing, PERSON, 50, 0))["total"] == left
        rows = await keeper.read(lambda vault: vault.reader.all("SELECT text FROM task_note"))
        assert len(rows) == left
    finally:
        await keeper.stop()


CALLS: dict[str, dict[str, Any]] = {
    "hello": {"client": "t", "version": "0", "protocol": 1},
    "recall": {"query": "zanzibarquokka pangolinfirefly turnipsextant", "limit": 50},
    "memory.list": {"limit": 500, "text": "a"},
    "export.page": {"limit": 500},
    "runs.list": {"limit": 500},
    "inbox": {"limit": 500},
}
STOPS = ("shutdown", "vault.lock", "keys.add_keychain", "keys.new_recovery_code", "keys.rotate")
READABLE = sorted(
    name
    for name, method in table().table.items()
    if not name.startswith("task.")
    and name not in STOPS
    and (name in CALLS or not any(field.required for field in msgspec.structs.fields(method.params)))
)


def test_the_methods_that_show_something_without_naming_it_are_all_looked_at() -> None:
    assert set(READABLE) >= {
        "status", "memory.list", "memory.facets", "inbox", "recall", "runs.list", "export.page", "doctor",
        "conflicts.list", "tombstones.list", "backup.list", "audit.verify", "undo", "events.subscribe",
    }  # fmt: skip


@pytest.mark.parametrize("name", READABLE)
def test_no_other_method_shows_anything_of_a_task(shared_home: Any, fact: Any, name: str) -> None:
    client = shared_home.person()
    client.call("memory.add", fact("The miller is called Ada."))
    task = fill(client)
    try:
        answer = client.call(name, CALLS.get(name, {}))
    except Exception as error:  # noqa: BLE001 - what it says is looked at like an answer
        answer = (str(error), getattr(error, "hint", ""))
    client.call("task.close", {"task": task})
    client.close()
    assert not [word for word in WORDS if word in str(answer)], answer


def test_lists_counts_recall_and_export_are_as_without_notes(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()
    client.call("memory.add", fact("The miller is called Ada."))

    def look() -> dict[str, Any]:
        return {
            "list": client.call("memory.list", {}),
            "export": client.call("export.page", {}),
            "facets": client.call("memory.facets", {}),
            "runs": client.call("runs.list", {}),
            "memories": client.call("status")["memories"],
            "recall": client.call("recall", {"query": "Who is the miller", "log": False})["results"],
        }

    before = look()
    task = fill(client)
    assert look() == before
    hits = client.call("recall", {"query": "zanzibarquokka", "log": False})["results"]
    assert not [hit for hit in hits if "miller" not in hit["content"]]
    client.call("task.close", {"task": task})
    assert look() == before
    assert client.call("task.list") == {"items": [], "total": 0}


@pytest.fixture
def agents(daemon_home: Any, puppet: Callable[..., Any], tmp_path: Path) -> Callable[[str, str], Any]:
    """An agent of some host, let in by a person, in the repository of some name."""
    person = daemon_home.person()
    marks = {"claude-code": {"CLAUDECODE": "1"}, "codex": {"CODEX_SANDBOX": "seatbelt"}}
    for name in marks:
        person.call("agents.add", {"name": name})

    def start(name: str, project: str) -> Any:
        repository = tmp_path / project
        if not repository.exists():
            repository.mkdir()
            subprocess.run(["git", "init", "-q", repository], check=True)
        return puppet(daemon_home.root, marks=marks[name], cwd=repository)

    return start


def test_an_agent_meets_only_its_own_tasks_in_its_own_project(daemon_home: Any, agents: Any) -> None:
    mine = agents("claude-code", "alpha")
    task = fill(mine)
    others = [agents("claude-code", "beta"), agents("codex", "alpha")]
    calls = {
        "task.get": {}, "task.done": {"note": 1}, "task.reopen": {"note": 1, "why": "x"}, "task.close": {},
        "task.note": {"kind": "todo", "text": "x"},
    }  # fmt: skip
    for other in others:
        assert other.call("task.list") == {"items": [], "total": 0}
        for method, more in calls.items():
            answers = [
                other.ask(method, {"task": name, **more})
                for name in (task, "wisteriagalleon", "01999999-0000-7000-8000-000000000000", "nothing")
            ]
            assert {str(answer) for answer in answers} == {str(answers[0])}, method
            assert answers[0]["error"] == "not_found"
    assert [item["id"] for item in agents("claude-code", "alpha").call("task.list")["items"]] == [task]
    person = daemon_home.person()
    seen = person.call("task.get", {"task": task})
    assert (seen["owner"], seen["project"]) == ("agent:claude-code", "alpha")
    assert len(seen["notes"]) == 3


def test_what_an_agent_keeps_of_a_task_waits_in_the_inbox(daemon_home: Any, agents: Any) -> None:
    mine = agents("claude-code", "alpha")
    task = fill(mine)
    text = "From now on always run the smoke test after a deploy."
    source = {"type": "conversation", "ref": "chat", "evidence": text}
    claim = {"content": text, "kind": "fact", "scope": "private", "source": source}
    assert mine.ask("task.close", {"task": task, "keep": [{**claim, "correct": True}]})["error"] == (
        "presence_required"
    )
    assert mine.ask("task.close", {"task": task, "keep": [{**claim, "project": "beta"}]})["error"] == (
        "not_found"
    )
    assert len(mine.call("task.get", {"task": task})["notes"]) == 3, "nothing was erased"
    done = mine.call("task.close", {"task": task, "keep": [claim]})
    assert (done["erased"], [one["outcome"] for one in done["kept"]]) == (3, ["candidate"])
    person = daemon_home.person()
    (waits,) = person.call("inbox")["items"]
    assert (waits["content"], waits["project"]) == (text, "alpha")
    assert waits["sources"][0]["task"] == "wisteriagalleon"
    assert mine.ask("task.get", {"task": task})["error"] == "not_found"


def test_a_quarantined_agent_keeps_no_notes(daemon_home: Any, agents: Any) -> None:
    mine = agents("claude-code", "alpha")
    task = fill(mine)
    daemon_home.person().call("agents.quarantine", {"name": "claude-code", "on": True})
    for method, params in (("task.open", {"title": "x"}), ("task.get", {"task": task}), ("task.list", {})):
        assert mine.ask(method, params)["error"] == "not_found", method
