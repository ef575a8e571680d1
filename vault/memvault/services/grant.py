"""A grant: what one agent may read and do (SPEC 12). Pure; its changes are `granting`."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memvault.model import Scope, Sensitivity
from memvault.services.caller import AGENT_STATUSES, NOTHING, Caller, Verb, up_to
from memvault.store.memories import Reach

CURRENT, ALL = "current", "all"
"""Words for a grant's projects: the one of the working directory, or every one."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One agent's rights. `state` is "pending", "active" or "revoked"; `token` a SHA-256.

    `projects`: "current" (the working directory's, and what belongs to none), "all", or names, to which what
    belongs to no project is always added. `host`: the known agent host whose processes get this grant even
    without a token. Of a quarantined agent nothing is taken any more.
    """

    name: str
    uid: int
    created_at: str
    host: str | None = None
    state: str = "pending"
    quarantined: bool = False
    scopes: tuple[str, ...] = (Scope.PRIVATE, Scope.TEAM)
    projects: str | tuple[str, ...] = CURRENT
    ceiling: Sensitivity = Sensitivity.INTERNAL
    verbs: frozenset[Verb] = frozenset({Verb.READ, Verb.PROPOSE})
    token: bytes | None = None
    approved_at: str | None = None
    seen_at: str | None = None

    def rows(self) -> dict[str, Any]:
        """As the store keeps it."""
        projects = self.projects if isinstance(self.projects, str) else list(self.projects)
        return {
            **{name: getattr(self, name) for name in self.__slots__},
            "scopes": list(self.scopes),
            "projects": projects,
            "ceiling": str(self.ceiling),
            "verbs": sorted(self.verbs),
        }

    def plain(self) -> dict[str, Any]:
        """As a person is shown it: everything but the token's hash."""
        found = self.rows()
        found["has_token"] = found.pop("token") is not None
        return found


def of_rows(row: Mapping[str, Any]) -> Grant:
    projects = row["projects"]
    typed: dict[str, Any] = {
        **row,
        "scopes": tuple(row["scopes"]),
        "projects": projects if isinstance(projects, str) else tuple(projects),
        "ceiling": Sensitivity(row["ceiling"]),
        "verbs": frozenset(map(Verb, row["verbs"])),
    }
    return Grant(**typed)


def token_hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def by_token(grants: Mapping[str, Grant], name: str, hashed: bytes, uid: int) -> Grant | None:
    """The active grant that this token belongs to; None for a wrong, old, revoked or foreign one."""
    grant = grants.get(name)
    if grant is None or grant.token is None or grant.state != "active" or grant.uid != uid:
        return None
    return grant if hmac.compare_digest(grant.token, hashed) else None


def by_host(grants: Mapping[str, Grant], host: str) -> Grant | None:
    """The active grant for processes of `host`: the one of its name first."""
    of_host = [grant for grant in grants.values() if grant.host == host and grant.state == "active"]
    return next((grant for grant in of_host if grant.name == host), of_host[0] if of_host else None)


def shut_out(grants: Mapping[str, Grant], host: str) -> bool:
    """Whether a person revoked what processes of `host` were granted."""
    return any(grant.host == host and grant.state == "revoked" for grant in grants.values())


def caller_of(grant: Grant, project: str | None) -> Caller:
    """What the grant allows a connection that works in `project`."""
    projects: tuple[str | None, ...] | None
    if grant.projects == ALL:
        projects = None
    elif grant.projects == CURRENT:
        projects = (None,) if project is None else (None, project)
    else:
        projects = (None, *grant.projects)
    reach = Reach(grant.scopes, projects, up_to(grant.ceiling), AGENT_STATUSES, (project,))
    verbs = grant.verbs - ({Verb.PROPOSE, Verb.WRITE} if grant.quarantined else set())
    return Caller(
        f"agent:{grant.name}",
        False,
        reach if Verb.READ in verbs else NOTHING,
        verbs,
        project,
        projects is None or project in projects,
        grant.scopes,
    )


def without_grant(name: str, project: str | None) -> Caller:
    """A known host that nobody let in yet: it learns nothing, and what it proposes waits for a person."""
    return Caller(f"agent:{name}", False, NOTHING, frozenset({Verb.PROPOSE}), project)


def unknown(name: str) -> Caller:
    """A name with a token that fits no grant."""
    return Caller(f"agent:{name}", False, NOTHING, frozenset())


def narrowed(caller: Caller, other: Caller) -> Caller:
    """`caller` with no more than `other` may do as well: an agent below another agent's host."""
    mine, theirs = caller.reach, other.reach
    if mine.projects is None or theirs.projects is None:
        projects = theirs.projects if mine.projects is None else mine.projects
    else:
        projects = tuple(name for name in mine.projects if name in theirs.projects)
    reach = Reach(
        tuple(name for name in mine.scopes if name in theirs.scopes),
        projects,
        tuple(name for name in mine.sensitivities if name in theirs.sensitivities),
        mine.statuses,
        tuple(name for name in mine.said if name in theirs.said),
    )
    verbs = caller.verbs & other.verbs
    return replace(
        caller,
        reach=reach if Verb.READ in verbs else NOTHING,
        verbs=verbs,
        here=caller.here and other.here,
        write_scopes=tuple(name for name in caller.write_scopes if name in other.write_scopes),
    )
