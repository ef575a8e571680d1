"""Who asks: the actor's name, whether it is a person, and what it may read. Built per connection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memvault.model import Sensitivity, Status
from memvault.recall.query import Shelf
from memvault.store.memories import Reach

LIVING = tuple(status for status in Status if status is not Status.DELETED)

AGENT_STATUSES = (Status.ACTIVE, Status.CONFLICT, Status.EXPIRED, Status.ARCHIVED)
"""What an agent may meet: nothing waiting, replaced or switched off."""


@dataclass(frozen=True, slots=True)
class Caller:
    """`actor` goes into events ("person", "agent:NAME"); `reach` into every reading statement."""

    actor: str
    is_person: bool
    reach: Reach

    @property
    def is_agent(self) -> bool:
        """A known agent; a process that has not shown whose it is only lacks the person's rights."""
        return self.actor.startswith("agent:")


PERSON = Caller(
    "person",
    True,
    Reach(("private", "team"), None, tuple(Sensitivity), LIVING),
)


def agent(name: str, projects: tuple[str | None, ...]) -> Caller:
    """The default grant: private and team memories of no project or of `projects`, up to internal."""
    reach = Reach(("private", "team"), projects, (Sensitivity.PUBLIC, Sensitivity.INTERNAL), AGENT_STATUSES)
    return Caller(f"agent:{name}", False, reach)


def shelves(caller: Caller, project: str | None, pools: frozenset[str]) -> Callable[[Shelf], bool]:
    """Which shelves of the index this caller may search for a question in `project` (None: any it may read).

    A question in a project sees that project's memories and those of no project.
    """
    scopes, allowed = frozenset(caller.reach.scopes), caller.reach.projects
    ranks = frozenset(Sensitivity(name).rank for name in caller.reach.sensitivities)
    wanted = None if project is None else {project, None}

    def allow(shelf: Shelf) -> bool:
        return (
            shelf.pool in pools
            and shelf.scope in scopes
            and shelf.sensitivity in ranks
            and (allowed is None or shelf.project in allowed)
            and (wanted is None or shelf.project in wanted)
        )

    return allow
