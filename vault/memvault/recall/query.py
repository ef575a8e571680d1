"""The types that go into and come out of recall. Owns no behaviour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.recall.marks import Marks
from memvault.recall.when import Span

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


@dataclass(frozen=True, slots=True)
class Named:
    """What a question has to say to name a memory's subject and attribute: keyed hashes, as in `QueryTerm`.

    All of `subject` and all of `attribute`; the `forms` are other ways of writing the same. `stands` is what
    the subject means without being named, 0 for nothing (see `naming`).
    """

    subject: tuple[int, ...]
    subject_forms: tuple[int, ...]
    stands: int
    attribute: tuple[int, ...]
    attribute_forms: tuple[int, ...]


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
    dated_day: int | None = None
    """The day from which it holds, or on which it was said, where it tells one."""
    used_before_day: int | None = None
    """The last use on a day before `used_day`."""
    named: Named | None = None
    """How a question names subject and attribute; from `naming.Labels`."""
    thread: str | None = None
    """Names the conversation it was said in; only memories with one have neighbours."""
    place: int = 0
    """Position in the thread, 0 or more."""


@dataclass(frozen=True, slots=True)
class OtherName:
    """Another name of what a question names: how a person reads it, and the terms that must all stand."""

    text: str
    hashes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A term of a question: its keyed hash, how much it asks for (0..1), and the words a person reads.

    `others`: where one of these names stands, the term counts as found, once and for less (see `aliases`).
    """

    hash: int
    weight: float
    text: str
    others: tuple[OtherName, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """One question. `vector` is the model's raw query vector, or None for keywords only.

    `today` is the day number the ages are counted to. `kinds` limits the answer.
    """

    text: str
    terms: tuple[QueryTerm, ...]
    vector: npt.NDArray[np.float32] | None
    language: str
    today: int
    kinds: frozenset[str] | None = None
    marks: Marks | None = None
    span: Span | None = None
    """The days it asks about."""
    threshold: float | None = None
    """Least relevance that is returned, whether or not anything is taken to answer; None takes the calibrated
    ones, 0 returns everything that matched."""


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
class Trial:
    """How one question fares: at a shift up to `holds` (may be infinite) it gets `answer`, above it only
    `named`, what it calls by name. Both best first and as short as asked for."""

    holds: float
    answer: tuple[str, ...]
    named: tuple[str, ...]


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
