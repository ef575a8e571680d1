"""One Markdown file as the claims in it, for every importer whose source is notes.

Owns the way from a file to `Found`: reading, front matter, blocks, context, source. Must not know which files
to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memvault import text
from memvault.errors import TextUnusable
from memvault.importers import blocks, fields, files, frontmatter
from memvault.importers.base import Found, Item, Problem, Skipped, Target, Unreadable, anchor, source
from memvault.importers.fields import Fields
from memvault.importers.files import File
from memvault.importers.frontmatter import Front
from memvault.model import Draft, Kind

MAX_BLOCKS = 2_000
"""Paragraphs and list items of one note; a file with more is data, and each of its lines would be a claim."""

_WHOLE = "note"
_NOT_A_CLAIM = {
    "task": "a check box is a task, not a memory",
    "image": "an image without a sentence",
}


@dataclass(frozen=True, slots=True)
class Note:
    """A file that could be read: its fields, its blocks and what its sources say."""

    file: File
    kind: str
    front: Front
    fields: Fields
    found: list[blocks.Block]
    sha256: str
    observed_at: str

    def at(self, line: int) -> str:
        """`path:line`, as reports name it."""
        return f"{self.file.where}:{line}"


@dataclass(frozen=True, slots=True)
class Piece:
    """One claim of a note before it is checked."""

    content: str
    evidence: str
    line: int
    headings: tuple[str, ...] = ()
    lead: str = ""
    why: str | None = None
    how_to_apply: str | None = None
    whole: bool = False
    """Whether the claim is the note; then its ref stays the same when the note is edited."""


def open_note(
    file: File, kind: str, target: Target, also_used: frozenset[str] = frozenset()
) -> Note | Skipped | Unreadable:
    """Read a file and take it apart; `kind` is the importer's."""
    try:
        loaded = files.load(file.path)
        content = files.decode(loaded.data)
        content.encode("utf-8")
    except TextUnusable as error:
        return Unreadable(file.where, error.message)
    if not content.strip():
        return Skipped(file.where, "the file is empty")
    front = frontmatter.split(content)
    if isinstance(front, Problem):
        return Unreadable(f"{file.where}:{front.line}", front.reason)
    read = fields.read(front, target, also_used)
    if isinstance(read, Problem):
        return Unreadable(f"{file.where}:{read.line}", read.reason)
    if read.scope is fields.Scope.TASK:
        return Skipped(file.where, "a note of one task, not a memory")
    observed_at = files.not_after(read.updated or read.created or loaded.modified_at, target.observed_at)
    found = blocks.parse(front.body, front.body_line)
    if len(found) > MAX_BLOCKS:
        return Unreadable(file.where, f"the note has {len(found):,} blocks, the limit is {MAX_BLOCKS:,}")
    return Note(file, kind, front, read, found, loaded.sha256, observed_at)


def empty(note: Note) -> Unreadable:
    """The report of a note without a claim."""
    if note.front.present and not note.front.body.strip():
        return Unreadable(note.at(note.front.body_line), "the note has front matter but no text")
    return Unreadable(note.file.where, "the note has no text of its own, only headings, comments or links")


def pieces(note: Note) -> Iterator[Piece | Skipped]:
    """The claims of a note: one when it is short or names its attribute, else one for each block."""
    kept = [block for block in note.found if block.form not in _NOT_A_CLAIM]
    if blocks.is_one(note.found) or (note.fields.attribute and kept):
        yield from left_out(note)
        headings = kept[0].headings if len({block.headings for block in kept}) == 1 else ()
        evidence = "\n".join(block.verbatim for block in kept)
        yield Piece(blocks.render(kept), evidence, kept[0].line, headings, whole=True)
        return
    for block in blocks.claims(note.found):
        if block.form in _NOT_A_CLAIM:
            yield Skipped(note.at(block.line), _NOT_A_CLAIM[block.form])
        else:
            yield Piece(block.text, block.verbatim, block.line, block.headings, block.lead)


def left_out(note: Note) -> Iterator[Skipped]:
    """The blocks of a note that are never claims, each with its reason."""
    for block in note.found:
        if block.form in _NOT_A_CLAIM:
            yield Skipped(note.at(block.line), _NOT_A_CLAIM[block.form])


def item(note: Note, piece: Piece, default_kind: Kind, *, setting: str = "", task: str | None = None) -> Item:
    """The claim of a piece, or why it cannot be one. `setting` precedes the context that the note gives."""
    where = note.at(piece.line)
    try:
        content = text.accept(piece.content)
        said: dict[str, Any] = {
            name: text.accept(value, name)
            for name, value in (("why", piece.why), ("how_to_apply", piece.how_to_apply))
            if value
        }
        context = _context(note, piece, setting)
    except TextUnusable as error:
        return Unreadable(where, error.message)
    claim = note.fields.claim(content, default_kind, context, **said)
    name = _WHOLE if piece.whole else anchor(" ".join(piece.headings), content)
    origin = source(
        note.kind,
        note.file.where,
        name,
        evidence=piece.evidence,
        content_hash=note.sha256,
        observed_at=note.observed_at,
        task=task,
    )
    return Found(where, Draft(claim, (origin,), created_at=note.fields.created))


def _context(note: Note, piece: Piece, setting: str) -> str | None:
    """Where the claim was learned: the note's own words, title, headings, the lead of a list, tags."""
    place: list[str] = []
    for name in (setting, note.fields.title or "", *piece.headings, piece.lead.rstrip(":： ")):
        if name and name not in place:
            place.append(name)
    tags = " ".join(f"#{tag}" for tag in note.fields.tags)
    parts = [note.fields.context or "", " > ".join(place), tags]
    whole = "; ".join(part for part in parts if part)
    return text.accept(whole, "context") if whole else None
