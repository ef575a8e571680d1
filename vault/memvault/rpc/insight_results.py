"""What is answered about the memories as a whole: who or what is named, why one is recalled, numbers.

Knows nothing of how it is found.
"""

from __future__ import annotations

from typing import Literal

from memvault.model import Kind, Scope, Status
from memvault.rpc.results import Record, Result

Verdict = Literal["returned", "beyond_limit", "below_threshold", "not_matched", "not_permitted", "kept_out"]


class Named(Record, frozen=True):
    """`because`: the fields that name the subject."""

    because: list[str]


class About(Result, frozen=True):
    """Counts are those of all that name the subject; `next` as for lists."""

    subject: str
    items: list[Named]
    total: int
    next: int | None
    scopes: dict[str, int]
    kinds: dict[str, int]
    statuses: dict[str, int]
    projects: dict[str, int]


class Why(Result, frozen=True):
    """One memory and a question. Scores are null for what the index did not weigh."""

    id: str
    verdict: Verdict
    rank: int | None
    reasons: list[str]
    score: float | None
    relevance: float | None
    lexical: float | None
    semantic: float | None
    weight: float | None
    kind: Kind
    scope: Scope
    project: str | None
    content: str
    status: Status


class Explained(Result, frozen=True):
    """Why memories are, or are not, in the answer: the answer best first, then what came near; or one."""

    query: str
    mode: Literal["hybrid", "hybrid-partial", "keyword"]
    threshold: float
    items: list[Why]


class Week(Result, frozen=True):
    """`week`: its Monday."""

    week: str
    added: int
    removed: int


class Citations(Result, frozen=True):
    """Memories that cite a file; `stale`: to be checked anew. `alarm`: more than a tenth are."""

    cited: int
    stale: int
    share: float | None
    alarm: bool


class Sources(Result, frozen=True):
    """`complete`: the share of memories with a verbatim excerpt of a source."""

    memories: int
    with_source: int
    with_excerpt: int
    with_several: int
    complete: float | None


class Judged(Result, frozen=True):
    """What became of the candidates that one actor proposed."""

    actor: str
    proposed: int
    confirmed: int
    promoted: int
    rejected: int
    lapsed: int
    waiting: int
    refused: int


class Asked(Result, frozen=True):
    actor: str
    asked: int
    answered: int
    returned: int


class Recalls(Result, frozen=True):
    """From the log of recalls, of which the oldest go."""

    asked: int
    answered: int
    hit_rate: float | None
    since: str | None
    by: list[Asked]


class Reached(Result, frozen=True):
    """From the same log: contexts compiled, prompts that got memories unasked, memories that reached anybody,
    and of those what was said to be used, wrong or outdated. `unused_share`: null while nobody said anything.
    """

    contexts: int
    prompts: int
    memories: int
    used: int
    wrong: int
    outdated: int
    unused_share: float | None


class Unused(Result, frozen=True):
    standing: int
    never_recalled: int
    share: float | None


class IndexSize(Result, frozen=True):
    memories: int
    size_bytes: int
    without_vectors: int
    database_bytes: int


class Stats(Result, frozen=True):
    """Numbers only: no text of a memory. The empty project name is "no project"."""

    at: str
    memories: int
    kinds: dict[str, int]
    scopes: dict[str, int]
    projects: dict[str, int]
    statuses: dict[str, int]
    growth: list[Week]
    duplicates: dict[str, int]
    refusals: dict[str, int]
    held_resemblances: int
    citations: Citations
    sources: Sources
    candidates: list[Judged]
    recalls: Recalls
    reached: Reached
    unused: Unused
    index: IndexSize
