"""A daemon that is told to end, ends: no wait on a disk swallows that it was cancelled."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

import pytest

from memvault.daemon import citations


async def test_a_result_that_comes_while_it_is_cancelled_swallows_nothing() -> None:
    loop, done = asyncio.get_running_loop(), Future[int]()
    task = asyncio.create_task(citations.in_time(lambda: done))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    done.set_result(1)
    loop.call_soon(task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_disk_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(citations, "PATIENCE_S", 0.01)
    assert await citations.in_time(Future[int]) is None
