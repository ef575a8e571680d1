"""A day's worth of traffic in minutes: nothing lost, nothing left behind, memory bounded."""

from __future__ import annotations

import json
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memvault.client import Client
from memvault.daemon.handlers import table

pytestmark = pytest.mark.long

SOAK_S = 120.0
METHODS = sorted(set(table().table) - {"shutdown", "vault.lock", "import.run"})


def rss_kib(pid: int) -> int:
    facts = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in facts if line.startswith("VmRSS"))


def test_hours_of_traffic_lose_nothing_and_do_not_grow_the_daemon(daemon_home: Any, fact: Any) -> None:
    first = daemon_home.person()
    pid = first.hello["pid"]
    ends = time.monotonic() + SOAK_S
    kept: dict[int, set[str]] = {number: set() for number in range(6)}
    failures: list[BaseException] = []
    sizes: list[int] = []

    def work(number: int) -> None:
        rnd = random.Random(number)
        client = daemon_home.person(f"soak {number}")
        mine = kept[number]
        while time.monotonic() < ends:
            step(client, rnd, mine, number)

    def step(client: Client, rnd: random.Random, mine: set[str], number: int) -> None:
        text = f"Client {number} noted harbour {rnd.randrange(10**9)} at {time.monotonic_ns()}."
        mine.add(client.call("memory.add", fact(text))["id"])
        client.call("recall", {"query": f"harbour {rnd.randrange(100)}"})
        while len(mine) > 60:
            victim = mine.pop()
            client.call("memory.delete", {"ids": [victim]})

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001  whatever a thread meets belongs to the test
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in kept]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        threads[0].join(SOAK_S / 12)
        sizes.append(rss_kib(pid))
    assert not failures
    held = {item["id"] for item in first.call("memory.list", {"limit": 500})["items"]}
    assert held == set().union(*kept.values())
    assert all(check["ok"] for check in first.call("doctor")["checks"] if check["name"] != "embeddings")
    assert max(sizes[len(sizes) // 2 :]) < min(sizes[2 : len(sizes) // 2]) * 1.5 + 50_000, sizes
    assert daemon_home.log() == ""


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted({field for method in table().table.values() for field in method.params.__struct_fields__})


@settings(max_examples=5_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(METHODS), st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6))
def test_thousands_of_strange_calls_are_all_answered(shared_home: Any, method: str, params: Any) -> None:
    shared_home.hang_up()
    shared_home.person()
    wire = shared_home.wire()
    wire.ask("presence.prove", {"passphrase": shared_home.passphrase})
    wire.send(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode() + b"\n")
    answer = wire.read()
    while answer is not None and "method" in answer:
        answer = wire.read()
    assert answer is not None
    assert "result" in answer or answer["error"]["data"]["code"] != "failure", (method, params, answer)
