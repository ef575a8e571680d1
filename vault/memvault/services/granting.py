"""Giving grants: asked for by anybody, given, changed, rotated and revoked by a person only (SPEC 12).

Owns the changes of grants, each one an event. A token exists in the clear only in the answer to the person
who gave or rotated it. Knows nothing of sockets or processes.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memvault.errors import Illegal, NotFound, Usage
from memvault.model import Scope
from memvault.services.caller import Verb
from memvault.services.change import Change, change
from memvault.services.grant import ALL, CURRENT, Grant, of_rows, token_hash
from memvault.services.vault import Vault
from memvault.store import agents

MOST_PENDING = 20
"""Requests that wait for a person; more are not noted, so that no process can fill the list."""

MOST_GRANTS = 200

TOKEN_BYTES = 32

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


def load(vault: Vault) -> None:
    """Read the grants into `vault.grants`. For the thread that opens or writes."""
    vault.grants = {row["name"]: of_rows(row) for row in agents.grants(vault.writer)}


def checked_name(name: str) -> str:
    """Raises Usage."""
    if not _NAME.fullmatch(name):
        raise Usage("an agent's name has 1 to 40 of a-z, 0-9, dot, dash and underscore, and starts with one")
    return name


def checked_rights(
    scopes: Sequence[str] | None, projects: str | Sequence[str] | None, verbs: Sequence[str] | None
) -> dict[str, Any]:
    """The rights that were given, as fields of a Grant; what was not given is left out. Raises Usage."""
    found: dict[str, Any] = {}
    if scopes is not None:
        if not scopes or set(scopes) - {Scope.PRIVATE, Scope.TEAM}:
            raise Usage("a grant's scopes are private, team or both")
        found["scopes"] = tuple(dict.fromkeys(map(Scope, scopes)))
    if projects is not None:
        if isinstance(projects, str) and projects not in (CURRENT, ALL):
            raise Usage(f'a grant\'s projects are "{CURRENT}", "{ALL}" or a list of names')
        found["projects"] = projects if isinstance(projects, str) else tuple(dict.fromkeys(projects))
    if verbs is not None:
        unknown_verbs = sorted(set(verbs) - set(Verb))
        if unknown_verbs or not verbs:
            raise Usage("a grant's verbs are read, propose and write")
        given = frozenset(map(Verb, verbs))
        found["verbs"] = given | {Verb.PROPOSE} if Verb.WRITE in given else given
    return found


def ask_for(vault: Vault, actor: str, name: str, host: str | None, uid: int) -> Grant:
    """Note that an agent wants the default grant; a person decides. Raises Usage, Illegal."""
    known = vault.grants.get(checked_name(name))
    if known is not None:
        if known.state == "revoked":
            raise Illegal(
                "this agent's grant was revoked", "A person gives it back: `memvault agents approve`."
            )
        return known
    if sum(grant.state == "pending" for grant in vault.grants.values()) >= MOST_PENDING:
        raise Illegal("too many agents wait for a person already", "`memvault agents` lists them.")
    grant = Grant(name, uid, vault.now(), host)
    with change(vault, "grant", actor) as work:
        _put(vault, work, grant, "grant.asked")
    load(vault)
    return grant


def give(vault: Vault, actor: str, name: str, host: str | None, uid: int, rights: Mapping[str, Any]) -> str:
    """Make or renew a grant as a person wants it; returns its new token. Raises Usage, Illegal."""
    known = vault.grants.get(checked_name(name))
    if known is None and len(vault.grants) >= MOST_GRANTS:
        raise Illegal(f"there are {MOST_GRANTS} agents already", "`memvault agents remove` makes room.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    grant = known or Grant(name, uid, vault.now(), host)
    grant = replace(
        grant,
        uid=uid,
        host=host or grant.host,
        state="active",
        approved_at=vault.now(),
        token=token_hash(token),
        **rights,
    )
    with change(vault, "grant", actor) as work:
        _put(vault, work, grant, "grant.given")
    load(vault)
    return token


def found(vault: Vault, name: str) -> Grant:
    """Raises NotFound."""
    grant = vault.grants.get(name)
    if grant is None:
        raise NotFound("no such agent", "`memvault agents` lists them.")
    return grant


def alter(vault: Vault, actor: str, name: str, word: str, **fields: Any) -> Grant:
    """Change a grant's fields; `word` names the event. Raises NotFound."""
    grant = replace(found(vault, name), **fields)
    with change(vault, "grant", actor) as work:
        _put(vault, work, grant, word)
    load(vault)
    return grant


def rotate(vault: Vault, actor: str, name: str) -> str:
    """A new token; the old one opens nothing from now on. Raises NotFound, Illegal."""
    grant = found(vault, name)
    if grant.state != "active":
        raise Illegal(f"this agent's grant is {grant.state}", "`memvault agents approve` gives it.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    alter(vault, actor, name, "grant.rotated", token=token_hash(token))
    return token


def remove(vault: Vault, actor: str, name: str) -> None:
    """Forget the agent; what it wrote stays. Raises NotFound."""
    found(vault, name)
    with change(vault, "grant", actor) as work:
        agents.drop_grant(vault.writer, name)
        work.beside("grant.removed", {"agent": name})
    load(vault)


def _put(vault: Vault, work: Change, grant: Grant, word: str) -> None:
    agents.put_grant(vault.writer, grant.rows())
    shown = grant.plain()
    rights = {field: shown[field] for field in ("scopes", "projects", "ceiling", "verbs", "quarantined")}
    work.beside(word, {"agent": grant.name, "state": grant.state, **rights})
