"""Short ways for the importer tests to write notes, run a plan and sort what it gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from memvault.importers import IMPORTERS
from memvault.importers.base import Found, Item, Skipped, Target, Unreadable
from memvault.model import Claim, Scope, Source

NOW = "2026-06-01T12:00:00.000Z"


@dataclass(frozen=True, slots=True)
class Read:
    """The items of one plan, by what they are."""

    items: list[Item]
    total: int | None
    done: int

    @property
    def found(self) -> list[Found]:
        return [item for item in self.items if isinstance(item, Found)]

    @property
    def claims(self) -> list[Claim]:
        return [item.draft.claim for item in self.found]

    @property
    def claim(self) -> Claim:
        assert len(self.claims) == 1, self.items
        return self.claims[0]

    @property
    def contents(self) -> list[str]:
        return [claim.content for claim in self.claims]

    @property
    def sources(self) -> list[Source]:
        return [item.draft.sources[0] for item in self.found]

    @property
    def unreadable(self) -> dict[str, str]:
        return {item.where: item.reason for item in self.items if isinstance(item, Unreadable)}

    @property
    def skipped(self) -> dict[str, str]:
        return {item.where: item.reason for item in self.items if isinstance(item, Skipped)}


Reader = Callable[..., Read]
Writer = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def read() -> Reader:
    """Walk a whole plan: read(kind, path, scope=..., project=...)."""

    def walk(kind: str, path: Path, *, scope: Scope = Scope.PRIVATE, project: str | None = None) -> Read:
        plan = IMPORTERS[kind].plan(path, Target(scope, project, NOW))
        items = list(plan.items)
        return Read(items, plan.total, plan.meter.done)

    return walk


@pytest.fixture
def note(tmp_path: Path) -> Writer:
    """Write a file below `tmp_path`: note(name, content)."""

    def write(name: str, content: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    return write
