"""Turns at the vault's threads: each connection in its turn, and long reading gives way to short questions.

Owns the lanes (one thread each) and the room a page of records gets. Knows nothing of what the work is.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextvars import ContextVar
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

TURN: ContextVar[int] = ContextVar("turn", default=0)
"""Whose work is handed in: the number of the connection; 0 is the daemon's own."""

PAGE_BYTES = 4_194_304
"""A page of records ends before its JSON is longer than this; one record always fits."""
GIVE_WAY_S = 0.02
"""The longest that reading at length stands aside between two portions."""

_Job = tuple[Future[Any], Callable[[], Any]]


class Lane(Executor):
    """One thread that serves owners in turn, so that nobody waits for the whole queue of another.

    Within one owner's work the order of arrival holds.
    """

    def __init__(self, name: str) -> None:
        self._wake = threading.Condition()
        self._waiting: OrderedDict[int, deque[_Job]] = OrderedDict()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        done: Future[T] = Future()
        with self._wake:
            if self._closed:
                raise RuntimeError("the lane is closed")
            self._waiting.setdefault(TURN.get(), deque()).append((done, lambda: fn(*args, **kwargs)))
            self._wake.notify()
        return done

    def result_of(self, call: Callable[..., T], *args: Any) -> T:
        """Wait for `call` in this lane. For other threads than the event loop's."""
        return self.submit(call, *args).result()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work, and end after what waits, or without it when `cancel_futures`."""
        with self._wake:
            self._closed = True
            if cancel_futures:
                for jobs in self._waiting.values():
                    for done, _ in jobs:
                        done.cancel()
            self._wake.notify()
        if wait:
            self._thread.join()

    def _next(self) -> _Job | None:
        with self._wake:
            self._wake.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return None
            owner, jobs = self._waiting.popitem(last=False)
            job = jobs.popleft()
            if jobs:
                self._waiting[owner] = jobs
            return job

    def _work(self) -> None:
        while (job := self._next()) is not None:
            _run(*job)
            # Results can be large: they are not kept until the next work comes.
            del job


def _run(done: Future[Any], call: Callable[[], Any]) -> None:
    if not done.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001  whoever waits hears of it, the thread goes on
        done.set_exception(error)
    else:
        done.set_result(result)


class Courtesy:
    """Who reads at length stands aside while short questions are under way."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._hurried = 0

    @contextlib.contextmanager
    def hurried(self) -> Iterator[None]:
        """A short question is under way."""
        with self._free:
            self._hurried += 1
        try:
            yield
        finally:
            with self._free:
                self._hurried -= 1
                self._free.notify_all()

    def give_way(self) -> None:
        """Wait until no short question is under way, at most GIVE_WAY_S."""
        if self._hurried:
            with self._free:
                self._free.wait_for(lambda: not self._hurried, GIVE_WAY_S)


class Room:
    """What one answer of many records may take, encoded as it is read."""

    def __init__(self, courtesy: Courtesy, limit_bytes: int = PAGE_BYTES) -> None:
        self._courtesy = courtesy
        self._left = limit_bytes
        self._empty = True

    def give_way(self) -> None:
        self._courtesy.give_way()

    def pack(self, item: dict[str, Any]) -> Any | None:
        """`item` as it goes over the wire; None when there is no room for it any more."""
        line = msgspec.json.encode(item)
        self._left -= len(line) + 1
        if self._left < 0 and not self._empty:
            return None
        self._empty = False
        return msgspec.Raw(line)
