"""SPEC 12: an idle vault locks itself; agents do not keep it open; after a lock only unlocking opens."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from memvault.clock import SystemClock
from memvault.config import Config
from memvault.daemon import home as places
from memvault.daemon.handlers import table
from memvault.daemon.keeper import Keeper
from memvault.daemon.server import Server


@dataclass
class Running:
    """A daemon in a thread of this process, whose settings count seconds instead of minutes."""

    keeper: Keeper
    loop: asyncio.AbstractEventLoop
    ended: asyncio.Event
    thread: threading.Thread

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join(20)


@pytest.fixture
def serve(daemon_home: Any) -> Iterator[Callable[..., Running]]:
    running: list[Running] = []

    def start(idle_s: float, absolute_s: float = 0.0) -> Running:
        ready = threading.Event()
        made: list[Running] = []

        async def live() -> None:
            keeper = Keeper(daemon_home.layout, Config(idle_s, absolute_s, None), SystemClock())
            server = Server(keeper, table(), lambda: None)
            places.prepare(daemon_home.layout)
            await server.start(places.listen(daemon_home.layout))
            made.append(
                Running(keeper, asyncio.get_running_loop(), asyncio.Event(), threading.current_thread())
            )
            ready.set()
            await made[0].ended.wait()
            await server.stop()
            await keeper.stop()
            daemon_home.layout.socket.unlink()

        threading.Thread(target=asyncio.run, args=(live(),)).start()
        assert ready.wait(10)
        running.append(made[0])
        return made[0]

    yield start
    daemon_home._pids.discard(os.getpid())
    daemon_home.hang_up()
    for one in running:
        one.stop()


def state(home: Any) -> str:
    return home.connect().call("status")["state"]


def test_an_idle_vault_locks_itself_whatever_agents_do(
    daemon_home: Any,
    serve: Callable[..., Any],
    puppet: Callable[..., Any],
    until: Callable[..., Any],
    fact: Any,
) -> None:
    serve(idle_s=1.5)
    agent = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    client = daemon_home.person()
    client.call("memory.add", fact("Port 3000 belongs to the gateway."))
    client.call("agents.add", {"name": "claude-code"})
    answers: list[str] = []

    def locked() -> bool:
        answer = agent.ask("recall", {"query": "gateway port"})
        answers.append(answer.get("error", "result"))
        return answers[-1] != "result"

    until(locked, "the idle lock under an agent's traffic", 15)
    assert answers[-1] == "locked"
    assert answers.count("result") > 5, "the agent was busy all the time"
    assert state(daemon_home) == "locked"


def test_a_persons_calls_put_the_idle_lock_off_and_the_absolute_one_comes_all_the_same(
    daemon_home: Any, serve: Callable[..., Any], until: Callable[..., Any], fact: Any
) -> None:
    running = serve(idle_s=1.0, absolute_s=3.0)
    client = daemon_home.person()
    started = running.keeper.clock.monotonic_s()
    calls = 0
    while client.call("status")["state"] == "unlocked":
        calls += 1
        if client.call("status")["state"] == "unlocked":
            try:
                client.call("memory.list", {"limit": 1})
            except Exception as error:  # noqa: BLE001
                assert error.code == "locked"  # type: ignore[attr-defined]
    lasted = running.keeper.clock.monotonic_s() - started
    assert calls > 10
    assert 2.5 < lasted < 10


def test_after_a_lock_only_unlocking_opens(
    daemon_home: Any,
    serve: Callable[..., Any],
    puppet: Callable[..., Any],
    until: Callable[..., Any],
    fact: Any,
) -> None:
    serve(idle_s=0.8)
    client = daemon_home.person()
    client.call("memory.add", fact("Port 3000."))
    until(lambda: state(daemon_home) == "locked", "the idle lock", 15)
    agent = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    for caller in (agent, puppet(daemon_home.root)):
        for method, params in (("memory.list", {}), ("recall", {"query": "port"}), ("memory.add", fact("x"))):
            assert caller.ask(method, params)["error"] == "locked"
    assert agent.ask("vault.unlock", {"keychain": True})["error"] == "presence_required"
    assert state(daemon_home) == "locked"
    assert daemon_home.person().call("memory.list")["total"] == 1


def test_settings_of_zero_never_lock(daemon_home: Any, serve: Callable[..., Any]) -> None:
    running = serve(idle_s=0.0, absolute_s=0.0)
    daemon_home.person()
    assert running.keeper.locks_in_s() is None
    assert daemon_home.person().call("status")["locks_in_s"] is None


def test_locking_while_calls_are_under_way_answers_every_one_of_them(daemon_home: Any, fact: Any) -> None:
    daemon_home.person()
    outcomes: list[str] = []

    def work(number: int) -> None:
        client = daemon_home.person()
        for step in range(200):
            try:
                client.call("memory.add", fact(f"Client {number} noted step {step}."))
                outcomes.append("written")
            except Exception as error:  # noqa: BLE001
                outcomes.append(error.code)  # type: ignore[attr-defined]
                return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while outcomes.count("written") < 20:
        pass
    daemon_home.person().call("vault.lock")
    for thread in threads:
        thread.join()
    assert set(outcomes) <= {"written", "locked"}
    assert daemon_home.person().call("memory.list", {"limit": 1})["total"] == outcomes.count("written")
