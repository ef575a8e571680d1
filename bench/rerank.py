"""What a reranker changes in recall, and what it costs, on public question sets. One JSON line per figure.

    python bench/rerank.py --data ../shared/data --set locomo --reranker model.gguf [--limit 6]
    python bench/rerank.py --data ../shared/data --set locomo --judge chat.gguf

The first hits of the fused ranking are scored and blended in as the daemon does it. `--judge` takes a chat
model instead and asks it of each passage whether it answers (the log-odds of "Yes" against "No"): to see
whether a small chat model can stand in for a reranker. Vectors come from the same cache as retrieval's.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from data_sets import SETS, Pool, Question, load
from embedded import CachedEmbedder
from retrieval import Bench, groups

from memvault.recall import Hit
from memvault.recall.blend import order
from memvault_models.llama_api import api
from memvault_models.rerank import Reranker, Scores

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
DEPTHS = (1, 5, 10)

Scorer = Callable[[str, Sequence[str]], Scores]


class Judge:
    """A chat model asked for yes or no about one passage at a time."""

    def __init__(self, path: Path) -> None:
        api()
        library: Any = importlib.import_module("llama_cpp")
        self._model = library.Llama(
            str(path), n_ctx=1024, n_threads=1, n_threads_batch=1, n_gpu_layers=0, seed=1, verbose=False
        )
        self._logits = library.llama_get_logits
        self._yes, self._no = (self._model.tokenize(word, add_bos=False)[0] for word in (b"Yes", b"No"))

    def __call__(self, query: str, passages: Sequence[str]) -> Scores:
        return np.array([self._one(query, passage) for passage in passages], np.float32)

    def _one(self, query: str, passage: str) -> float:
        prompt = (
            f"<|im_start|>user\nNote: {passage[:1200]}\n\nQuestion: {query[:600]}\n\n"
            "Does the note answer the question? Answer Yes or No.<|im_end|>\n<|im_start|>assistant\n"
        )
        self._model.reset()
        self._model.eval(self._model.tokenize(prompt.encode("utf-8"), add_bos=False, special=True)[:1000])
        last = np.ctypeslib.as_array(self._logits(self._model.ctx), (self._model.n_vocab(),))
        return float(last[self._yes] - last[self._no])


def measure(
    pools: Sequence[Pool], embedder: CachedEmbedder, score: Scorer, limit: int, depth: int
) -> Iterator[dict[str, Any]]:
    """Recall and reciprocal rank at each share of the reranker, and the time to score a question's hits."""
    found: dict[float, list[list[float]]] = {share: [] for share in SHARES}
    took_ms: list[float] = []
    for pool in pools:
        bench = Bench(pool, embedder, "fused", "first day")
        texts = {passage.id: passage.text for passage in pool.passages}
        for question in _spread(pool.questions, limit):
            hits = bench.ask(question, threshold=0.0, limit=depth)
            if not hits:
                continue
            started = time.perf_counter()
            scores = score(question.text, [texts[hit.id] for hit in hits])
            took_ms.append((time.perf_counter() - started) * 1000)
            for share in SHARES:
                found[share].append(_figures(question, hits, order(hits, scores, share)))
    names = [*(f"recall@{depth}" for depth in DEPTHS), "reciprocal rank"]
    for share in SHARES:
        means = np.mean(found[share], axis=0)
        yield {"share": share, "n": len(found[share])} | dict(
            zip(names, means.round(4).tolist(), strict=True)
        )
    p50, p95 = np.percentile(took_ms, (50, 95)).round(1).tolist()
    yield {"scoring_ms_p50": p50, "scoring_ms_p95": p95, "hits": depth, "n": len(took_ms)}


def _figures(question: Question, hits: Sequence[Hit], places: Sequence[int]) -> list[float]:
    ids = [hits[at].id for at in places]
    shares = [len(question.relevant.intersection(ids[:depth])) / len(question.relevant) for depth in DEPTHS]
    first = next((rank for rank, id_ in enumerate(ids, 1) if id_ in question.relevant), None)
    return [*shares, 0.0 if first is None else 1.0 / first]


def _spread(questions: Sequence[Question], limit: int) -> Sequence[Question]:
    """As many questions, evenly over the whole set."""
    return questions[:: max(1, len(questions) // limit)][:limit]


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo, madial, ...")
    parser.add_argument("--set", choices=SETS, action="append", required=True)
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--reranker", type=Path, help="a GGUF reranker")
    model.add_argument("--judge", type=Path, help="a GGUF chat model with ChatML marks")
    parser.add_argument("--limit", type=int, default=6, help="questions a pool")
    parser.add_argument("--hits", type=int, default=20, help="as many of the first are scored")
    parser.add_argument("--cache", type=Path, help="folder for vectors between runs (default: temporary)")
    chosen = parser.parse_args()
    score: Scorer = Judge(chosen.judge) if chosen.judge else Reranker(chosen.reranker).scores
    embedder = CachedEmbedder(folder=chosen.cache)
    for set_name in chosen.set:
        for name, pools in groups(load(chosen.data, set_name)).items():
            for figures in measure(pools, embedder, score, chosen.limit, chosen.hits):
                print(json.dumps({"bench": "rerank", "set": name} | figures), flush=True)


if __name__ == "__main__":
    main()
