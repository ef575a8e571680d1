"""Talk to the daemon from asyncio: calls that overlap, and the news it sends unasked.

Standard library only. Owns nothing but the listening; the exchange itself is `client`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

from memvault import launch
from memvault.client import (
    FIRST_PAUSE_S,
    HELLO_PAUSES_S,
    LONGEST_PAUSE_S,
    Progress,
    another_may_answer,
    hello_params,
    is_farewell,
    outcome,
    speaks_another_version,
)
from memvault.errors import Busy, DaemonDown, MemvaultError
from memvault.paths import HomeLayout, home_dir
from memvault.rpc import framing


class AsyncClient:
    """The same for asyncio. Calls may overlap; `notifications()` yields (method, params) as they come."""

    def __init__(self, home: Path | None = None, *, name: str = "tui", autostart: bool = True) -> None:
        self.layout = HomeLayout(home or home_dir())
        self.name = name
        self.hello: dict[str, Any] = {}
        self._autostart = autostart
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._progress: dict[int, Progress] = {}
        self._news: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue()
        self._writer: asyncio.StreamWriter | None = None
        self._listener: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        return self._writer is not None

    async def connect(self) -> None:
        """Connect and say hello; instead of a daemon that is ending the next one. Raises DaemonDown."""
        if self._writer is not None:
            return
        for pause_s in HELLO_PAUSES_S:
            await self._open()
            try:
                self.hello = await self.call("hello", hello_params(self.name))
                return
            except MemvaultError as error:
                await self.close()
                if not (self._autostart and pause_s and another_may_answer(error)):
                    raise
                if speaks_another_version(error):
                    await asyncio.to_thread(launch.replace, self.layout)
            await asyncio.sleep(pause_s)

    async def _open(self) -> None:
        raw = await asyncio.to_thread(launch.connect, self.layout, autostart=self._autostart)
        reader, self._writer = await asyncio.open_connection(sock=raw, limit=framing.MAX_RESPONSE_BYTES)
        self._news = asyncio.Queue()
        self._listener = asyncio.create_task(self._listen(reader), name="memvault client")

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, on_progress: Progress | None = None
    ) -> Any:
        """Call `method`; a busy daemon is asked again. Raises what the daemon raised, or DaemonDown."""
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                return await self._exchange(method, params or {}, on_progress)
            except Busy:
                if pause_s >= LONGEST_PAUSE_S * 8:
                    raise
            await asyncio.sleep(min(pause_s, LONGEST_PAUSE_S))
            pause_s *= 1.5

    async def _exchange(self, method: str, params: dict[str, Any], on_progress: Progress | None) -> Any:
        writer = self._writer
        if writer is None:
            raise DaemonDown("not connected")
        request_id = next(self._ids)
        line = framing.request(request_id, method, params)
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = reply
        if on_progress is not None:
            self._progress[request_id] = on_progress
        try:
            writer.write(line)
            await writer.drain()
            return outcome(await reply)
        except OSError as error:
            raise DaemonDown("the connection to the daemon was lost") from error
        except asyncio.CancelledError:
            with contextlib.suppress(OSError):
                writer.write(framing.notification("$/cancel", {"id": request_id}))
            raise
        finally:
            self._waiting.pop(request_id, None)
            self._progress.pop(request_id, None)

    async def notifications(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """News the daemon sends unasked; ends when the connection does."""
        while (item := await self._news.get()) is not None:
            yield item

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                self._take(framing.decode(line))
        except (OSError, ValueError, MemvaultError):
            pass
        finally:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._news.put_nowait(None)
            for reply in self._waiting.values():
                if not reply.done():
                    reply.set_exception(DaemonDown("the connection to the daemon was lost"))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            params: dict[str, Any] = message.get("params") or {}
            if message["method"] == "progress":
                heard = self._progress.get(params.get("request", 0))
                if heard is not None:
                    heard(params)
            else:
                self._news.put_nowait((message["method"], params))
            return
        heard_by = (
            self._waiting.values() if is_farewell(message) else [self._waiting.get(message.get("id", 0))]
        )
        for reply in heard_by:
            if reply is not None and not reply.done():
                reply.set_result(message)

    async def close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        if self._listener is not None:
            self._listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listener
            self._listener = None
