"""Agents that call the daemon in a closed loop: what each asks, in which shares, and what is counted.

Owns the mix, the connections and the counting. Knows nothing of how the vault was filled, nor of the
references. All agents live in the loop of one process: they share two cores with the daemon, and twenty
interpreters would measure themselves. Every agent has a connection, a name, a token and a grant of its own.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from sentences import made

from memvault import launch
from memvault.client import hello_params, outcome
from memvault.errors import DaemonDown, MemvaultError
from memvault.paths import HomeLayout
from memvault.rpc import framing
from memvault.services import pollution

MIX = {"recall": 70, "memory.get": 10, "context.compile": 8, "memory.add": 8, "memory.feedback": 4}
"""Per cent of an agent's calls."""
QUESTIONS_ONLY = {"recall": 100}
REMEMBERED = 50
"""Ids of its newest recalls that an agent gets, or gives feedback on."""
DOUBTS = 10
"""Memories that one agent calls outdated at most: the daemon takes 20 a day."""
DOUBT_SHARE = 0.2


@dataclass(slots=True)
class Tally:
    """What a phase came to: `times_ms` by method, `seconds` of wall clock, processor time of both sides."""

    times_ms: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    errors: Counter[str] = field(default_factory=Counter[str])
    rate_limited: int = 0
    modes: Counter[str] = field(default_factory=Counter[str])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    answered: int = 0
    seconds: float = 0.0
    daemon_cpu_s: float = 0.0
    driver_cpu_s: float = 0.0

    @property
    def calls(self) -> int:
        return sum(map(len, self.times_ms.values()))

    @property
    def per_second(self) -> float:
        return self.calls / self.seconds


class Connection:
    """One agent's connection, a call at a time. It never repeats a call that the daemon put off."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = count(1)

    @classmethod
    async def open(cls, layout: HomeLayout, agent: str) -> Connection:
        """Connect and show the agent's token. Raises what the daemon raises."""
        raw = await asyncio.to_thread(launch.connect, layout, autostart=False)
        found = cls(*await asyncio.open_connection(sock=raw, limit=framing.MAX_RESPONSE_BYTES))
        await found.call("hello", hello_params("bench", layout, agent))
        return found

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        """Raises what the daemon raised, DaemonDown when the connection ended."""
        number = next(self._numbers)
        try:
            self._writer.write(framing.request(number, method, params))
            await self._writer.drain()
            while line := await self._reader.readline():
                message = framing.decode(line)
                if message.get("id") == number or (message.get("id") is None and "error" in message):
                    return outcome(message)
        except OSError as error:
            raise DaemonDown("the connection was lost") from error
        raise DaemonDown("the daemon closed the connection")

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


class Agent:
    """One agent: draws its next call from the mix, and keeps what it needs for later ones."""

    def __init__(self, name: str, connection: Connection, questions: Iterator[str], seed: int) -> None:
        self.name, self.connection = name, connection
        self.proposed: list[str] = []
        """Ids that the daemon acknowledged."""
        self._questions = questions
        self._rnd = random.Random(seed)
        self._known: deque[str] = deque(maxlen=REMEMBERED)
        self._lessons = iter(made(2_000, 0, random.Random(10_000 + seed))[0])
        self._turns = count(1)
        self._doubts = DOUBTS
        self._steps: dict[str, Callable[[Tally], Awaitable[None]]] = {
            "recall": self._recall,
            "memory.get": self._get,
            "context.compile": self._compile,
            "memory.add": self._add,
            "memory.feedback": self._feedback,
        }

    async def loop(self, tally: Tally, mix: dict[str, int], ends: float, think_s: float) -> None:
        """Call and think in turn until `ends`. The first call comes within the first thought."""
        await asyncio.sleep(self._rnd.uniform(0.0, think_s))
        while time.monotonic() < ends:
            method = self._rnd.choices(list(mix), list(mix.values()))[0]
            if not self._known and method in ("memory.get", "memory.feedback"):
                method = "recall"
            try:
                await self._steps[method](tally)
            except DaemonDown:
                tally.errors["connection"] += 1
                return
            except MemvaultError as error:
                if error.code == "rate_limited":
                    tally.rate_limited += 1
                else:
                    tally.errors[f"{method}: {error.code}"] += 1
            if think_s:
                await asyncio.sleep(self._rnd.uniform(0.5, 1.5) * think_s)

    async def _timed(self, tally: Tally, method: str, params: dict[str, Any]) -> Any:
        started = time.perf_counter()
        answer = await self.connection.call(method, params)
        tally.times_ms.setdefault(method, []).append(1e3 * (time.perf_counter() - started))
        return answer

    async def _recall(self, tally: Tally) -> None:
        answer = await self._timed(tally, "recall", {"query": next(self._questions)})
        tally.modes[answer["mode"]] += 1
        tally.answered += bool(answer["results"])
        self._known.extend(result["id"] for result in answer["results"])

    async def _get(self, tally: Tally) -> None:
        await self._timed(tally, "memory.get", {"id": self._rnd.choice(self._known)})

    async def _compile(self, tally: Tally) -> None:
        await self._timed(tally, "context.compile", {"objective": next(self._questions), "mode": "M1"})

    async def _add(self, tally: Tally) -> None:
        """Propose what nobody proposed, each from a turn of its own in the agent's conversation."""
        lesson = next(self._lessons)
        source = {
            "type": "conversation", "ref": f"bench-{self.name}", "message_index": next(self._turns),
            "evidence": lesson,
        }  # fmt: skip
        draft = {"content": lesson, "kind": "fact", "scope": "private", "source": source}
        answer = await self._timed(tally, "memory.add", draft)
        too_many = answer["reason"] == pollution.TOO_MANY
        tally.outcomes["over the hour's number" if too_many else answer["outcome"]] += 1
        if answer["id"] is not None:
            self.proposed.append(answer["id"])

    async def _feedback(self, tally: Tally) -> None:
        said: dict[str, Any] = {"id": self._rnd.choice(self._known), "verdict": "used"}
        if self._doubts and self._rnd.random() < DOUBT_SHARE:
            self._doubts -= 1
            said |= {"verdict": "outdated", "evidence": "The configuration of today says otherwise."}
        await self._timed(tally, "memory.feedback", said)


async def phase(
    agents: Sequence[Agent], pid: int, *, mix: dict[str, int], seconds: float, think_s: float
) -> Tally:
    """Let the agents call for so long; calls under way at the end are waited for and counted."""
    tally = Tally()
    daemon_s, driver_s, started = cpu_s(pid), cpu_s(os.getpid()), time.monotonic()
    await asyncio.gather(*(agent.loop(tally, mix, started + seconds, think_s) for agent in agents))
    tally.seconds = time.monotonic() - started
    tally.daemon_cpu_s, tally.driver_cpu_s = cpu_s(pid) - daemon_s, cpu_s(os.getpid()) - driver_s
    return tally


def cpu_s(pid: int) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
