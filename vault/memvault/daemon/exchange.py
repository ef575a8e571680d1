"""Calls of all connections: taken apart, counted, run, answered, cancelled.

Owns what JSON-RPC asks of a server. Knows nothing of sockets or of what methods do. The broad `except` of
the dispatch boundary is here: whatever a handler raises becomes an error answer, and the daemon lives.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any, cast
from weakref import WeakValueDictionary

from memvault.daemon import replies
from memvault.daemon.keeper import Keeper
from memvault.daemon.limits import Ledger, TooManyConnections
from memvault.daemon.mcp_door import ConnectionDesk
from memvault.daemon.methods import Call, Methods
from memvault.daemon.presence import Presence
from memvault.daemon.readers import TURN
from memvault.daemon.session import Session
from memvault.errors import (
    Busy,
    Cancelled,
    FrameInvalid,
    MemvaultError,
    ModelUnavailable,
    RateLimited,
    TextUnusable,
    Usage,
)
from memvault.rpc import framing, requests, wire
from memvault.rpc.requests import Request
from memvault_models.errors import ModelError

log = logging.getLogger(__name__)

DRAIN_TIMEOUT_S = 30.0
"""A client that does not read its answer for so long is cut off."""
NOTIFIED = frozenset({"presence.drop", "vault.lock", "events.subscribe", "shutdown"})
"""Methods that are run when they come as a notification. Others would fail unheard: they are passed over."""
CANCEL = "$/cancel"
PAGED = frozenset({"memory.list", "inbox", "export.page"})
"""Answers can be large: one of each connection at a time, and the next when the last was taken."""

_INSIDE = "daemon.log in the vault's home names the place, without any text of yours."


class Exchange:
    """What happens between a line that came in and the line that goes out."""

    def __init__(
        self,
        keeper: Keeper,
        methods: Methods,
        presence: Presence,
        ledger: Ledger,
        on_stop: Callable[[], None],
    ) -> None:
        self._keeper, self._methods, self._presence, self._ledger = keeper, methods, presence, ledger
        self._on_stop = on_stop
        self._pages: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._over_rate = False

    def take(self, session: Session, line: bytes) -> bool:
        """Begin whatever a line asks for; True when it came too fast. Raises TooManyConnections."""
        self._over_rate = False
        try:
            message = requests.parse(line)
            elements = requests.parts(message)
        except FrameInvalid as error:
            _send(session, self._malformed(session, error))
            return self._over_rate
        if not framing.is_unicode(line, message):
            error = TextUnusable("the request holds a lone surrogate: it is not Unicode")
            _send(session, replies.failure(_number_of(message), error))
        elif elements is None:
            begun = self._begin(session, message)
            if isinstance(begun, bytes):
                _send(session, begun)
            elif begun is not None:
                self._start(session, begun, self._one(session, begun))
        else:
            self._take_batch(session, elements)
        return self._over_rate

    def desk(self, session: Session) -> ConnectionDesk:
        """For a connection that goes over to MCP: its calls pass the same table and the same counts."""
        return ConnectionDesk(self._keeper, self._methods, self._presence, self._ledger, session)

    def _malformed(self, session: Session, error: FrameInvalid) -> bytes:
        """The answer to a line that is no request; it costs as much as a call."""
        try:
            self._spend(session)
        except RateLimited as refused:
            return replies.failure(None, refused)
        code = framing.INVALID_REQUEST if error.__cause__ is None else framing.PARSE_ERROR
        return replies.failure(None, error, code)

    async def _one(self, session: Session, request: Request) -> None:
        async with contextlib.AsyncExitStack() as held:
            line = await self._reply(session, request, held)
            if request.id is not None:
                session.answered(request.id)
            if request.answered:
                await _deliver(session, line)

    def _take_batch(self, session: Session, elements: list[Any]) -> None:
        answers, calls = replies.Batch(), list[asyncio.Task[None]]()

        async def one(request: Request) -> None:
            async with contextlib.AsyncExitStack() as held:
                line = await self._reply(session, request, held)
                if request.answered:
                    answers.add(request.id, line)

        async def all_of_them() -> None:
            if calls:
                await asyncio.wait(calls)
            line = answers.line()
            if line is not None:
                await _deliver(session, line)

        for element in elements:
            begun = self._begin(session, element)
            if isinstance(begun, bytes):
                answers.add(None, begun)
            elif begun is not None:
                calls.append(self._start(session, begun, one(begun)))
        task = asyncio.get_running_loop().create_task(all_of_them(), name="batch")
        session.sending.add(task)
        task.add_done_callback(session.sending.discard)

    def _begin(self, session: Session, message: Any) -> bytes | Request | None:
        """The call to run, an error answer at once, or nothing to do. Raises TooManyConnections."""
        try:
            request = requests.request_of(message)
        except FrameInvalid as error:
            return self._malformed(session, error)
        if request.method == CANCEL:
            self._cancel(session, request.params)
            return replies.result(request.id, {}) if request.answered else None
        try:
            self._spend(session)
            if request.answered or request.method in NOTIFIED:
                self._find_room(session, request)
                return request
        except TooManyConnections:
            raise
        except Busy as error:
            return replies.failure(request.id, error) if request.answered else None
        return None

    def _find_room(self, session: Session, request: Request) -> None:
        """Raises Busy."""
        if len(session.under_way()) >= self._ledger.limits.outstanding:
            raise Busy("too many calls at once")
        if request.id is not None and request.id in session.tasks:
            raise Busy("a call with this id is under way")

    def _spend(self, session: Session) -> None:
        """Count a call, or a line that is none. Raises RateLimited, TooManyConnections."""
        agent = session.caller.actor if session.is_agent else None
        try:
            self._ledger.spend(session.number, agent)
        except RateLimited:
            self._over_rate = True
            raise

    def _start(
        self, session: Session, request: Request, work: Coroutine[Any, Any, None]
    ) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name=f"call {request.method[:40]}")
        if request.id is None:
            session.sending.add(task)
            task.add_done_callback(session.sending.discard)
        else:
            number = request.id
            session.tasks[number] = task
            task.add_done_callback(lambda done: _forget(session, number, done))
        return task

    @staticmethod
    def _cancel(session: Session, params: Any) -> None:
        with contextlib.suppress(Usage):
            task = session.tasks.get(wire.convert(params, wire.Cancel).id)
            if task is not None:
                # Soon: a call that has just come begins first, so that it can answer that it was cancelled.
                asyncio.get_running_loop().call_soon(task.cancel)

    async def _reply(self, session: Session, request: Request, held: contextlib.AsyncExitStack) -> bytes:
        """The answer to one call, whatever happens in it; `held` is let go when the answer was taken."""
        number = request.id

        def tell(progress: dict[str, Any]) -> None:
            if request.answered:
                session.notify("progress", {"request": number, **progress})

        TURN.set(session.number)
        call = Call(self._keeper, session, self._presence, tell, self._on_stop)
        try:
            if request.method in PAGED:
                lock = self._pages.setdefault(session.number, asyncio.Lock())
                await held.enter_async_context(lock)
            found = await self._methods.dispatch(call, request.method, request.params)
            return replies.result(number, found)
        except MemvaultError as error:
            return replies.failure(number, error)
        except ModelError as error:
            return replies.failure(number, ModelUnavailable(str(error), error.hint))
        except asyncio.CancelledError:
            if session.writer.is_closing():
                raise
            return replies.failure(number, Cancelled("the call was cancelled"))
        except Exception as error:
            log.exception("%s failed: %s", request.method[:40], type(error).__name__)
            inside = MemvaultError("something went wrong inside the daemon", _INSIDE)
            return replies.failure(number, inside, framing.INTERNAL_ERROR)


def _number_of(message: Any) -> int | None:
    """The id of a request whose text cannot be sent back."""
    given = cast(dict[str, Any], message).get("id") if isinstance(message, dict) else None
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _forget(session: Session, number: int | str, task: asyncio.Task[None]) -> None:
    if session.tasks.get(number) is task:
        del session.tasks[number]


def _send(session: Session, line: bytes) -> None:
    session.send(line + b"\n")


async def _deliver(session: Session, line: bytes) -> None:
    _send(session, line)
    try:
        await asyncio.wait_for(session.writer.drain(), DRAIN_TIMEOUT_S)
    except (TimeoutError, OSError):
        session.writer.transport.abort()
