"""What a connection and an agent may cost: calls per second, calls at once, connections.

Owns the counting. Knows nothing of sockets or methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from memvault.errors import Busy, RateLimited

_MOST_AGENTS = 256
"""Names that are counted; a caller can make up more, and its connection is counted all the same."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers of calls, connections and calls a second; a burst is what an idle caller may do at once."""

    connections: int = 128
    agent_connections: int = 32
    """Of one agent's name, so that no agent takes all places."""
    outstanding: int = 32
    """Calls of one connection under way at once; a further one is told to come back."""
    calls_per_s: float = 1_000.0
    burst: int = 2_000
    agent_calls_per_s: float = 200.0
    agent_burst: int = 400
    """Of one agent's name, over all of its connections."""


class Bucket:
    """A token bucket. `now_s` is a monotonic clock."""

    def __init__(self, per_s: float, burst: int, now_s: float) -> None:
        self._per_s, self._burst = per_s, burst
        self._held, self._at = float(burst), now_s

    def take(self, now_s: float) -> float:
        """Take one token; else the seconds until there is one."""
        self._refill(now_s)
        if self._held >= 1.0:
            self._held -= 1.0
            return 0.0
        return (1.0 - self._held) / self._per_s

    def _refill(self, now_s: float) -> None:
        self._held = min(float(self._burst), self._held + max(0.0, now_s - self._at) * self._per_s)
        self._at = now_s


class Ledger:
    """Counts for every connection, by its number, and for every agent, by its name."""

    def __init__(self, limits: Limits, now_s: Callable[[], float]) -> None:
        self.limits = limits
        self._now_s = now_s
        self._connections: dict[int, Bucket] = {}
        self._agents: dict[str, Bucket] = {}
        self._places: dict[str, set[int]] = {}

    def spend(self, connection: int, agent: str | None) -> None:
        """Count one call. Raises RateLimited, and Busy for an agent that has too many connections."""
        now, limits = self._now_s(), self.limits
        bucket = self._connections.get(connection)
        if bucket is None:
            bucket = self._connections[connection] = Bucket(limits.calls_per_s, limits.burst, now)
        wait_s = bucket.take(now)
        if agent is not None:
            self._place(connection, agent)
            wait_s = max(wait_s, self._of_agent(agent, now).take(now))
        if wait_s > 0:
            raise RateLimited("too many calls a second", retry_after_ms=math.ceil(wait_s * 1000))

    def _of_agent(self, agent: str, now: float) -> Bucket:
        bucket = self._agents.get(agent)
        if bucket is None:
            while len(self._agents) >= _MOST_AGENTS:
                del self._agents[next(iter(self._agents))]
            bucket = Bucket(self.limits.agent_calls_per_s, self.limits.agent_burst, now)
            self._agents[agent] = bucket
        return bucket

    def _place(self, connection: int, agent: str) -> None:
        taken = self._places.setdefault(agent, set())
        if connection not in taken:
            if len(taken) >= self.limits.agent_connections:
                raise TooManyConnections(f"an agent has at most {self.limits.agent_connections} connections")
            taken.add(connection)

    def gone(self, connection: int) -> None:
        """The connection was closed."""
        self._connections.pop(connection, None)
        for agent, taken in list(self._places.items()):
            taken.discard(connection)
            if not taken:
                del self._places[agent]


class TooManyConnections(Busy):
    """The connection is closed after this answer."""
