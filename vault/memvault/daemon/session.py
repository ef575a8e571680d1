"""One connection: who it is, what it may do, and what it hears. Knows nothing of methods."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from memvault.daemon.keeper import Keeper
from memvault.daemon.presence import Presence
from memvault.daemon.principal import Claimed, Whereabouts, agent_caller, locked_caller
from memvault.daemon.process import Peer
from memvault.errors import PresenceRequired
from memvault.rpc import framing
from memvault.services.caller import PERSON, SCRIPT, Caller

_numbers = count(1)

MOST_UNREAD_BYTES = 16_777_216
"""A listener that lets so much pile up is dropped, so that it cannot fill the daemon's memory."""


@dataclass(slots=True)
class Session:
    """A connected client. `number` is unique for the life of the daemon."""

    peer: Peer
    presence: Presence
    keeper: Keeper
    writer: asyncio.StreamWriter
    number: int = field(default_factory=lambda: next(_numbers))
    client: str = "?"
    claimed: Claimed | None = None
    """The agent it says to be: from then on it is that agent's connection, whoever is there."""
    _where: Whereabouts | None = None
    greeted: bool = False
    listening: bool = False
    speaks_mcp: bool = False
    """Every further line is MCP's."""
    tasks: dict[int | str, asyncio.Task[None]] = field(default_factory=dict[int | str, asyncio.Task[None]])
    """Calls without an answer yet, by their number."""
    sending: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    """Calls whose answer is on its way to a client that reads slowly; their numbers are free again."""

    @property
    def proved(self) -> bool:
        return self.presence.left_s(self.number, self.peer) > 0

    @property
    def is_agent(self) -> bool:
        """It showed an agent's token, or descends from a host and no person has shown to be there on it."""
        return self.claimed is not None or (self.peer.agent_host is not None and not self.proved)

    @property
    def caller(self) -> Caller:
        """Whose reach this connection has."""
        if not self.is_agent:
            return PERSON
        vault = self.keeper.vault
        if vault is None:
            return locked_caller(self.peer, self.claimed)
        if self._where is None:
            self._where = Whereabouts(self.peer.cwd, self.keeper.learn_place)
        return agent_caller(vault, self.peer, self.claimed, self._where.project(vault))

    @property
    def writing_caller(self) -> Caller:
        """As `caller`, but a process without terminal and proof only proposes."""
        if self.is_agent or self.proved or self.peer.terminal is not None:
            return self.caller
        return SCRIPT

    def under_way(self) -> list[asyncio.Task[None]]:
        """Every call that still costs something."""
        return [*self.tasks.values(), *self.sending]

    def answered(self, number: int | str) -> None:
        """Set `number` free, as its answer goes out now."""
        task = self.tasks.pop(number, None)
        if task is not None:
            self.sending.add(task)
            task.add_done_callback(self.sending.discard)

    def require_person(self) -> None:
        """Raises PresenceRequired unless a person was there within the last five minutes."""
        if self.claimed is not None or not self.proved:
            raise PresenceRequired("only a person may do this: show that you are there")

    def principal(self) -> dict[str, Any]:
        kind = "agent" if self.is_agent else "person"
        found: dict[str, Any] = {
            "kind": kind,
            "name": "person",
            "interactive": self.peer.terminal is not None,
        }
        if self.is_agent and self.keeper.vault is None:
            found["name"] = self.caller.actor.removeprefix("agent:")
        elif self.is_agent:
            caller = self.caller
            found |= {
                "name": caller.actor.removeprefix("agent:"),
                "verbs": sorted(caller.verbs),
                "project": caller.project,
                "scopes": list(caller.reach.scopes),
            }
        return found

    def send(self, line: bytes) -> None:
        """Queue a line; a client that does not read is cut off."""
        transport = self.writer.transport
        if transport.get_write_buffer_size() > MOST_UNREAD_BYTES:
            transport.abort()
            return
        if not self.writer.is_closing():
            self.writer.write(line)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.send(framing.notification(method, params))
