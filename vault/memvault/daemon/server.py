"""The socket's side of the daemon: connections come, send lines, and go.

Owns who may connect and how long the daemon waits for anybody. Knows nothing of what is said.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import socket
from collections.abc import Callable
from typing import Any

from memvault.daemon import mcp_door, process, replies
from memvault.daemon.exchange import DRAIN_TIMEOUT_S, Exchange
from memvault.daemon.keeper import Keeper
from memvault.daemon.limits import Ledger, Limits, TooManyConnections
from memvault.daemon.lines import CHUNK_BYTES, LineTooLong, Patience, whole_lines
from memvault.daemon.methods import Methods
from memvault.daemon.presence import Presence
from memvault.daemon.session import Session
from memvault.errors import Busy, FrameInvalid, MemvaultError, TooSlow
from memvault.rpc import framing

log = logging.getLogger(__name__)

MOST_WAITING_BYTES = 1_048_576
"""While so much waits to be read by a client, nothing more of it is taken."""
OVER_RATE_PAUSE_S = 0.01
"""A client beyond its rate is read no faster than this between two lines."""
LAST_ANSWERS_S = 30.0
HANG_UP_WATCH_S = 0.5
SHUTDOWN_TIMEOUT_S = 10.0


class Server:
    """Accepts connections and answers calls until `stop`."""

    def __init__(
        self, keeper: Keeper, methods: Methods, on_stop: Callable[[], None], limits: Limits | None = None
    ) -> None:
        self.keeper = keeper
        self.presence = Presence(keeper.clock)
        self._ledger = Ledger(limits or Limits(), keeper.clock.monotonic_s)
        self._exchange = Exchange(keeper, methods, self.presence, self._ledger, on_stop)
        self._sessions: dict[int, Session] = {}
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        keeper.listeners.append(self._spread)
        keeper.on_lock.append(self.presence.forget)

    async def start(self, sock: socket.socket) -> None:
        self._server = await asyncio.start_unix_server(self._serve, sock=sock, limit=CHUNK_BYTES)

    async def stop(self) -> None:
        """Take no more connections, let calls under way end, close what is left."""
        if self._server is not None:
            self._server.close()
        tasks = [task for session in self._sessions.values() for task in session.under_way()]
        current = asyncio.current_task()
        others = [task for task in tasks if task is not current]
        if others:
            await asyncio.wait(others, timeout=SHUTDOWN_TIMEOUT_S)
        for session in list(self._sessions.values()):
            session.writer.close()
        if self._connections:
            await asyncio.wait(self._connections, timeout=SHUTDOWN_TIMEOUT_S)

    def _spread(self, method: str, params: dict[str, Any]) -> None:
        for session in self._sessions.values():
            if session.listening and not session.is_agent:
                session.notify(method, params)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            session = self._admit(writer)
        except (OSError, PermissionError):
            writer.transport.abort()
            return
        if len(self._sessions) >= self._ledger.limits.connections:
            session.send(replies.failure(None, Busy("too many connections")) + b"\n")
            writer.close()
            return
        self._sessions[session.number] = session
        try:
            await self._read(reader, session)
        except (OSError, EOFError, TimeoutError):
            pass
        finally:
            self._sessions.pop(session.number, None)
            self._ledger.gone(session.number)
            self.presence.closed(session.number)
            writer.close()
            for task in session.under_way():
                task.cancel()

    def _admit(self, writer: asyncio.StreamWriter) -> Session:
        """Raises PermissionError for another user's process."""
        sock = writer.get_extra_info("socket")
        pid, uid = process.credentials(sock)
        if uid != os.getuid():
            log.warning("connection of another user refused")
            raise PermissionError(uid)
        return Session(process.describe(pid, uid), self.presence, self.keeper, writer)

    async def _read(self, reader: asyncio.StreamReader, session: Session) -> None:
        """Take lines until the client has no more, then let its last answers out."""
        transport = session.writer.transport
        patience = Patience(lambda: session.greeted, functools.partial(self._give_up, session))
        try:
            async with contextlib.aclosing(whole_lines(reader, framing.MAX_REQUEST_BYTES, patience)) as lines:
                async for line in lines:
                    if session.speaks_mcp:
                        await mcp_door.serve(self._exchange.desk(session), session, line, lines)
                        break
                    too_fast = self._exchange.take(session, line)
                    await asyncio.sleep(OVER_RATE_PAUSE_S if too_fast else 0)
                    if transport.get_write_buffer_size() > MOST_WAITING_BYTES:
                        await asyncio.wait_for(session.writer.drain(), DRAIN_TIMEOUT_S)
        except LineTooLong:
            limit = f"a request has at most {framing.MAX_REQUEST_BYTES:,} bytes"
            await self._farewell(session, FrameInvalid(limit))
        except TooManyConnections as error:
            await self._farewell(session, error)
        else:
            patience.end()
            await self._last_answers(session)
        finally:
            patience.end()

    @staticmethod
    def _give_up(session: Session, why: str) -> None:
        session.send(replies.failure(None, TooSlow(why)) + b"\n")
        session.writer.close()

    @staticmethod
    async def _farewell(session: Session, error: MemvaultError) -> None:
        session.send(replies.failure(None, error) + b"\n")
        with contextlib.suppress(OSError, TimeoutError):
            await asyncio.wait_for(session.writer.drain(), DRAIN_TIMEOUT_S)

    @staticmethod
    async def _last_answers(session: Session) -> None:
        """Who only stopped writing (`nc -N`) still hears what it asked; who hung up does not."""
        deadline = asyncio.get_running_loop().time() + LAST_ANSWERS_S
        sock = session.writer.get_extra_info("socket")
        while (tasks := session.under_way()) and not process.hung_up(sock):
            if asyncio.get_running_loop().time() > deadline:
                return
            await asyncio.wait(tasks, timeout=HANG_UP_WATCH_S)
