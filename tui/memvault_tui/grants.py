"""What the daemon answers about agents: their grants, what rests on them, how it was judged.

Owns decoding of those JSON results, with the same rule as `records`: text is made safe here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from memvault_tui.records import text, texts

Json = Mapping[str, Any]

CURRENT, ALL = "current", "all"
"""Words for a grant's projects: the one an agent works in, or every one."""

STANDINGS = ("pending", "quarantined", "active", "revoked")
"""How an agent stands with its person, in the order of the list: who waits comes first."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent's grant. `projects`: "current", "all", or names."""

    name: str
    standing: str
    host: str = ""
    scopes: tuple[str, ...] = ()
    projects: str | tuple[str, ...] = CURRENT
    ceiling: str = ""
    verbs: tuple[str, ...] = ()
    asked_at: str = ""
    approved_at: str = ""
    seen_at: str = ""

    @property
    def let_in(self) -> bool:
        return self.standing in ("active", "quarantined")

    @classmethod
    def read(cls, data: Json) -> Agent:
        state, projects = text(data.get("state")), data.get("projects")
        return cls(
            name=text(data.get("name")),
            standing="quarantined" if state == "active" and data.get("quarantined") is True else state,
            host=text(data.get("host")),
            scopes=texts(data.get("scopes")),
            projects=text(projects) if isinstance(projects, str) else texts(projects),
            ceiling=text(data.get("ceiling")),
            verbs=texts(data.get("verbs")),
            asked_at=text(data.get("created_at")),
            approved_at=text(data.get("approved_at")),
            seen_at=text(data.get("seen_at")),
        )

    @classmethod
    def read_all(cls, data: Json) -> tuple[Agent, ...]:
        """Every agent, those that wait for an answer first."""
        items = cast(list[Any], data.get("items")) if isinstance(data.get("items"), list) else []
        found = [cls.read(cast(dict[str, Any], item)) for item in items if isinstance(item, dict)]
        places = {standing: place for place, standing in enumerate(STANDINGS)}
        return tuple(sorted(found, key=lambda agent: (places.get(agent.standing, len(places)), agent.name)))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an agent brought in, in numbers; `judged` names what happened to it, zeros left out."""

    brought_in: int
    refused: int
    judged: tuple[tuple[str, int], ...]
    rests: tuple[tuple[str, int], ...]
    """What rests on it now: waiting, unreviewed, confirmed, shared; zeros left out."""

    @classmethod
    def read(cls, data: Json) -> Judgement:
        def count(name: str) -> int:
            value = data.get(name)
            return value if isinstance(value, int) else 0

        judged = data.get("judged")
        counts = cast(dict[str, Any], judged) if isinstance(judged, dict) else {}
        return cls(
            brought_in=count("brought_in"),
            refused=count("refused"),
            judged=tuple(
                (text(word), found) for word, found in counts.items() if isinstance(found, int) and found
            ),
            rests=tuple((part, found) for part in PARTS if (found := count(part))),
        )


PARTS = ("waiting", "unreviewed", "confirmed", "shared")
"""How what rests on an agent stands; `shared` is what others said as well."""


@dataclass(frozen=True, slots=True)
class Rests:
    """Ids of what rests on an agent."""

    waiting: tuple[str, ...]
    unreviewed: tuple[str, ...]
    confirmed: tuple[str, ...]
    shared: tuple[str, ...]

    @property
    def parts(self) -> dict[str, str]:
        """The part by id, in the order of the list."""
        return {memory: part for part in PARTS for memory in getattr(self, part)}

    @classmethod
    def read(cls, data: Json) -> Rests:
        return cls(*(texts(data.get(part)) for part in PARTS))
