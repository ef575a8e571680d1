"""SECURITY 18, 19, 22, 23: whatever comes is answered by an error or a close, and the daemon lives."""

from __future__ import annotations

import enum
import json
import socket
import time
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memvault.daemon.handlers import table
from memvault.rpc.framing import MAX_REQUEST_BYTES

SECRET = "zanzibarquokka"
LEFT_OUT = {
    "shutdown", "vault.lock", "vault.unlock", "vault.init", "import.run", "keys.rotate", "keys.remove",
    "keys.change_passphrase", "backup.restore",
}  # fmt: skip
"""They end the daemon, close the vault, or change what opens it."""
METHODS = sorted(set(table().table) - LEFT_OUT)


@pytest.fixture(autouse=True)
def lives_and_keeps_its_mouth_shut(shared_home: Any) -> Any:
    """After every test the same daemon answers, and its log holds no word of what it was given."""
    pid = shared_home.person().hello["pid"]
    yield
    client = shared_home.person()
    assert client.hello["pid"] == pid
    assert client.call("status")["state"] == "unlocked"
    assert SECRET not in shared_home.log()
    assert "failed" not in shared_home.log(), shared_home.log()
    shared_home.hang_up()


@pytest.fixture
def wire(shared_home: Any) -> Any:
    """A raw connection of somebody who has unlocked the vault."""
    shared_home.person()
    wire = shared_home.wire()
    assert "result" in wire.ask("vault.unlock", {"passphrase": shared_home.passphrase})
    return wire


def code(message: dict[str, Any] | None) -> str:
    assert message is not None
    assert message["jsonrpc"] == "2.0"
    error = message["error"]
    assert set(error) == {"code", "message", "data"}
    assert SECRET not in json.dumps(error)
    assert "Traceback" not in error["message"]
    return error["data"]["code"]


def add(content: Any, **more: Any) -> dict[str, Any]:
    source = {"type": "user", "ref": "test"}
    return {"content": content, "kind": "fact", "scope": "private", "source": source, **more}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"{}", "frame_invalid"),
        (b"[]", "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":1,"method":"status","surprise":1}', "frame_invalid"),
        (b"null", "frame_invalid"),
        (b"GET / HTTP/1.1", "frame_invalid"),
        (b"\xff\xfe\x00binary", "frame_invalid"),
        (b"\x00", "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":1,"method":"status"', "frame_invalid"),
        (b'{"jsonrpc":"1.0","id":1,"method":"status"}', "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"status"}', "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":true,"method":"status"}', "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":{},"method":"status"}', "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"status"}', "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":1,"method":"recall","params":{"query":"x","limit":NaN}}', "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"status"}', "frame_invalid"),
        (b'{"a":' * 50_000, "frame_invalid"),
        (b"[" * 200_000, "frame_invalid"),
        (b'{"jsonrpc":"2.0","id":1,"method":"nothing.such"}', "unknown_method"),
        (b'{"jsonrpc":"2.0","id":1,"method":"__class__"}', "unknown_method"),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\u001b[31m"}', "unknown_method"),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"status"}', "text_unusable"),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', "text_unusable"),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory.get","params":{"id":"\\ud800"}}', "text_unusable"),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory.get","params":{"\\ud800":"x"}}', "text_unusable"),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory.get","params":[1]}', "usage"),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory.get","params":"x"}', "usage"),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory.get","params":{"id":7}}', "usage"),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory.list","params":{"offset":-1}}', "usage"),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory.list","params":{"offset":1e400}}', "usage"),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory.list","params":{"limit":99999999999999999999}}', "usage"),
        (b'{"jsonrpc":"2.0","id":1,"method":"runs.list","params":{"limit":-1}}', "usage"),
        (b'{"jsonrpc":"2.0","id":1,"method":"export.page","params":{"cursor":9007199254740993}}', "usage"),
    ],
    ids=range(33),
)  # fmt: skip
def test_a_line_that_is_no_proper_call_is_answered_by_its_fault(
    wire: Any, line: bytes, expected: str
) -> None:
    wire.send(line + b"\n")
    assert code(wire.read()) == expected
    assert wire.ask("status")["result"]["state"] == "unlocked", "the connection goes on"


@pytest.mark.parametrize(
    "content",
    ["", " \n", "a\x00b", "\ud800", "x" * 70_000, "部" * 30_000],
    ids=["empty", "blank", "nul", "surrogate", "long", "long chinese"],
)
def test_text_that_cannot_be_a_memory_is_refused(wire: Any, content: str) -> None:
    assert code(wire.ask("memory.add", add(content))) == "text_unusable"


@pytest.mark.parametrize("field", ["content", "why", "conditions", "subject"])
def test_text_that_acts_on_terminals_is_kept_as_data(wire: Any, field: str) -> None:
    evil = f"\x1b]52;c;ZXZpbA==\x07 \x1b[31m \u202e{field} [@click=app.quit]x[/] \u200b"
    about = {"attribute": "a"} if field == "subject" else {}
    answer = wire.ask("memory.add", add(f"marker {field}", **about) | {field: evil})
    record = wire.ask("memory.get", {"id": answer["result"]["id"]})["result"]
    assert record[field] == evil.strip()


def test_a_memory_of_one_long_line_is_kept_whole(wire: Any) -> None:
    line = "word " * 13_000
    answer = wire.ask("memory.add", add(line))
    assert wire.ask("memory.get", {"id": answer["result"]["id"]})["result"]["content"] == line.strip()
    assert wire.ask("memory.delete", {"ids": [answer["result"]["id"]]})["result"]["deleted"]


@pytest.mark.parametrize("size", [MAX_REQUEST_BYTES + 2, 300 * 1024, 2 * 1024 * 1024])
def test_a_frame_beyond_the_limit_is_told_and_ends_the_connection(wire: Any, size: int) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "memory.add", "params": add("x" * size)})
    try:
        wire.send(line.encode() + b"\n")
    except ConnectionError:
        return
    answer = wire.read()
    assert answer is None or code(answer) == "frame_invalid"
    assert answer is None or wire.read() is None


def test_an_endless_line_without_an_end_is_cut_off(wire: Any) -> None:
    with pytest.raises((ConnectionError, BrokenPipeError)):
        for _ in range(200):
            wire.send(b"x" * 65_536)


def test_half_a_line_and_silence_holds_nobody_up(wire: Any, shared_home: Any) -> None:
    wire.send(b'{"jsonrpc":"2.0","id":1,"meth')
    assert shared_home.person().call("status")["state"] == "unlocked"
    wire.send(b'od":"status"}\n')
    assert wire.read()["result"]["state"] == "unlocked"


def test_calls_written_byte_by_byte_or_all_at_once_are_answered_alike(wire: Any) -> None:
    line = b'{"jsonrpc":"2.0","id":"a","method":"status"}\n'
    for byte in line:
        wire.send(bytes([byte]))
    assert wire.read()["id"] == "a"
    wire.send(line.replace(b'"a"', b'"b"') + b"\n\r\n" + line.replace(b'"a"', b'"c"'))
    assert {wire.read()["id"], wire.read()["id"]} == {"b", "c"}


def test_notifications_are_never_answered(wire: Any) -> None:
    wire.send(
        b'{"jsonrpc":"2.0","method":"status"}\n{"jsonrpc":"2.0","method":"memory.delete","params":{}}\n'
    )
    assert wire.ask("status", number="after")["id"] == "after"


def test_a_number_is_free_again_as_soon_as_it_was_answered(wire: Any) -> None:
    for _ in range(300):
        assert "result" in wire.ask("status", number=1)


def test_the_same_number_twice_at_once_is_told_to_come_back(wire: Any) -> None:
    call = b'{"jsonrpc":"2.0","id":5,"method":"doctor"}\n'
    wire.send(call * 3)
    answers = [wire.read() for _ in range(3)]
    assert sum("result" in answer for answer in answers) >= 1
    assert {code(answer) for answer in answers if "error" in answer} <= {"busy"}


@pytest.mark.parametrize(
    "params",
    [{"id": 1}, {"id": "no such"}, {}, {"id": 1, "more": 2}, [], "x", None, {"id": None}, {"id": 1.5}],
)
def test_cancelling_nothing_or_nonsense_harms_nobody(wire: Any, params: Any) -> None:
    wire.send(json.dumps({"jsonrpc": "2.0", "method": "$/cancel", "params": params}).encode() + b"\n")
    assert wire.ask("status")["result"]["state"] == "unlocked"


def test_a_cancelled_import_stops_and_keeps_its_part(shared_home: Any, wire: Any, tmp_path: Any) -> None:
    for number in range(1_000):
        (tmp_path / f"{number}.md").write_text(f"Harbour {number} has a lantern of colour {number}.\n")
    params = {"kind": "markdown", "path": str(tmp_path), "scope": "private", "project": "cancelled"}
    wire.send(
        json.dumps({"jsonrpc": "2.0", "id": 9, "method": "import.run", "params": params}).encode() + b"\n"
    )
    while (news := wire.read())["params"]["done"] < 20:
        assert news["method"] == "progress"
    wire.send(b'{"jsonrpc":"2.0","method":"$/cancel","params":{"id":9}}\n')
    client = shared_home.person()
    deadline = time.monotonic() + 20
    while (newest := client.call("runs.list", {"limit": 1})["items"][0])["status"] != "interrupted":
        assert time.monotonic() < deadline, newest
    assert 0 < client.call("memory.list", {"project": "cancelled"})["total"] < 1_000
    client.call("memory.delete", {"project": "cancelled"})


def test_every_unknown_field_is_refused_by_its_name(wire: Any) -> None:
    for name in sorted(table().table):
        answer = wire.ask(name, {"surprise": 1})
        assert code(answer) == "usage", name
        message = answer["error"]["message"]
        assert "surprise" in message or "missing required field" in message, name


def test_who_does_not_read_is_cut_off_and_holds_nobody_up(shared_home: Any, wire: Any) -> None:
    for number in range(8):
        wire.ask("memory.add", add(f"Slow reader {number} " + "x" * 60_000, project="slow"))
    greedy = shared_home.wire()
    greedy.sock.settimeout(1)
    call = b'{"jsonrpc":"2.0","id":%d,"method":"memory.list","params":{"project":"slow","limit":500}}\n'
    sent = 0
    try:
        while sent < 1_000:
            greedy.send(call % sent)
            sent += 1
    except (TimeoutError, ConnectionError):
        pass
    started = time.monotonic()
    client = shared_home.person()
    client.call("memory.list", {"limit": 1})
    assert time.monotonic() - started < 10
    client.call("memory.delete", {"project": "slow"})
    facts = Path(f"/proc/{client.hello['pid']}/status").read_text().splitlines()
    rss_kib = next(int(line.split()[1]) for line in facts if line.startswith("VmRSS"))
    assert rss_kib < 600 * 1024


def test_two_hundred_connections_leave_the_daemon_answering(shared_home: Any) -> None:
    crowd: list[socket.socket] = []
    for _ in range(200):
        sock = socket.socket(socket.AF_UNIX)
        crowd.append(sock)
        sock.connect(str(shared_home.layout.socket))
    for sock in crowd[::3]:
        sock.sendall(b"garbage\n")
    for sock in crowd:
        sock.close()
    assert shared_home.person().call("status")["state"] == "unlocked"


TEXT = st.text(max_size=12) | st.sampled_from(
    ["\x00", "\x1b[31m", "\u202e", "' OR 1=1 --", "../../etc", SECRET]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
FIELDS = sorted({field for method in table().table.values() for field in method.params.__struct_fields__})
PARAMS = st.dictionaries(st.sampled_from(FIELDS) | TEXT, VALUES, max_size=6) | VALUES


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(METHODS), PARAMS, st.integers(0, 2**70) | st.text(max_size=5))
def test_any_parameters_are_answered_by_a_result_or_an_error_of_ours(
    wire: Any, method: str, params: Any, number: Any
) -> None:
    wire.send(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"
    )
    while (answer := wire.read()) is not None and "method" in answer:
        pass
    assert answer is not None
    if "error" in answer:
        assert answer["error"]["data"]["code"] != "failure", answer


def typed(params: type) -> st.SearchStrategy[dict[str, Any]]:
    """Parameters whose types are right, as far as msgspec tells, and whose values are anything."""
    required: dict[str, Any] = {}
    optional: dict[str, Any] = {}
    for field in msgspec.structs.fields(params):
        kind = "required" if field.required else "optional"
        (required if kind == "required" else optional)[field.name] = of_type(field.type)
    return st.fixed_dictionaries(required, optional=optional)


PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.just(SECRET * 40),
    int: st.integers(0, 2**53),
    float: st.floats(0, 1),
    bool: st.booleans(),
    type(None): st.none(),
}


def of_type(kind: Any) -> st.SearchStrategy[Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in PLAIN:
        return PLAIN[kind]
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is typing.Annotated:
        return of_type(arguments[0])
    if origin in (list, tuple):
        return st.lists(of_type(arguments[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(st.sampled_from(FIELDS), of_type(arguments[1]), max_size=3)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from([member.value for member in kind])
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return typed(kind)
    return st.one_of(*(of_type(one) for one in arguments))


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_well_typed_nonsense_never_breaks_a_handler(wire: Any, method: str, data: Any) -> None:
    params = data.draw(typed(table().table[method].params))
    answer = wire.ask(method, params)
    while answer is not None and "method" in answer:
        answer = wire.read()
    assert answer is not None
    assert "result" in answer or answer["error"]["data"]["code"] != "failure", (params, answer)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_are_answered_or_ignored_but_never_fatal(shared_home: Any, raw: bytes) -> None:
    shared_home.person().close()
    wire = shared_home.wire()
    wire.send(raw + b"\n")
    answer = wire.ask("status", number="after")
    while answer is not None and answer.get("id") != "after":
        assert "error" in answer
        answer = wire.read()
    wire.close()
    assert answer is not None


def test_a_recall_of_query_syntax_is_a_recall_of_words(wire: Any) -> None:
    queries: list[str] = [
        '"',
        "*",
        "NEAR(a b)",
        "a AND",
        "content:x",
        "-",
        "a\x00b",
        "(" * 500,
        "'; DROP TABLE memory",
    ]
    for query in queries:
        answer = wire.ask("recall", {"query": query})
        assert "result" in answer or code(answer) == "text_unusable"
