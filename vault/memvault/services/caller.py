"""Who asks: the actor's name, what it may do and what it may read. Built per connection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from memvault.errors import NotGranted
from memvault.model import Sensitivity, Status
from memvault.recall.query import Shelf
from memvault.store.memories import Reach

LIVING = tuple(status for status in Status if status is not Status.DELETED)

AGENT_STATUSES = (Status.ACTIVE, Status.CONFLICT, Status.EXPIRED, Status.ARCHIVED)
"""What an agent may meet: nothing waiting, replaced or switched off."""


class Verb(StrEnum):
    """What a grant allows. Everything else is for a person (SPEC 12)."""

    READ = "read"
    PROPOSE = "propose"
    WRITE = "write"


NOTHING = Reach((), (), (), ())
"""The reach of a caller without a grant: no statement that carries it finds a row."""


@dataclass(frozen=True, slots=True)
class Caller:
    """`actor` goes into events ("person", "script", "agent:NAME"); `reach` into every reading statement.

    `project`: the project an agent works in, by its working directory; what it writes belongs there.
    `here`: whether the grant covers writing in that project, `write_scopes` in which scopes.
    """

    actor: str
    is_person: bool
    reach: Reach
    verbs: frozenset[Verb] = frozenset(Verb)
    project: str | None = None
    here: bool = True
    write_scopes: tuple[str, ...] = ("private", "team")

    @property
    def is_agent(self) -> bool:
        """A known agent; a process that has not shown whose it is only lacks the person's rights."""
        return self.actor.startswith("agent:")

    def require(self, verb: Verb) -> None:
        """Raises NotGranted, which reads like "not found"."""
        if verb not in self.verbs:
            raise NotGranted("nothing there that you were granted")


PERSON = Caller(
    "person",
    True,
    Reach(("private", "team"), None, tuple(Sensitivity), LIVING),
)

SCRIPT = Caller("script", False, PERSON.reach)
"""A process without terminal and proof: it reads as the person and only proposes."""


def up_to(ceiling: Sensitivity) -> tuple[Sensitivity, ...]:
    return tuple(level for level in Sensitivity if level.rank <= ceiling.rank)


def agent(name: str, projects: tuple[str | None, ...]) -> Caller:
    """The default grant: private and team memories of no project or of `projects`, up to internal."""
    current = next((project for project in projects if project is not None), None)
    reach = Reach(("private", "team"), projects, up_to(Sensitivity.INTERNAL), AGENT_STATUSES, (current,))
    return Caller(f"agent:{name}", False, reach, frozenset({Verb.READ, Verb.PROPOSE}), current)


def shelves(caller: Caller, project: str | None, pools: frozenset[str]) -> Callable[[Shelf], bool]:
    """Which shelves of the index this caller may search for a question in `project` (None: any it may read).

    A question in a project sees that project's memories and those of no project. What was said and nobody
    confirmed yet an agent finds only in the project it was said in.
    """
    scopes, allowed = frozenset(caller.reach.scopes), caller.reach.projects
    ranks = frozenset(Sensitivity(name).rank for name in caller.reach.sensitivities)
    wanted = None if project is None else {project, None}
    said = None if not caller.is_agent else frozenset(caller.reach.said)

    def allow(shelf: Shelf) -> bool:
        return (
            shelf.pool in pools
            and shelf.scope in scopes
            and shelf.sensitivity in ranks
            and (allowed is None or shelf.project in allowed)
            and (wanted is None or shelf.project in wanted)
            and (shelf.pool != "said" or said is None or shelf.project in said)
        )

    return allow
