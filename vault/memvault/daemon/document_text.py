"""The words of docs/protocol.md that no table can say; the numbers in them come from the code."""

from __future__ import annotations

from collections.abc import Iterator

from memvault import PROTOCOL
from memvault.daemon.exchange import CANCEL, DRAIN_TIMEOUT_S, NOTIFIED
from memvault.daemon.limits import Limits
from memvault.daemon.lines import HELLO_S, LINE_S
from memvault.daemon.readers import PAGE_BYTES
from memvault.daemon.replies import MAX_ANSWER_BYTES
from memvault.daemon.session import MOST_UNREAD_BYTES
from memvault.rpc.framing import MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, MOST_DIGITS
from memvault.rpc.requests import LONGEST_ID, MOST_BATCH, MOST_DEPTH
from memvault.rpc.versions import OLDEST_PROTOCOL
from memvault.services.intake import LONG_FIELD_BYTES, SHORT_FIELD_BYTES
from memvault.services.recollect import MOST_RESULTS, MOST_ROWS, QUERY_BYTES
from memvault.text import MAX_CONTENT_BYTES

_RUN_UNHEARD = ", ".join(f"`{name}`" for name in sorted(NOTIFIED))

CONNECTING = f"""<!-- Written by `make docs` from the code; a test compares. -->
# The socket protocol

The daemon listens on `HOME/run/daemon.sock`, a Unix socket in a folder of mode 0700 that takes connections
of its own user only. Both sides send JSON-RPC 2.0, one message a line (`\\n`), in UTF-8. Two whole clients
are in [clients](clients): one in shell, one in JavaScript.

## Talking

* **Request**: `{{"jsonrpc":"2.0","id":1,"method":"recall","params":{{"query":"deploy"}}}}`. Parameters go
  by name. An `id` is a whole number up to 2^53, text of at most {LONGEST_ID} characters, or null; it is
  free again once it was answered. Unknown members of a request and unknown parameters are refused by their
  name, doubled names, NaN and what lies deeper than {MOST_DEPTH} levels too.
* **Answer**: `{{"jsonrpc":"2.0","id":1,"result":...}}` or `{{..."error":{{"code","message","data"}}}}`.
  Answers come in the order in which they are ready. What could not be read as a request is answered with
  the id null.
* **Codes**: -32700 no JSON, -32600 no request, -32601 no such method, -32602 parameters, -32603 a fault of
  the daemon, -32000 everything else. `data.code` is what to go by: it is stable.
* **Batch**: an array of 1 to {MOST_BATCH} requests; one array of answers comes when the last is ready.
  Notifications inside have no entry. Each element counts against the limits.
* **Notification** (no `id`): never answered. {_RUN_UNHEARD} are run; all others are passed over, because
  nobody would hear that they failed.
* **Cancellation**: the notification `{CANCEL}` with `{{"id": ...}}`. The call is answered with
  `cancelled`; a write that had begun may have happened.
* A client that only stops writing (`nc -N`) still gets the answers it waits for; one that hangs up ends
  its calls.

## Versions

This is protocol {PROTOCOL}; the daemon speaks {OLDEST_PROTOCOL} to {PROTOCOL}. `hello` names the newest
version the client speaks (`protocol`) and, if that is another one, the oldest (`oldest`); the answer's
`protocol` is the newest that both know. With none in common the answer is `protocol_mismatch`, and its
message says which side is too old. Fields may be added to results within a version: clients pass over what
they do not know. Methods, parameters and codes are not taken away within a version.

## Who may call

The daemon asks the kernel who connected. A process below a known agent host, or with its mark in the
environment, is that agent and has what its grant allows, and so is whoever shows an agent's name and token
in `hello`. Everybody else is the person or one of their scripts. Methods for a person who is there need
`presence.prove` within the last five minutes, for this terminal or connection. What a caller may not see
answers like what does not exist: `not_found`.

## Limits
"""

NOTIFICATIONS = """## Notifications from the daemon

| method | params | when |
|---|---|---|
| `progress` | `request` (the id of the call), `done`, `total`, `stage` | a call takes long |
| `changed` | `ids` (the first 500), `more`, `reason` (the kind of run) | `events.subscribe`: news |
| `state` | `state` | `events.subscribe`: opened, locked |
"""

TYPES = """## Types

Times are UTC, ISO 8601. Results may hold more fields in later versions.
"""


def limits() -> Iterator[str]:
    """The table of limits."""
    default = Limits()
    yield "| what | limit | beyond it |"
    yield "|---|---|---|"
    for what, limit, beyond in (
        ("a line to the daemon", f"{MAX_REQUEST_BYTES:,} bytes", "`frame_invalid`, the connection is closed"),
        ("a whole number", f"{MOST_DIGITS} digits", "`frame_invalid`"),
        ("the content of a memory", f"{MAX_CONTENT_BYTES:,} bytes of UTF-8", "`text_unusable`"),
        ("evidence, and each explaining field", f"{LONG_FIELD_BYTES:,} bytes of UTF-8", "`text_unusable`"),
        ("subject, attribute, project, dates", f"{SHORT_FIELD_BYTES:,} bytes of UTF-8", "`text_unusable`"),
        ("a question", f"{QUERY_BYTES:,} bytes of UTF-8", "`text_unusable`"),
        ("results of a recall; rows of a page", f"{MOST_RESULTS}; {MOST_ROWS}", "`usage`"),
        ("a page of records", f"{PAGE_BYTES:,} bytes", "the page ends early, `next` says where to go on"),
        ("an answer, or the answers of a batch", f"{MAX_ANSWER_BYTES:,} bytes", "`answer_too_large`"),
        ("what a client must be able to read", f"{MAX_RESPONSE_BYTES:,} bytes", ""),
        (
            "connections; of one agent",
            f"{default.connections}; {default.agent_connections}",
            "`busy`, then closed",
        ),
        ("calls of a connection at once", f"{default.outstanding}", "`busy`"),
        (
            "calls a second of a connection",
            f"{default.calls_per_s:,.0f}, {default.burst:,} at once after a pause",
            "`rate_limited` with `data.retry_after_ms`",
        ),
        (
            "calls a second of an agent, over all its connections",
            f"{default.agent_calls_per_s:,.0f}, {default.agent_burst:,} at once after a pause",
            "`rate_limited` with `data.retry_after_ms`",
        ),
        ("time until `hello`", f"{HELLO_S:.0f} s", "`too_slow`, closed"),
        ("time from a line's first byte to its end", f"{LINE_S:.0f} s", "`too_slow`, closed"),
        ("time a client leaves an answer unread", f"{DRAIN_TIMEOUT_S:.0f} s", "closed"),
        ("unread answers and notifications", f"{MOST_UNREAD_BYTES:,} bytes", "closed"),
    ):
        yield f"| {what} | {limit} | {beyond} |"
    yield ""
    yield "Connections are served in turn, and long lists give way to short questions."
