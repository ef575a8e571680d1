"""Where a connection goes over to MCP: the server is loaded when it is needed, and calls go the common way.

Owns loading the SDK beside the event loop, and a connection's desk: its calls pass the same table, grants,
gates and limits as everybody's. Knows nothing of tools.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import msgspec

from memvault.daemon import replies
from memvault.daemon.keeper import Keeper
from memvault.daemon.limits import Ledger
from memvault.daemon.methods import Call, Methods
from memvault.daemon.presence import Presence
from memvault.daemon.readers import TURN
from memvault.daemon.session import Session
from memvault.errors import Busy, ModelUnavailable
from memvault.mcp.desk import Place
from memvault.paths import HomeLayout
from memvault.text import visible
from memvault_models.errors import ModelError

log = logging.getLogger(__name__)

DRAIN_TIMEOUT_S = 30.0
"""An agent that does not read its answer for so long is cut off."""

_preloads: set[asyncio.Task[None]] = set()


def _import() -> ModuleType:
    from memvault.mcp import server

    return server


async def load() -> Any:
    """The module `memvault.mcp.server`; the first time it takes most of a second, in a thread."""
    return await asyncio.to_thread(_import)


def preload_soon(layout: HomeLayout, after_s: float) -> None:
    """Load it `after_s` seconds from now (0: only when an agent comes), if any agent was let in at all."""
    if after_s <= 0:
        return
    loop = asyncio.get_running_loop()

    async def ready() -> None:
        if any(await asyncio.to_thread(lambda: list(layout.tokens.glob("*.token")))):
            await load()

    def begin() -> None:
        task = loop.create_task(ready(), name="mcp preload")
        _preloads.add(task)
        task.add_done_callback(_preloads.discard)

    loop.call_later(after_s, begin)


class ConnectionDesk:
    """One connection's calls."""

    def __init__(
        self, keeper: Keeper, methods: Methods, presence: Presence, ledger: Ledger, session: Session
    ) -> None:
        self._methods, self._ledger, self._session = methods, ledger, session
        self._call = Call(keeper, session, presence, lambda _: None, lambda: None)
        self._under_way = 0

    def place(self) -> Place:
        caller = self._session.caller
        name = caller.actor.removeprefix("agent:")
        claimed = self._session.claimed
        if claimed is not None:
            name = claimed.name
        verbs = tuple(sorted(caller.verbs))
        return Place(visible(name, one_line=True), caller.project, verbs, self._call.keeper.state)

    def offers(self, method: str) -> bool:
        return method in self._methods.table

    def spend(self) -> None:
        self._ledger.spend(self._session.number, self._session.caller.actor)

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        if self._under_way >= self._ledger.limits.outstanding:
            raise Busy("too many calls at once")
        TURN.set(self._session.number)
        self._under_way += 1
        try:
            found = await self._methods.dispatch(self._call, method, params)
            # As it would go over the wire, within the same limit of bytes.
            return msgspec.json.decode(replies.result(0, found))["result"]
        except ModelError as error:
            raise ModelUnavailable(str(error), error.hint) from error
        finally:
            self._under_way -= 1


async def serve(desk: ConnectionDesk, session: Session, first: bytes, lines: AsyncIterator[bytes]) -> None:
    """Speak MCP on a connection that asked for it, from its line `first` on."""
    server = await load()

    async def all_lines() -> AsyncIterator[bytes]:
        yield first
        async for line in lines:
            yield line

    async def send(line: bytes) -> None:
        session.send(line)
        try:
            await asyncio.wait_for(session.writer.drain(), DRAIN_TIMEOUT_S)
        except (TimeoutError, OSError):
            session.writer.transport.abort()

    await server.serve(desk, all_lines(), send)
