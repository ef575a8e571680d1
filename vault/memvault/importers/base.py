"""What every importer offers and yields. Owns the shared types, refs and excerpts.

Importers are pure readers: files in, drafts out. They must not know the store, the daemon or a screen.
A reason never quotes what a file says: it names keys, limits and line numbers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from memvault.errors import Usage
from memvault.model import Draft, Scope, Source, SourceType

MAX_EVIDENCE_CHARS = 500
"""Characters of the verbatim excerpt that a source keeps."""

_MAX_SLUG_CHARS = 48
_NOT_WORD = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Found:
    """One claim. `where` is the path below the import root, with `:line` where the claim begins."""

    where: str
    draft: Draft


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something that was meant to be a memory and cannot become one."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something left out on purpose: a link, a template, a hidden folder, an empty file, a check box."""

    where: str
    reason: str


Item = Found | Unreadable | Skipped


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a part of a file cannot be used; `line` counts from 1 in the file."""

    line: int
    reason: str


@dataclass(slots=True)
class Meter:
    """How far the reading of a plan has come, in the unit of the plan's `total`."""

    done: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import will read. `items` is lazy and can be walked once.

    `total` counts files for Markdown and Claude Code, lines for JSON lines; `meter.done` grows towards it
    while `items` is walked, and one unit may give any number of items.
    """

    total: int | None
    items: Iterator[Item]
    meter: Meter = field(default_factory=Meter)


@dataclass(frozen=True, slots=True)
class Target:
    """Where imported claims go, chosen by the caller. `observed_at` is the time of the import, ISO 8601."""

    scope: Scope
    project: str | None
    observed_at: str


class Importer(Protocol):
    """One source format."""

    @property
    def kind(self) -> str:
        """The KIND of the `import` command, and the first part of every ref."""
        ...

    def plan(self, path: Path, target: Target) -> Plan:
        """Look at a file or folder; reading happens while the plan's items are walked. Raises Usage."""
        ...


def check_target(target: Target) -> None:
    """Raises Usage when memories cannot be imported into that scope."""
    if target.scope is Scope.TASK:
        raise Usage("memories are imported into the private or the team scope, not into a task")


def excerpt(text: str) -> str:
    """The first `MAX_EVIDENCE_CHARS` characters, without outer white space."""
    return text.strip()[:MAX_EVIDENCE_CHARS].rstrip()


def anchor(label: str, content: str) -> str:
    """Name a claim within its file by a readable label and a digest of its content.

    A position would not do: a paragraph added above would give every later claim another ref.
    """
    slug = _NOT_WORD.sub("-", label.casefold()).strip("-_")[:_MAX_SLUG_CHARS].strip("-_")
    digest = hashlib.sha256(content.encode("utf-8")).hexdigest()[:10]
    return f"{slug}-{digest}" if slug else digest


def source(
    kind: str,
    path: str,
    at: str,
    *,
    evidence: str,
    content_hash: str,
    observed_at: str,
    task: str | None = None,
) -> Source:
    """The source of an imported claim; its ref is `kind:path#at`."""
    return Source(
        type=SourceType.IMPORT,
        ref=f"{kind}:{path}#{at}",
        task=task,
        evidence=excerpt(evidence) or None,
        content_hash=content_hash,
        observed_at=observed_at,
    )
