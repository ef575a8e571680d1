"""The YAML front matter of a Markdown note. Owns the split and a small, harmless subset of YAML.

Every scalar stays the text that was written: `no`, `1.10` and `22:30` are not made into something else, and
dates stay ISO strings. Anchors, aliases, deep nesting and repeated keys are refused. Must not know which keys
mean what.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from memvault.importers.base import Problem

MAX_FRONT_MATTER_CHARS = 16_384
MAX_DEPTH = 6
"""Levels of lists and mappings inside the front matter."""

Value = str | list["Value"] | dict[str, "Value"]

_FENCE = "---"
_ENDS = {"---", "..."}
_KEY_LINE = re.compile(r"[\w\"'][^:]{0,80}:(\s|$)")
_KEY_SEPARATORS = re.compile(r"[\s-]+")


@dataclass(frozen=True, slots=True)
class Front:
    """The front matter and the rest. Keys are lower case with `_` between words; `lines` are their places."""

    values: Mapping[str, Value]
    lines: Mapping[str, int]
    body: str
    body_line: int
    """Line of the file on which the body begins, from 1."""

    @property
    def present(self) -> bool:
        return self.body_line > 1


def split(note: str) -> Front | Problem:
    """Take the front matter off a note whose line ends are `\\n`; a note without one is all body."""
    lines = note.split("\n")
    bare = Front({}, {}, note, 1)
    if lines[0].rstrip() != _FENCE:
        return bare
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() in _ENDS), None)
    if end is None:
        opened = len(lines) > 1 and _KEY_LINE.match(lines[1])
        return Problem(1, "the front matter is not closed by a line `---`") if opened else bare
    header = "\n".join(lines[1:end])
    if len(header) > MAX_FRONT_MATTER_CHARS:
        return Problem(1, f"the front matter is longer than {MAX_FRONT_MATTER_CHARS:,} characters")
    parsed = _parse(header)
    if isinstance(parsed, Problem):
        return parsed
    if isinstance(parsed, str):
        return bare if parsed else Front({}, {}, "\n".join(lines[end + 1 :]), end + 2)
    values: dict[str, Value] = {}
    places: dict[str, int] = {}
    for written, (line, value) in parsed.items():
        key = _KEY_SEPARATORS.sub("_", written.strip().lower())
        if key in values:
            return Problem(line, "a front matter key is given twice")
        values[key], places[key] = value, line
    return Front(values, places, "\n".join(lines[end + 1 :]), end + 2)


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not been seen."""

    value: list[Value] | dict[str, Value]
    key: str | None = None


@dataclass(slots=True)
class _Builder:
    """Builds the value from parser events without recursion."""

    open: list[_Open] = field(default_factory=list[_Open])
    key_lines: dict[str, int] = field(default_factory=dict[str, int])
    root: Value | None = None

    def take(self, event: yaml.Event) -> str | None:
        """Take one event; a sentence when it cannot be accepted."""
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            return "the front matter uses a YAML anchor or alias"
        if isinstance(event, yaml.ScalarEvent):
            return self._put(str(event.value), _line(event))
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(self.open) >= MAX_DEPTH:
                return "the front matter is nested too deeply"
            made: list[Value] | dict[str, Value] = {} if isinstance(event, yaml.MappingStartEvent) else []
            problem = self._put(made, _line(event))
            self.open.append(_Open(made))
            return problem
        if isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self.open.pop()
        elif isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
            return "the front matter holds a second YAML document"
        return None

    def _put(self, value: Value, line: int) -> str | None:
        if not self.open:
            self.root = value
            return None
        within = self.open[-1]
        if isinstance(within.value, list):
            within.value.append(value)
        elif within.key is not None:
            within.value[within.key] = value
            within.key = None
        elif not isinstance(value, str):
            return "a front matter key is not text"
        elif value in within.value:
            return "a front matter key is given twice"
        else:
            within.key = value
            if len(self.open) == 1:
                self.key_lines[value] = line
        return None


def _line(event: yaml.Event) -> int:
    """The line of the file; the front matter begins on its second."""
    return (event.start_mark.line if event.start_mark else 0) + 2


def _parse(header: str) -> dict[str, tuple[int, Value]] | str | Problem:
    """The top mapping with the line of each key, the text when it is no mapping, or the problem."""
    builder = _Builder()
    try:
        for event in yaml.parse(header, Loader=yaml.BaseLoader):
            problem = builder.take(event)
            if problem is not None:
                return Problem(_line(event), problem)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return Problem(mark.line + 2 if mark else 1, "the front matter is not valid YAML")
    except (yaml.YAMLError, ValueError, OverflowError):
        # PyYAML lets chr() and int() fail by themselves on escapes and versions out of range.
        return Problem(1, "the front matter is not valid YAML")
    root = builder.root
    if isinstance(root, dict):
        return {key: (builder.key_lines.get(key, 2), value) for key, value in root.items()}
    if isinstance(root, list):
        return Problem(2, "the front matter is a list, not keys with values")
    return root or ""
