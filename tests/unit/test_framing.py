"""The wire: one JSON object a line, read strictly; unknown and unfit fields refused by name."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.daemon.handlers import table
from memvault.errors import BY_CODE, FrameInvalid, MemvaultError, TextUnusable, Usage, from_wire
from memvault.rpc import framing, wire

NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abcde\u4e2d\x1b", max_size=5), JSON, max_size=5))
def test_a_message_is_one_line_and_comes_back_equal(message: dict[str, object]) -> None:
    line = framing.encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert framing.decode(line) == message


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        '{"a":1}'.encode("utf-16"),
        b"[]",
        b"3",
        b'"text"',
        b"null",
        b'{"a":1} {"b":2}',
        b'{"a":1',
        b'{"a":1,"a":2}',
        b'{"p":{"a":1,"a":2}}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":' + b"9" * 5_000 + b"}",
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"a":"\x00"}',
    ],
    ids=range(18),
)
def test_what_is_not_one_strict_json_object_is_refused(line: bytes) -> None:
    with pytest.raises(FrameInvalid):
        framing.decode(line)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_or_a_clean_refusal(line: bytes) -> None:
    with contextlib.suppress(FrameInvalid):
        assert isinstance(framing.decode(line), dict)


def test_lone_surrogates_are_noticed_in_values_names_and_depth() -> None:
    for body in ('{"a":"\\ud800"}', '{"\\udfff":1}', '{"a":[{"b":"x\\uD83Dy"}]}'):
        assert not framing.is_unicode(body.encode(), framing.decode(body.encode()))
    for body in ('{"a":"\\ud83d\\udc4d"}', '{"a":"plain"}', '{"a":"\\u4e2d"}'):
        assert framing.is_unicode(body.encode(), framing.decode(body.encode()))


def test_a_request_beyond_the_limit_is_refused_before_it_is_sent() -> None:
    with pytest.raises(TextUnusable):
        framing.request(1, "memory.add", {"content": "x" * framing.MAX_REQUEST_BYTES})
    with pytest.raises(TextUnusable):
        framing.request(1, "memory.add", {"content": "\ud800"})


def test_every_error_crosses_the_wire_as_itself() -> None:
    for code, kind in BY_CODE.items():
        data = framing.error_body(kind("what", "do this"))["data"]
        again = from_wire(data["code"], "what", data["hint"])
        assert type(again) is kind, code
        assert (again.hint, again.exit_status) == ("do this", data["exit_status"])
    assert type(from_wire("from-the-future", "what", "")) is MemvaultError


@pytest.mark.parametrize("name", sorted(table().table))
def test_an_unknown_field_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(Usage, match=r"surprise|missing required field"):
        wire.convert({"surprise": 1}, table().table[name].params)
    assert issubclass(table().table[name].params, wire.Params)


@pytest.mark.parametrize("name", sorted(table().table))
def test_no_parameter_lets_a_number_through_that_the_database_cannot_hold(name: str) -> None:
    params = table().table[name].params
    for field in msgspec.structs.fields(params):
        for number in (2**63, 10**30, -1):
            message = {field.name: number}
            with pytest.raises(Usage):
                wire.convert(message, params)


@pytest.mark.parametrize("raw", [None, [], [1], "x", 3, {"limit": "5"}, {"limit": 1.5}, {"limit": True}])
def test_params_of_another_shape_are_refused(raw: object) -> None:
    with pytest.raises(Usage):
        wire.convert(raw, wire.Page)


def test_the_client_side_does_without_the_daemons_packages() -> None:
    heavy = ["msgspec", "numpy", "sqlcipher3", "cryptography", "click", "keyring"]
    code = f"import sys, memvault.client; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
