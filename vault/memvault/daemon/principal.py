"""Whose connection it is: the grant behind a token, or behind the host a process descends from (SPEC 12).

Owns the order in which these decide. Knows nothing of methods; what a grant allows is `services.grant`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memvault.daemon import workplace
from memvault.daemon.process import Peer
from memvault.services import grant
from memvault.services.caller import Caller
from memvault.services.places import Place, Workplace
from memvault.services.vault import Vault


@dataclass(frozen=True, slots=True)
class Claimed:
    """The agent a connection says it is, and the SHA-256 of the token it showed."""

    name: str
    token: bytes


def agent_caller(vault: Vault, peer: Peer, claimed: Claimed | None, project: str | None) -> Caller:
    """What an agent's connection may do. A token below another agent's host gets what both may do."""
    hosted = None if peer.agent_host is None else _hosted(vault, peer.agent_host, project)
    if claimed is None:
        return hosted or grant.unknown("agent")
    own = grant.by_token(vault.grants, claimed.name, claimed.token, peer.uid)
    if own is None:
        return grant.unknown(claimed.name)
    caller = _met(vault, own, project)
    if hosted is None or hosted.actor == caller.actor or own.host == peer.agent_host:
        return caller
    return grant.narrowed(caller, hosted)


def _hosted(vault: Vault, host: str, project: str | None) -> Caller:
    granted = grant.by_host(vault.grants, host)
    if granted is not None:
        return _met(vault, granted, project)
    if grant.shut_out(vault.grants, host):
        return grant.unknown(host)
    return grant.without_grant(host, project)


def _met(vault: Vault, granted: grant.Grant, project: str | None) -> Caller:
    vault.seen[granted.name] = vault.now()
    return grant.caller_of(granted, project)


def _exists(path: str) -> bool:
    return Path(path).exists()


def locked_caller(peer: Peer, claimed: Claimed | None) -> Caller:
    """An agent's connection while no vault is open: nothing can be looked up, so nothing is allowed."""
    return grant.unknown(peer.agent_host or ("agent" if claimed is None else claimed.name))


class Whereabouts:
    """The project a connection works in, by its working directory; looked up once for each open vault."""

    def __init__(self, cwd: str | None, learn: Callable[[Place, str | None], None]) -> None:
        self._cwd, self._learn = cwd, learn
        self._vault: Vault | None = None
        self._project: str | None = None
        self._at: Workplace | None = None
        self._looked = False

    def project(self, vault: Vault) -> str | None:
        if vault is not self._vault:
            if not self._looked:
                self._at, self._looked = workplace.look(self._cwd), True
            self._vault = vault
            self._project = None if self._at is None else self._name(vault, self._at)
        return self._project

    def _name(self, vault: Vault, at: Workplace) -> str:
        known = vault.places.find(at, _exists)
        name = vault.places.name_for(at) if known is None else known.project
        now = Place(at.store, name, at.origin, at.device, at.inode, vault.now()[:10])
        if known != now:
            moved = known is not None and known.path != at.store and not _exists(known.path)
            vault.places.known[at.store] = now
            self._learn(now, known.path if known is not None and moved else None)
        return name
