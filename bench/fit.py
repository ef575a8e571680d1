"""Fits the constants of `recall/calibration.py` on one half of the questions and judges them on the other.

    python bench/fit.py --data ../shared/data

Prints one JSON line per figure: recall for each weight of the words, and the logistic fit that says from
which joined score on the best answer is one. Questions with an even position are fitted, odd ones held out.
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

from memvault.recall.calibration import LEXICAL_SHARE

Floats = npt.NDArray[np.float64]
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
_FOREIGN_PER_POOL = 100


@dataclass(frozen=True, slots=True)
class Scored:
    """One question against its pool: words, meaning and whether it answers, along the passages."""

    set: str
    state: str
    held_out: bool
    foreign: bool
    words: Floats
    meaning: Floats
    answers: npt.NDArray[np.bool_]

    def joined(self, share: float) -> Floats:
        return self.meaning + share * self.words


def scored(pools: Sequence[Pool], name: str, data: Path, embedder: CachedEmbedder) -> Iterator[Scored]:
    """Every question of a set, and foreign ones, in both states; foreign ones come after the set's own."""
    strangers = strangers_of(data, name, _FOREIGN_PER_POOL)
    for state in STATES:
        for pool in pools:
            bench = Bench(pool, embedder, "fused", state)
            for number, question in enumerate(pool.questions):
                yield _one(bench, question, name, state, held_out=number % 2 == 1, foreign=False)
                bench.note(question)
            for number, question in enumerate(strangers):
                yield _one(bench, question, name, state, held_out=number % 2 == 1, foreign=True)


def _one(bench: Bench, question: Question, name: str, state: str, *, held_out: bool, foreign: bool) -> Scored:
    hits = bench.ask(question, threshold=0.0, limit=len(bench.pool.passages))
    words = np.array([hit.lexical for hit in hits])
    meaning = np.array([hit.semantic or 0.0 for hit in hits])
    answers = np.array([hit.id in question.relevant and not foreign for hit in hits])
    return Scored(name, state, held_out, foreign, words, meaning, answers)


def shares(rows: Sequence[Scored]) -> Iterator[dict[str, object]]:
    """Recall for each weight of the words, on both halves."""
    own = [row for row in rows if not row.foreign]
    for name in sorted({row.set for row in own}):
        for state in STATES:
            for share in SHARES:
                for held_out in (False, True):
                    some = [r for r in own if (r.set, r.state, r.held_out) == (name, state, held_out)]
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


def middle(rows: Sequence[Scored]) -> Iterator[dict[str, object]]:
    """The logistic fit over score and size of the vault, and what it does on the half held out."""
    for state in STATES:
        some = [r for r in rows if r.state == state and (r.foreign or _recall(r, LEXICAL_SHARE, 5) > 0.0)]
        best = np.array([r.joined(LEXICAL_SHARE).max() for r in some])
        size = np.log10([float(len(r.words)) for r in some])
        right = np.array([not r.foreign for r in some])
        held = np.array([r.held_out for r in some])
        slope, per_decade, constant = logistic(np.stack([best, size], axis=1)[~held], right[~held])
        odds = slope * best + per_decade * size + constant
        yield {
            "fit": "middle",
            "state": state,
            "steepness": round(slope, 2),
            "middle": round(-constant / slope, 3),
            "per_decade": round(-per_decade / slope, 3),
            "held_out_answered_rightly": float(np.mean(odds[held & right] >= 0.0)),
            "held_out_foreign_answered": float(np.mean(odds[held & ~right] >= 0.0)),
            "n": int(held.sum()),
        }


def logistic(features: Floats, right: npt.NDArray[np.bool_], rounds: int = 50) -> tuple[float, ...]:
    """Coefficients and constant by Newton's method, both classes weighing the same."""
    given = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    weight = np.where(right, 0.5 / right.mean(), 0.5 / (1.0 - right.mean()))
    found = np.zeros(given.shape[1])
    for _ in range(rounds):
        guess = 1.0 / (1.0 + np.exp(-np.clip(given @ found, -30.0, 30.0)))
        slope = given.T @ ((guess - right) * weight) + 1e-3 * found
        bend = (given * (weight * guess * (1.0 - guess))[:, None]).T @ given + 1e-3 * np.eye(len(found))
        found = found - np.linalg.solve(bend, slope)
    return tuple(float(value) for value in found)


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
            if "-to-" not in name:  # pairs of languages are judged by `FOREIGN_WORDS`, not by these
                rows.extend(scored(pools, name, chosen.data, embedder))
    for line in (*shares(rows), *middle(rows)):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
