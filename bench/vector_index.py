"""Which vector index: exact float32, float16, int8, binary codes with rescoring. One JSON line per variant.

    python bench/vector_index.py [--data DIR] [--rows 10000 --rows 100000] [--queries 200]

Vectors are made: clusters of unit vectors whose questions lie near their passages at cosine 0.4 to 0.8, as
the default model's centred vectors do (`--data` adds the real vectors of the LoCoMo set to judge recall).
Each variant answers from one thread, one question a call, as the daemon does.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import simsimd

Floats = npt.NDArray[np.float32]
Answer = Callable[[Floats], npt.NDArray[np.int64]]
DIMS = 384
TOP = 10
_RESCORED = 200


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to find the nearest rows; `size_bytes` is what it holds in memory."""

    name: str
    answer: Answer
    size_bytes: int


def made_vectors(rows: int, queries: int, seed: int = 7) -> tuple[Floats, Floats]:
    """Unit vectors (rows, 384) in loose clusters, and questions near some of them."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(rows // 50, 1), DIMS), dtype=np.float32)
    spread = random.standard_normal((rows, DIMS), dtype=np.float32)
    passages = unit(0.7 * centres[random.integers(0, len(centres), rows)] + spread)
    near = random.uniform(0.4, 0.8, (queries, 1)).astype(np.float32)
    aside = unit(random.standard_normal((queries, DIMS), dtype=np.float32))
    chosen = passages[random.integers(0, rows, queries)]
    return passages, unit(near * chosen + np.sqrt(1.0 - near**2) * aside)


def unit(vectors: Floats) -> Floats:
    """Rows of length 1."""
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def variants(passages: Floats) -> list[Variant]:
    """Every way that is compared."""
    half = passages.astype(np.float16)
    peaks = np.abs(passages).max(axis=1)
    codes = np.rint(passages * (127.0 / peaks)[:, None]).astype(np.int8)
    scales = (peaks / 127.0).astype(np.float32)
    bits = np.packbits(passages > 0.0, axis=1)

    def exact(query: Floats) -> npt.NDArray[np.int64]:
        return best(passages @ query)

    def simd(query: Floats) -> npt.NDArray[np.int64]:
        return best(_column(simsimd.cdist(query[None], passages, metric="dot", out_dtype="float32")))

    def float16(query: Floats) -> npt.NDArray[np.int64]:
        asked = query[None].astype(np.float16)
        return best(_column(simsimd.cdist(asked, half, metric="dot", out_dtype="float32")))

    def int8(query: Floats) -> npt.NDArray[np.int64]:
        found = simsimd.cdist(_codes(query)[None], codes, metric="dot", out_dtype="float32")
        return best(_column(found) * scales)

    def nearest_bits(query: Floats) -> npt.NDArray[np.int64]:
        asked = np.packbits(query > 0.0)[None]
        far = _column(simsimd.cdist(asked, bits, metric="hamming", dtype="bin8"))
        return np.argpartition(far, min(_RESCORED, len(far) - 1))[:_RESCORED].astype(np.int64)

    def binary_int8(query: Floats) -> npt.NDArray[np.int64]:
        some = nearest_bits(query)
        found = simsimd.cdist(_codes(query)[None], codes[some], metric="dot", out_dtype="float32")
        return some[best(_column(found) * scales[some])]

    def binary_float32(query: Floats) -> npt.NDArray[np.int64]:
        some = nearest_bits(query)
        return some[best(passages[some] @ query)]

    code_bytes = codes.nbytes + scales.nbytes
    return [
        Variant("float32 numpy", exact, passages.nbytes),
        Variant("float32 simsimd", simd, passages.nbytes),
        Variant("float16 simsimd", float16, half.nbytes),
        Variant("int8 simsimd", int8, code_bytes),
        Variant(f"binary, {_RESCORED} rescored by int8", binary_int8, bits.nbytes + code_bytes),
        Variant(f"binary, {_RESCORED} rescored by float32", binary_float32, bits.nbytes + passages.nbytes),
    ]


def best(scores: Floats) -> npt.NDArray[np.int64]:
    """Positions of the ten highest scores, highest first."""
    some = np.argpartition(-scores, min(TOP, len(scores) - 1))[:TOP]
    return some[np.argsort(-scores[some], kind="stable")].astype(np.int64)


def _codes(query: Floats) -> npt.NDArray[np.int8]:
    return np.rint(query * (127.0 / np.abs(query).max())).astype(np.int8)


def _column(found: object) -> Floats:
    return np.asarray(found, dtype=np.float32).ravel()


def compare(source: str, passages: Floats, questions: Floats) -> None:
    """Time every variant on the same questions and print its line."""
    ways = variants(passages)
    truth = [set(ways[0].answer(question).tolist()) for question in questions]
    for way in ways:
        times_ms: list[float] = []
        shared = 0
        for question, right in zip(questions, truth, strict=True):
            started = time.perf_counter()
            found = way.answer(question)
            times_ms.append(1e3 * (time.perf_counter() - started))
            shared += len(right.intersection(found.tolist()))
        line = {
            "bench": "vector_index",
            "vectors": source,
            "rows": len(passages),
            "dims": DIMS,
            "variant": way.name,
            "least_ms": round(min(times_ms), 3),
            "p50_ms": round(float(np.percentile(times_ms, 50)), 3),
            "p95_ms": round(float(np.percentile(times_ms, 95)), 3),
            "recall@10": round(shared / (TOP * len(questions)), 4),
            "size_mb": round(way.size_bytes / 1e6, 1),
            "n": len(questions),
        }
        print(json.dumps(line), flush=True)


def real_vectors(data: Path) -> tuple[Floats, Floats]:
    """Centred vectors of the turns and questions of LoCoMo, one matrix each."""
    from data_sets import load
    from embedded import CachedEmbedder

    from memvault_models.language import language

    embedder = CachedEmbedder()
    means = embedder.means()
    passages: list[Floats] = []
    questions: list[Floats] = []
    for pool in load(data, "locomo"):
        turns = [turn.text for turn in pool.passages]
        for text, vectors in zip(turns, embedder.passages(turns), strict=True):
            passages.append(means.centre(vectors[0], "passage", language(text)))
        asked = [question.text for question in pool.questions]
        for text, vector in zip(asked, embedder.queries(asked), strict=True):
            questions.append(means.centre(vector, "query", language(text)))
    return np.stack(passages), np.stack(questions)


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the question sets, for real vectors as well")
    parser.add_argument("--rows", type=int, action="append", help="default 10000 and 100000")
    parser.add_argument("--queries", type=int, default=200)
    chosen = parser.parse_args()
    for rows in chosen.rows or [10_000, 100_000]:
        compare("made", *made_vectors(rows, chosen.queries))
    if chosen.data is not None:
        compare("locomo", *real_vectors(chosen.data))


if __name__ == "__main__":
    main()
