"""What is answered about other names. Knows nothing of how they are found."""

from __future__ import annotations

from memvault.rpc.alias_wire import Origin
from memvault.rpc.results import Result


class Alias(Result, frozen=True):
    """Names of one thing. `memory`: what taught them; `off`: pairs that a person switched off."""

    id: str | None
    names: list[str]
    origin: Origin
    project: str | None
    memory: str | None
    on: bool
    off: list[list[str]]


class Aliases(Result, frozen=True):
    items: list[Alias]
    total: int


class AliasesChanged(Result, frozen=True):
    """`ids`: sets of names made or removed; `run` null: all was so already."""

    ids: list[str]
    switched: int
    run: str | None
