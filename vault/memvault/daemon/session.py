"""One connection: who it is, what it may do, and what it hears. Knows nothing of methods."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from memvault.daemon.presence import Presence
from memvault.daemon.process import Peer
from memvault.errors import PresenceRequired
from memvault.rpc import framing
from memvault.services.caller import PERSON, Caller, agent

_numbers = count(1)

MOST_UNREAD_BYTES = 16_777_216
"""A listener that lets so much pile up is dropped, so that it cannot fill the daemon's memory."""


@dataclass(slots=True)
class Session:
    """A connected client. `number` is unique for the life of the daemon."""

    peer: Peer
    presence: Presence
    writer: asyncio.StreamWriter
    number: int = field(default_factory=lambda: next(_numbers))
    client: str = "?"
    greeted: bool = False
    listening: bool = False
    tasks: dict[int | str, asyncio.Task[None]] = field(default_factory=dict[int | str, asyncio.Task[None]])
    """Calls without an answer yet, by their number."""
    sending: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    """Calls whose answer is on its way to a client that reads slowly; their numbers are free again."""

    @property
    def proved(self) -> bool:
        return self.presence.left_s(self.number, self.peer) > 0

    @property
    def is_agent(self) -> bool:
        """Below an agent host, and no person has shown to be there on this very connection."""
        return self.peer.agent_host is not None and not self.proved

    @property
    def caller(self) -> Caller:
        """Whose reach this connection has."""
        if self.is_agent:
            return agent(self.peer.agent_host or "agent", (None, _project_of(self.peer.cwd)))
        return PERSON

    @property
    def writing_caller(self) -> Caller:
        """As `caller`, but a process without terminal and proof only proposes."""
        if self.is_agent or self.proved or self.peer.terminal is not None:
            return self.caller
        return Caller("script", False, PERSON.reach)

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
        if not self.proved:
            raise PresenceRequired("only a person may do this: show that you are there")

    def principal(self) -> dict[str, Any]:
        kind = "agent" if self.is_agent else "person"
        return {
            "kind": kind,
            "name": self.peer.agent_host if self.is_agent else "person",
            "interactive": self.peer.terminal is not None,
        }

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


def _project_of(cwd: str | None) -> str | None:
    """The project of a working directory: the name of its git root, else none."""
    if cwd is None:
        return None
    here = Path(cwd)
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder.name.casefold()
    return None
