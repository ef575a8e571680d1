"""SECURITY 19: what a connection and an agent may cost; nobody's long reading delays another's question."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from memvault.client import Client
from memvault.daemon import replies
from memvault.daemon.limits import Bucket, Ledger, Limits, TooManyConnections
from memvault.daemon.readers import PAGE_BYTES, TURN, Courtesy, Lane, Room
from memvault.errors import AnswerTooLarge, Busy, RateLimited


def code(answer: Any) -> str:
    return answer["error"]["data"]["code"] if "error" in answer else "result"


def lines(count: int, method: str = "status", **params: Any) -> bytes:
    return b"".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}).encode() + b"\n"
        for n in range(count)
    )


def test_a_bucket_gives_a_burst_and_then_its_rate() -> None:
    bucket = Bucket(10, 5, 0.0)
    assert [bucket.take(0.0) for _ in range(6)] == [0, 0, 0, 0, 0, 0.1]
    assert bucket.take(0.05) == pytest.approx(0.05)
    assert bucket.take(0.1) == 0
    assert bucket.take(0.05) > 0, "a clock that goes back gives nothing"
    assert [bucket.take(1_000.0) for _ in range(6)].count(0) == 5


def test_a_ledger_counts_connections_apart_and_an_agent_over_all_of_them() -> None:
    ledger = Ledger(Limits(burst=3, calls_per_s=1, agent_burst=5, agent_calls_per_s=1), lambda: 0.0)
    for connection in (1, 2):
        for _ in range(3):
            ledger.spend(connection, None)
        with pytest.raises(RateLimited) as refused:
            ledger.spend(connection, None)
        assert refused.value.retry_after_ms == 1_000
    for number in range(5):
        ledger.spend(10 + number, "agent:one")
    with pytest.raises(RateLimited):
        ledger.spend(20, "agent:one")
    ledger.spend(21, "agent:two")


def test_an_agent_has_so_many_connections_and_a_closed_one_makes_room() -> None:
    ledger = Ledger(Limits(agent_connections=2), lambda: 0.0)
    ledger.spend(1, "agent:one")
    ledger.spend(2, "agent:one")
    ledger.spend(1, "agent:one")
    with pytest.raises(TooManyConnections):
        ledger.spend(3, "agent:one")
    ledger.spend(3, "agent:two")
    ledger.gone(1)
    ledger.spend(4, "agent:one")


def test_made_up_names_cost_no_memory() -> None:
    ledger = Ledger(Limits(), lambda: 0.0)
    for number in range(1_000):
        ledger.spend(number, f"agent:{number}")
        ledger.gone(number)
    assert len(ledger._agents) < 300
    assert not ledger._places
    assert not ledger._connections


def test_a_lane_serves_owners_in_turn_and_each_in_order() -> None:
    lane, order, started = Lane("test"), list[str](), threading.Event()
    gate = lane.submit(lambda: started.wait(20))
    done: list[Future[Any]] = []
    for owner, count in ((1, 5), (2, 2)):
        token = TURN.set(owner)
        done += [lane.submit(order.append, f"{owner}{n}") for n in range(count)]
        TURN.reset(token)
    started.set()
    for one in [gate, *done]:
        one.result(20)
    assert order == ["10", "20", "11", "21", "12", "13", "14"]
    lane.shutdown()
    with pytest.raises(RuntimeError):
        lane.submit(print)


def test_a_lane_outlives_failures_and_passes_over_what_was_cancelled() -> None:
    lane, hold = Lane("test"), threading.Event()
    lane.submit(hold.wait, 20)
    failing = lane.submit(lambda: 1 / 0)
    cancelled = lane.submit(lambda: "never")
    assert cancelled.cancel()
    last = lane.submit(lambda: "last")
    hold.set()
    with pytest.raises(ZeroDivisionError):
        failing.result(20)
    assert last.result(20) == "last"
    lane.shutdown()


def test_reading_at_length_stands_aside_for_a_question_but_not_for_ever() -> None:
    courtesy, met = Courtesy(), list[str]()

    def read() -> None:
        courtesy.give_way()
        met.append("read")

    with courtesy.hurried():
        reader = threading.Thread(target=read)
        reader.start()
        reader.join(20)
        assert met == ["read"], "it goes on after a while, whoever asks"
    started = time.perf_counter()
    courtesy.give_way()
    assert time.perf_counter() - started < 0.01


def test_a_page_ends_before_it_is_too_long_and_holds_one_at_least() -> None:
    room = Room(Courtesy(), 100)
    assert room.pack({"a": "x" * 500}) is not None
    assert room.pack({"a": 1}) is None
    room = Room(Courtesy(), 100)
    assert [room.pack({"a": "x" * 30}) is not None for _ in range(4)] == [True, True, False, False]


def test_answers_beyond_the_limit_are_an_error_also_within_a_batch() -> None:
    text = "x" * (replies.MAX_ANSWER_BYTES // 3)
    with pytest.raises(AnswerTooLarge):
        replies.result(1, [text] * 3)
    batch = replies.Batch()
    for number in range(4):
        batch.add(number, replies.result(number, text))
    answers = json.loads(batch.line() or b"")
    assert [code(answer) for answer in answers] == [
        "result",
        "result",
        "answer_too_large",
        "answer_too_large",
    ]
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3]


@pytest.fixture
def wire(shared_home: Any) -> Any:
    shared_home.person()
    yield shared_home.wire()
    shared_home.hang_up()


def flood(more: bytes) -> tuple[bytes, int]:
    """More calls than a burst, in batches so that it takes a moment, then `more`; and how many batches."""
    element = {"jsonrpc": "2.0", "id": None, "method": "nothing.such"}
    count = 2 * Limits().burst // 32
    return (json.dumps([element] * 32).encode() + b"\n") * count + more, count


def send_aside(wire: Any, raw: bytes) -> None:
    """Send from a thread of its own: the daemon stops reading while nobody takes its answers."""
    threading.Thread(target=wire.send, args=(raw,), daemon=True).start()


def test_too_many_calls_a_second_are_told_when_to_come_again(wire: Any) -> None:
    raw, batches = flood(lines(200))
    send_aside(wire, raw)
    first = [answer for _ in range(batches) for answer in wire.read()]
    began = time.monotonic()
    then = [wire.read() for _ in range(200)]
    slowly = 200 / (time.monotonic() - began) < Limits().calls_per_s
    refused = [answer for answer in (*first, *then) if code(answer) == "rate_limited"]
    assert any(code(answer) == "rate_limited" for answer in first), "each element of a batch counts"
    assert slowly or any(code(answer) == "rate_limited" for answer in then)
    assert all(0 < answer["error"]["data"]["retry_after_ms"] <= 2 for answer in refused)
    assert {code(answer) for answer in then} <= {"result", "rate_limited", "busy"}
    time.sleep(refused[-1]["error"]["data"]["retry_after_ms"] / 1000)
    assert code(wire.ask("status")) == "result"


def test_lines_that_are_no_calls_count_as_well(wire: Any) -> None:
    raw, batches = flood(b"no json\n" * 200)
    send_aside(wire, raw)
    for _ in range(batches):
        wire.read()
    assert "rate_limited" in {code(wire.read()) for _ in range(200)}


def test_a_connection_beyond_its_rate_takes_nothing_from_the_others(wire: Any, shared_home: Any) -> None:
    raw, batches = flood(b"")
    send_aside(wire, raw)
    codes: list[str] = []
    hearing = threading.Thread(
        target=lambda: codes.extend(code(answer) for _ in range(batches) for answer in wire.read())
    )
    hearing.start()
    other = shared_home.wire()
    for _ in range(50):
        assert code(other.ask("status")) == "result"
    hearing.join()
    assert "rate_limited" in codes


def test_a_client_waits_and_asks_again_when_it_was_too_fast(shared_home: Any) -> None:
    client = shared_home.person()
    assert all(client.call("status")["state"] == "unlocked" for _ in range(3_000))
    shared_home.hang_up()


def test_calls_at_once_are_bounded_and_the_rest_is_told_so(wire: Any) -> None:
    wire.send(lines(200, "doctor"))
    codes = [code(wire.read()) for _ in range(200)]
    assert set(codes) == {"result", "busy"}
    assert codes.count("result") >= 32


def test_an_agent_cannot_take_all_places(shared_home: Any, puppet: Callable[..., Any]) -> None:
    shared_home.person()
    crowd = [puppet(shared_home.root, marks={"CODEX_SANDBOX": "1"}) for _ in range(3)]
    assert all(one.call("status")["state"] == "unlocked" for one in crowd)
    ledger = Ledger(Limits(), lambda: 0.0)
    for number in range(Limits().agent_connections):
        ledger.spend(number, "agent:codex")
    with pytest.raises(Busy):
        ledger.spend(99, "agent:codex")


def test_pages_of_very_large_records_end_early_and_miss_nothing(shared_home: Any, fact: Any) -> None:
    client = shared_home.person()
    body = "x" * 16_000
    made: set[str] = set()
    for number in range(60):
        large = dict.fromkeys(("why", "how_to_apply", "conditions", "context", "about"), body)
        claim = fact(f"Crate {number} is large.", project="large", **large)
        made.add(client.call("memory.add", claim)["id"])
    assert len(made) == 60
    for method, more in (("memory.list", {"sort": "created"}), ("export.page", {})):
        found, at, pages = list[str](), 0, 0
        where = "cursor" if method == "export.page" else "offset"
        while at is not None:
            page = client.call(method, {"project": "large", "limit": 500, where: at, **more})
            assert len(json.dumps(page["items"], ensure_ascii=False)) < PAGE_BYTES * 1.1
            found += [item["id"] for item in page["items"]]
            at, pages = page["next" if where == "offset" else "cursor"], pages + 1
            assert page["total"] == 60
            assert at is None or at == len(found)
        assert sorted(found) == sorted(made)
        assert pages == 2
    client.call("memory.delete", {"project": "large"})
    shared_home.hang_up()


def furnish(client: Client, tmp_path: Any) -> None:
    rows = [f"- Office {n} of pier {n % 37} keeps key {n * 7 % 1_001}: lantern {n * 31 % 777} broke."
            for n in range(1_500)]  # fmt: skip
    (tmp_path / "keys.md").write_text("# Keys\n\n" + "\n".join(rows) + "\n")
    asked = {"kind": "markdown", "path": str(tmp_path), "scope": "private", "project": "p"}
    assert client.call("import.run", asked)["added"] == 1_500


def p95_ms(client: Client, count: int = 80) -> float:
    taken: list[float] = []
    for number in range(count):
        started = time.perf_counter()
        client.call("recall", {"query": f"who keeps key {number * 7}", "log": False})
        taken.append((time.perf_counter() - started) * 1_000)
    return statistics.quantiles(taken, n=20)[-1]


def test_a_recall_does_not_wait_for_another_clients_lists(
    shared_home: Any, until: Callable[..., Any], tmp_path: Any
) -> None:
    """A queue of lists before the recall costs no more than what is being read when it comes."""
    client = shared_home.person()
    furnish(client, tmp_path)
    until(lambda: client.call("status")["model"]["pending"] == 0, "the embedding", 120)
    started = time.perf_counter()
    for _ in range(5):
        client.call("memory.list", {"limit": 500})
    list_ms = (time.perf_counter() - started) * 200
    ratios: list[tuple[float, float]] = []
    for _ in range(3):
        alone = p95_ms(client)
        pager, over = shared_home.wire(), threading.Event()

        def page(pager: Any = pager, over: Any = over) -> None:
            pager.ask("hello", {"client": "pager", "version": "0", "protocol": 1})
            while not over.is_set():
                pager.send(lines(8, "memory.list", limit=500))
                for _ in range(8):
                    if pager.read() is None:
                        return

        thread = threading.Thread(target=page, daemon=True)
        thread.start()
        beside = p95_ms(client)
        over.set()
        thread.join()
        pager.close()
        ratios.append((alone, beside))
    # Eight lists wait at any time: a queue would cost eight of them.
    assert min(beside - alone for alone, beside in ratios) < max(2 * list_ms, 15), (ratios, list_ms)
