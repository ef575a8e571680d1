"""Names that a claim mentions (paths, functions, flags, commands), and whether they are still to be found.

Owns what counts as a name and where it is looked for: in cited files and below one folder, within bounds. It
reads and never runs anything. Knows nothing of memories.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from memvault.watch.cited import Cited, read

MOST_NAMES = 12
MOST_FILES = 2_000
MOST_FILE_BYTES = 1_048_576
MOST_BYTES = 67_108_864
MOST_S = 3.0
"""Bounds of one search: names, files, bytes of one file and of all, seconds. Past them nothing is missing."""

_PASSED_OVER = frozenset({
    "node_modules", "__pycache__", "venv", "dist", "build", "target", "vendor", "site-packages",
})  # fmt: skip


class Sort(StrEnum):
    PATH = "path"
    FUNCTION = "function"
    FLAG = "flag"
    NAME = "name"
    COMMAND = "command"


class State(StrEnum):
    """What a check says (SPEC 14, `verify`)."""

    OK = "ok"
    CHANGED = "changed"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Name:
    """`alone`: not a part of a command line, whose words may belong to another program."""

    sort: Sort
    text: str
    alone: bool = True


_SPAN = re.compile(r"`([^`\n]{1,200})`")
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*")
_FUNCTION = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*(?=\(\))")
_FILE = re.compile(
    r"(?<![\w/.~-])(?:(?:\.{1,2}|~)?/)?(?:[\w.-]+/)*[\w-][\w.-]*\.(?:py|pyi|js|jsx|ts|tsx|go|rs|c|cc|cpp|h|hpp"
    r"|java|kt|rb|php|sh|bash|ps1|md|rst|toml|yaml|yml|json|sql|cfg|ini|txt|lua|swift|cs|css|html|vue)(?!\w)"
)
_WORD = re.compile(r"[A-Za-z_][\w.:-]*")
_CODE = re.compile(r"_|[a-z][A-Z]|\w(?:\.|::)\w")
"""What makes a word an identifier rather than a word of prose."""


def named(texts: Iterable[str]) -> list[Name]:
    """The names in some texts, each once, at most MOST_NAMES."""
    found: dict[tuple[Sort, str], Name] = {}
    for text in texts:
        prose = _ADDRESS.sub(" ", text)
        for name in (*_in_spans(prose), *_in_prose(_SPAN.sub(" ", prose))):
            found.setdefault((name.sort, name.text), name)
    return list(found.values())[:MOST_NAMES]


def _in_spans(text: str) -> Iterator[Name]:
    """Names between backticks: one word, or a command line."""
    for match in _SPAN.finditer(text):
        span = match[1].strip()
        words = span.split()
        if len(words) == 1:
            yield from _one_word(span)
        elif words:
            first = words[0].removeprefix("$")
            if "/" in first or _FILE.fullmatch(first):
                yield Name(Sort.PATH, first, alone=False)
            elif re.fullmatch(r"[\w.+-]+", first):
                yield Name(Sort.COMMAND, first)
            yield from (Name(name.sort, name.text, alone=False) for name in _in_prose(" ".join(words[1:])))


def _one_word(span: str) -> Iterator[Name]:
    if _FLAG.fullmatch(span):
        yield Name(Sort.FLAG, span)
    elif span.endswith("()"):
        yield Name(Sort.FUNCTION, span[:-2])
    elif _FILE.fullmatch(span) or re.fullmatch(r"[\w.~-]*/[\w./-]+", span):
        yield Name(Sort.PATH, span)
    elif _WORD.fullmatch(span):
        yield Name(Sort.NAME, span)


def _in_prose(text: str) -> Iterator[Name]:
    yield from (Name(Sort.FLAG, match[0]) for match in _FLAG.finditer(text))
    yield from (Name(Sort.FUNCTION, match[0]) for match in _FUNCTION.finditer(text))
    yield from (Name(Sort.PATH, match[0]) for match in _FILE.finditer(text))


def look_up(
    names: Sequence[Name],
    cited: Sequence[Cited],
    excerpts: Sequence[str],
    root: Path | None,
    forbidden: Sequence[Path],
    stopped: Callable[[], bool],
) -> dict[Name, State]:
    """Whether each name is still there: in the cited files as they are now, below `root`, or as a program.

    Something is missing only where it was to be expected: an excerpt had it, or the whole project has not.
    """
    open_names = {name for name in names if not _near(name, cited, root)}
    whole = root is not None and bool(open_names) and _search(open_names, root, forbidden, stopped)
    out = dict.fromkeys(names, State.OK)
    for name in open_names:
        had = name.sort not in (Sort.COMMAND, Sort.PATH) and any(_mentions(text, name) for text in excerpts)
        out[name] = State.MISSING if had or (whole and _of_the_project(name)) else State.UNKNOWN
    return out


def _of_the_project(name: Name) -> bool:
    """Whether a project that has no trace of it lost it, rather than never had it."""
    if name.sort is Sort.PATH:
        return not name.text.startswith(("/", "~"))
    if name.sort is Sort.FLAG:
        return name.alone
    return name.sort is Sort.FUNCTION or (name.sort is Sort.NAME and _CODE.search(name.text) is not None)


def _near(name: Name, cited: Sequence[Cited], root: Path | None) -> bool:
    """Found without a search."""
    if name.sort is Sort.PATH:
        given = Path(name.text).expanduser() if name.text.startswith("~/") else Path(name.text)
        if given.is_absolute():
            return os.path.lexists(given)
        bases = [*(Path(file.path).parent for file in cited), *([] if root is None else [root])]
        return any(os.path.lexists(base / given) for base in bases)
    if any(_mentions(file.text, name) for file in cited):
        return True
    return name.sort in (Sort.COMMAND, Sort.NAME) and shutil.which(name.text) is not None


def _mentions(text: str, name: Name) -> bool:
    """Whether the text has the name, or what it is called where it is defined: `put` of `Queue.put`."""
    if name.sort is Sort.PATH:
        return False
    own = re.split(r"\.|::", name.text)[-1] or name.text
    return re.search(rf"(?<![\w-]){re.escape(own)}(?![\w-])", text) is not None


def _search(wanted: set[Name], root: Path, forbidden: Sequence[Path], stopped: Callable[[], bool]) -> bool:
    """Take what is found below `root` out of `wanted`; whether all of it was searched."""
    until, left_bytes, left_files = time.monotonic() + MOST_S, MOST_BYTES, MOST_FILES
    for path, size_bytes in _files(root):
        if not wanted:
            break
        left_bytes, left_files = left_bytes - size_bytes, left_files - 1
        if stopped() or left_bytes < 0 or left_files < 0 or time.monotonic() > until:
            return False
        below = path.relative_to(root).as_posix()
        wanted -= {
            name for name in wanted if name.sort is Sort.PATH and f"/{below}".endswith(f"/{name.text}")
        }
        found = read(str(path), forbidden)
        if isinstance(found, Cited):
            wanted -= {name for name in wanted if _mentions(found.text, name)}
    return True


def _files(root: Path) -> Iterator[tuple[Path, int]]:
    """Files of a size to be read, with their size in bytes; neither links nor what tools have put there."""
    folders = [root]
    while folders:
        here = folders.pop()
        try:
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if not entry.name.startswith(".") and entry.name not in _PASSED_OVER:
                            folders.append(Path(entry.path))
                    elif entry.is_file(follow_symlinks=False):
                        size_bytes = entry.stat(follow_symlinks=False).st_size
                        if size_bytes <= MOST_FILE_BYTES:
                            yield Path(entry.path), size_bytes
        except OSError:
            continue
