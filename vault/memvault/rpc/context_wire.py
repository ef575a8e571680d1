"""The wire types of compiled contexts. Knows nothing of what the methods do."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memvault.model import Sensitivity
from memvault.rpc.wire import Count, Params

Level = Literal["low", "normal", "high"]
Mode = Literal["M0", "M1", "M2", "M3", "M4"]
Picked = Literal["A", "B", "neither"]


class Compile(Params, frozen=True):
    """`budget`: tokens, at most 8,000. `sensitivity`: the privacy limit. No `mode`: the daemon chooses."""

    objective: str
    project: str | None = None
    session: str | None = None
    mode: Mode | None = None
    risk: Level = "normal"
    continuity: Level = "normal"
    novelty: Level = "normal"
    sensitivity: Sensitivity | None = None
    time_sensitivity: Level = "normal"
    budget: Count = 1_000
    log: bool = True


class Index(Params, frozen=True):
    project: str | None = None
    topics: bool = True


class Compare(Compile, frozen=True):
    """Answers made with and without memory are shown instead of the packs. `seed` fixes the order."""

    with_memory: str | None = None
    without_memory: str | None = None
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**53)] | None = None


class Prefer(Params, frozen=True):
    comparison: str
    picked: Picked
