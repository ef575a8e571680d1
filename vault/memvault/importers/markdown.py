"""A folder of Markdown notes with YAML front matter (KIND `markdown`).

Owns which files are notes and what a note becomes. A short note is one memory, a long one gives a claim for
each paragraph and top-level list item, with the headings above it as context.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memvault.importers import files, notes
from memvault.importers.base import Item, Meter, Plan, Skipped, Target, check_target
from memvault.importers.files import File
from memvault.model import Kind

_SUFFIXES = (".md", ".markdown", ".mdown")


class Markdown:
    """Reads notes from a folder and its subfolders, or one note."""

    kind = "markdown"

    def plan(self, path: Path, target: Target) -> Plan:
        """Count the notes and read them as the items are walked. Raises Usage when there is no such path."""
        check_target(target)
        root = files.import_root(path)
        meter = Meter()
        return Plan(files.count(root, root, is_note), self._items(root, target, meter), meter)

    def _items(self, root: Path, target: Target, meter: Meter) -> Iterator[Item]:
        unused_keys = notes_with_unused = 0
        for entry in files.walk(root, root, is_note):
            if not isinstance(entry, File):
                yield entry
                continue
            note = notes.open_note(entry, self.kind, target)
            if isinstance(note, notes.Note):
                yield from note_items(note)
                unused_keys += note.fields.unused
                notes_with_unused += note.fields.unused > 0
            else:
                yield note
            meter.done += 1
        if meter.done == 0:
            yield Skipped(".", "no Markdown file in this folder")
        if unused_keys:
            yield unused(unused_keys, notes_with_unused)


def is_note(name: str) -> bool:
    """Whether a file of this name is read as Markdown."""
    return name.lower().endswith(_SUFFIXES)


def note_items(note: notes.Note) -> Iterator[Item]:
    """The claims of a note, and what in it is none; a note with neither is unreadable."""
    nothing = True
    for piece in notes.pieces(note):
        nothing = False
        yield piece if isinstance(piece, Skipped) else notes.item(note, piece, Kind.FACT)
    if nothing:
        yield notes.empty(note)


def unused(keys: int, in_notes: int) -> Skipped:
    """The line of the report about front matter keys that mean nothing to memvault."""
    return Skipped(".", f"front matter keys that are not used: {keys:,} in {in_notes:,} notes")
