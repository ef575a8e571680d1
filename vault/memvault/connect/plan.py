"""What connecting changes: the files before and after, shown as a diff, written in one step each.

Owns finding our own entries again, backups and the check that nobody wrote in between. Knows no host.
"""

from __future__ import annotations

import difflib
import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from memvault.connect import jsonc
from memvault.connect.hosts import NAME, Entry
from memvault.errors import Illegal, UnsafePath, Usage

MOST_BYTES = 16_777_216
"""Of a configuration; a host that keeps its history there stays below it."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file. `before` is None where there is none yet; `after` None when it goes again."""

    path: Path
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """As `diff -u` shows it."""
        old = (self.before or "").splitlines(keepends=True)
        new = (self.after or "").splitlines(keepends=True)
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path), n=2)
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def planned(entries: Sequence[Entry], *, remove: bool) -> list[FileChange]:
    """Every file with what connecting, or the removal, makes of it. Raises Usage, UnsafePath."""
    texts: dict[Path, str | None] = {}
    for entry in entries:
        path = Path(os.path.realpath(entry.file))
        if path not in texts:
            texts[path] = _read(path)
    found: list[FileChange] = []
    for path, before in texts.items():
        mine = [entry for entry in entries if Path(os.path.realpath(entry.file)) == path]
        try:
            found.append(FileChange(path, before, _changed(before, mine, remove=remove)))
        except Usage as error:
            raise Usage(f"{path}: {error.message}", error.hint) from error
    return found


def present(entries: Sequence[Entry]) -> bool:
    """Whether everything is written there already. Raises Usage, UnsafePath."""
    return not any(change.changes for change in planned(entries, remove=False))


def mentioned(entries: Sequence[Entry]) -> bool:
    """Whether anything of ours is there, current or from another installation. Raises Usage, UnsafePath."""
    return any(change.changes for change in planned(entries, remove=True))


def _read(path: Path) -> str | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
        raise UnsafePath(f"{path} is no configuration file", "See what would be written with --print.")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Usage(f"{path} is not UTF-8 text", "See what would be written with --print.") from error


def _changed(before: str | None, entries: Sequence[Entry], *, remove: bool) -> str | None:
    if before is None and remove:
        return None
    text = before or ""
    for entry in entries:
        edit = _toml if entry.format == "toml" else _json
        text = edit(text, entry, remove=remove)
    return text


def _is_ours(item: Any) -> bool:
    """A hook of ours, of this or another installation: it names the program and an agent."""
    text = json.dumps(item)
    return NAME in text and "--agent" in text and "hook" in text


def _json(text: str, entry: Entry, *, remove: bool) -> str:
    if not entry.listed:
        if entry.place == ("version",):  # the format's own number, not ours to take away
            return (
                text if remove or jsonc.find(text, entry.place) else jsonc.put(text, entry.place, entry.value)
            )
        return jsonc.remove(text, entry.place) if remove else jsonc.put(text, entry.place, entry.value)
    node = jsonc.find(text, entry.place)
    items: list[Any] = jsonc.plain(text, node) if node is not None and node.kind == "list" else []
    if not remove and [item for item in items if _is_ours(item)] == [entry.value]:
        return text
    text = jsonc.remove_items(text, entry.place, _is_ours)
    return text if remove else jsonc.append(text, entry.place, entry.value)


def _toml(text: str, entry: Entry, *, remove: bool) -> str:
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise Usage(f"it is not valid TOML: {error}", "Mend the file first.") from error
    *tables, last = entry.place
    here: Any = document
    for name in tables:
        if name not in here:
            if remove:
                return text
            here[name] = tomlkit.table(is_super_table=True)
        here = here[name]
    if remove:
        if last not in here:
            return text
        del here[last]
        if not here and len(tables) == 1:
            del document[tables[0]]
        return tomlkit.dumps(document).rstrip("\n") + "\n"
    if last in here and here[last].unwrap() == entry.value:
        return text
    table: Any = tomlkit.table()
    table.update(entry.value)
    here[last] = table
    return tomlkit.dumps(document)


def write(change: FileChange, now: datetime) -> Path | None:
    """Write the file in one step, with a copy of what was there beside it; returns the copy's path.

    Raises Illegal when somebody wrote the file since it was planned.
    """
    path = change.path
    if _read(path) != change.before:
        raise Illegal(f"{path} was changed meanwhile", "Nothing was written to it; run the command again.")
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = 0o600 if change.before is None else stat.S_IMODE(path.stat().st_mode)
    kept = None
    if change.before is not None:
        kept = path.with_name(f"{path.name}.before-memvault-{now:%Y%m%d-%H%M%S}")
        _put(kept, change.before, mode)
    if change.after is None:
        path.unlink()
    else:
        _put(path, change.after, mode)
    return kept


def _put(path: Path, text: str, mode: int) -> None:
    fresh = path.with_name(f".{path.name}.memvault-new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(handle, "wb") as opened:
        opened.write(text.encode("utf-8"))
        opened.flush()
        os.fsync(opened.fileno())
    fresh.chmod(mode)
    fresh.replace(path)
