"""What hooks told of running sessions, in memory only: the agent's last message, and what it was shown.

Owns the bounds. Nothing of it is ever written; it goes with the session's end and when the vault is closed.
Asked on the event loop. Knows nothing of rules or sockets.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

MOST_SESSIONS = 64
MOST_MESSAGE_BYTES = 8_192
MOST_SHOWN = 500

Key = tuple[str, str]
"""Actor and session id, as the host gives it."""


@dataclass(slots=True)
class Heard:
    """One session. `message` is the end of the agent's last message, in UTF-8."""

    message: bytes = b""
    shown: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])


class Hearing:
    """Sessions by actor and id, the longest silent first."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[Key, Heard] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def _of(self, key: Key) -> Heard:
        found = self._sessions.setdefault(key, Heard())
        self._sessions.move_to_end(key)
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return found

    def note_message(self, key: Key, text: str) -> None:
        self._of(key).message = text.encode("utf-8", "replace")[-MOST_MESSAGE_BYTES:]

    def take_message(self, key: Key) -> str:
        """The last message, which is thereby forgotten; empty when there is none."""
        found = self._sessions.get(key)
        if found is None:
            return ""
        message, found.message = found.message, b""
        return message.decode("utf-8", "ignore")

    def note_shown(self, key: Key, ids: Iterable[str]) -> None:
        shown = self._of(key).shown
        shown.update(dict.fromkeys(ids))
        while len(shown) > MOST_SHOWN:
            shown.popitem(last=False)

    def shown(self, key: Key) -> frozenset[str]:
        """Ids of memories that the session has in its context already."""
        found = self._sessions.get(key)
        return frozenset() if found is None else frozenset(found.shown)

    def forget_shown(self, key: Key) -> None:
        """The session's context was cut short: it may need everything again."""
        if key in self._sessions:
            self._sessions[key].shown.clear()

    def end(self, key: Key) -> None:
        self._sessions.pop(key, None)

    def clear(self) -> None:
        self._sessions.clear()
