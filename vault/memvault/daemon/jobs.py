"""Long work beside the vault's own threads, ended before the vault closes; and steps that always end whole.

Knows nothing of what the work is.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from memvault.daemon.readers import Lane

T = TypeVar("T")

Stopped = Callable[[], bool]
"""Whether the work should end as soon as it can."""


class Jobs:
    """The work under way. For the event loop's thread."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Future[Any], threading.Event] = {}
        self.files = Lane("files")
        """For files of other programs, whose disk may not answer: nobody waits for its end."""
        self._whole: set[asyncio.Task[Any]] = set()

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

    async def whole(self, step: Coroutine[Any, Any, T]) -> T:
        """Let `step` go to its end even when its caller gives up: a vault is never left half open."""
        task = asyncio.get_running_loop().create_task(step)
        self._whole.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._whole.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that nobody reports it as lost

    async def settled(self) -> None:
        """Wait until every step under way has ended."""
        while self._whole:
            await asyncio.wait(list(self._whole))

    async def stop_all(self) -> None:
        """Ask all work to stop and wait for its end."""
        for stop in self._running.values():
            stop.set()
        if self._running:
            await asyncio.wait(list(self._running))
