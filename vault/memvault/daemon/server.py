"""The socket's side of the daemon: connections, frames, limits, replies.

Owns what every connection may cost. Knows nothing of what methods do. The broad `except` of the dispatch
boundary is here: whatever a handler raises becomes an error reply, and the daemon lives.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable
from typing import Any

from memvault.daemon import process
from memvault.daemon.keeper import Keeper
from memvault.daemon.methods import Call, Methods
from memvault.daemon.presence import Presence
from memvault.daemon.session import Session
from memvault.errors import (
    Busy,
    FrameInvalid,
    MemvaultError,
    ModelUnavailable,
    TextUnusable,
    UnknownMethod,
    Usage,
)
from memvault.rpc import framing, wire
from memvault_models.errors import ModelError

log = logging.getLogger(__name__)

MOST_CONNECTIONS = 128
MOST_OUTSTANDING = 32
"""Calls of one connection under way at once; a further one is told to come back."""
DRAIN_TIMEOUT_S = 30.0
"""A client that does not read its answer for so long is cut off."""
SHUTDOWN_TIMEOUT_S = 10.0


class Server:
    """Accepts connections and answers calls until `stop`."""

    def __init__(self, keeper: Keeper, methods: Methods, on_stop: Callable[[], None]) -> None:
        self.keeper, self.methods = keeper, methods
        self.presence = Presence(keeper.clock)
        self._on_stop = on_stop
        self._sessions: dict[int, Session] = {}
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        keeper.listeners.append(self._spread)
        keeper.on_lock.append(self.presence.forget)

    async def start(self, sock: socket.socket) -> None:
        self._server = await asyncio.start_unix_server(
            self._serve, sock=sock, limit=framing.MAX_REQUEST_BYTES + 1
        )

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
        if len(self._sessions) >= MOST_CONNECTIONS:
            session.send(_error(None, Busy("too many connections")))
            writer.close()
            return
        self._sessions[session.number] = session
        try:
            await self._read(reader, session)
        except (OSError, EOFError):
            pass
        finally:
            self._sessions.pop(session.number, None)
            self.presence.closed(session.number)
            for task in session.under_way():
                task.cancel()
            writer.close()

    def _admit(self, writer: asyncio.StreamWriter) -> Session:
        """Raises PermissionError for another user's process."""
        sock = writer.get_extra_info("socket")
        pid, uid = process.credentials(sock)
        if uid != os.getuid():
            log.warning("connection of another user refused")
            raise PermissionError(uid)
        return Session(process.describe(pid, uid), self.presence, writer)

    async def _read(self, reader: asyncio.StreamReader, session: Session) -> None:
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                limit = f"a request has at most {framing.MAX_REQUEST_BYTES:,} bytes"
                session.send(_error(None, FrameInvalid(limit), framing.INVALID_REQUEST))
                with contextlib.suppress(OSError):
                    await asyncio.wait_for(session.writer.drain(), DRAIN_TIMEOUT_S)
                return
            if not line:
                return
            if line.strip():
                self._take(session, line)
                await asyncio.sleep(0)

    def _take(self, session: Session, line: bytes) -> None:
        try:
            message = framing.decode(line)
        except FrameInvalid as error:
            session.send(_error(None, error, framing.PARSE_ERROR))
            return
        name, number = message.get("method"), message.get("id")
        if (
            not isinstance(name, str)
            or message.get("jsonrpc") != "2.0"
            or isinstance(number, (dict, list, bool, float))
        ):
            session.send(_error(None, FrameInvalid("not a JSON-RPC 2.0 request"), framing.INVALID_REQUEST))
            return
        if not framing.is_unicode(line, message):
            answered = number if isinstance(number, int) else None
            session.send(
                _error(answered, TextUnusable("the request holds a lone surrogate: it is not Unicode"))
            )
            return
        if name == "$/cancel":
            self._cancel(session, message.get("params"))
            return
        if number is None:
            return
        if len(session.under_way()) >= MOST_OUTSTANDING or number in session.tasks:
            session.send(_error(number, Busy("too many calls at once")))
            return
        answer = self._answer(session, number, name, message.get("params"))
        task = asyncio.get_running_loop().create_task(answer, name=f"call {name[:40]}")
        session.tasks[number] = task
        task.add_done_callback(lambda done: self._forget(session, number, done))

    @staticmethod
    def _forget(session: Session, number: int | str, task: asyncio.Task[None]) -> None:
        if session.tasks.get(number) is task:
            del session.tasks[number]

    @staticmethod
    def _cancel(session: Session, params: Any) -> None:
        with contextlib.suppress(Usage):
            task = session.tasks.get(wire.convert(params, wire.Cancel).id)
            if task is not None:
                task.cancel()

    async def _answer(self, session: Session, number: int | str, name: str, params: Any) -> None:
        def tell(progress: dict[str, Any]) -> None:
            session.notify("progress", {"request": number, **progress})

        call = Call(self.keeper, session, self.presence, tell, self._on_stop)
        try:
            result = await self.methods.dispatch(call, name, params)
            line = framing.encode({"jsonrpc": "2.0", "id": number, "result": result})
        except MemvaultError as error:
            line = _error(number, error, _wire_code(error))
        except ModelError as error:
            line = _error(number, ModelUnavailable(str(error), error.hint))
        except Exception as error:
            log.exception("%s failed: %s", name[:40], type(error).__name__)
            line = _error(
                number,
                MemvaultError("something went wrong inside the daemon", _INSIDE),
                framing.INTERNAL_ERROR,
            )
        session.answered(number)
        session.send(line)
        try:
            await asyncio.wait_for(session.writer.drain(), DRAIN_TIMEOUT_S)
        except (TimeoutError, OSError):
            session.writer.transport.abort()


_INSIDE = "daemon.log in the vault's home names the place, without any text of yours."


def _wire_code(error: MemvaultError) -> int:
    if isinstance(error, UnknownMethod):
        return framing.METHOD_NOT_FOUND
    return framing.INVALID_PARAMS if type(error) is Usage else framing.DOMAIN_ERROR


def _error(number: int | str | None, error: MemvaultError, code: int = framing.DOMAIN_ERROR) -> bytes:
    return framing.encode({"jsonrpc": "2.0", "id": number, "error": framing.error_body(error, code)})
