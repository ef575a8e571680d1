"""What the methods about compiled contexts answer. As `results`."""

from __future__ import annotations

from typing import Literal

import msgspec

from memvault.rpc.results import Result

Picked = Literal["with", "without", "neither"]


class Zone(Result, frozen=True):
    """One part of a context; `ids` are the memories behind its lines."""

    name: str
    lines: list[str]
    ids: list[str]


class LeftOut(Result, frozen=True):
    id: str
    reason: str


class Drift(Result, frozen=True):
    """A change of the stable zone within a session, and why."""

    id: str
    version: int
    reason: str


class IndexShare(Result, frozen=True):
    """Lines of the index that found room, and that did not."""

    shown: int
    left_out: int


class Context(Result, frozen=True):
    """`text` goes into the agent's context. `stable_hash` stays while the first `stable_bytes` bytes do."""

    text: str
    zones: list[Zone]
    tokens: int
    budget: int
    stable_hash: str
    stable_bytes: int
    left_out: list[LeftOut]
    left_out_total: int
    mode: Literal["M0", "M1", "M2", "M3", "M4"]
    project: str | None
    drift: list[Drift]
    index: IndexShare
    recall: str
    counted_by: str


class Compiled(Context, frozen=True):
    """`without`: the second pack of M4, which holds only what binds."""

    without: Context | None = None


class LargeTopic(Result, frozen=True):
    """A subject with more text than a page may hold."""

    subject: str
    chars: int


class IndexMade(Result, frozen=True):
    """One line for each memory; `shortened` are the ids whose line was cut."""

    text: str
    lines: int
    bytes: int
    shortened: list[str]
    left_out: list[LeftOut]
    large_topics: list[LargeTopic]


class Compared(Result, frozen=True):
    """Two texts without a word on which was made with memory."""

    comparison: str
    first: str = msgspec.field(name="A")
    second: str = msgspec.field(name="B")


class Preferred(Result, frozen=True):
    """What was picked, and what each text was; `so_far` counts all verdicts."""

    comparison: str
    picked: Picked
    mode: str
    first: Picked = msgspec.field(name="A")
    second: Picked = msgspec.field(name="B")
    so_far: dict[str, int]
