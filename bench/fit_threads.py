"""Fits the weights of threads in `recall/calibration.py` on one half of LoCoMo, for the other half.

    python bench/fit_threads.py --data ../shared/data

A ranking by softmax over a conversation's turns, two halves by position, each judged by the fit on the other.
Prints one JSON line per fit: weights beside 1 for a turn's own cosine (or own words), and the recall of the
questions left out. The constants are the rounded means of both fits.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from data_sets import Pool, Question, load
from embedded import CachedEmbedder, question_vector

from memvault.recall import Analyser, calibration, lexical, threads
from memvault.recall.asked import Asked
from memvault.recall.lexical import Postings, TermMatch
from memvault.recall.rows import Permitted
from memvault.recall.terms import decode
from memvault.recall.threads import Around, View
from memvault_models.language import language

Floats = npt.NDArray[np.float64]
FUSED = (
    "own",
    "before",
    "behind",
    "two before",
    "words",
    "window",
    "thread",
    "answer",
    "named",
    "asks",
    "length",
)
WORDS = FUSED[4:]
_RIDGE = 1e-3
_ROUNDS = 400


@dataclass(frozen=True, slots=True)
class Example:
    """One question: features of shape (names, turns) and the turns that answer it."""

    held_out: bool
    features: dict[str, Floats]
    answers: npt.NDArray[np.int64]


class Talk:
    """One conversation with its turns in order, as one permitted set of rows."""

    def __init__(self, pool: Pool, embedder: CachedEmbedder) -> None:
        self._pool, self._embedder = pool, embedder
        self._analyser = Analyser(bytes(32))
        self._means = embedder.means()
        texts = [passage.text for passage in pool.passages]
        terms = decode([self._analyser.passage([(text, 1.0)]) for text in texts])
        self._lengths = terms.lengths
        self._postings = Postings()
        starts = np.append(0, np.cumsum(terms.sizes))
        for slot in range(len(texts)):
            part = slice(int(starts[slot]), int(starts[slot + 1]))
            self._postings.put(slot, terms.hashes[part], terms.counts[part])
        self._vectors = np.stack(
            [
                self._means.centre(windows, "passage", language(text))[0]
                for text, windows in zip(texts, embedder.passages(texts), strict=True)
            ]
        )
        mask = np.append(np.ones(len(texts), np.bool_), False)
        self._permitted = Permitted(mask, len(texts), [], np.arange(len(texts)))
        numbers = {name: at for at, name in enumerate(dict.fromkeys(p.thread for p in pool.passages))}
        number = np.array([numbers[passage.thread] for passage in pool.passages])
        self._view = View(np.arange(len(texts)), number, number[2:] == number[:-2])
        self._at = {passage.id: slot for slot, passage in enumerate(pool.passages)}

    def examples(self) -> Iterator[Example]:
        """The conversation's questions, each centred by what those before it have in common."""
        asked = Asked(self._means)
        for day, question in enumerate(self._pool.questions):
            spoken = language(question.text)
            vector = question_vector(self._embedder, question.text)
            centred = asked.centre(vector, spoken, day)
            asked.note(vector, spoken)
            answers = np.array(sorted(self._at[id_] for id_ in question.relevant), np.int64)
            yield Example(day % 2 == 1, self._features(question, centred), answers)

    def _features(self, question: Question, centred: npt.NDArray[np.float32]) -> dict[str, Floats]:
        matches = lexical.match(self._postings, self._analyser.query(question.text), self._permitted)
        words = lexical.score(matches, self._lengths, float(self._lengths.mean()))
        marks = self._analyser.marks(question.text)
        around = Around(words, self._lengths, self._holds([marks.asks]), self._holds(marks.names))
        meaning = (self._vectors @ centred).astype(np.float32)
        view = self._view
        found = {
            "own": meaning,
            "before": view.before(meaning),
            "behind": view.after(meaning),
            "two before": view.two_before(meaning),
            "words": words,
            "window": self._only("NEAR_WORDS", around, matches),
            "thread": self._only("THREAD_WORDS", around, matches),
            "answer": view.before(words * around.asks),
            "named": around.named,
            "asks": around.asks,
            "length": np.log1p(self._lengths),
        }
        return {name: values.astype(np.float64) for name, values in found.items()}

    def _only(self, name: str, around: Around, matches: list[TermMatch]) -> npt.NDArray[np.float32]:
        """One part of `threads.lexical`, with weight 1."""
        weights = {
            each: getattr(calibration, each) for each in ("NEAR_WORDS", "THREAD_WORDS", "ANSWER_WORDS")
        }
        try:
            for each in weights:
                setattr(calibration, each, float(each == name))
            return threads.lexical(self._view, around, matches, len(self._lengths))
        finally:
            for each, value in weights.items():
                setattr(calibration, each, value)

    def _holds(self, marks: Sequence[int]) -> npt.NDArray[np.float32]:
        out = np.zeros(len(self._lengths), np.float32)
        for mark in marks:
            out[self._postings.find(mark)[0]] = 1.0
        return out


def fitted(examples: Sequence[Example], names: Sequence[str]) -> Floats:
    """Weights that make the answers likely under a softmax over all turns: gradient ascent with momentum."""
    tables = [np.stack([example.features[name] for name in names]) for example in examples]
    weights, speed = np.zeros(len(names)), np.zeros(len(names))
    for _ in range(_ROUNDS):
        slope = -2.0 * _RIDGE * weights
        for example, table in zip(examples, tables, strict=True):
            heights = weights @ table
            chances = np.exp(heights - heights.max())
            expected = table @ (chances / chances.sum())
            slope += (table[:, example.answers].mean(axis=1) - expected) / len(examples)
        speed = 0.9 * speed + slope
        weights = weights + speed
    return weights


def recall(examples: Sequence[Example], names: Sequence[str], weights: Floats, depth: int) -> float:
    """The mean share of a question's answers among its first `depth` turns."""
    shares: list[float] = []
    for example in examples:
        heights = weights @ np.stack([example.features[name] for name in names])
        first = set(np.argsort(-heights, kind="stable")[:depth].tolist())
        shares.append(len(first.intersection(example.answers.tolist())) / len(example.answers))
    return float(np.mean(shares))


def main() -> None:
    """Parse, fit, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo")
    parser.add_argument("--cache", type=Path, help="folder for vectors between runs (default: temporary)")
    chosen = parser.parse_args()
    embedder = CachedEmbedder(folder=chosen.cache)
    examples = [one for pool in load(chosen.data, "locomo") for one in Talk(pool, embedder).examples()]
    for mode, names in (("fused", FUSED), ("keyword", WORDS)):
        for held_out in (False, True):
            weights = fitted([one for one in examples if one.held_out != held_out], names)
            others = [one for one in examples if one.held_out == held_out]
            line: dict[str, object] = {"fit": "threads", "mode": mode, "held_out": held_out, "n": len(others)}
            line |= {f"recall@{depth}": round(recall(others, names, weights, depth), 4) for depth in (5, 10)}
            line["weights"] = {
                name: round(float(weight / weights[0]), 2)
                for name, weight in zip(names, weights, strict=True)
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
