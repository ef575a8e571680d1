"""Walking folders and reading files that nobody vouches for. Owns limits, links, names and decoding.

Links are never followed below the import root, nothing but regular files is opened, and no file over its
limit is read. Must not know any format.
"""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memvault import clock, text
from memvault.errors import TextUnusable, Usage
from memvault.importers.base import Skipped, Unreadable

MAX_NOTE_BYTES = 1_048_576
"""Size of a Markdown file; one that is larger is a book, not a note."""

_TEMPLATE_NAMES = frozenset({"template", "templates", "_template", "_templates"})
_FOREIGN_FOLDERS = frozenset({"node_modules", "__pycache__"})
_MAX_SUFFIXES_NAMED = 4


@dataclass(frozen=True, slots=True)
class File:
    """A file to read; `where` is its path below the import root, printable, with `/` between the parts."""

    path: Path
    where: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The bytes of a file, their SHA-256 in hex, and the time of its last change (ISO 8601) if it has one."""

    data: bytes
    sha256: str
    modified_at: str | None


Wanted = Callable[[str], bool]
"""Told a file's name, says whether the importer reads such files."""


def import_root(path: Path) -> Path:
    """The file or folder the person named, links in its own path resolved. Raises Usage without one."""
    try:
        root = path.expanduser().resolve(strict=True)
        mode = root.stat().st_mode
    except (OSError, RuntimeError, ValueError) as error:
        raise Usage(
            "the path to import does not exist or cannot be reached", "Give an existing file or folder."
        ) from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise Usage("the path to import is neither a file nor a folder")
    return root


def where_of(path: Path, root: Path) -> str:
    """The path below `root` as one printable line in NFC; the file's name when `root` is the file itself."""
    name = path.name if path == root else path.relative_to(root).as_posix()
    return text.visible(unicodedata.normalize("NFC", name), one_line=True)


def walk(start: Path, root: Path, wanted: Wanted) -> Iterator[File | Skipped | Unreadable]:
    """The wanted files below `start` in order of name, a folder's files before its subfolders.

    Everything left out is reported: links, hidden and template folders one by one, files of other types once
    a folder. `start` may be a file, which is taken whatever its name.
    """
    if not start.is_dir():
        yield File(start, where_of(start, root))
        return
    folders = [start]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Unreadable(where_of(folder, root), _cannot("folder", error))
            continue
        others: Counter[str] = Counter()
        subfolders: list[Path] = []
        for entry in entries:
            yield from _sort_in(entry, root, wanted, others, subfolders)
        if others:
            yield Skipped("." if folder == root else where_of(folder, root), _other_types(others))
        folders.extend(reversed(subfolders))


def _sort_in(
    entry: os.DirEntry[str], root: Path, wanted: Wanted, others: Counter[str], subfolders: list[Path]
) -> Iterator[File | Skipped | Unreadable]:
    """Yield a wanted file or the reason to leave an entry out; note subfolders and other files."""
    path = Path(entry.path)
    where = where_of(path, root)
    if entry.is_symlink():
        yield Skipped(where, "a link: links are not followed")
    elif entry.is_dir(follow_symlinks=False):
        reason = _folder_left_out(entry.name)
        if reason:
            yield Skipped(where, reason)
        else:
            subfolders.append(path)
    elif not entry.is_file(follow_symlinks=False):
        yield Skipped(where, "not a regular file")
    elif not wanted(entry.name):
        others[path.suffix.lower() if path.suffix.isascii() else ""] += 1
    elif entry.name.startswith("."):
        yield Skipped(where, "a hidden file")
    elif path.stem.lower() in _TEMPLATE_NAMES:
        yield Skipped(where, "a template")
    elif not _is_unicode(entry.name):
        yield Unreadable(where, "the file's name is not valid UTF-8")
    else:
        yield File(path, where)


def _folder_left_out(name: str) -> str | None:
    if name.startswith("."):
        return "a hidden folder"
    if name.lower() in _TEMPLATE_NAMES:
        return "a folder of templates"
    if name in _FOREIGN_FOLDERS:
        return "a folder of a program, not of notes"
    return None if _is_unicode(name) else "the folder's name is not valid UTF-8"


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _other_types(others: Counter[str]) -> str:
    count = others.total()
    named = sorted(suffix for suffix in others if suffix and len(suffix) <= 8)[:_MAX_SUFFIXES_NAMED]
    types = f" ({', '.join(named)})" if named else ""
    return f"{count:,} {'file' if count == 1 else 'files'} of other types{types}"


def _cannot(what: str, error: OSError) -> str:
    return f"the {what} cannot be read: {(error.strerror or 'input/output error').lower()}"


def count(start: Path, root: Path, wanted: Wanted) -> int:
    """How many files `walk` will give; nothing is opened."""
    return sum(1 for entry in walk(start, root, wanted) if isinstance(entry, File))


def open_regular(path: Path) -> tuple[int, os.stat_result]:
    """Open for reading without following a link or waiting for a pipe; the caller closes the descriptor.

    Raises TextUnusable.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise TextUnusable(_cannot("file", error)) from error
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        raise TextUnusable("not a regular file")
    return descriptor, facts


def load(path: Path, limit_bytes: int = MAX_NOTE_BYTES) -> Loaded:
    """Read a file whole. Raises TextUnusable when it cannot be read or is over the limit."""
    descriptor, facts = open_regular(path)
    try:
        with os.fdopen(descriptor, "rb") as stream:
            if facts.st_size > limit_bytes:
                raise TextUnusable(f"the file is {facts.st_size:,} bytes, the limit is {limit_bytes:,}")
            data = stream.read(limit_bytes + 1)
    except OSError as error:
        raise TextUnusable(_cannot("file", error)) from error
    if len(data) > limit_bytes:
        raise TextUnusable(f"the file is over the limit of {limit_bytes:,} bytes")
    return Loaded(data, hashlib.sha256(data).hexdigest(), modified_at(facts))


def modified_at(facts: os.stat_result) -> str | None:
    """The time of the last change, unless it is outside the years a date can hold."""
    try:
        return clock.iso(datetime.fromtimestamp(facts.st_mtime, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def not_after(instant: str | None, limit: str) -> str:
    """The instant, or `limit` when there is none or it lies ahead; both ISO 8601.

    A file's time can be set to anything; a source cannot have been seen after its import.
    """
    if instant is None or clock.parse(instant) > clock.parse(limit):
        return limit
    return instant


def decode(data: bytes) -> str:
    """UTF-8 with or without a byte order mark, line ends as `\\n`. Raises TextUnusable."""
    if b"\x00" in data:
        raise TextUnusable("the file holds a NUL byte")
    try:
        decoded = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TextUnusable(f"not valid UTF-8 (line {line})") from error
    return decoded.replace("\r\n", "\n").replace("\r", "\n")
