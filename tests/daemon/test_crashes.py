"""SECURITY 1: whatever was acknowledged survives kill -9 at any moment."""

from __future__ import annotations

import random
import signal
import threading
import time
from typing import Any

import pytest

from memvault.client import Client
from memvault.errors import Closed, MemvaultError

DAYS = ("Monday", "Wednesday", "Friday")


class Writer:
    """Adds, edits and deletes until the daemon dies under it; remembers what was acknowledged."""

    def __init__(self, home: Any, fact: Any, name: str, seed: int) -> None:
        self.home, self.fact, self.name = home, fact, name
        self.rnd = random.Random(seed)
        self.there: dict[str, set[str]] = {}
        """Id -> contents it may have: the acknowledged one, and one that was asked for without an answer."""
        self.gone: set[str] = set()
        self.unsure: set[str] = set()
        self.acknowledged = 0

    def run(self, client: Client) -> None:
        try:
            while True:
                self.step(client)
                self.acknowledged += 1
        except Closed:
            pass

    def step(self, client: Client) -> None:
        text = f"{self.name} closed ticket {self.rnd.randrange(10**9)} on a {self.rnd.choice(DAYS)}."
        chance = self.rnd.random()
        if chance < 0.6 or not self.there:
            found = client.call("memory.add", self.fact(text))
            self.there[found["id"]] = {text}
        elif chance < 0.85:
            memory = self.rnd.choice(list(self.there))
            self.there[memory].add(text)
            client.call("memory.edit", {"id": memory, "changes": {"content": text}})
            self.there[memory] = {text}
        else:
            memory = self.rnd.choice(list(self.there))
            self.unsure.add(memory)
            client.call("memory.delete", {"ids": [memory]})
            self.unsure.discard(memory)
            self.gone.add(memory)
            del self.there[memory]

    def check(self, held: dict[str, str]) -> None:
        lost = [
            id_ for id_, texts in self.there.items() if id_ not in self.unsure and held.get(id_) not in texts
        ]
        assert not lost
        assert not self.gone & held.keys()
        for memory in list(self.unsure):
            if memory not in held:
                self.there.pop(memory, None)
        self.unsure.clear()


def storm(home: Any, fact: Any, rounds: int, seed: int) -> None:
    rnd = random.Random(seed)
    writers = [Writer(home, fact, name, seed + number) for number, name in enumerate(("Ada", "Boris"))]
    for _ in range(rounds):
        clients = [home.person() for _ in writers]
        before = [writer.acknowledged for writer in writers]
        threads = [
            threading.Thread(target=writer.run, args=(client,))
            for writer, client in zip(writers, clients, strict=True)
        ]
        pid = clients[0].hello["pid"]
        for thread in threads:
            thread.start()
        moment = time.monotonic() + rnd.random() * 0.4
        while time.monotonic() < moment or [writer.acknowledged for writer in writers] == before:
            assert all(thread.is_alive() for thread in threads), "a writer gave up before anything was killed"
            time.sleep(rnd.random() * 0.005)
        home.end(pid, signal.SIGKILL)
        for thread in threads:
            thread.join()
        for client in clients:
            client.close()
        check(home, writers)


def check(home: Any, writers: list[Writer]) -> None:
    client = home.person()
    held: dict[str, str] = {}
    while True:
        page = client.call("memory.list", {"sort": "created", "limit": 500, "offset": len(held)})
        held |= {item["id"]: item["content"] for item in page["items"]}
        if len(held) >= page["total"]:
            break
    for writer in writers:
        writer.check(held)
    assert client.call("status")["warnings"] == []
    wrong = [
        found
        for found in client.call("doctor")["checks"]
        if not found["ok"] and found["name"] != "embeddings"
    ]
    assert not wrong
    client.close()


def test_every_acknowledged_write_survives_eight_kills(daemon_home: Any, fact: Any) -> None:
    storm(daemon_home, fact, rounds=8, seed=20_260_302)


@pytest.mark.long
@pytest.mark.parametrize("rounds", [50, 500])
def test_every_acknowledged_write_survives_a_storm_of_kills(daemon_home: Any, fact: Any, rounds: int) -> None:
    storm(daemon_home, fact, rounds=rounds, seed=rounds)


def test_an_import_that_was_killed_goes_on_where_it_was(daemon_home: Any, tmp_path: Any) -> None:
    texts = [f"Office {number} keeps its spare key in drawer {number}." for number in range(1_500)]
    (tmp_path / "notes.md").write_text("# Keys\n\n" + "\n".join(f"- {text}" for text in texts) + "\n")
    request = {"kind": "markdown", "path": str(tmp_path), "scope": "private"}
    client = daemon_home.person()
    started = threading.Event()
    failure: list[MemvaultError] = []

    def run() -> None:
        try:
            client.call("import.run", request, on_progress=lambda _: started.set())
        except MemvaultError as error:
            failure.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    started.wait(20)
    daemon_home.end(client.hello["pid"], signal.SIGKILL)
    thread.join()
    client = daemon_home.person()
    held = client.call("memory.list", {"limit": 1})["total"]
    assert failure
    assert 0 < held < len(texts)
    (run_,) = client.call("runs.list")["items"]
    assert run_["status"] == "interrupted"
    report = client.call("import.run", request)
    assert report["added"] == len(texts) - held
    assert client.call("memory.list", {"limit": 1})["total"] == len(texts)


def test_an_acknowledged_deletion_survives_a_kill(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()
    ids = [client.call("memory.add", fact(f"Ticket {number} is closed."))["id"] for number in range(20)]
    client.call("memory.delete", {"ids": ids[:10]})
    daemon_home.end(client.hello["pid"], signal.SIGKILL)
    client = daemon_home.person()
    assert {item["id"] for item in client.call("memory.list")["items"]} == set(ids[10:])
    assert client.call("memory.add", fact("ticket 3 is closed"))["outcome"] == "refused"
