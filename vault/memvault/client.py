"""Talk to the daemon: the blocking client over its Unix socket, starting it when needed.

Standard library only and without asyncio, so that a hook answers fast. Owns connecting, starting the daemon,
the hello exchange and patience with a busy daemon. Knows of the vault's files only the socket's path.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from memvault import PROTOCOL, __version__, agent_tokens, launch
from memvault.errors import Busy, DaemonDown, MemvaultError, from_wire
from memvault.paths import HomeLayout, home_dir
from memvault.rpc import framing

Progress = Callable[[dict[str, Any]], None]

FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 0.5
HELLO_PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.0)
"""A daemon that is being killed takes connections for a moment, and drops them."""


def hello_params(name: str, layout: HomeLayout | None = None, agent: str | None = None) -> dict[str, Any]:
    """What a connection says of itself; an agent shows the token that lies in `layout` for it."""
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        cwd = None
    said = {"client": name, "version": __version__, "protocol": PROTOCOL, "cwd": cwd}
    if layout is not None and agent is not None:
        said |= {"agent": agent, "token": agent_tokens.read(layout, agent) or ""}
    return said


def outcome(message: dict[str, Any]) -> Any:
    """The result of a response. Raises what the daemon raised."""
    error = message.get("error")
    if error is None:
        return message.get("result")
    data: dict[str, Any] = error.get("data") or {}
    raise from_wire(
        str(data.get("code", "failure")), str(error.get("message", "")), str(data.get("hint", ""))
    )


def is_farewell(message: dict[str, Any]) -> bool:
    """An error that answers no call: the daemon says why it closes, or that it could not read a line."""
    return message.get("id") is None and "error" in message


def another_may_answer(error: MemvaultError) -> bool:
    return isinstance(error, DaemonDown) and not isinstance(error.__cause__, TimeoutError)


def speaks_another_version(error: MemvaultError) -> bool:
    return error.code == "protocol_mismatch"


class Client:
    """Blocking connection to the daemon of one home.

    `agent`: the name of the agent whose token is shown. `timeout_s` bounds a single call, `Busy` answers
    included. Not thread-safe: one client per thread.
    """

    def __init__(
        self,
        home: Path | None = None,
        *,
        name: str = "cli",
        agent: str | None = None,
        autostart: bool = True,
        timeout_s: float = 120.0,
    ) -> None:
        self.layout = HomeLayout(home or home_dir())
        self.name, self.agent = name, agent
        self.timeout_s = timeout_s
        self.hello: dict[str, Any] = {}
        self._autostart = autostart
        self._ids = count(1)
        self._socket: socket.socket | None = None
        self._buffer = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def connect(self) -> None:
        """Connect and say hello, once; instead of a daemon that is ending the next one. Raises DaemonDown."""
        if self._socket is not None:
            return
        for pause_s in HELLO_PAUSES_S:
            self._socket = launch.connect(self.layout, autostart=self._autostart)
            try:
                self.hello = self._exchange("hello", hello_params(self.name, self.layout, self.agent), None)
                return
            except MemvaultError as error:
                self.close()
                if not (self._autostart and pause_s and another_may_answer(error)):
                    raise
                if speaks_another_version(error):
                    launch.replace(self.layout)
            time.sleep(pause_s)

    def call(
        self, method: str, params: dict[str, Any] | None = None, *, on_progress: Progress | None = None
    ) -> Any:
        """Call `method` and return its result; a busy daemon is asked again until `timeout_s`.

        Raises what the daemon raised (memvault.errors), DaemonDown when the connection breaks. After
        DaemonDown a write may or may not have happened.
        """
        deadline = time.monotonic() + self.timeout_s
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                self.connect()
                return self._exchange(method, params or {}, on_progress)
            except Busy:
                if time.monotonic() + pause_s > deadline:
                    raise
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._buffer.clear()

    def _exchange(self, method: str, params: dict[str, Any], on_progress: Progress | None) -> Any:
        request_id = next(self._ids)
        line = framing.request(request_id, method, params)
        deadline = time.monotonic() + self.timeout_s
        try:
            self._send(line)
            return self._await_reply(request_id, deadline, on_progress)
        except KeyboardInterrupt:
            with contextlib.suppress(OSError):
                self._send(framing.notification("$/cancel", {"id": request_id}))
            raise
        except OSError as error:
            self.close()
            raise DaemonDown("the connection to the daemon was lost") from error

    def _await_reply(self, request_id: int, deadline: float, on_progress: Progress | None) -> Any:
        while True:
            message = framing.decode(self._read_line(deadline))
            if is_farewell(message) or (message.get("id") == request_id and "method" not in message):
                return outcome(message)
            if message.get("method") == "progress" and message["params"].get("request") == request_id:
                deadline = time.monotonic() + self.timeout_s
                if on_progress is not None:
                    on_progress(message["params"])

    def _send(self, line: bytes) -> None:
        if self._socket is None:
            raise DaemonDown("not connected")
        self._socket.settimeout(self.timeout_s)
        self._socket.sendall(line)

    def _read_line(self, deadline: float) -> bytes:
        if self._socket is None:
            raise DaemonDown("not connected")
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > framing.MAX_RESPONSE_BYTES:
                raise DaemonDown("the daemon's answer is too large")
            self._socket.settimeout(max(0.01, deadline - time.monotonic()))
            chunk = self._socket.recv(65_536)
            if not chunk:
                raise ConnectionResetError
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line
