"""Projects and where they lie: one spelling for each name, one name for each repository (SPEC 2).

Owns which project a working directory belongs to: worktrees of one repository are one place, a renamed, moved
or newly cloned one stays the same project, and two repositories whose folders happen to have the same name
stay two. What a directory looks like is told by the daemon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memvault.model import Claim
from memvault.store import agents
from memvault.store.connection import Database
from memvault.text import fold


@dataclass(frozen=True, slots=True)
class Workplace:
    """A repository as it lies on the disk.

    `root`: its main working tree; `store`: the git directory that all its worktrees share. `device` and
    `inode` are those of `store`. `origin`: the address of its remote "origin" without user and ".git".
    """

    root: str
    store: str
    device: int
    inode: int
    origin: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """A workplace met before, and the project it belongs to."""

    path: str
    project: str
    origin: str | None
    device: int
    inode: int
    seen_at: str


@dataclass(slots=True)
class Places:
    """Known places by the path of their git directory, and the spelling of every project's name."""

    known: dict[str, Place] = field(default_factory=dict[str, Place])
    spellings: dict[str, str] = field(default_factory=dict[str, str])

    def spelling(self, project: str | None) -> str | None:
        """The name as it was first written: case and width make no second project."""
        return None if project is None else self.spellings.get(fold(project), project)

    def spelt(self, claim: Claim) -> Claim:
        """The claim with its project spelled as it is known; a new project is known from now on."""
        self.note_name(claim.project)
        return replace(claim, project=self.spelling(claim.project))

    def note_name(self, project: str | None) -> None:
        if project is not None:
            self.spellings.setdefault(fold(project), project)

    def find(self, at: Workplace, exists: Callable[[str], bool]) -> Place | None:
        """The known place this is: by its path, by its remote, or because it was moved here.

        `exists` tells whether a path is still there: only what is gone from its old path was moved.
        """
        here = self.known.get(at.store)
        if here is not None and (at.origin is None or here.origin in (None, at.origin)):
            return here
        if at.origin is not None:
            for place in self.known.values():
                if place.origin == at.origin:
                    return place
        for place in self.known.values():
            same = (place.device, place.inode) == (at.device, at.inode)
            if same and at.origin == place.origin and not exists(place.path):
                return place
        return None

    def name_for(self, at: Workplace) -> str:
        """A name for a place that is new: its folder's; with the parent's when another place has that."""
        folders = [part for part in Path(at.root).parts if part != "/"] or ["project"]
        taken = {fold(place.project) for place in self.known.values()}
        for count in range(1, len(folders) + 1):
            name = "/".join(folders[-count:]).casefold()
            if fold(name) not in taken:
                return self.spellings.get(fold(name), name)
        return at.root.casefold()


def keep(db: Database, place: Place, moved_from: str | None) -> None:
    """Store a place; `moved_from` is a path where it no longer is. Inside the caller's transaction."""
    if moved_from is not None:
        agents.drop_place(db, moved_from)
    agents.put_place(db, {name: getattr(place, name) for name in Place.__slots__})


def of_store(places: Iterable[Mapping[str, Any]], names: Iterable[str]) -> Places:
    found = Places()
    for row in places:
        place = Place(**row)
        found.known[place.path] = place
        found.note_name(place.project)
    for name in names:
        found.note_name(name)
    return found
