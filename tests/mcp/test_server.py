"""The server over lines alone: what is cancelled ends, what fails says nothing of why."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import Busy
from memvault.mcp import server
from memvault.mcp.desk import Place

INITIALIZE = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    },
}  # fmt: skip


class SlowDesk:
    """A desk whose calls last until they are cancelled, or fail with words that nobody may hear."""

    def __init__(self) -> None:
        self.begun, self.cancelled = asyncio.Event(), asyncio.Event()
        self.fails: Exception | None = None

    def place(self) -> Place:
        return Place("robin", None, ("read",), "unlocked")

    def offers(self, method: str) -> bool:
        return True

    def spend(self) -> None:
        pass

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        self.begun.set()
        if self.fails is not None:
            raise self.fails
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


class Line:
    """A connection made of two queues."""

    def __init__(self, desk: SlowDesk) -> None:
        self._in: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._out: asyncio.Queue[bytes] = asyncio.Queue()
        self.task = asyncio.get_running_loop().create_task(server.serve(desk, self._lines(), self._out.put))

    async def _lines(self) -> AsyncIterator[bytes]:
        while (line := await self._in.get()) is not None:
            yield line

    async def say(self, message: Any) -> None:
        await self._in.put(json.dumps(message).encode())

    async def hear(self) -> dict[str, Any]:
        return json.loads(await asyncio.wait_for(self._out.get(), 20))

    async def call(self, number: int) -> None:
        params = {"name": "memory_search", "arguments": {"query": "x"}}
        await self.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    async def greet(self) -> dict[str, Any]:
        await self.say(INITIALIZE)
        answer = await self.hear()
        await self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    async def end(self) -> None:
        await self._in.put(None)
        await asyncio.wait_for(self.task, 20)


async def test_a_cancelled_notification_cancels_the_dispatch() -> None:
    desk = SlowDesk()
    line = Line(desk)
    assert (await line.greet())["result"]["protocolVersion"] == "2025-06-18"
    await line.call(1)
    await asyncio.wait_for(desk.begun.wait(), 20)
    await line.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    await asyncio.wait_for(desk.cancelled.wait(), 20)
    await line.say({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    assert (await line.hear())["id"] == 2
    await line.end()


async def test_when_the_agent_goes_its_calls_end() -> None:
    desk = SlowDesk()
    line = Line(desk)
    await line.greet()
    await line.call(1)
    await asyncio.wait_for(desk.begun.wait(), 20)
    await line.end()
    assert desk.cancelled.is_set()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("the secret text"), "something went wrong"),
        (Busy("too many calls"), "too many calls. Try again"),
    ],
)
async def test_what_fails_is_an_answer_and_only_known_errors_say_why(error: Exception, told: str) -> None:
    desk = SlowDesk()
    desk.fails = error
    line = Line(desk)
    await line.greet()
    await line.call(1)
    answer = (await line.hear())["result"]
    assert answer["isError"]
    assert told in answer["content"][0]["text"]
    assert "secret" not in answer["content"][0]["text"]
    await line.end()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
METHODS = [
    "initialize", "ping", "tools/call", "tools/list", "resources/read", "prompts/get", "server/discover",
    "notifications/cancelled", "notifications/initialized", "completion/complete", "logging/setLevel", "x",
]  # fmt: skip
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": st.integers(1, 5) | st.text(max_size=3) | JSON,
        "method": st.sampled_from(METHODS) | JSON,
        "params": JSON
        | st.fixed_dictionaries({"name": st.sampled_from(["memory_add", "memory_list"]), "arguments": JSON})
        | st.fixed_dictionaries({"requestId": JSON}),
        "result": JSON,
        "error": JSON,
    },
)


@given(st.lists(MESSAGES | JSON, max_size=12))
def test_whatever_is_said_the_connection_answers_the_next_ping(messages: list[Any]) -> None:
    async def talk() -> None:
        desk = SlowDesk()
        desk.fails = Busy("too many calls")
        line = Line(desk)
        await line.greet()
        for message in messages:
            await line.say(message)
        await line.say({"jsonrpc": "2.0", "id": "the last", "method": "ping"})
        while (await line.hear()).get("id") != "the last":
            pass
        await line.end()

    asyncio.run(talk())
