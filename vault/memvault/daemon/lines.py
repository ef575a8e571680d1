"""Lines from a socket: whole ones, within their limit of bytes, and not waited for without end.

Knows nothing of what the lines say.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

CHUNK_BYTES = 65_536
HELLO_S = 30.0
"""A connection that has not said hello by then is closed."""
LINE_S = 30.0
"""A line that has begun is whole by then, or the connection is closed."""


class LineTooLong(Exception):
    """The line exceeds the limit; what follows it cannot be told from it."""


class Patience:
    """Gives up on a connection that keeps the daemon waiting; `give_up(why)` closes it."""

    def __init__(self, greeted: Callable[[], bool], give_up: Callable[[str], None]) -> None:
        self._greeted, self._give_up = greeted, give_up
        self._hello = asyncio.get_running_loop().call_later(HELLO_S, self._no_hello)
        self._line: asyncio.TimerHandle | None = None

    def _no_hello(self) -> None:
        if not self._greeted():
            self._give_up(f"no hello within {HELLO_S:.0f} seconds")

    def line_begun(self, begun: bool) -> None:
        """Whether part of a line waits for its end; the clock runs from its first byte."""
        if begun and self._line is None:
            why = f"a line was not finished within {LINE_S:.0f} seconds"
            self._line = asyncio.get_running_loop().call_later(LINE_S, self._give_up, why)
        elif not begun and self._line is not None:
            self._line.cancel()
            self._line = None

    def end(self) -> None:
        self._hello.cancel()
        self.line_begun(False)


async def whole_lines(
    reader: asyncio.StreamReader, limit_bytes: int, patience: Patience
) -> AsyncGenerator[bytes, None]:
    """Every line that is not blank, without its end, until the other side closes. Raises LineTooLong."""
    held = bytearray()
    while chunk := await reader.read(CHUNK_BYTES):
        searched = len(held)
        held += chunk
        start = 0
        while (end := held.find(b"\n", max(start, searched))) >= 0:
            line = bytes(held[start:end])
            start = end + 1
            if len(line) > limit_bytes:
                raise LineTooLong
            patience.line_begun(False)
            if line.strip():
                yield line
        del held[:start]
        if len(held) > limit_bytes:
            raise LineTooLong
        patience.line_begun(bool(held.strip()))
