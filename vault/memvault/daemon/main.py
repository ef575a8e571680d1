"""The daemon's beginning and end: hardening, the home folder, the socket, the loop, a clean shutdown.

`python -P -m memvault.daemon.main --home DIR [--foreground]`. Takes a socket from the service manager when
there is one (LISTEN_FDS). The broad `except` of the process boundary is here: it logs.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import resource
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from memvault import config
from memvault.clock import SystemClock
from memvault.config import Config
from memvault.daemon import home, logs, surroundings
from memvault.errors import MemvaultError
from memvault.paths import HomeLayout, home_dir

log = logging.getLogger("memvault.daemon")

WATCH_SOCKET_S = 5.0
"""How often the daemon looks whether the socket is still its own."""

SWITCH_S = 0.0005
"""How long a thread computes before another gets its turn: a recall passes through four threads, a list
computes in one."""

_FIRST_PASSED_FD = 3


def harden() -> None:
    """Files are ours alone, no crash leaves a memory image, and we are limited no more than we must be."""
    os.umask(0o077)
    surroundings.widen()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def hold_streams() -> None:
    """Put nothing in the place of standard streams that were closed, before a file takes their numbers."""
    for number in range(_FIRST_PASSED_FD):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # as Python leaves a closed one
        sys.stderr = os.fdopen(2, "w", closefd=False)


def silence() -> None:
    """Give up the standard error of whoever started us: from here on the log speaks."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, sys.stderr.fileno())
    os.close(nowhere)


def _passed_socket() -> socket.socket | None:
    """The listening socket a service manager hands over (sd_listen_fds)."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or os.environ.get("LISTEN_FDS") != "1":
        return None
    return socket.socket(fileno=_FIRST_PASSED_FD)


def _note_stray(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """An exception that nobody awaited. asyncio's own report would quote its message."""
    error = context.get("exception")
    log.error("stray exception: %s", type(error).__name__, exc_info=error)


async def _serve(layout: HomeLayout, settings: Config, passed: socket.socket | None) -> None:
    """Serve until a signal, a shutdown call, or the loss of the socket.

    A socket that the service manager passed stays in its place: the next connection starts us again.
    """
    from memvault.daemon import mcp_door
    from memvault.daemon.handlers import table
    from memvault.daemon.keeper import Keeper
    from memvault.daemon.server import Server
    from memvault.daemon.watching import Watching
    from memvault.services import exchange

    exchange.finish(layout)
    exchange.sweep(layout)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    keeper = Keeper(layout, settings, SystemClock())
    server = Server(keeper, table(), lambda: loop.call_soon(ended.set) and None)
    watching = Watching(keeper) if settings.watch_files else None
    loop.set_exception_handler(_note_stray)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    sock = passed or home.listen(layout)
    ours = home.identity(layout.socket)
    await server.start(sock)
    mcp_door.preload_soon(layout, settings.mcp_preload_s)
    if not sys.stderr.isatty():
        silence()
    while not ended.is_set():
        try:
            await asyncio.wait_for(ended.wait(), WATCH_SOCKET_S)
        except TimeoutError:
            if home.identity(layout.socket) != ours:
                log.warning("the socket was taken away")
                break
    await server.stop()
    if watching is not None:
        await watching.stop()
    await keeper.stop()
    if passed is None and home.identity(layout.socket) == ours:
        layout.socket.unlink(missing_ok=True)


def run(root: Path) -> int:
    """Own the vault in `root` until told to stop. Returns the exit status: 0 also when another owns it."""
    hold_streams()
    harden()
    sys.setswitchinterval(SWITCH_S)
    layout = HomeLayout(root)
    try:
        home.prepare(layout)
        lock = home.lock_owner(layout)
    except home.OwnedAlready:
        return 0
    except MemvaultError as error:
        sys.stderr.write(f"memvault: {error.message}\n")
        return error.exit_status
    try:
        logs.start(layout.log)
        settings = config.load(layout.config)
        asyncio.run(_serve(layout, settings, _passed_socket()))
    except MemvaultError as error:
        log.warning("stopped: %s", error.code)
        sys.stderr.write(f"memvault: {error.message}\n")
        return error.exit_status
    except Exception as error:
        log.critical("stopped: %s", type(error).__name__, exc_info=True)
        sys.stderr.write(f"memvault: {type(error).__name__}; {layout.log.name} names the place\n")
        return 1
    finally:
        os.close(lock)
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="memvault-daemon", description="Own one vault and answer on its socket."
    )
    parser.add_argument(
        "--home", help="the vault's home (default: MEMVAULT_HOME or the platform's data folder)"
    )
    given = parser.parse_args(arguments)
    return run(home_dir(given.home))


if __name__ == "__main__":
    sys.exit(main())
