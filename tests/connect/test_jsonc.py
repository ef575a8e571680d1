"""A host's JSON keeps every byte that is not ours: comments, order, indentation, line ends."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.connect import jsonc
from memvault.errors import Usage

COMMENTED = """{
    // what the person wrote
    "zeta": [1, 2, /* three */ 3],
    "mcpServers": {
        "other": {"command": "x"}, // keep me
    },
    "alpha": {"b": "a // no comment", "c": null}
    // the end
}
"""
ENTRY = {"command": "python", "args": ["-I", "pipe.py"]}


def test_a_member_goes_in_and_out_and_leaves_every_other_byte() -> None:
    added = jsonc.put(COMMENTED, ("mcpServers", "memvault"), ENTRY)
    node = jsonc.parse(added)
    value = jsonc.plain(added, node)
    assert value["mcpServers"] == {"other": {"command": "x"}, "memvault": ENTRY}
    for line in COMMENTED.splitlines():
        assert line in added
    assert list(value) == ["zeta", "mcpServers", "alpha"]
    assert jsonc.put(added, ("mcpServers", "memvault"), ENTRY) == added, "twice is once"
    out = jsonc.remove(added, ("mcpServers", "memvault"))
    assert out == COMMENTED


def test_the_files_own_indentation_and_line_ends_are_kept() -> None:
    text = '{\r\n\t"a": 1\r\n}\r\n'
    added = jsonc.put(text, ("servers", "memvault"), {"x": [1]})
    assert "\n" not in added.replace("\r\n", "")
    assert '\r\n\t"servers": {\r\n\t\t"memvault": {' in added
    assert jsonc.remove(added, ("servers", "memvault")) == text


@pytest.mark.parametrize("text", ["", "  \n", "{}", "{}\n", "{\n}\n", "// empty\n{}"])
def test_an_empty_file_becomes_an_object(text: str) -> None:
    added = jsonc.put(text, ("a", "b"), 1)
    assert jsonc.plain(added, jsonc.parse(added)) == {"a": {"b": 1}}


def test_list_items_of_ours_go_and_others_stay() -> None:
    text = '{"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}}'
    added = jsonc.append(text, ("hooks", "Stop"), {"hooks": [{"command": "ours"}]})
    added = jsonc.append(added, ("hooks", "Start"), {"hooks": [{"command": "ours"}]})
    assert [len(v) for v in json.loads(added)["hooks"].values()] == [2, 1]

    def ours(item: Any) -> bool:
        return "ours" in str(item)

    out = jsonc.remove_items(added, ("hooks", "Stop"), ours)
    out = jsonc.remove_items(out, ("hooks", "Start"), ours)
    assert json.loads(out) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a" 1}', '{"a": 1,,}', "{", '{"a": tru}', '{"a": 1} x', "[1 2]", '{a: 1}', '{"a": "x\n"}',
        "{" * 5_000,
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_and_the_line_named(text: str) -> None:
    with pytest.raises(Usage, match="line"):
        jsonc.put(text, ("x",), 1)


def test_a_place_that_is_no_object_is_refused() -> None:
    with pytest.raises(Usage, match="no JSON object"):
        jsonc.put('{"a": [1]}', ("a", "b"), 1)
    with pytest.raises(Usage, match="no JSON list"):
        jsonc.append('{"a": {}}', ("a",), 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
NOISE = st.sampled_from(["", " ", "\n", "  // a note, with {braces}\n", "/* , */", "\t"])


@given(OBJECTS, st.lists(st.text(max_size=5), min_size=1, max_size=3), VALUES, st.data())
def test_any_json_with_comments_takes_a_value_and_gives_it_back(
    before: dict[str, Any], path: list[str], value: Any, data: st.DataObject
) -> None:
    pieces = re.split(
        r"(?<=[\[{,])|(?=[\]}])", json.dumps(before, indent=data.draw(st.sampled_from([None, 1])))
    )
    text = json.dumps(before)
    if '"' not in "".join(str(key) for key in before):
        text = "".join(
            piece + (data.draw(NOISE) if _outside(pieces[: n + 1]) else "") for n, piece in enumerate(pieces)
        )
    here: Any = before
    for key in path:
        if not isinstance(here, dict):
            return
        here = here.get(key, {}) if key != path[-1] else here
    try:
        added = jsonc.put(text, path, value)
    except Usage:
        return
    found = jsonc.plain(added, jsonc.parse(added))
    expected = json.loads(json.dumps(before))
    at = expected
    for key in path[:-1]:
        at = at.setdefault(key, {})
    at[path[-1]] = value
    assert found == expected
    out = jsonc.remove(added, path)
    assert jsonc.find(out, path) is None
    kept = jsonc.plain(out, jsonc.parse(out))
    assert {key: item for key, item in kept.items() if key != path[0]} == {
        key: item for key, item in before.items() if key != path[0]
    }


def _outside(pieces: list[str]) -> bool:
    """Whether the text so far ends outside of a string."""
    return len(re.findall(r'(?<!\\)(?:\\\\)*"', "".join(pieces))) % 2 == 0
