"""What the MCP server needs of a connection: somebody who carries its calls out, and says where it works.

The daemon provides it; grants, gates and limits are on its side. Knows nothing of MCP or of sockets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Place:
    """The agent's name, the project it works in (None: outside of any), and what it may do; sorted."""

    agent: str
    project: str | None
    verbs: tuple[str, ...]
    state: str
    """Of the vault: unlocked, locked or absent."""


class Desk(Protocol):
    """One connection. `call` raises what memvault.errors has, as every other caller hears it."""

    def place(self) -> Place: ...

    def offers(self, method: str) -> bool:
        """Whether the daemon has this method."""
        ...

    def spend(self) -> None:
        """Count one request. Raises RateLimited or Busy."""
        ...

    async def call(self, method: str, params: dict[str, Any]) -> Any: ...
