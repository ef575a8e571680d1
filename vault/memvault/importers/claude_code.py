"""The memory that Claude Code keeps for its projects (KIND `claude-code`).

Owns the layout: `projects/<slug>/memory/` with an index `MEMORY.md`, topic files with front matter, `team/`.
A topic file is imported through itself; what the index says beyond its links becomes claims of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from memvault.errors import Usage
from memvault.importers import files, index, kinds, markdown, notes, sections
from memvault.importers.base import Found, Item, Meter, Plan, Skipped, Target, check_target
from memvault.importers.files import File
from memvault.model import Kind, Scope

INDEX = "MEMORY.md"
_TEAM = "team"
_LOGS = "logs"
_WORKTREE = "--claude-worktrees-"
_SLUG = re.compile(r"-|[A-Za-z]--")
_TYPES = {
    "feedback": Kind.PREFERENCE,
    "project": Kind.FACT,
    "reference": Kind.FACT,
    "user": None,
}
"""Kinds of the four types; what is known of the user is a preference only where it says so."""
_ALSO_USED = frozenset({"name", "description", "metadata", "type"})


@dataclass(frozen=True, slots=True)
class _Memory:
    """One `memory` folder (or a single file of it) and the project it belongs to."""

    path: Path
    project: str | None


class Offer(TypedDict):
    """Memory of another tool that could be imported: how much there is, nothing of what it says."""

    kind: str
    path: str
    memories: int
    projects: int


class ClaudeCode:
    """Reads one memory folder, one project, all projects below `~/.claude`, or one file."""

    kind = "claude-code"

    def plan(self, path: Path, target: Target) -> Plan:
        """Count the files and read them as the items are walked. Raises Usage when there is no such path."""
        check_target(target)
        root = files.import_root(path)
        memories, without = _memories(root)
        total = sum(files.count(memory.path, root, markdown.is_note) for memory in memories)
        meter = Meter()
        return Plan(total, self._items(root, memories, without, target, meter), meter)

    def _items(
        self, root: Path, memories: list[_Memory], without: list[Skipped], target: Target, meter: Meter
    ) -> Iterator[Item]:
        yield from without
        unused_keys = notes_with_unused = 0
        for memory in memories:
            own = Target(target.scope, target.project or memory.project, target.observed_at)
            for entry in files.walk(memory.path, root, markdown.is_note):
                if not isinstance(entry, File):
                    yield entry
                    continue
                meter.done += 1
                note = _open(entry, memory, own)
                if not isinstance(note, notes.Note):
                    yield note
                    continue
                yield from (_index_items if entry.path.name == INDEX else _topic_items)(note, memory)
                unused_keys += note.fields.unused
                notes_with_unused += note.fields.unused > 0
        if meter.done == 0:
            yield Skipped(".", "no Claude Code memory in this folder")
        if unused_keys:
            yield markdown.unused(unused_keys, notes_with_unused)


def _open(entry: File, memory: _Memory, target: Target) -> Item | notes.Note:
    inside = entry.path.relative_to(memory.path).parts if entry.path != memory.path else (entry.path.name,)
    if inside[0] == _LOGS and len(inside) > 1:
        return Skipped(entry.where, "a daily log, not a memory")
    return notes.open_note(entry, ClaudeCode.kind, target, _ALSO_USED)


def _index_items(note: notes.Note, memory: _Memory) -> Iterator[Item]:
    """What the index says beyond its links to topic files."""
    followed = 0
    for entry in index.entries(note.found, note.file.path.parent):
        if isinstance(entry, index.Link):
            followed += entry.exists
            if not entry.exists:
                yield Skipped(note.at(entry.line), "the index names a topic file that does not exist")
            continue
        piece = notes.Piece(entry.text, entry.verbatim, entry.line, entry.headings, entry.lead)
        kind = kinds.kind_of(entry.text, about_a_person=True)
        yield notes.item(note, piece, kind, setting=_setting(note, memory, {}, entry.text))
    yield from notes.left_out(note)
    if followed:
        yield Skipped(
            note.file.where, f"{followed:,} index lines name topic files, which are imported themselves"
        )


def _topic_items(note: notes.Note, memory: _Memory) -> Iterator[Item]:
    """The claims of a topic file, with what it says under Why and How to apply."""
    named = _facts(note)
    pieces: list[notes.Piece | Skipped] = sections.pieces(note)
    if not pieces and named.get("description"):
        said = named["description"]
        pieces = [notes.Piece(said, said, note.front.lines.get("description", 1), whole=True)]
    if not pieces:
        yield notes.empty(note)
    for piece in pieces:
        if isinstance(piece, Skipped):
            yield piece
            continue
        kind = _TYPES.get(named["type"]) or kinds.kind_of(piece.content, about_a_person=True)
        setting = _setting(note, memory, named, piece.content)
        yield notes.item(note, piece, kind, setting=setting, task=named.get("session"))


def _facts(note: notes.Note) -> dict[str, str]:
    """Name, description, type (also from the file name, `feedback_x.md`) and session of a topic file."""
    values = note.front.values
    nested = values.get("metadata")
    metadata: Mapping[str, object] = nested if isinstance(nested, dict) else {}
    kind = metadata.get("type") or values.get("type") or ""
    if kind not in _TYPES:
        kind = re.split(r"[_-]", note.file.path.stem.lower())[0]
    named = {"type": kind if isinstance(kind, str) and kind in _TYPES else ""}
    for key, value in (
        ("name", values.get("name")),
        ("description", values.get("description")),
        ("session", metadata.get("originSessionId")),
    ):
        if isinstance(value, str) and value.strip():
            named[key] = value.strip()
    return named


def _setting(note: notes.Note, memory: _Memory, named: Mapping[str, str], content: str) -> str:
    """Where the claim stood: shared with the team or not, the topic's name and description."""
    folders = note.file.path.relative_to(memory.path).parts[:-1] or note.file.path.parts[-2:-1]
    parts = ["shared by the team"] if folders[:1] == (_TEAM,) else []
    parts += [named[key] for key in ("name", "description") if named.get(key, content) not in content]
    return ": ".join(parts)


def _memories(root: Path) -> tuple[list[_Memory], list[Skipped]]:
    """The memory folders below a path, in order of name, and the projects that have none."""
    if root.is_file():
        folder = root.parent.parent if root.parent.name == _TEAM else root.parent
        return [_Memory(root, _project_above(folder))], []
    if (root / "projects").is_dir():
        return _projects(root / "projects", root)
    if (root / "memory").is_dir():
        if (root / "memory").is_symlink():
            return [], [Skipped("memory", "a link: links are not followed")]
        return [_Memory(root / "memory", project_of(root.name))], []
    if not (root / INDEX).exists() and any(_has_memory(folder) for folder in _folders(root)):
        return _projects(root, root)
    return [_Memory(root, _project_above(root))], []


def _projects(folder: Path, root: Path) -> tuple[list[_Memory], list[Skipped]]:
    found = [project for project in _folders(folder) if _has_memory(project)]
    skipped = [
        Skipped(files.where_of(project / "memory", root), "a link: links are not followed")
        for project in found
        if (project / "memory").is_symlink()
    ]
    rest = len(_folders(folder)) - len(found)
    if rest:
        skipped.append(Skipped(".", f"{rest:,} projects without memory"))
    own = [project for project in found if not (project / "memory").is_symlink()]
    names = _names([project.name for project in own])
    return [_Memory(project / "memory", names[project.name]) for project in own], skipped


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError as error:
        raise Usage("the folder to import cannot be read") from error


def _has_memory(project: Path) -> bool:
    return (project / "memory").is_dir()


def _project_above(memory: Path) -> str | None:
    """The project of a `memory` folder, when the folder above it is named like a slug."""
    return project_of(memory.parent.name) if memory.name == "memory" else None


def project_of(slug: str) -> str | None:
    """The last part of a slug, a path whose separators became `-`; None for a name that is no slug."""
    if not _SLUG.match(slug):
        return None
    parts = _parts(slug)
    return parts[-1] if parts else None


def _parts(slug: str) -> list[str]:
    """The parts of a slug; a worktree belongs to the project it was made from."""
    return [part for part in slug.partition(_WORKTREE)[0].split("-") if part]


def _names(slugs: list[str]) -> dict[str, str | None]:
    """A project for each slug; those whose last parts are equal keep as many parts as tell them apart.

    Two folders of one name are two projects: mixing them would show one's memories in the other.
    """
    parts = {slug: _parts(slug) for slug in slugs}
    names: dict[str, str | None] = {}
    for slug, own in parts.items():
        others = [other for other in parts.values() if other != own and own[-1:] == other[-1:]]
        take = 1
        while take < len(own) and any(other[-take:] == own[-take:] for other in others):
            take += 1
        names[slug] = "-".join(own[-take:]) or None
    return names


def discover(home: Path) -> list[Offer]:
    """Count the Claude Code memory below a home folder without importing; empty when none can be read."""
    root = home / ".claude"
    try:
        if not (root / "projects").is_dir():
            return []
        plan = ClaudeCode().plan(root, Target(Scope.PRIVATE, None, "1970-01-01T00:00:00.000Z"))
    except (Usage, OSError):
        return []
    projects: set[str | None] = set()
    memories = 0
    for item in plan.items:
        if isinstance(item, Found):
            memories += 1
            projects.add(item.draft.claim.project)
    if not memories:
        return []
    return [Offer(kind=ClaudeCode.kind, path=str(root), memories=memories, projects=len(projects))]
