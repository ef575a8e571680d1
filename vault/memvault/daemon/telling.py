"""Progress of work in a thread, told to the caller, and the caller's wish to end it. Knows no method."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from memvault.daemon.keeper import Keeper
from memvault.errors import Locked
from memvault.keys.envelope import VaultKey

T = TypeVar("T")
Tell = Callable[[str, int, int], None]
"""Hears (stage, done, total); raises Locked when the work should end."""


def teller(tell: Callable[[dict[str, Any]], None], stop: threading.Event | None = None) -> Tell:
    """Pass progress on to the event loop this is called in."""
    loop = asyncio.get_running_loop()

    def told(stage: str, done: int, total: int) -> None:
        if stop is not None and stop.is_set():
            raise Locked("the work was ended before anything was decided")
        loop.call_soon_threadsafe(tell, {"stage": stage, "done": done, "total": total})

    return told


async def replacing(
    keeper: Keeper, swap: Callable[[Tell], T], key: VaultKey, tell: Callable[[dict[str, Any]], None]
) -> T:
    """`Keeper.replace`, with progress; a caller that gives up ends it unless it is decided already."""
    stop = threading.Event()
    told = teller(tell, stop)
    try:
        return await keeper.replace(lambda: swap(told), key)
    except asyncio.CancelledError:
        stop.set()
        raise
