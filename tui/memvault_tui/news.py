"""Messages the gateway posts to the app: what happened at the daemon's end."""

from __future__ import annotations

from textual.message import Message


class Connected(Message):
    """A connection stands; `state` is the vault's: unlocked, locked or absent."""

    def __init__(self, state: str) -> None:
        self.state = state
        super().__init__()


class ConnectionLost(Message):
    """The daemon went away; the gateway is already trying again."""


class Unreachable(Message):
    """An attempt to connect failed; `reason` and `hint` are safe to show."""

    def __init__(self, reason: str, hint: str) -> None:
        self.reason = reason
        self.hint = hint
        super().__init__()


class MemoriesChanged(Message):
    """Somebody (this program included) changed memories; an empty `ids` means many."""

    def __init__(self, ids: frozenset[str]) -> None:
        self.ids = ids
        super().__init__()


class AgentsChanged(Message):
    """A grant was asked for, given, changed or taken back."""


class StateChanged(Message):
    """The vault was locked or unlocked."""

    def __init__(self, state: str) -> None:
        self.state = state
        super().__init__()
