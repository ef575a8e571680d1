"""What a source may be called: by its reference, with or without its type, or as the whole it is a part of.

A part is named behind its whole: `FILE#section`, `FILE:12`, `FILE:12-20`, `SESSION#7`, `SESSION:7`. So the
name of a file covers its parts, and neither `a.md.bak` nor `notes/a.mdx` is covered by `a.md`. An import's
reference begins with its kind (`markdown:~/notes/a.md#x`): the path alone names it too. The home folder is
written `~`. Pure; knows nothing of tables and tombstones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from memvault.model import SourceType

_LINES = re.compile(r"(?<=.):\d+(?:[-,]\d+)*\Z")
"""A line, range or message number at the end; a port inside an address is none."""
_MOST_LINES = 3
"""One behind the other: file, line, column."""
_LONGEST_LINES = 40
"""Characters at the end of a name that are searched for them."""
_MOST_PARTS = 8
"""Number signs that are taken for boundaries, from the left; a name is at most some kilobytes of anything."""
_KIND = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*:(?=.)")


@lru_cache(maxsize=4)
def _below(home: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|(?<=:)){re.escape(home)}/")


def normal(name: str) -> str:
    """The name as it is compared: the home folder as `~`."""
    return _below(Path.home().as_posix()).sub("~/", name, count=1)


def wholes(name: str) -> list[str]:
    """The name and everything it is a part of, itself first."""
    pieces = name.split("#", _MOST_PARTS)
    found = ["#".join(pieces[:end]) for end in range(len(pieces), 0, -1)]
    for piece in list(found):
        found += _without_lines(piece)
    return [one for one in dict.fromkeys(found) if one]


def _without_lines(name: str) -> Iterator[str]:
    for _ in range(_MOST_LINES):
        lines = _LINES.search(name[-_LONGEST_LINES:])
        if lines is None:
            return
        name = name[: len(name) - len(lines[0])]
        yield name


def names_of(source_type: str, ref: str) -> list[str]:
    """Everything that a source of this type and reference may be called."""
    refs = wholes(normal(ref))
    if source_type == SourceType.IMPORT and (kind := _KIND.match(ref)):
        refs += wholes(normal(ref[kind.end() :]))
    return [*refs, *(f"{source_type}:{one}" for one in refs)]


def covers(name: str, source_type: str, ref: str | None) -> bool:
    """Whether `name`, as a person wrote it, is that source or a whole that it is a part of."""
    return ref is not None and normal(name) in names_of(source_type, ref)


def tail(name: str) -> str:
    """What every reference that `name` covers has in it: a quick test before `covers`."""
    return re.split(r"[/:]", name)[-1]
