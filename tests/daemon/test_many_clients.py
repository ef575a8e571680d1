"""Issue 2: importers and clients at once lose nothing; the only error is a busy that the client handles."""

from __future__ import annotations

import asyncio
import functools
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.async_client import AsyncClient
from memvault.client import Client
from memvault.errors import Illegal, MemvaultError, NotFound


class Busybody:
    """A client that adds, reads, edits and deletes, and knows what must be there at the end."""

    def __init__(self, home: Any, fact: Any, number: int) -> None:
        self.home, self.fact, self.number = home, fact, number
        self.rnd = random.Random(number)
        self.kept: set[str] = set()
        self.gone: set[str] = set()

    def work(self) -> None:
        with self.home.person(f"client {self.number}") as client:
            for step in range(20):
                self.step(client, step)

    def step(self, client: Client, step: int) -> None:
        ref = f"c{self.number}"
        text = f"Client {self.number} noted step {step} about harbour {self.rnd.randrange(10**6)}."
        self.kept.add(client.call("memory.add", self.fact(text, ref=ref))["id"])
        chosen = self.rnd.choice(sorted(self.kept))
        match self.rnd.randrange(4):
            case 0:
                assert client.call("memory.list", {"source": ref})["total"] == len(self.kept)
            case 1:
                found = client.call(
                    "recall", {"query": f"client {self.number} step {step} harbour", "limit": 10}
                )
                assert len({hit["id"] for hit in found["results"]}) == len(found["results"])
            case 2:
                assert client.call("memory.delete", {"ids": [chosen]})["deleted"] == [chosen]
                self.kept.discard(chosen)
                self.gone.add(chosen)
            case _:
                client.call("memory.edit", {"id": chosen, "changes": {"why": f"because of {step}"}})


def all_at_once(calls: list[Callable[[], Any]]) -> list[BaseException]:
    """Run every call in a thread of its own; what they raised."""
    failures: list[BaseException] = []

    def guarded(call: Callable[[], Any]) -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001  whatever a thread meets belongs to the test
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def every_id(client: Client) -> set[str]:
    held: set[str] = set()
    while True:
        page = client.call("memory.list", {"sort": "created", "limit": 500, "offset": len(held)})
        held |= {item["id"] for item in page["items"]}
        if len(held) == page["total"]:
            return held


def test_two_importers_and_ten_clients_lose_nothing(daemon_home: Any, fact: Any, tmp_path: Path) -> None:
    for project in ("alpha", "beta"):
        lines = [f"- Office {number} of {project} keeps key {number}." for number in range(300)]
        (tmp_path / project).mkdir()
        (tmp_path / project / "keys.md").write_text("# Keys\n\n" + "\n".join(lines) + "\n")
    reports: list[Any] = []

    def take(project: str) -> None:
        asked = {"kind": "markdown", "path": str(tmp_path / project), "scope": "private", "project": project}
        with daemon_home.person("importer") as client:
            reports.append(client.call("import.run", asked))

    client = daemon_home.person()
    crowd = [Busybody(daemon_home, fact, number) for number in range(10)]
    importers = [functools.partial(take, project) for project in ("alpha", "beta")]
    assert not all_at_once([*(one.work for one in crowd), *importers])
    assert [report["added"] for report in reports] == [300, 300]
    held = every_id(client)
    for one in crowd:
        assert one.kept <= held
        assert not one.gone & held
    assert len(held) == 600 + sum(len(one.kept) for one in crowd)
    assert all(check["ok"] for check in client.call("doctor")["checks"] if check["name"] != "embeddings")
    assert daemon_home.log() == ""


def test_more_calls_at_once_than_a_connection_may_have_are_all_answered(daemon_home: Any, fact: Any) -> None:
    daemon_home.person()

    async def run() -> list[Any]:
        client = AsyncClient(daemon_home.root)
        await client.connect()
        await client.call("vault.unlock", {"passphrase": daemon_home.passphrase})
        texts = [f"Ticket {number} is closed." for number in range(150)]
        try:
            return await asyncio.gather(*(client.call("memory.add", fact(text)) for text in texts))
        finally:
            await client.close()

    answers = asyncio.run(run())
    assert len({answer["id"] for answer in answers}) == 150
    assert daemon_home.person().call("memory.list")["total"] == 150


def test_more_clients_than_the_daemon_takes_wait_for_their_turn(daemon_home: Any) -> None:
    daemon_home.person()
    crowd = [daemon_home.wire() for _ in range(140)]
    answers = [wire.ask("status") for wire in crowd[:100]]
    assert all(answer["result"]["state"] == "unlocked" for answer in answers)
    refused = crowd[-1].read()
    assert refused["error"]["data"]["code"] == "busy"
    assert crowd[-1].read() is None
    found: list[str] = []
    late = Client(daemon_home.root, timeout_s=30)
    thread = threading.Thread(target=lambda: found.append(late.call("status")["state"]))
    thread.start()
    thread.join(0.3)
    for wire in crowd:
        wire.close()
    thread.join()
    late.close()
    assert found == ["unlocked"]


def test_of_two_edits_at_once_against_one_version_exactly_one_wins(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()
    memory = client.call("memory.add", fact("Port 3000."))["id"]
    outcomes: list[str] = []

    def edit(number: int) -> None:
        with daemon_home.person() as other:
            try:
                other.call(
                    "memory.edit", {"id": memory, "version": 1, "changes": {"content": f"Port {number}."}}
                )
                outcomes.append("won")
            except Illegal:
                outcomes.append("lost")

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["lost"] * 7 + ["won"]
    assert client.call("memory.get", {"id": memory})["version"] == 2


def test_the_same_claim_written_by_many_at_once_becomes_one_memory(daemon_home: Any, fact: Any) -> None:
    daemon_home.person()
    found: list[str] = []

    def add(number: int) -> None:
        with daemon_home.person() as client:
            found.append(client.call("memory.add", fact("Use pnpm.", ref=f"chat-{number}"))["id"])

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    record = daemon_home.person().call("memory.get", {"id": found[0]})
    assert (record["observations"], len(record["sources"])) == (8, 8)


def test_listeners_hear_of_changes_and_of_the_lock_and_agents_do_not(
    daemon_home: Any, fact: Any, puppet: Any
) -> None:
    agent = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    assert agent.ask("events.subscribe")["error"] == "presence_required"
    person = daemon_home.person()

    async def run() -> list[tuple[str, dict[str, Any]]]:
        client = AsyncClient(daemon_home.root)
        await client.connect()
        await client.call("events.subscribe")
        written = await asyncio.to_thread(person.call, "memory.add", fact("Port 3000."))
        heard = []
        async for news in client.notifications():
            heard.append(news)
            if news[0] == "changed":
                assert news[1]["ids"] == [written["id"]]
                await asyncio.to_thread(person.call, "vault.lock")
            if news == ("state", {"state": "locked"}):
                break
        await client.close()
        return heard

    heard = asyncio.run(asyncio.wait_for(run(), 20))
    assert [name for name, _ in heard] == ["changed", "state"]
    assert "Port 3000" not in str(heard)


def test_a_client_whose_daemon_dies_is_told_and_finds_the_next_one(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()
    daemon_home.kill()
    with pytest.raises(MemvaultError) as loss:
        client.call("memory.add", fact("Port 3000."))
    assert loss.value.code == "daemon_down"
    assert client.call("status")["state"] == "locked"
    with pytest.raises(MemvaultError) as closed:
        client.call("memory.get", {"id": "x"})
    assert closed.value.code == "locked"
    assert not isinstance(closed.value, NotFound)
