"""What the constants of `recall/calibration.py` were chosen by.

    python bench/fit.py --data ../shared/data

Prints one JSON line per figure: recall for each weight of the words on both halves of a set (even and odd
positions), and, for each set, where the line would have to be that one foreign question in ten passes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from data_sets import SETS, Pool, Question, load
from embedded import CachedEmbedder
from retrieval import STATES, Bench, groups, strangers_of

Floats = npt.NDArray[np.float64]
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
_FOREIGN_PER_POOL = 100


@dataclass(frozen=True, slots=True)
class Scored:
    """One question against its pool: words, meaning and whether it answers, along the passages."""

    set: str
    state: str
    held_out: bool
    words: Floats
    meaning: Floats
    answers: npt.NDArray[np.bool_]

    def joined(self, share: float) -> Floats:
        return self.meaning + share * self.words


def scored(pools: Sequence[Pool], name: str, embedder: CachedEmbedder) -> Iterator[Scored]:
    """Every question of a set, in both states."""
    for state in STATES:
        for pool in pools:
            bench = Bench(pool, embedder, "fused", state)
            for number, question in enumerate(pool.questions):
                yield _one(bench, question, name, state, held_out=number % 2 == 1)
                bench.note(question)


def _one(bench: Bench, question: Question, name: str, state: str, *, held_out: bool) -> Scored:
    hits = bench.ask(question, threshold=0.0, limit=len(bench.pool.passages))
    words = np.array([hit.lexical for hit in hits])
    meaning = np.array([hit.semantic or 0.0 for hit in hits])
    answers = np.array([hit.id in question.relevant for hit in hits])
    return Scored(name, state, held_out, words, meaning, answers)


def shares(rows: Sequence[Scored]) -> Iterator[dict[str, object]]:
    """Recall for each weight of the words, on both halves."""
    for name in sorted({row.set for row in rows}):
        for state in STATES:
            for share in SHARES:
                for held_out in (False, True):
                    some = [r for r in rows if (r.set, r.state, r.held_out) == (name, state, held_out)]
                    yield {
                        "fit": "lexical share",
                        "set": name,
                        "state": state,
                        "share": share,
                        "held_out": held_out,
                        "recall@5": _mean(_recall(row, share, 5) for row in some),
                        "recall@10": _mean(_recall(row, share, 10) for row in some),
                        "n": len(some),
                    }


def answered(
    pools: Sequence[Pool], name: str, data: Path, embedder: CachedEmbedder
) -> Iterator[dict[str, object]]:
    """How far the line between an answer and none is from where one foreign question in ten passes."""
    strangers = strangers_of(data, name, _FOREIGN_PER_POOL)
    for state in STATES:
        own: list[tuple[float, float]] = []
        foreign: list[float] = []
        for pool in pools:
            bench = Bench(pool, embedder, "fused", state)
            for question in pool.questions:
                hits = bench.ask(question, threshold=0.0, limit=5)
                found = len(question.relevant.intersection(hit.id for hit in hits)) / len(question.relevant)
                own.append((bench.margin(question), found))
                bench.note(question)
            foreign += [bench.margin(question) for question in strangers]
        line = float(np.quantile(foreign, 0.9))
        at_line = [found if margin >= line else 0.0 for margin, found in own]
        at_zero = [found if margin >= 0.0 else 0.0 for margin, found in own]
        yield {
            "fit": "answered",
            "set": name,
            "state": state,
            "line_for_a_tenth_of_foreign": round(line, 3),
            "recall@5_lost_there": round(_mean(found for _, found in own) - _mean(iter(at_line)), 4),
            "recall@5_lost_now": round(_mean(found for _, found in own) - _mean(iter(at_zero)), 4),
            "foreign_answered_now": round(float(np.mean(np.array(foreign) >= 0.0)), 4),
            "n": len(own),
        }


def _recall(row: Scored, share: float, depth: int) -> float:
    order = np.argsort(-row.joined(share), kind="stable")[:depth]
    return float(row.answers[order].sum() / max(int(row.answers.sum()), 1))


def _mean(values: Iterator[float]) -> float:
    given = list(values)
    return round(float(np.mean(given)), 4) if given else 0.0


def main() -> None:
    """Parse, fit, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo, madial, ...")
    parser.add_argument("--cache", type=Path, help="folder for vectors between runs (default: temporary)")
    chosen = parser.parse_args()
    embedder = CachedEmbedder(folder=chosen.cache)
    rows: list[Scored] = []
    for set_name in SETS:
        for name, pools in groups(load(chosen.data, set_name)).items():
            for line in answered(pools, name, chosen.data, embedder):
                print(json.dumps(line), flush=True)
            if "-to-" not in name and name != "locomo":  # judged by `FOREIGN_WORDS`, and by fit_threads.py
                rows.extend(scored(pools, name, embedder))
    for line in shares(rows):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
