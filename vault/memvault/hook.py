"""`memvault hook EVENT`: one event of an agent host's session to the daemon, and its answer to the host.

Runs alone under `python -I -S`, once at every prompt: only what starts in a few milliseconds, and nothing of
memvault (a test compares what is repeated here). Owns the shapes of hosts and the promise that an agent goes
on unharmed: exit status 0 and silence, within `PATIENCE_S`, whatever is wrong. Knows nothing of memories.
"""

from __future__ import annotations

import os
import select
import stat
import sys
import time

# `socket` itself takes longer to import than all the rest.
from _socket import AF_UNIX, SOCK_STREAM, socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

PROTOCOL = 1
LONGEST_SOCKET_PATH = 100
MOST_TOKEN_BYTES = 256

PATIENCE_S = 0.22
"""From the first instruction of this file to the last, whoever is slow: host, daemon or disk."""
MOST_READ_BYTES = 4_194_304
MOST_ANSWER_BYTES = 1_048_576
HEAD_CHARS, TAIL_CHARS = 20_000, 8_000
"""Of a prompt; of the agent's last message only the tail counts."""

EVENTS = {
    "SessionStart": "SessionStart", "UserPromptSubmit": "UserPromptSubmit", "PreCompact": "PreCompact",
    "Stop": "Stop", "SessionEnd": "SessionEnd",
    "BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop", "PreCompress": "PreCompact",
    "sessionStart": "SessionStart", "beforeSubmitPrompt": "UserPromptSubmit", "preCompact": "PreCompact",
    "afterAgentResponse": "Stop", "sessionEnd": "SessionEnd",
}  # fmt: skip
"""Events as hosts call them (Claude Code and Codex, Gemini, Cursor) -> as the daemon does."""
TELLS = {"SessionStart", "UserPromptSubmit", "BeforeAgent", "sessionStart"}
"""Events whose answer can put text into the session."""
LOCKED = "memvault is locked, so nothing is remembered here: the person opens it with `memvault unlock`."

_TOKEN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_KEPT = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY", "WAYLAND_DISPLAY",
)  # fmt: skip
_KEPT_PREFIXES = ("LC_", "XDG_", "OPENBLAS_", "OMP_", "MEMVAULT_")
_DROPPED = ("MEMVAULT_PASSPHRASE_FILE",)
_FIELDS = {
    "session": ("session_id", "conversation_id"),
    "prompt": ("prompt",),
    "source": ("source",),
    "last_assistant_message": ("last_assistant_message", "prompt_response", "text"),
    "reason": ("reason",),
    "trigger": ("trigger",),
}
_BY_EVENT = {
    "SessionStart": ("source",),
    "UserPromptSubmit": ("prompt",),
    "PreCompact": ("trigger",),
    "Stop": ("last_assistant_message",),
    "SessionEnd": ("reason",),
}
SHORT_CHARS = 200

USAGE = """Usage: memvault hook EVENT --agent NAME [--home DIR]

Tell memvault of one event of a session, for the agent that was let in as NAME (`memvault agents add NAME`).
Agent hosts run this with their JSON on standard input: `memvault connect` writes it for them. EVENT is
SessionStart, UserPromptSubmit, PreCompact, Stop or SessionEnd, or the host's own name for one of these.
It is silent and exits with 0 whatever is wrong, so that the agent goes on.
"""


def command(event: str, agent: str, home: str | None = None) -> list[str]:
    """The fastest command line for a host's configuration; it holds no secret."""
    extra = [] if home is None else ["--home", home]
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), event, "--agent", agent, *extra]


class TooSlow(Exception):
    """The time is up."""


class Clock:
    """What is left of the time for one event."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + PATIENCE_S

    def ready(self, handle: int, event: int) -> None:
        """Wait until `handle` is. Raises TooSlow."""
        left_ms = int((self._ends - time.monotonic()) * 1_000)
        poller = select.poll()
        poller.register(handle, event)
        if left_ms <= 0 or not poller.poll(left_ms):
            raise TooSlow


def home_dir(override: str | None) -> str:
    """As `paths.home_dir`."""
    chosen = override or os.environ.get("MEMVAULT_HOME", "")
    if chosen:
        return os.path.realpath(os.path.expanduser(chosen))
    user = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.realpath(os.path.join(user, "Library/Application Support", "memvault"))
    given = os.environ.get("XDG_DATA_HOME", "")
    base = given if os.path.isabs(given) else os.path.join(user, ".local/share")
    return os.path.realpath(os.path.join(base, "memvault"))


def read_token(home: str, agent: str) -> str:
    """As `agent_tokens.read`; empty when there is none, or others may read it."""
    try:
        handle = os.open(
            os.path.join(home, "agents", agent + ".token"), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        )
    except OSError:
        return ""
    found = os.fstat(handle)
    safe = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    token = os.read(handle, MOST_TOKEN_BYTES).decode("ascii", "replace").strip() if safe else ""
    os.close(handle)
    return token if not set(token) - _TOKEN else ""


def connect(home: str) -> socket | None:
    """A connected socket that does not block; None when nobody listens. Raises OSError: it is not ours."""
    path = os.path.join(home, "run", "daemon.sock")
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(path)
    sock = socket(AF_UNIX, SOCK_STREAM)
    sock.setblocking(False)
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        path = f"/proc/self/fd/{folder}/daemon.sock"
    try:
        sock.connect(path)
    except ConnectionRefusedError:
        sock.close()
        return None
    return sock


def start(home: str) -> None:
    """Start the daemon from a child that shares nothing with this process, and do not wait for it.

    `memvault.cli.wake` does it with the care of every other client: start lock, version, patience.
    """
    words = [sys.executable, "-P", "-m", "memvault.cli.wake", "--home", home]
    kept = {
        name: value
        for name, value in os.environ.items()
        if (name in _KEPT or name.startswith(_KEPT_PREFIXES)) and name not in _DROPPED
    }
    if os.fork():
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nowhere, handle)
        os.closerange(3, 4_096)
        os.chdir("/")
        os.execve(words[0], words, kept)  # noqa: S606
    finally:
        os._exit(127)


def read_host(clock: Clock) -> dict[str, Any]:
    """What the host says on standard input; empty for what is no JSON object, or larger than any prompt."""
    chunks: list[bytes] = []
    size = 0
    while True:
        clock.ready(0, select.POLLIN)
        chunk = os.read(0, 65_536)
        if not chunk:
            break
        size += len(chunk)
        if size <= MOST_READ_BYTES:
            chunks.append(chunk)
    if size > MOST_READ_BYTES:
        return {}
    return _object(decode(b"".join(chunks).decode("utf-8", "replace")))


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def decode(text: str) -> Any:
    """JSON, without what `json` costs to import. None for what is none."""
    from _json import make_scanner

    plain: Any = _Plain()
    try:
        return make_scanner(plain)(text, len(text) - len(text.lstrip()))[0]
    except (ValueError, StopIteration, RecursionError):
        return None


class _Plain:
    """What the scanner asks for."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float = float

    @staticmethod
    def parse_int(text: str) -> int:
        return int(text) if len(text) < 400 else 0

    @staticmethod
    def parse_constant(_: str) -> None:
        """No number: NaN and the infinities."""


def quote(text: str) -> str:
    """A JSON string; what is no Unicode is replaced."""
    from _json import encode_basestring_ascii

    return encode_basestring_ascii(text.encode("utf-8", "replace").decode("utf-8"))


def params(event: str, said: dict[str, Any]) -> str:
    """Parameters of `hook.event`, as JSON: what the daemon looks at, and no more."""
    name = EVENTS[event]
    fields = [f'"event":"{name}"']
    for field in ("session", *_BY_EVENT[name]):
        text = next((said[key] for key in _FIELDS[field] if isinstance(said.get(key), str)), "")
        if text:
            fields.append(f'"{field}":{quote(_cut(field, text))}')
    return "{" + ",".join(fields) + "}"


def _cut(field: str, text: str) -> str:
    if field == "last_assistant_message":
        return text[-TAIL_CHARS:]
    if field != "prompt":
        return text[:SHORT_CHARS]
    whole = len(text) <= HEAD_CHARS + TAIL_CHARS
    return text if whole else f"{text[:HEAD_CHARS]}\n\n{text[-TAIL_CHARS:]}"


def ask(clock: Clock, sock: socket, agent: str, token: str, call: str) -> tuple[str | None, str]:
    """(text for the session, code of an error). Raises TooSlow, OSError."""
    waiting = (
        f'{{"jsonrpc":"2.0","id":1,"method":"hello","params":{{"client":"hook","version":"0",'
        f'"protocol":{PROTOCOL},"agent":"{agent}","token":"{token}"}}}}\n'
        f'{{"jsonrpc":"2.0","id":2,"method":"hook.event","params":{call}}}\n'
    ).encode()
    while waiting:
        clock.ready(sock.fileno(), select.POLLOUT)
        waiting = waiting[sock.send(waiting) :]
    heard = b""
    while True:
        clock.ready(sock.fileno(), select.POLLIN)
        chunk = sock.recv(65_536)
        heard += chunk
        for line in heard.split(b"\n")[:-1]:
            if b'"error":' in line[:512] or line.startswith(b'{"jsonrpc":"2.0","id":2,'):
                return _understood(line)
        if not chunk or len(heard) > MOST_ANSWER_BYTES:
            return None, "broken"


def _understood(line: bytes) -> tuple[str | None, str]:
    found = _object(decode(line.decode("utf-8", "replace")))
    if "result" not in found:
        return None, str(_object(_object(found.get("error")).get("data")).get("code", "broken"))
    text = _object(found["result"]).get("context")
    return (text if isinstance(text, str) and text else None), ""


def shaped(event: str, text: str) -> str:
    """What the host expects on standard output."""
    if event == "sessionStart":
        return f'{{"additional_context":{quote(text)}}}\n'
    inside = f'"hookEventName":"{event}","additionalContext":{quote(text)}'
    return f'{{"hookSpecificOutput":{{{inside}}}}}\n'


def _go_where(said: dict[str, Any]) -> None:
    """The daemon asks the kernel where this process works; hosts do not always start it there."""
    roots: Any = said.get("workspace_roots") or ()
    found: list[Any] = [said.get("cwd"), *(roots if isinstance(roots, list) else ())]
    for place in found[:4]:
        if isinstance(place, str) and os.path.isabs(place):
            try:
                os.chdir(place)
            except (OSError, ValueError):
                continue
            return


def serve(event: str, agent: str, home: str | None) -> str:
    """What to print; empty for nothing. Raises TooSlow, OSError."""
    clock = Clock()
    said = read_host(clock)
    call = params(event, said)
    _go_where(said)
    place = home_dir(home)
    sock = connect(place)
    if sock is None:
        text = _without_daemon(place)
    else:
        text, code = ask(clock, sock, agent, read_token(place, agent), call)
        sock.close()
        text = LOCKED if code == "locked" else text
    if text is None or event not in TELLS or (text is LOCKED and EVENTS[event] != "SessionStart"):
        return ""
    return shaped(event, text)


def _without_daemon(home: str) -> str | None:
    """Start one beside us, for the next event, and go on; without a vault there is nothing to start."""
    if not os.path.exists(os.path.join(home, "vault.json")):
        return None
    start(home)
    return LOCKED


def main(given: list[str] | None = None) -> None:
    """Never with a traceback; whatever is wrong, the caller exits with 0."""
    words = list(sys.argv[1:] if given is None else given)
    try:
        event, found = _arguments(words)
        if event in EVENTS and _is_name(found.get("--agent", "")):
            said = serve(event, found["--agent"], found.get("--home"))
            if said:
                os.write(1, said.encode())
        else:
            sys.stderr.write(USAGE)
            sys.stderr.flush()
    except BaseException:  # noqa: BLE001, S110 - whatever it is, the agent goes on
        pass


def _arguments(words: list[str]) -> tuple[str, dict[str, str]]:
    """(event, options). An option without a value has an empty one."""
    event, found = "", dict[str, str]()
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            event = event or word
            continue
        name, equals, value = word.partition("=")
        found[name] = value if equals else words.pop(0) if words else ""
    return event, found


def _is_name(name: str) -> bool:
    return 0 < len(name) <= 40 and name == name.lower() and name[0] not in "._-" and not set(name) - _TOKEN


def end() -> NoReturn:
    """At once: nothing is left to be written."""
    os._exit(0)


if __name__ == "__main__":
    main()
    end()
