"""Memories and the files they cite: which files, and what becomes of a memory when one changed (SPEC 2).

Owns flagging. A memory whose file changed is to be checked at once; whether its claim still holds is found by
`verification`. Files are read elsewhere: here arrive their hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from memvault.model import Record, Source, SourceType, Status
from memvault.services.change import EVERYTHING, Change, change
from memvault.services.plain import NEEDS_VERIFICATION, SOURCE_CHANGED
from memvault.services.vault import Vault
from memvault.store import citations, memories
from memvault.watch.cited import bare

WATCHED = (Status.ACTIVE, Status.CONFLICT, Status.CANDIDATE)
"""States in which a memory's files are watched: what is told to somebody, or may be promoted."""

MOST_FILES = 5_000
"""Cited files that are looked at; of more, those cited last."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What lies at some paths: the SHA-256 (hex) of a file, None for nothing, "" for what cannot be read.

    `moved`: where files went, as far as anybody saw; those places are among the paths.
    """

    hashes: Mapping[str, str | None]
    moved: Mapping[str, str]


class _Finding(Enum):
    SAME = "same"
    CHANGED = "changed"
    UNSEEN = "unseen"


def path_of(source: Source) -> str:
    path = bare(source.ref)
    return str(Path(path).expanduser()) if path.startswith("~/") else path


def _read_files(record: Record) -> list[Source]:
    return [s for s in record.sources if s.type is SourceType.FILE and s.content_hash is not None]


def cited(vault: Vault) -> dict[str, list[str]]:
    """Path -> references to it, the newest citation first. For the reader's thread."""
    found: dict[str, list[str]] = {}
    for ref in citations.references(vault.reader, WATCHED, MOST_FILES):
        path = bare(ref)
        found.setdefault(str(Path(path).expanduser()) if path.startswith("~/") else path, []).append(ref)
    return found


def beside(vault: Vault, refs: Iterable[str]) -> set[str]:
    """All paths that memories with one of these references cite. For the reader's thread."""
    ids = citations.citing(vault.reader, list(refs), WATCHED)
    records = memories.get(vault.reader, ids, EVERYTHING).values()
    return {path_of(source) for record in records for source in _read_files(record)}


def note(vault: Vault, refs: Iterable[str], seen: Seen) -> list[str]:
    """Flag what cites a changed file, unflag what cites files that are as before. Returns the ids.

    A file that was moved and is the same is noted as a further source.
    """
    ids = citations.citing(vault.writer, list(refs), WATCHED)
    plan: list[tuple[Record, _Finding, list[Source]]] = []
    for record in memories.get(vault.writer, ids, EVERYTHING).values():
        moved = _moved(record, seen)
        finding = _finding(replace(record, sources=(*record.sources, *moved)), seen)
        flagged = SOURCE_CHANGED in record.flags
        news = finding is (_Finding.SAME if flagged else _Finding.CHANGED)
        if moved or news:
            plan.append((record, finding, moved))
    if not plan:
        return []
    with change(vault, "watch", "memvault") as work:
        for record, finding, moved in plan:
            _carry_out(work, record, finding, moved)
    return [record.id for record, _, _ in plan]


def _carry_out(work: Change, record: Record, finding: _Finding, moved: list[Source]) -> None:
    if moved:
        record = work.add_sources(record, [replace(source, observed_at=work.at) for source in moved])
    for name in (NEEDS_VERIFICATION, SOURCE_CHANGED):
        if finding is _Finding.CHANGED:
            record = work.flag(record, name)
        elif finding is _Finding.SAME and SOURCE_CHANGED in record.flags:
            record = work.unflag(record, name)


def _moved(record: Record, seen: Seen) -> list[Source]:
    """Sources for the places where cited files now lie, byte for byte."""
    found: list[Source] = []
    known = {path_of(source) for source in record.sources}
    for source in _read_files(record):
        path = path_of(source)
        there = seen.moved.get(path)
        gone = path in seen.hashes and seen.hashes[path] is None
        same = there is not None and seen.hashes.get(there) == source.content_hash
        if there is not None and same and gone and there not in known:
            found.append(replace(source, ref=there + source.ref[len(bare(source.ref)) :]))
    return found


def _finding(record: Record, seen: Seen) -> _Finding:
    """A file is as before when it lies, with its content, at one of the places that are cited for it."""
    places: dict[str, list[str]] = {}
    for source in _read_files(record):
        places.setdefault(str(source.content_hash), []).append(path_of(source))
    same = True
    for content, paths in places.items():
        if any(seen.hashes.get(path) == content for path in paths):
            continue
        if all(path in seen.hashes for path in paths):
            return _Finding.CHANGED
        same = False
    return _Finding.SAME if same and places else _Finding.UNSEEN
