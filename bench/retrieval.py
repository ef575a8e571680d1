"""Quality of recall on public question sets: keyword only, vector only, fused. One JSON line per figure.

    python bench/retrieval.py --data ../shared/data [--set locomo] [--mode fused] [--limit 100]

Uses the daemon's own analyser, index and search with the real model. Ranking is measured without threshold
and without ages. The state is "first day" (nothing learned yet) or "in use": each question is asked on a
later day than those before it, so that what questions have in common is learned from earlier ones (never
from answers), as in a vault that is used.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from data_sets import SETS, Pool, Question, load
from embedded import DEFAULT_MODEL, CachedEmbedder, question_vector

from memvault.recall import Analyser, Entry, Hit, Index, Query, Shelf, when
from memvault_models.language import language

MODES = ("keyword", "vector", "fused")
STATES = ("first day", "in use")
DEPTHS = (5, 10, 20)
_KEY = bytes(range(32))
_SHELF = Shelf("private", None, 1, "current")
_BEFORE = -1_000_000
"""A day before every passage, so that no age counts."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of output; `n` counts questions."""

    set: str
    mode: str
    state: str
    metric: str
    value: float
    n: int
    seconds: float


class Bench:
    """One pool in an index, and questions as the daemon would ask them."""

    def __init__(self, pool: Pool, embedder: CachedEmbedder, mode: str, state: str) -> None:
        self.pool, self._mode, self._state = pool, mode, state
        self._embedder = embedder
        self._analyser = Analyser(_KEY)
        self._days = itertools.count(_BEFORE)
        means = embedder.means()
        self._index = Index(means.dims, means)
        texts = [passage.text for passage in pool.passages]
        self._index.put_many(
            Entry(
                id=passage.id,
                shelf=_SHELF,
                kind="fact",
                language=language(passage.text),
                terms=self._analyser.passage([(passage.text, 1.0)]),
                vectors=vectors,
                confidence=1.0,
                authority="user_confirmed",
                created_day=passage.day,
                thread=passage.thread,
                place=passage.turn,
            )
            for passage, vectors in zip(pool.passages, embedder.passages(texts), strict=True)
        )

    def ask(
        self, question: Question, *, threshold: float | None, limit: int, day: int | None = None
    ) -> list[Hit]:
        """The answers, best first, on a new day without ages, or on a given one."""
        today = next(self._days) if day is None else day
        query = self._query(question, threshold, today)
        return self._index.search(query, lambda shelf: True, limit)

    def margin(self, question: Question) -> float:
        """How far the question is above what an answer needs."""
        return self._index.margin(self._query(question, None, next(self._days)), lambda shelf: True)

    def note(self, question: Question) -> None:
        """Learn from a question what questions have in common, in the state "in use"."""
        if self._state == "in use":
            self._index.note_question(self._query(question, None, 0))

    def _query(self, question: Question, threshold: float | None, today: int) -> Query:
        vector = None if self._mode == "keyword" else question_vector(self._embedder, question.text)
        terms = () if self._mode == "vector" else self._analyser.query(question.text)
        marks = None if self._mode == "vector" else self._analyser.marks(question.text)
        lang = language(question.text)
        span = when.asked(question.text, question.day)
        return Query(question.text, terms, vector, lang, today, marks=marks, span=span, threshold=threshold)


def ranking(benches: Sequence[Bench]) -> Iterator[tuple[str, list[float]]]:
    """Recall at each depth without threshold and ages, then R@5 of what passes the threshold."""
    found: list[list[float]] = []
    kept: list[float] = []
    for bench in benches:
        for question in bench.pool.questions:
            ids = [hit.id for hit in bench.ask(question, threshold=0.0, limit=max(DEPTHS))]
            found.append([_share(question, ids[:depth]) for depth in DEPTHS])
            kept.append(_share(question, [hit.id for hit in bench.ask(question, threshold=None, limit=5)]))
            bench.note(question)
    for at, depth in enumerate(DEPTHS):
        yield f"recall@{depth}", [row[at] for row in found]
    yield "recall@5 above threshold", kept


def nothing(benches: Sequence[Bench], strangers: Sequence[Question]) -> Iterator[tuple[str, list[float]]]:
    """How often questions of another set, and questions without an answer, still return something."""
    for label in ("foreign", "unanswerable"):
        returned = [
            float(bool(bench.ask(question, threshold=None, limit=5)))
            for bench in benches
            for question in (strangers if label == "foreign" else bench.pool.absent)
        ]
        yield f"{label} questions answered", returned


def newest_first(benches: Sequence[Bench]) -> Iterator[tuple[str, list[float]]]:
    """On update questions, how often the newest statement ranks above the oldest, on the day asked."""
    right: list[float] = []
    for bench in benches:
        for question in bench.pool.questions:
            if len(question.in_time) < 2:
                continue
            hits = bench.ask(question, threshold=0.0, limit=len(bench.pool.passages), day=question.day)
            order = {hit.id: rank for rank, hit in enumerate(hits)}
            newest, oldest = order.get(question.in_time[-1]), order.get(question.in_time[0])
            right.append(float(newest is not None and (oldest is None or newest < oldest)))
    yield "newest first", right


def figures(
    pools: Sequence[Pool], name: str, mode: str, embedder: CachedEmbedder, strangers: Sequence[Question]
) -> Iterator[Figure]:
    """All figures of one set in one mode; words alone learn nothing, so they have one state."""
    for state in STATES[:1] if mode == "keyword" else STATES:
        benches = [Bench(pool, embedder, mode, state) for pool in pools]
        for part in (ranking(benches), newest_first(benches), nothing(benches, strangers)):
            started = time.perf_counter()
            for metric, values in part:
                if values:
                    seconds = time.perf_counter() - started
                    yield Figure(name, mode, state, metric, float(np.mean(values)), len(values), seconds)


def _share(question: Question, ids: Sequence[str]) -> float:
    return len(question.relevant.intersection(ids)) / len(question.relevant)


def _limited(pool: Pool, limit: int | None) -> Pool:
    return (
        pool if limit is None else replace(pool, questions=pool.questions[:limit], absent=pool.absent[:limit])
    )


def groups(pools: Sequence[Pool]) -> dict[str, list[Pool]]:
    """Pools that make one figure: all conversations of LoCoMo, each part of MADial by itself."""
    groups: dict[str, list[Pool]] = {}
    for pool in pools:
        name = f"{pool.set}-{pool.name}" if pool.set == "madial" else pool.set
        groups.setdefault(name, []).append(pool)
    return groups


def strangers_of(data: Path, name: str, most: int) -> list[Question]:
    """Questions in the same language whose answers lie in another set."""
    other = {"locomo": "longmemeval", "longmemeval": "locomo", "madial-zh": "cmrc", "cmrc": "madial"}
    pools = load(data, other.get(name, "longmemeval"))
    return [question for pool in pools for question in pool.questions][:most]


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo, madial, ...")
    parser.add_argument("--set", choices=SETS, action="append", help="only this set (may be repeated)")
    parser.add_argument("--mode", choices=MODES, action="append", help="only this mode (may be repeated)")
    parser.add_argument("--limit", type=int, help="at most so many questions a pool")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--cache", type=Path, help="folder for vectors between runs (default: temporary)")
    parser.add_argument("--workers", type=int, help="contexts of the model, one thread each")
    chosen = parser.parse_args()
    embedder = CachedEmbedder(chosen.model, chosen.cache, chosen.workers)
    for set_name in chosen.set or SETS:
        for name, pools in groups(load(chosen.data, set_name)).items():
            limited = [_limited(pool, chosen.limit) for pool in pools]
            strangers = strangers_of(chosen.data, name, min(chosen.limit or 200, 200))
            for mode in chosen.mode or MODES:
                for figure in figures(limited, name, mode, embedder, strangers):
                    print(json.dumps(_line(figure)), flush=True)


def _line(figure: Figure) -> dict[str, object]:
    return {
        "bench": "retrieval",
        "set": figure.set,
        "mode": figure.mode,
        "state": figure.state,
        "metric": figure.metric,
        "value": round(figure.value, 4),
        "n": figure.n,
        "seconds": round(figure.seconds, 2),
    }


if __name__ == "__main__":
    main()
