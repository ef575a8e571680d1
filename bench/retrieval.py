"""Quality of recall on public question sets: keyword only, vector only, fused. One JSON line per figure.

    python bench/retrieval.py --data ../shared/data [--set locomo] [--mode fused] [--limit 100]

Uses the daemon's own analyser, index and search with the real model. Ranking figures are taken with the
threshold off and ages off; `answered`, `wrong_answers` and R@5 with the threshold say what a caller sees.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from data_sets import SETS, Pool, Question, load
from embedded import DEFAULT_MODEL, CachedEmbedder

from memvault.recall import Analyser, Entry, Hit, Index, Query, Shelf
from memvault_models.language import language

MODES = ("keyword", "vector", "fused")
DEPTHS = (5, 10, 20)
_KEY = bytes(range(32))
_SHELF = Shelf("private", None, 1, "current")


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of output; `n` counts questions."""

    set: str
    mode: str
    metric: str
    value: float
    n: int
    seconds: float


class Bench:
    """One pool in an index, and questions as the daemon would ask them."""

    def __init__(self, pool: Pool, embedder: CachedEmbedder) -> None:
        self._analyser = Analyser(_KEY)
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
            )
            for passage, vectors in zip(pool.passages, embedder.passages(texts), strict=True)
        )
        self._embedder = embedder

    def ask(
        self, question: Question, mode: str, *, threshold: float | None, today: int, limit: int
    ) -> list[Hit]:
        """The answers, best first."""
        vector = None if mode == "keyword" else self._embedder.queries([question.text])[0]
        terms = () if mode == "vector" else self._analyser.query(question.text)
        query = Query(question.text, terms, vector, language(question.text), today, threshold=threshold)
        return self._index.search(query, lambda shelf: True, limit)


def ranking(pools: Sequence[tuple[Pool, Bench]], name: str, mode: str) -> Iterator[Figure]:
    """Recall at each depth, mean over questions, threshold and ages off; then R@5 with the threshold."""
    started = time.perf_counter()
    found: list[list[float]] = []
    kept: list[float] = []
    for pool, bench in pools:
        for question in pool.questions:
            ids = [hit.id for hit in bench.ask(question, mode, threshold=0.0, today=0, limit=max(DEPTHS))]
            found.append([_share(question, ids[:depth]) for depth in DEPTHS])
            shown = bench.ask(question, mode, threshold=None, today=0, limit=5)
            kept.append(_share(question, [hit.id for hit in shown]))
    seconds = time.perf_counter() - started
    for at, depth in enumerate(DEPTHS):
        yield Figure(name, mode, f"recall@{depth}", _mean([row[at] for row in found]), len(found), seconds)
    yield Figure(name, mode, "recall@5 above threshold", _mean(kept), len(kept), seconds)


def nothing(
    pools: Sequence[tuple[Pool, Bench]], strangers: Sequence[Question], name: str, mode: str
) -> Iterator[Figure]:
    """How often questions of another set, and questions without an answer, still return something."""
    for label, of in (("foreign", lambda pool: strangers), ("unanswerable", lambda pool: pool.absent)):
        started = time.perf_counter()
        returned = [
            float(bool(bench.ask(question, mode, threshold=None, today=0, limit=5)))
            for pool, bench in pools
            for question in of(pool)
        ]
        if returned:
            seconds = time.perf_counter() - started
            yield Figure(name, mode, f"{label} questions answered", _mean(returned), len(returned), seconds)


def newest_first(pools: Sequence[tuple[Pool, Bench]], name: str, mode: str) -> Iterator[Figure]:
    """On update questions, how often the newest statement ranks above the oldest, on the day asked."""
    started = time.perf_counter()
    right: list[float] = []
    for pool, bench in pools:
        for question in pool.questions:
            if len(question.in_time) < 2:
                continue
            hits = bench.ask(question, mode, threshold=0.0, today=question.day, limit=len(pool.passages))
            order = {hit.id: rank for rank, hit in enumerate(hits)}
            newest, oldest = order.get(question.in_time[-1]), order.get(question.in_time[0])
            right.append(float(newest is not None and (oldest is None or newest < oldest)))
    if right:
        yield Figure(name, mode, "newest first", _mean(right), len(right), time.perf_counter() - started)


def _share(question: Question, ids: Sequence[str]) -> float:
    return len(question.relevant.intersection(ids)) / len(question.relevant)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


def _limited(pool: Pool, limit: int | None) -> Pool:
    return (
        pool if limit is None else replace(pool, questions=pool.questions[:limit], absent=pool.absent[:limit])
    )


def _groups(pools: Sequence[Pool]) -> dict[str, list[Pool]]:
    """Pools that make one figure: all conversations of LoCoMo, each part of MADial by itself."""
    groups: dict[str, list[Pool]] = {}
    for pool in pools:
        name = f"{pool.set}-{pool.name}" if pool.set == "madial" else pool.set
        groups.setdefault(name, []).append(pool)
    return groups


def _strangers(data: Path, name: str, most: int) -> list[Question]:
    """Questions of a set in another domain."""
    other = "cmrc" if name.startswith(("locomo", "longmemeval")) else "longmemeval"
    return [question for pool in load(data, other) for question in pool.questions][:most]


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
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
        for name, pools in _groups(load(chosen.data, set_name)).items():
            ready = [(_limited(pool, chosen.limit), Bench(pool, embedder)) for pool in pools]
            strangers = _strangers(chosen.data, name, min(chosen.limit or 200, 200))
            for mode in chosen.mode or MODES:
                for figures in (
                    ranking(ready, name, mode),
                    nothing(ready, strangers, name, mode),
                    newest_first(ready, name, mode),
                ):
                    for figure in figures:
                        print(json.dumps(_line(figure)), flush=True)


def _line(figure: Figure) -> dict[str, object]:
    return {
        "bench": "retrieval",
        "set": figure.set,
        "mode": figure.mode,
        "metric": figure.metric,
        "value": round(figure.value, 4),
        "n": figure.n,
        "seconds": round(figure.seconds, 2),
    }


if __name__ == "__main__":
    main()
