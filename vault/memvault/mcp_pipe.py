"""`memvault mcp`: bytes from an agent host's pipe to the daemon's socket and back, where MCP is spoken.

Runs alone under `python -I -S`, once for each agent: only what starts in a few milliseconds, nothing of
memvault (a test compares what is repeated here). Owns finding home and token, starting the daemon, and what
an agent hears while there is none: no request waits without end. Knows nothing of tools.
"""

from __future__ import annotations

import json
import os
import select
import stat
import sys
import time

# The modules below `signal` and `socket`: those two alone would double the time to start.
from _signal import SIGINT, SIGTERM, signal  # pyright: ignore[reportMissingModuleSource]
from _socket import AF_UNIX, SOCK_STREAM, socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROTOCOL, MOST_LINE_BYTES, LONGEST_SOCKET_PATH, MOST_TOKEN_BYTES = 1, 262_144, 100, 256
"""As memvault's PROTOCOL, framing.MAX_REQUEST_BYTES, launch.LONGEST_SOCKET_PATH, agent_tokens.MOST_BYTES."""
MOST_HELD_BYTES, WRITE_BYTES = 1_048_576, 4_096
"""While so much waits on one side, nothing more is read from the other; what a ready pipe takes at once."""
REACH_S, RETRY_S, PAUSE_S, LINGER_S = 25.0, 2.0, 0.05, 1.0
"""For reaching the daemon; after a failure, before the next try; between two looks; for the last answers."""

_SILENT = ("memvault's daemon does not answer", "`memvault doctor` says why.")
_TOO_LONG = (f"a message has at most {MOST_LINE_BYTES:,} bytes", "Keep the conclusion and name its source.")
_RESTARTED = (
    "memvault's daemon ended before it answered: whether the call was carried out is not known",
    "Ask again; a proposal that arrives twice is kept once.",
)


class Unreachable(Exception):
    """Why there is no daemon to talk to, and how a person mends it."""


def command(agent: str, home: str | None = None) -> list[str]:
    """The fastest command line that serves `agent`, for a host's configuration; it holds no secret."""
    extra = [] if home is None else ["--home", home]
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), "--agent", agent, *extra]


def home_dir(override: str | None) -> str:
    """As `paths.home_dir`."""
    chosen = override or os.environ.get("MEMVAULT_HOME", "")
    if chosen:
        return os.path.realpath(os.path.expanduser(chosen))
    base = os.path.join(os.path.expanduser("~"), ".local/share")
    if sys.platform == "darwin":
        base = os.path.join(os.path.expanduser("~"), "Library/Application Support")
    elif os.path.isabs(os.environ.get("XDG_DATA_HOME", "")):
        base = os.environ["XDG_DATA_HOME"]
    return os.path.realpath(os.path.join(base, "memvault"))


def is_name(name: str) -> bool:
    """As `granting.checked_name`."""
    known = "abcdefghijklmnopqrstuvwxyz0123456789._-"
    return 0 < len(name) <= 40 and name[0] not in "._-" and not set(name) - set(known)


def read_token(home: str, agent: str) -> str:
    """As `agent_tokens.read`; empty when there is none. Raises Unreachable when others may read it."""
    mend = f"The person runs `memvault agents rotate {agent}`."
    path = os.path.join(home, "agents", agent + ".token")
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Unreachable("the agent's token file is no plain file that can be read", mend) from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise Unreachable("the agent's token file can be read by others", mend)
        return os.read(handle, MOST_TOKEN_BYTES).decode("ascii", "replace").strip()
    finally:
        os.close(handle)


def connect(home: str) -> socket | None:
    """A connected socket; None when nobody listens. Raises Unreachable."""
    path = os.path.join(home, "run", "daemon.sock")
    outside = f"Let this program use {home}, or start it outside of the sandbox."
    sock, folder = socket(AF_UNIX, SOCK_STREAM), -1
    try:
        found = os.lstat(path)
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
            raise Unreachable("something else lies where the vault's socket belongs", _SILENT[1])
        if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
            folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            path = f"/proc/self/fd/{folder}/daemon.sock"
        sock.setblocking(False)
        sock.connect(path)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError, BlockingIOError):
        sock.close()
        return None
    except (OSError, AttributeError) as error:
        sock.close()
        raise Unreachable("the vault's socket cannot be reached from here", outside) from error
    finally:
        if folder >= 0:
            os.close(folder)
    return sock


def wake(home: str, deadline: float) -> None:
    """Let a child start the daemon, with the care of every other client. Raises Unreachable."""
    words = [sys.executable, "-P", "-m", "memvault.cli.wake", "--home", home]
    said, saying = os.pipe()
    files = [(os.POSIX_SPAWN_OPEN, handle, os.devnull, os.O_RDWR, 0) for handle in (0, 2)]
    files = [*files, (os.POSIX_SPAWN_DUP2, saying, 1)]
    child = os.posix_spawn(words[0], words, os.environ, file_actions=files, setsid=True)
    os.close(saying)
    told = b""
    while chunk := _read_by(said, deadline, lambda: os.read(said, 4_096)):
        told += chunk
    os.close(said)
    _, status = os.waitpid(child, 0)
    if status:
        raise Unreachable(*_reason(_message(told))[1])


def _read_by(handle: int, deadline: float, read: Any) -> bytes:
    """What there is to read, empty at the end. Raises Unreachable too late, EOFError without a host."""
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    poller.register(1, 0)
    ready = dict(poller.poll(max(0.0, deadline - time.monotonic()) * 1_000))
    if 1 in ready:
        raise EOFError
    if not ready:
        raise Unreachable(*_SILENT)
    return read()


def reach(home: str, agent: str) -> socket:
    """A connection on which MCP is spoken; nobody listens: starts the daemon, once. Raises Unreachable."""
    deadline, woken, why = time.monotonic() + REACH_S, False, _SILENT
    while time.monotonic() < deadline:
        token, sock = read_token(home, agent), connect(home)
        code = "nobody"
        if sock is not None:
            code, why = _greet(sock, agent, token, deadline)
            if not code:
                return sock
            sock.close()
        if code in ("nobody", "daemon_down") and not woken:  # the latter speaks another version
            wake(home, deadline)
            woken = True
        elif code not in ("nobody", "gone", "busy", "rate_limited"):
            break
        time.sleep(PAUSE_S)
    raise Unreachable(*why)


def _greet(sock: socket, agent: str, token: str, deadline: float) -> tuple[str, tuple[str, str]]:
    """Say who we are and that this is MCP from here on; empty, or why it is not. Raises Unreachable."""
    who = {"client": "mcp", "version": "0", "protocol": PROTOCOL, "agent": agent, "token": token}
    heard = b""
    try:
        sock.send(_line(id=1, method="hello", params=who) + _line(id=2, method="mcp.attach"))
        while heard.count(b"\n") < 2:
            chunk = _read_by(sock.fileno(), deadline, lambda: sock.recv(65_536))
            if not chunk:
                raise ConnectionResetError
            heard += chunk
            for answer in map(_message, heard.split(b"\n")):
                if "error" in answer:
                    return _reason(answer)
    except OSError:
        return "gone", _SILENT
    return "", _SILENT


class Pipe:
    """One host on standard input and output, one connection to the daemon at a time."""

    def __init__(self, home: str, agent: str) -> None:
        self._home, self._agent = home, agent
        self._sock: socket | None = None
        self._why, self._failed_at = Unreachable(*_SILENT), -RETRY_S
        self._line, self._answer = bytearray(), bytearray()
        self._to_daemon, self._to_host = bytearray(), bytearray()
        self._book = Book()
        self._ended_at: float | None = None

    def run(self) -> None:
        """Until the host is gone."""
        while not self._finished():
            sock, poller = self._sock, select.poll()
            if self._ended_at is None and len(self._to_daemon) < MOST_HELD_BYTES:
                poller.register(0, select.POLLIN)
            poller.register(1, select.POLLOUT if self._to_host else 0)
            if sock is not None:
                asks = select.POLLIN if len(self._to_host) < MOST_HELD_BYTES else 0
                poller.register(sock.fileno(), asks | (select.POLLOUT if self._to_daemon else 0))
            ready = poller.poll(None if self._ended_at is None else PAUSE_S * 1_000)
            # The daemon first, so that what the host says is not sent to one that has ended.
            for handle, event in sorted(ready, reverse=True):
                if handle == 0:
                    self._from_host(os.read(0, 65_536))
                elif handle == 1:
                    if event & ~select.POLLOUT:
                        return
                    del self._to_host[: os.write(1, self._to_host[:WRITE_BYTES])]
                elif sock is self._sock and sock is not None:
                    self._exchange(sock, event)

    def _finished(self) -> bool:
        if self._ended_at is None or self._to_host:
            return False
        waits = self._to_daemon or self._book.under_way
        return not waits or time.monotonic() - self._ended_at > LINGER_S

    def _from_host(self, chunk: bytes) -> None:
        if not chunk:
            self._ended_at = time.monotonic()
        for line in _lines(self._line, chunk):
            if line.strip():
                self._take(line)
        if len(self._line) > 4 * MOST_HELD_BYTES:  # refused when its end comes
            del self._line[MOST_LINE_BYTES:-MOST_LINE_BYTES]

    def _take(self, line: bytes) -> None:
        try:
            self._make_way(line)
        except Unreachable as why:
            message = _message(line)
            if not message or ("method" in message and message.get("id") is not None):
                self._to_host += _error(message.get("id"), *why.args)
            return
        self._book.asked(line)
        self._to_daemon += line + b"\n"

    def _make_way(self, line: bytes) -> None:
        """Be connected. Raises Unreachable, for a while without trying again."""
        if len(line) > MOST_LINE_BYTES:
            raise Unreachable(*_TOO_LONG)
        if self._sock is not None:
            return
        if time.monotonic() - self._failed_at < RETRY_S:
            raise Unreachable(*self._why.args)
        try:
            self._sock = reach(self._home, self._agent)
        except Unreachable as why:
            self._why, self._failed_at = why, time.monotonic()
            raise
        self._to_daemon += self._book.replay()

    def _exchange(self, sock: socket, event: int) -> None:
        try:
            if event & select.POLLOUT:
                del self._to_daemon[: sock.send(self._to_daemon[:65_536])]
            if event & ~select.POLLOUT:
                chunk = sock.recv(65_536)
                if not chunk:
                    raise ConnectionResetError
                for line in _lines(self._answer, chunk):
                    self._to_host += line + b"\n" if self._book.answered(line) else b""
        except BlockingIOError:
            return
        except OSError:
            self._lost(sock)

    def _lost(self, sock: socket) -> None:
        """The daemon ended. What it has not answered gets an error, but `initialize` is asked again, once."""
        sock.close()
        self._sock = None
        self._to_daemon.clear()
        self._answer.clear()
        lost, again = self._book.lost()
        for number in lost:
            self._to_host += _error(number, *_RESTARTED)
        if again:
            self._take(again)


class Book:
    """Which requests wait for an answer, by their ids as JSON; what to say again to a new daemon."""

    def __init__(self) -> None:
        self.under_way: dict[str, Any] = {}
        self._first = self._greeted = b""
        self._first_id, self._agreed, self._again, self._swallow = "", False, False, False

    def asked(self, line: bytes) -> None:
        message = _message(line)
        method = message.get("method")
        if method == "notifications/initialized":
            self._greeted = line
        elif method == "notifications/cancelled":
            self.under_way.pop(json.dumps(_part(message, "params").get("requestId")), None)
        elif method is not None and message.get("id") is not None:
            key = json.dumps(message["id"])
            self.under_way[key] = message["id"]
            if method == "initialize":
                self._first, self._first_id, self._agreed = line, key, False

    def answered(self, line: bytes) -> bool:
        """Whether this line goes to the host: everything but the answer to what we repeated."""
        message = _message(line)
        if "method" in message or "id" not in message:
            return True
        key = json.dumps(message["id"])
        if self._swallow and key == self._first_id:
            self._swallow = False
            return False
        self.under_way.pop(key, None)
        self._agreed = self._agreed or (key == self._first_id and "result" in message)
        return True

    def replay(self) -> bytes:
        """What a new daemon must hear first."""
        self._swallow = self._agreed
        lines = (self._first, self._greeted) if self._agreed else ()
        return b"".join(line + b"\n" for line in lines if line)

    def lost(self) -> tuple[list[Any], bytes]:
        """Ids without an answer, and an `initialize` to ask again, once."""
        again = self._first_id in self.under_way and not self._again
        if again:
            self._again = True
            del self.under_way[self._first_id]
        lost, self.under_way = list(self.under_way.values()), {}
        return lost, self._first if again else b""


def _lines(held: bytearray, chunk: bytes) -> list[bytes]:
    """Every line that `chunk` ends; what begins another one stays in `held`."""
    held += chunk
    if b"\n" not in chunk:
        return []
    *whole, rest = bytes(held).split(b"\n")
    held[:] = rest
    return whole


def _part(message: dict[str, Any], name: str) -> dict[str, Any]:
    return found if isinstance(found := message.get(name), dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _message(line: bytes) -> dict[str, Any]:
    """Empty for what is no JSON object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def _error(number: Any, why: str, hint: str) -> bytes:
    error = {"code": -32_000, "message": f"memvault: {why}. {hint}", "data": {"hint": hint}}
    return _line(id=number, error=error)


def _reason(answer: dict[str, Any]) -> tuple[str, tuple[str, str]]:
    """The code of an error, and what the daemon, or the child that starts it, gave as its reason."""
    error = _part(answer, "error")
    data, why = _part(error, "data"), error.get("message") or "memvault's daemon could not be started"
    return str(data.get("code")), (why, data.get("hint") or _SILENT[1])


def _arguments(given: list[str]) -> tuple[str, str]:
    """(home, agent). Raises SystemExit with the usage."""
    words = [part for word in given for part in (word.split("=", 1) if word[:2] == "--" else [word])]
    found = dict(zip(words[::2], words[1::2], strict=False))
    whole = len(words) == 2 * len(found) and found.keys() <= {"--agent", "--home"}
    if whole and is_name(found.get("--agent", "")):
        return home_dir(found.get("--home")), found["--agent"]
    sys.stderr.write(
        "Usage: memvault mcp --agent NAME [--home DIR]\n\nSpeak MCP on standard input and output, for the "
        "agent that was let in as NAME.\n`memvault connect` writes this into a host's configuration.\n"
    )
    raise SystemExit(2)


def main(given: list[str] | None = None) -> None:
    """Serve until the host ends us, by a signal or by closing its end; then quietly."""
    for number in (SIGINT, SIGTERM):
        signal(number, lambda *_: os._exit(0))
    try:
        Pipe(*_arguments(sys.argv[1:] if given is None else given)).run()
    except (OSError, EOFError):
        os._exit(0)


if __name__ == "__main__":
    main()
