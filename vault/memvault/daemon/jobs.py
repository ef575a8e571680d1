"""Long work beside the vault's own threads: each in a thread of its own, ended before the vault closes.

Knows nothing of what the work is.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

Stopped = Callable[[], bool]
"""Whether the work should end as soon as it can."""


class Jobs:
    """The work under way. For the event loop's thread."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Future[Any], threading.Event] = {}

    async def run(self, call: Callable[[Stopped], T]) -> T:
        """Run `call(stopped)` in a thread. A caller that gives up asks it to stop, and waits until it has."""
        stop = threading.Event()
        job: asyncio.Future[T] = asyncio.ensure_future(asyncio.to_thread(call, stop.is_set))
        self._running[job] = stop
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([job])
            job.exception()  # looked at, so that nobody reports it as lost
            raise
        finally:
            self._running.pop(job, None)

    async def stop_all(self) -> None:
        """Ask all work to stop and wait for its end."""
        for stop in self._running.values():
            stop.set()
        if self._running:
            await asyncio.wait(list(self._running))
