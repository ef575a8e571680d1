"""Which version of the protocol two sides speak. Knows nothing of what the versions hold."""

from __future__ import annotations

from memvault import PROTOCOL
from memvault.errors import ProtocolMismatch

OLDEST_PROTOCOL = 1
"""The oldest version this daemon still speaks."""


def agree(newest: int, oldest: int | None = None) -> int:
    """The newest version that both sides speak. Raises ProtocolMismatch, naming who is behind.

    `newest` and `oldest` are the client's; a client that gives no `oldest` speaks one version.
    """
    lowest = newest if oldest is None else oldest
    if newest < OLDEST_PROTOCOL:
        raise ProtocolMismatch(
            f"the client is too old: it speaks protocol {newest}, this daemon {_range()}",
            "Upgrade the client.",
        )
    if lowest > PROTOCOL:
        raise ProtocolMismatch(
            f"the client is too new: it speaks protocol {lowest}, this daemon {_range()}",
            "End the running daemon (a `shutdown` call): the next client starts its own.",
        )
    return min(newest, PROTOCOL)


def _range() -> str:
    return str(PROTOCOL) if OLDEST_PROTOCOL == PROTOCOL else f"{OLDEST_PROTOCOL} to {PROTOCOL}"
