"""Measures a model's speed. Owns the way of measuring; the texts are the shipped background."""

from __future__ import annotations

import statistics
import time
from itertools import cycle, islice
from pathlib import Path

from memvault_models.fake import FAKE_MODEL_ID, FakeEmbedder
from memvault_models.fetch import ensure_entry
from memvault_models.manifest import load_manifest
from memvault_models.means import background
from memvault_models.port import Embedder
from memvault_models.runtime import LlamaEmbedder, default_workers

TEXTS_PER_CALL = (1, 2, 4, 8)
_ROUND_TEXTS = 16


def measure(model_id: str, cache_dir: Path, seconds: float) -> dict[str, float]:
    """See `registry.bench`; all figures but texts_per_s_workers are of one context of one thread."""
    figures: dict[str, float] = {}
    share = seconds / (len(TEXTS_PER_CALL) + 2)
    workers = default_workers()
    for count in TEXTS_PER_CALL:
        started = time.perf_counter()
        embedder = _open(model_id, cache_dir, count, 1)
        if count == 1:
            figures["load_s"] = time.perf_counter() - started
            figures["query_ms_p50"] = _query_ms(embedder, share)
        figures[f"texts_per_s_{count}"] = _texts_per_s(embedder, share)
        embedder.close()
    embedder = _open(model_id, cache_dir, 1, workers)
    figures["texts_per_s_workers"] = _texts_per_s(embedder, share)
    figures["workers"] = workers
    embedder.close()
    return figures


def _open(model_id: str, cache_dir: Path, texts_per_call: int, workers: int) -> Embedder:
    if model_id == FAKE_MODEL_ID:
        return FakeEmbedder()
    entry = load_manifest(cache_dir).get(model_id)
    return LlamaEmbedder(entry, ensure_entry(entry, cache_dir), workers, texts_per_call)


def _query_ms(embedder: Embedder, seconds: float) -> float:
    """Median time of one query, milliseconds."""
    times: list[float] = []
    deadline = time.perf_counter() + seconds
    for text in cycle([text.text for text in background() if text.role == "query"]):
        started = time.perf_counter()
        embedder.embed_query(text)
        times.append(time.perf_counter() - started)
        if time.perf_counter() > deadline:
            return statistics.median(times) * 1000.0
    return 0.0


def _texts_per_s(embedder: Embedder, seconds: float) -> float:
    """Passages a second, about 20 tokens each."""
    texts = cycle([text.text for text in background() if text.role == "passage"])
    embedder.embed_passages(list(islice(texts, _ROUND_TEXTS)))
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        done += len(embedder.embed_passages(list(islice(texts, _ROUND_TEXTS))))
    return done / (time.perf_counter() - started)
