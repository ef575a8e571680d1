"""The wire types of other names. Knows nothing of what is done with them."""

from __future__ import annotations

from typing import Literal

from memvault.rpc.wire import Count, Params

Origin = Literal["set", "learned", "known"]


class AliasPage(Params, frozen=True):
    """`name`: only what holds it."""

    name: str | None = None
    origin: Origin | None = None
    limit: Count = 100
    offset: Count = 0


class AliasNames(Params, frozen=True):
    """Without `project`, for every question, those of agents included."""

    names: list[str]
    project: str | None = None
