"""The sample memories that come with memvault, and what the demo does with them. Reads package data only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and a piece of the text that the right memory holds; None when nothing answers it."""

    query: str
    expected: str | None


@dataclass(frozen=True, slots=True)
class Correction:
    """A memory, named by a piece of its text, and what it should say instead."""

    text: str
    content: str


@dataclass(frozen=True, slots=True)
class Material:
    """Everything the tour needs."""

    imports: tuple[tuple[str, Path, int], ...]
    """(kind of importer, path, parts broken on purpose) in the order they are imported."""
    questions: tuple[Question, ...]
    correction: Correction
    deletion: str
    """A piece of the text of the memory to delete."""


def load() -> Material:
    """The samples of this installation. Raises OSError when they are missing."""
    folder = Path(str(resources.files("memvault.samples")))
    plan: dict[str, Any] = json.loads((folder / "questions.json").read_text("utf-8"))
    return Material(
        imports=tuple(
            (str(item["kind"]), folder / item["path"], int(item["unreadable"])) for item in plan["imports"]
        ),
        questions=tuple(Question(item["query"], item["expected"]) for item in plan["questions"]),
        correction=Correction(plan["correct"]["text"], plan["correct"]["content"]),
        deletion=plan["delete"]["text"],
    )
