"""The types that go into and come out of recall. Owns no behaviour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a grant decides on: memories that are permitted or refused together.

    `sensitivity` is 0 (public) to 3 (restricted). `pool` is "current", "conflict", "resting" (expired,
    archived, disabled), "said" (candidates that repeat what the user said, recalled in their project only) or
    "waiting" (other candidates).
    """

    scope: str
    project: str | None
    sensitivity: int
    pool: str


@dataclass(slots=True)
class Entry:
    """One memory as the index takes it in.

    `terms` comes from `Analyser.passage`; `vectors` are raw ones of the model, shape (windows, dims), or
    None while they wait for the embedder. Days are counted from 1970-01-01 UTC. `confidence` is 0..1.
    """

    id: str
    shelf: Shelf
    kind: str
    language: str
    terms: bytes
    vectors: Matrix | None
    confidence: float
    authority: str
    created_day: int
    verified_day: int | None = None
    used_day: int | None = None
    subject: str | None = None
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A term of a question: its keyed hash, how much it asks for (0..1), and the words a person reads."""

    hash: int
    weight: float
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """One question. `vector` is the model's raw query vector, or None for keywords only.

    `today` is the day number the ages are counted to. `kinds` limits the answer; `subject` and `attribute`
    ask for an exact claim.
    """

    text: str
    terms: tuple[QueryTerm, ...]
    vector: npt.NDArray[np.float32] | None
    language: str
    today: int
    kinds: frozenset[str] | None = None
    subject: str | None = None
    attribute: str | None = None
    threshold: float | None = None
    """Least relevance that is returned; None takes the calibrated ones, 0 returns everything that matched."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer. `score` is relevance times weight; `relevance` is what the threshold looks at, 0..1.

    `lexical` is the share of the question's information found as words (may exceed 1 when words repeat);
    `semantic` the centred cosine, -1..1, or None without vectors; `weight` 0..1 (see `weigh`).
    """

    id: str
    score: float
    relevance: float
    lexical: float
    semantic: float | None
    weight: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a memory is, or is not, in the answer.

    `verdict` is "returned", "below_threshold", "beyond_limit", "not_matched" or "not_permitted". The last
    one is the same for a memory that does not exist and one the caller may not see.
    """

    id: str
    verdict: str
    rank: int | None
    threshold: float
    hit: Hit | None
    reasons: tuple[str, ...]
