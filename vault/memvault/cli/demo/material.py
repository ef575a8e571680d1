"""The sample memories that come with memvault, and what the demo does with them. Reads package data only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """Something to import, and how many of its entries are broken on purpose."""

    kind: str
    path: Path
    unreadable: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and a piece of the text that the right memory holds; None when nothing answers it."""

    kind: str
    """What makes it hard: other words, another language, two characters."""
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

    samples: tuple[Sample, ...]
    questions: tuple[Question, ...]
    correction: Correction
    deletion: str
    """A piece of the text of the memory to delete."""


def load() -> Material:
    """The samples of this installation. Raises OSError when they are missing."""
    folder = Path(str(resources.files("memvault.samples")))
    plan: dict[str, Any] = json.loads((folder / "questions.json").read_text("utf-8"))
    return Material(
        samples=tuple(
            Sample(one["kind"], folder / one["path"], one["unreadable"]) for one in plan["imports"]
        ),
        questions=tuple(Question(one["kind"], one["query"], one["expected"]) for one in plan["questions"]),
        correction=Correction(plan["correct"]["text"], plan["correct"]["content"]),
        deletion=plan["delete"]["text"],
    )
