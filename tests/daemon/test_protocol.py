"""docs/protocol.md: JSON-RPC 2.0 whole: notifications, batches, ids, cancellation, versions, slow ends."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from memvault import PROTOCOL
from memvault.daemon import exchange, lines
from memvault.errors import ProtocolMismatch
from memvault.rpc import framing, requests, versions


@pytest.fixture
def wire(shared_home: Any) -> Any:
    """A raw connection of somebody who has unlocked the vault and said hello."""
    shared_home.person()
    wire = shared_home.wire()
    assert "result" in wire.ask("vault.unlock", {"passphrase": shared_home.passphrase})
    assert "result" in wire.ask("hello", {"client": "test", "version": "0", "protocol": PROTOCOL})
    yield wire
    shared_home.hang_up()


def call(method: str, number: Any = None, **params: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if number is None else {**message, "id": number}


def send(wire: Any, message: Any) -> None:
    wire.send(json.dumps(message).encode() + b"\n")


def code(answer: Any) -> str:
    return answer["error"]["data"]["code"]


def test_a_batch_is_answered_as_one_array_without_its_notifications(wire: Any) -> None:
    send(wire, [call("status", 1), call("memory.list"), call("memory.get", "two", id="x"), call("status", 3)])
    answers = {answer["id"]: answer for answer in wire.read()}
    assert set(answers) == {1, "two", 3}
    assert answers[1]["result"]["state"] == "unlocked"
    assert code(answers["two"]) == "not_found"


def test_a_batch_of_notifications_is_not_answered_at_all(wire: Any) -> None:
    send(wire, [call("presence.drop"), call("memory.list")])
    assert wire.ask("status", number="after")["id"] == "after"


@pytest.mark.parametrize("size", [0, requests.MOST_BATCH + 1, 2_000])
def test_an_empty_or_endless_batch_is_one_error(wire: Any, size: int) -> None:
    send(wire, [call("status", number) for number in range(size)])
    answer = wire.read()
    assert (answer["id"], answer["error"]["code"]) == (None, framing.INVALID_REQUEST)
    assert code(answer) == "frame_invalid"


def test_a_full_batch_is_answered_whole(wire: Any) -> None:
    send(wire, [call("status", number) for number in range(requests.MOST_BATCH)])
    answers = wire.read()
    assert sorted(answer["id"] for answer in answers) == list(range(requests.MOST_BATCH))
    # The hello before it may still be on its way out, and counts as one call under way.
    put_off = [answer for answer in answers if "result" not in answer]
    assert [code(answer) for answer in put_off] in ([], ["busy"])


def test_what_is_no_request_inside_a_batch_gets_an_entry_of_its_own(wire: Any) -> None:
    send(wire, [1, call("status", 1), [], {"jsonrpc": "2.0"}, call("nothing.such", 2)])
    answers = wire.read()
    assert [answer["error"]["code"] for answer in answers if answer["id"] is None] == [
        framing.INVALID_REQUEST
    ] * 3
    named = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    assert named[2]["error"]["code"] == framing.METHOD_NOT_FOUND
    assert "result" in named[1]


def test_an_element_of_a_batch_can_be_cancelled_and_still_has_its_entry(wire: Any) -> None:
    send(wire, [call("doctor", 1), call(exchange.CANCEL, id=1), call("status", 2)])
    answers = {answer["id"]: answer for answer in wire.read()}
    assert set(answers) == {1, 2}
    assert code(answers[1]) == "cancelled"


def test_a_cancelled_call_is_answered_as_cancelled_and_its_id_is_free(wire: Any) -> None:
    wire.send(
        json.dumps(call("doctor", 7)).encode() + b"\n" + json.dumps(call("$/cancel", id=7)).encode() + b"\n"
    )
    assert code(wire.read()) == "cancelled"
    assert "result" in wire.ask("status", number=7)


def test_locking_goes_on_when_its_caller_takes_it_back(wire: Any, shared_home: Any, until: Any) -> None:
    """A vault is never left half closed, so that it opens again and works."""
    for _ in range(5):
        wire.send(
            json.dumps(call("vault.lock", 1)).encode()
            + b"\n"
            + json.dumps(call("$/cancel", id=1)).encode()
            + b"\n"
        )
        assert code(wire.read()) == "cancelled"
        until(lambda: wire.ask("status")["result"]["state"] == "locked", "the lock")
        assert (
            wire.ask("vault.unlock", {"passphrase": shared_home.passphrase})["result"]["state"] == "unlocked"
        )
        assert all(check["ok"] for check in wire.ask("doctor")["result"]["checks"])


def test_a_notification_is_run_where_nobody_needs_to_hear_of_it(
    wire: Any, shared_home: Any, fact: Callable[..., Any]
) -> None:
    assert wire.ask("hello", {"client": "t", "version": "0", "protocol": 1})["result"]["presence_s"] > 0
    send(wire, call("presence.drop"))
    assert wire.ask("hello", {"client": "t", "version": "0", "protocol": 1})["result"]["presence_s"] == 0
    before = wire.ask("memory.list")["result"]["total"]
    send(wire, call("memory.add", **fact("Nobody would hear that this was refused.")))
    assert wire.ask("memory.list")["result"]["total"] == before, "a write is never a notification"
    send(wire, call("vault.lock"))
    assert wire.ask("status")["result"]["state"] == "locked"
    shared_home.person()


def test_an_id_may_be_null_and_is_answered_as_null(wire: Any) -> None:
    wire.send(b'{"jsonrpc":"2.0","id":null,"method":"status"}\n')
    answer = wire.read()
    assert answer["id"] is None
    assert answer["result"]["state"] == "unlocked"


@pytest.mark.parametrize("number", [0, -5, 2**53, "", "a", "部" * 128])
def test_an_id_is_given_back_as_it_came(wire: Any, number: Any) -> None:
    assert wire.ask("status", number=number)["id"] == number


@pytest.mark.parametrize("number", [2**53 + 1, 10**30, "x" * 129, 1.0, True, [], {}])
def test_an_id_that_not_every_reader_holds_is_refused(wire: Any, number: Any) -> None:
    answer = wire.ask("status", number=number)
    assert (answer["id"], code(answer)) == (None, "frame_invalid")


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b"{", framing.PARSE_ERROR),
        (b'{"a":1,"a":2}', framing.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"status","params":{"x":NaN}}', framing.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"status","params":{"x":' + b"1" * 33 + b"}}",
         framing.PARSE_ERROR),
        (b"3", framing.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1}', framing.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"status","params":' + b"[" * 40 + b"]" * 40 + b"}",
         framing.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"nothing"}', framing.METHOD_NOT_FOUND),
        (b'{"jsonrpc":"2.0","id":1,"method":"status","params":{"x":1}}', framing.INVALID_PARAMS),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory.get","params":{"id":"x"}}', framing.DOMAIN_ERROR),
    ],
    ids=range(10),
)  # fmt: skip
def test_the_numbers_of_errors_are_those_of_json_rpc(wire: Any, line: bytes, number: int) -> None:
    wire.send(line + b"\n")
    assert wire.read()["error"]["code"] == number


def test_an_unknown_member_of_a_request_is_refused_by_its_name(wire: Any) -> None:
    send(wire, {**call("status", 1), "surprise": 1})
    assert "'surprise'" in wire.read()["error"]["message"]


@pytest.mark.parametrize(
    ("newest", "oldest", "spoken"), [(1, None, 1), (1, 0, 1), (5, 1, PROTOCOL), (PROTOCOL, 1, PROTOCOL)]
)
def test_both_sides_speak_the_newest_version_they_share(
    wire: Any, newest: int, oldest: int | None, spoken: int
) -> None:
    params = {"client": "t", "version": "0", "protocol": newest}
    answer = wire.ask("hello", params if oldest is None else {**params, "oldest": oldest})["result"]
    assert answer["protocol"] == spoken
    assert answer["protocols"] == {"oldest": versions.OLDEST_PROTOCOL, "newest": PROTOCOL}


@pytest.mark.parametrize(
    ("newest", "oldest", "said"), [(0, None, "too old"), (9, None, "too new"), (9, 8, "too new")]
)
def test_a_client_without_a_common_version_is_told_who_is_behind(
    wire: Any, newest: int, oldest: int | None, said: str
) -> None:
    answer = wire.ask("hello", {"client": "t", "version": "0", "protocol": newest, "oldest": oldest})
    assert code(answer) == "protocol_mismatch"
    assert said in answer["error"]["message"]
    with pytest.raises(ProtocolMismatch, match=said):
        versions.agree(newest, oldest)


def test_a_client_that_only_stops_writing_hears_the_rest(wire: Any) -> None:
    for number in range(5):
        send(wire, call("doctor", number))
    wire.sock.shutdown(socket.SHUT_WR)
    answers = [wire.read() for _ in range(5)]
    assert {answer["id"] for answer in answers} == set(range(5))
    assert wire.read() is None


def test_a_client_that_hangs_up_ends_its_calls(
    shared_home: Any, wire: Any, until: Any, tmp_path: Any
) -> None:
    (tmp_path / "many.md").write_text(
        "# Keys\n\n" + "".join(f"- Berth {n} holds buoy {n}.\n" for n in range(1_900))
    )
    params = {"kind": "markdown", "path": str(tmp_path), "scope": "private", "project": "hung up"}
    send(wire, call("import.run", 1, **params))
    assert wire.read()["method"] == "progress"
    wire.close()
    client = shared_home.person()
    until(lambda: client.call("runs.list", {"limit": 1})["items"][0]["status"] == "interrupted", "its end")
    assert client.call("memory.list", {"project": "hung up"})["total"] < 1_900


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines of a second."""
    monkeypatch.setattr(lines, "HELLO_S", 1.0)
    monkeypatch.setattr(lines, "LINE_S", 1.0)


class Deaf:
    """What `Patience` is told, without a socket."""

    def __init__(self, greeted: bool) -> None:
        self.said: list[str] = []
        self.patience = lines.Patience(lambda: greeted, self.said.append)


async def test_who_never_says_hello_is_given_up(hasty: None, until_async: Any) -> None:
    silent, greeted = Deaf(False), Deaf(True)
    await until_async(lambda: silent.said)
    assert silent.said == ["no hello within 1 seconds"]
    assert greeted.said == []
    for one in (silent, greeted):
        one.patience.end()


async def test_half_a_line_is_given_up_and_a_whole_one_is_not(hasty: None, until_async: Any) -> None:
    half, whole, ended = Deaf(True), Deaf(True), Deaf(False)
    half.patience.line_begun(True)
    whole.patience.line_begun(True)
    whole.patience.line_begun(False)
    ended.patience.line_begun(True)
    ended.patience.end()
    await until_async(lambda: half.said)
    half.patience.line_begun(True)
    assert half.said == ["a line was not finished within 1 seconds"]
    assert (whole.said, ended.said) == ([], [])
    for one in (half, whole):
        one.patience.end()


@pytest.fixture
def until_async() -> Any:
    """Wait for a condition while the loop goes on."""
    import asyncio

    async def wait(condition: Callable[[], Any]) -> None:
        deadline = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    return wait


@pytest.mark.long
@pytest.mark.parametrize("said", [b"", b'{"jsonrpc":"2.0","id":1,"method":"status"}\n', b'{"half'])
def test_a_silent_connection_is_told_and_closed(shared_home: Any, said: bytes) -> None:
    shared_home.person()
    wire = shared_home.wire()
    wire.sock.settimeout(lines.HELLO_S + 20)
    started = time.monotonic()
    wire.send(said)
    if said.endswith(b"\n"):
        assert "result" in wire.read()
    assert code(wire.read()) == "too_slow"
    assert wire.read() is None
    assert time.monotonic() - started > lines.HELLO_S - 1
    shared_home.hang_up()
