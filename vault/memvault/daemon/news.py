"""What the daemon says unasked: that memories changed, and how the vault stands. Knows nothing of sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

PAUSE_S = 0.05
"""Changes within this time are told in one notification."""
MOST_IDS = 500

Hear = Callable[[str, dict[str, Any]], None]


class News:
    """Gathers changes and tells all listeners. For the event loop's thread."""

    def __init__(self) -> None:
        self.listeners: list[Hear] = []
        self._held: dict[str, dict[str, None]] = {}

    def changed(self, ids: Sequence[str], reason: str) -> None:
        """These memories changed, in a run of the kind `reason`; told soon, with others."""
        if not self._held:
            asyncio.get_running_loop().call_later(PAUSE_S, self._spread)
        self._held.setdefault(reason, {}).update(dict.fromkeys(ids))

    def _spread(self) -> None:
        held, self._held = self._held, {}
        for reason, ids in held.items():
            listed = list(ids)
            more = max(0, len(listed) - MOST_IDS)
            self.announce("changed", {"ids": listed[:MOST_IDS], "more": more, "reason": reason})

    def announce(self, method: str, params: dict[str, Any]) -> None:
        """Tell everybody at once."""
        for hear in list(self.listeners):
            hear(method, params)
