"""Editing JSON that people wrote: one member or item goes in or out, every other byte stays as it is.

Owns reading JSON with comments and trailing commas, and where a change is put. Pure: text in, text out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memvault.errors import Usage

DEEPEST = 200
"""Levels of nesting that are followed; no host's configuration comes near it."""

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_WORD = re.compile(r"-?[0-9][0-9eE+.\-]*|true|false|null")
_MEND = "Mend the file, or see what would be written with --print."


@dataclass(slots=True)
class Node:
    """A value and where it stands: `text[start:end]`.

    `parts`: (key, where the key begins, node) of an object's members; of a list's items the key is None.
    """

    kind: str
    start: int
    end: int
    parts: list[tuple[str | None, int, Node]] = field(default_factory=list[tuple[str | None, int, "Node"]])

    def get(self, key: str) -> Node | None:
        """The member's value; the last one counts when a key stands twice."""
        return next((node for name, _, node in reversed(self.parts) if name == key), None)


def _wrong(text: str, at: int) -> Usage:
    return Usage(f"it is not valid JSON at line {text.count(chr(10), 0, at) + 1}", _MEND)


def parse(text: str) -> Node:
    """The one value of `text`. Raises Usage, naming the line that cannot be read."""
    node, at = _value(text, _skip(text, 0), 0)
    if _skip(text, at) != len(text):
        raise _wrong(text, at)
    return node


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _value(text: str, at: int, depth: int) -> tuple[Node, int]:
    if depth > DEEPEST:
        raise _wrong(text, at)
    opening = text[at : at + 1]
    if opening in ("{", "["):
        return _container(text, at, depth, "}" if opening == "{" else "]")
    found = (_STRING if opening == '"' else _WORD).match(text, at)
    if found is None:
        raise _wrong(text, at)
    return Node("string" if opening == '"' else "word", at, found.end()), found.end()


def _container(text: str, start: int, depth: int, closing: str) -> tuple[Node, int]:
    node = Node("object" if closing == "}" else "list", start, start)
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        key, begins = None, at
        if node.kind == "object":
            key, at = _key(text, at)
        part, at = _value(text, at, depth + 1)
        node.parts.append((key, begins, part))
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise _wrong(text, at)
    node.end = at + 1
    return node, node.end


def _key(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise _wrong(text, at)
    at = _skip(text, found.end())
    if text[at : at + 1] != ":":
        raise _wrong(text, at)
    return json.loads(found.group(), strict=False), _skip(text, at + 1)


def plain(text: str, node: Node) -> Any:
    """What the node says, as Python values."""
    if node.kind == "object":
        return {key: plain(text, part) for key, _, part in node.parts}
    if node.kind == "list":
        return [plain(text, part) for _, _, part in node.parts]
    return json.loads(text[node.start : node.end], strict=False)


def find(text: str, path: Sequence[str]) -> Node | None:
    """The value at `path` of keys; None when it is not there. Raises Usage."""
    node: Node | None = parse(text) if text.strip() else None
    for key in path:
        node = node.get(key) if node is not None and node.kind == "object" else None
    return node


def put(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` at `path`; objects on the way are made. Raises Usage."""
    if not text.strip():
        text = "{}\n"
    node = parse(text)
    for depth, key in enumerate(path):
        if node.kind != "object":
            raise Usage(f"{'.'.join(path[:depth]) or 'the file'} is no JSON object", _MEND)
        following = node.get(key)
        if following is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _insert(text, node, key, value)
        node = following
    if plain(text, node) == value:
        return text
    return text[: node.start] + _shown(text, value, _indent_at(text, node.start)) + text[node.end :]


def append(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` as the last item of the list at `path`, which is made if missing. Raises Usage."""
    node = find(text, path)
    if node is None:
        return put(text, path, [value])
    if node.kind != "list":
        raise Usage(f"{'.'.join(path)} is no JSON list", _MEND)
    return _insert(text, node, None, value)


def remove(text: str, path: Sequence[str]) -> str:
    """`text` without the member at `path`, and without the objects above it that this leaves empty."""
    node = find(text, path[:-1])
    if node is None or node.kind != "object" or node.get(path[-1]) is None:
        return text
    if len(node.parts) == 1 and len(path) > 1:
        return remove(text, path[:-1])
    at = max(n for n, (key, _, _) in enumerate(node.parts) if key == path[-1])
    return _cut(text, node, at)


def remove_items(text: str, path: Sequence[str], is_ours: Callable[[Any], bool]) -> str:
    """`text` without the items of the list at `path` that are ours; an empty list goes as a whole."""
    node = find(text, path)
    if node is None or node.kind != "list":
        return text
    ours = [n for n, (_, _, part) in enumerate(node.parts) if is_ours(plain(text, part))]
    if ours and len(ours) == len(node.parts):
        return remove(text, path)
    for at in reversed(ours):
        text = _cut(text, node, at)
    return text


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, at: int) -> str:
    """White space at the start of the line that `at` is on."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One level of indentation as this file has it; two blanks when it shows none."""
    found = re.search(r"[{\[][ \t]*\r?\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _shown(text: str, value: Any, indent: str) -> str:
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (_newline(text) + indent).join(lines)


def _insert(text: str, node: Node, key: str | None, value: Any) -> str:
    """Put a last member or item into a container."""
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    inner = text[node.start + 1 : node.end - 1]
    indent, newline = _indent_at(text, node.start), _newline(text)
    within = indent + _unit(text)
    if not node.parts and not inner.strip():
        body = name + _shown(text, value, within)
        fresh = f"{text[node.start]}{newline}{within}{body}{newline}{indent}{text[node.end - 1]}"
        return text[: node.start] + fresh + text[node.end :]
    ends = node.start + 1 + len(inner.rstrip())
    if "\n" in inner:
        if node.parts:
            within = _indent_at(text, node.parts[-1][1])
        added = newline + within + name + _shown(text, value, within)
        tail = (
            text[ends : node.end] if "\n" in text[ends : node.end] else newline + indent + text[node.end - 1]
        )
    else:
        added = " " + name + json.dumps(value, ensure_ascii=False)
        tail = text[ends : node.end]
    if not node.parts:
        return text[:ends] + added + tail + text[node.end :]
    last = node.parts[-1][2].end
    if text[_skip(text, last)] == ",":  # whoever writes a comma behind the last one gets one again
        return text[:ends] + added + "," + tail + text[node.end :]
    return text[:last] + "," + text[last:ends] + added + tail + text[node.end :]


def _cut(text: str, node: Node, at: int) -> str:
    """Take the part number `at` out, with its comma and the line it leaves empty."""
    _, start, part = node.parts[at]
    end = part.end
    after = _skip(text, end)
    if text[after : after + 1] == ",":
        end = after + 1
    elif at:
        before = node.parts[at - 1][2].end
        comma = text.index(",", before, start) if "," in _bare(text, before, start) else None
        if comma is not None:
            comma = _comma(text, before)
            text = text[:comma] + text[comma + 1 :]
            start, end = start - 1, end - 1
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        rest = re.match(r"[ \t]*(?:\r?\n)?", text[end:])
        follows = 0 if rest is None else rest.end()
        if text[end : end + follows].endswith("\n"):
            return text[:line] + text[end + follows :]
        return text[: max(0, line - len(_newline(text)))] + text[end:] if line else text[:start] + text[end:]
    if text[end : end + 1] == " ":
        end += 1
    elif text[start - 1 : start] == " " and text[end : end + 1] in ("}", "]"):
        start -= 1
    return text[:start] + text[end:]


def _bare(text: str, start: int, end: int) -> str:
    """What stands between two parts, without comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text[start:end], flags=re.DOTALL)


def _comma(text: str, after: int) -> int:
    """Where the comma behind a value stands."""
    return _skip(text, after)
