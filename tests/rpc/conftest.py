"""A real daemon that has answered every method at least once, and what it said."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault.client import Client


class Asked:
    """Real answers by method. What is asked must be answered by a result."""

    def __init__(self, home: Any, folder: Path) -> None:
        self.home, self.folder = home, folder
        self.answers: dict[str, list[Any]] = defaultdict(list)
        self.client: Client = home.person("tui")

    def ask(self, method: str, **params: Any) -> Any:
        found = self.client.call(method, params)
        self.answers[method].append(found)
        return found

    def add(self, content: str, **more: Any) -> Any:
        source = {"type": "user", "ref": more.pop("ref", "test"), "evidence": content}
        given: dict[str, Any] = {
            "content": content,
            "kind": "fact",
            "scope": "private",
            "source": source,
            **more,
        }
        return self.ask("memory.add", **given)

    def everything(self) -> None:
        self.opening()
        self.memories()
        self.calibration()
        self.conflicts()
        self.runs()
        self.files()
        self.tasks()
        self.agents()
        self.keys()
        self.closing()

    def opening(self) -> None:
        self.ask("hello", client="tui", version="0", protocol=1, cwd="/")
        self.ask("status")
        self.ask("vault.keychain_probe")
        self.ask("presence.prove", passphrase=self.home.passphrase)
        self.ask("events.subscribe")
        self.ask("gate.explain", content="The gateway listens on port 3000.")
        self.ask("gate.explain", content="Maybe it is slow today?", estimate={"stable": 0.2, "reusable": 0.1})
        self.ask("gate.set_theta", theta=0.6)
        labels = self.folder / "labels.jsonl"
        rows = [
            {"text": f"From now on always run check {n}.", "kind": "preference", "keep": bool(n % 2)}
            for n in range(8)
        ]
        labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.ask("gate.calibrate", path=str(labels))

    def calibration(self) -> None:
        """What counts as an answer, by labels; a vault of few memories cannot be asked about itself."""
        kept = self.add("The crane by the harbour lifts nine tonnes.", subject="crane", attribute="load")
        labels = self.folder / "questions.jsonl"
        rows = [{"query": f"how much does crane {n} lift", "expects": [kept["id"]]} for n in range(10)]
        rows += [{"query": f"which moth ate scarf {n}", "expects": []} for n in range(10)]
        labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.ask("models.calibrate", path=str(labels))
        self.ask("models.set_shift", en=0.02)
        self.ask("models.set_shift")

    def memories(self) -> None:
        failure = {"symptom": "timeouts", "cause": "a full pool", "fix": "raise the pool"}
        kept = self.add(
            "The gateway listens on port 3000.", subject="gateway", attribute="port", value="3000"
        )
        self.add("The pool ran full under load.", kind="reflection", failure=failure, project="alpha")
        self.add(
            "The gateway listens on port 3000.", subject="gateway", attribute="port", value="3000", ref="b"
        )
        self.add("x" * 40 + " AKIAIOSFODNN7EXAMPLE is the key of the bucket.", project="alpha")
        self.ask("memory.get", id=kept["id"])
        self.ask("memory.edit", id=kept["id"], changes={"why": "The proxy needs it."}, reason="asked")
        self.ask("memory.verify", id=kept["id"], sure=True)
        self.ask("memory.disable", id=kept["id"])
        self.ask("memory.enable", id=kept["id"])
        self.ask("memory.list", limit=2)
        self.ask("memory.list", text="nothing like it")
        self.ask("memory.facets")
        self.ask("memory.history", id=kept["id"])
        self.ask("recall", query="gateway port")
        self.ask("recall", query="zebra crossing of the moon")
        self.ask("recall.explain", query="gateway port", id=kept["id"])
        self.ask("memory.feedback", id=kept["id"], verdict="used")
        self.ask("memory.feedback", id=kept["id"], verdict="outdated", evidence="It answers on 4000 now.")
        self.ask("context.compile", objective="mend the gateway")
        self.ask("context.compile", objective="mend the gateway", mode="M4", session="s")
        self.ask("context.compile", objective="mend the gateway", mode="M3", session="s")
        self.ask("context.index")
        pair = self.ask("context.compare", objective="mend the gateway")
        self.ask("context.prefer", comparison=pair["comparison"], picked="A")
        self.ask("recall.explain", query="gateway port")
        self.ask("memory.about", subject="gateway")
        self.ask("aliases.set", names=["billing desk", "Mercury"])
        self.ask("aliases.list", limit=3)
        self.ask("aliases.remove", names=["k8s", "Kubernetes"])
        self.ask("stats")
        gone = self.add("The old lantern is green.", project="gone")
        self.ask("memory.delete_preview", ids=[gone["id"]])
        self.ask("memory.delete", ids=[gone["id"]])
        (grave, *_) = self.ask("tombstones.list")["items"]
        self.ask("tombstones.lift", id=grave["id"])

    def conflicts(self) -> None:
        """Two scripts contradict each other; one candidate is confirmed, one rejected."""
        self.ask("presence.drop")
        one = self.add("Ships leave from pier four.", subject="ships", attribute="pier", value="4", ref="a")
        two = self.add("The lamp needs oil on Mondays.", subject="lamp", attribute="oil", value="Monday")
        self.ask("inbox")
        self.ask("presence.prove", passphrase=self.home.passphrase)
        self.ask("review.confirm", id=one["id"])
        self.ask("review.reject", id=two["id"])
        for value in ("3000", "4000"):
            source = {"type": "conversation", "ref": value, "evidence": f"use {value}"}
            made = self.add(
                f"The port of alpha is {value}.", subject="project:alpha", attribute="port", value=value,
                project="alpha", source=source,
            )  # fmt: skip
        self.ask("conflicts.list")
        self.ask("conflicts.resolve", conflict=made["id"], keep=made["id"], why="The gateway moved.")
        self.ask("inbox")

    def runs(self) -> None:
        (newest, *_) = self.ask("runs.list", limit=3)["items"]
        self.ask("runs.show", run=newest["run"])
        made = self.add("This line is taken back.")
        self.ask("runs.rollback", run=made["run"])
        self.add("This line is undone.")
        self.ask("undo")
        self.ask("audit.verify")
        self.ask("doctor")
        self.ask("vault.check")
        self.ask("vault.recover")

    def files(self) -> None:
        note = self.folder / "note.md"
        note.write_text("# Keys\n\n- Office 7 of the harbour keeps key 12.\n")
        self.ask("import.run", kind="markdown", path=str(note), scope="private", dry_run=True)
        self.ask("import.run", kind="markdown", path=str(note), scope="private", project="alpha")
        self.ask("import.found")
        self.ask("export.page", limit=2)
        self.ask("backup.make", path=str(self.folder / "one.mvbackup"))
        self.ask("backup.list")

    def tasks(self) -> None:
        task = self.ask("task.open", title="Mend the pier", task="t1")["id"]
        note = self.ask("task.note", task=task, kind="plan", text="Look at the planks.")
        number = note.get("note") or note["notes"][-1]["number"]
        self.ask("task.done", task=task, note=number)
        self.ask("task.reopen", task=task, note=number, why="They broke again.")
        self.ask("task.get", task=task)
        self.ask("task.list")
        source = {"type": "conversation", "ref": "t1"}
        keep = {"content": "The pier needs oak planks.", "kind": "fact", "scope": "private", "source": source}
        self.ask("task.close", task=task, keep=[keep])

    def agents(self) -> None:
        self.hooks(self.ask("agents.add", name="worker")["token"])
        self.ask("agents.list")
        self.ask("agents.set", name="worker", verbs=["read"])
        self.ask("agents.rotate", name="worker")
        self.ask("agents.quarantine", name="worker")
        self.ask("agents.report", name="worker")
        self.ask("agents.written", name="worker")
        self.ask("agents.purge", name="worker")
        self.ask("agents.revoke", name="worker")
        self.ask("agents.approve", name="worker")
        self.ask("agents.remove", name="worker")

    def hooks(self, token: str) -> None:
        """What only an agent's connection is answered."""
        wire = self.home.wire()
        agent = {"agent": "worker", "token": token}
        wire.ask("hello", {"client": "hook", "version": "0", "protocol": 1, **agent})
        told = {"session": "s1", "prompt": "Which port has the gateway?"}
        for event in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
            self.answers["hook.event"].append(wire.ask("hook.event", {"event": event, **told})["result"])

    def keys(self) -> None:
        passphrase = self.home.passphrase
        self.ask("keys.list")
        added = self.ask("keys.add_passphrase", passphrase="another long passphrase")
        self.ask("presence.prove", passphrase=passphrase)
        mine = {slot["id"] for slot in self.answers["keys.list"][0]["slots"]}
        new = next(slot["id"] for slot in added["slots"] if slot["id"] not in mine)
        self.ask("keys.remove", slot=new)
        self.ask("presence.prove", passphrase=passphrase)
        self.ask("keys.change_passphrase", old=passphrase, new=passphrase + "!")
        self.ask("presence.prove", passphrase=passphrase + "!")
        self.ask("keys.new_recovery_code")
        self.ask("presence.prove", passphrase=passphrase + "!")
        self.ask("keys.change_passphrase", old=passphrase + "!", new=passphrase)
        self.ask("presence.prove", passphrase=passphrase)
        self.ask("keys.rotate", passphrase=passphrase, drop_others=True)

    def closing(self) -> None:
        self.ask("vault.lock")
        self.ask("status")
        self.ask("vault.unlock", passphrase=self.home.passphrase)
        self.ask("backup.make", path=str(self.folder / "two.mvbackup"))
        self.ask("backup.restore", path=str(self.folder / "two.mvbackup"), passphrase=self.home.passphrase)


def beginning(home: Any) -> dict[str, list[Any]]:
    """A vault is made and its daemon ended."""
    with home.connect() as client:
        made = client.call("vault.init", {"passphrase": "a passphrase of the test"})
        return {"vault.init": [made], "shutdown": [client.call("shutdown")]}


@pytest.fixture(scope="module")
def asked(
    shared_home: Any, another_home: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, list[Any]]]:
    """Every method's real answers."""
    asked = Asked(shared_home, tmp_path_factory.mktemp("asked"))
    asked.everything()
    yield {**asked.answers, **beginning(another_home)}
    shared_home.hang_up()


@pytest.fixture(scope="module")
def another_home(shared_home: Any) -> Iterator[Any]:
    """A home without a vault."""
    home = type(shared_home)()
    yield home
    home.discard()
