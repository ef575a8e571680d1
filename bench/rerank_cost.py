"""What a reranker costs on this machine, by the size of its network. One JSON line per size.

    python bench/rerank_cost.py [--tokens 64] [--hits 20] [--rounds 15]

The networks have the shape of known cross-encoders (BERT, weights of 8 bits) and random weights: the time
does not depend on them. For a model of your own: `python bench/rerank.py --reranker FILE`.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, PoolingType, TokenType
from gguf.quants import quantize

from memvault_models.rerank import Reranker

SHAPES = {
    "2 layers of 128 (as TinyBERT-L2)": (2, 128, 2),
    "6 layers of 384 (as MiniLM-L6)": (6, 384, 12),
    "12 layers of 384 (as MiniLM-L12)": (12, 384, 12),
    "12 layers of 768 (as BERT base)": (12, 768, 12),
}
WORDS = 1000
POSITIONS = 512
QUERY_TOKENS = 12
_MARKS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]


class Network:
    """Writes a cross-encoder of one shape, its matrices random and of 8 bits."""

    def __init__(self, path: Path, layers: int, hidden: int, heads: int) -> None:
        self._random = np.random.default_rng(1)
        self._hidden = hidden
        self._writer = GGUFWriter(path, "bert")
        self._sizes(layers, heads)
        self._words()
        self._tensors(layers)
        self._writer.write_header_to_file()
        self._writer.write_kv_data_to_file()
        self._writer.write_tensors_to_file()
        self._writer.close()

    def _sizes(self, layers: int, heads: int) -> None:
        writer = self._writer
        writer.add_context_length(POSITIONS)
        writer.add_embedding_length(self._hidden)
        writer.add_feed_forward_length(4 * self._hidden)
        writer.add_block_count(layers)
        writer.add_head_count(heads)
        writer.add_layer_norm_eps(1e-12)
        writer.add_causal_attention(False)
        writer.add_token_type_count(2)
        writer.add_pooling_type(PoolingType.RANK)

    def _words(self) -> None:
        writer = self._writer
        writer.add_tokenizer_model("bert")
        writer.add_tokenizer_pre("default")
        writer.add_token_list([*_MARKS, *(f"\u2581w{at}" for at in range(WORDS))])
        kinds = [TokenType.CONTROL] * 3 + [TokenType.UNKNOWN] + [TokenType.NORMAL] * WORDS
        writer.add_token_types(kinds)
        writer.add_bos_token_id(1)
        writer.add_sep_token_id(2)
        writer.add_unk_token_id(3)
        writer.add_pad_token_id(0)

    def _tensors(self, layers: int) -> None:
        hidden = self._hidden
        self._matrix("token_embd", WORDS + len(_MARKS), hidden, bias=False)
        places = self._random.standard_normal((POSITIONS, hidden)).astype(np.float32)
        self._writer.add_tensor("position_embd.weight", places)
        self._writer.add_tensor("token_types.weight", np.zeros((2, hidden), np.float32))
        self._norm("token_embd_norm")
        for at in range(layers):
            for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
                self._matrix(f"blk.{at}.{part}", hidden, hidden)
            self._matrix(f"blk.{at}.ffn_up", 4 * hidden, hidden)
            self._matrix(f"blk.{at}.ffn_down", hidden, 4 * hidden)
            self._norm(f"blk.{at}.attn_output_norm")
            self._norm(f"blk.{at}.layer_output_norm")
        self._matrix("cls", hidden, hidden)
        self._matrix("cls.output", 1, hidden)

    def _matrix(self, name: str, rows: int, columns: int, *, bias: bool = True) -> None:
        values = (self._random.standard_normal((rows, columns)) * 0.03).astype(np.float32)
        kind = GGMLQuantizationType.Q8_0
        self._writer.add_tensor(f"{name}.weight", quantize(values, kind), raw_dtype=kind)
        if bias:
            self._writer.add_tensor(f"{name}.bias", np.zeros(rows, np.float32))

    def _norm(self, name: str) -> None:
        self._writer.add_tensor(f"{name}.weight", np.ones(self._hidden, np.float32))
        self._writer.add_tensor(f"{name}.bias", np.zeros(self._hidden, np.float32))


def measure(path: Path, tokens: int, hits: int, rounds: int) -> dict[str, float]:
    """Milliseconds for all hits of one question (`cpu_ms`: of all cores together, whatever else they do), and
    what loading takes, in ms and MB of resident memory."""
    random = np.random.default_rng(2)

    def text(count: int) -> str:
        return " ".join(f"w{at}" for at in random.integers(0, WORDS, count))

    before, started = _resident_mb(), time.perf_counter()
    reranker = Reranker(path)
    load_ms = (time.perf_counter() - started) * 1000
    passage_tokens = tokens - QUERY_TOKENS - 3
    took_ms: list[float] = []
    worked_ms: list[float] = []
    try:
        reranker.scores(text(QUERY_TOKENS), [text(passage_tokens)])
        for _ in range(rounds):
            query, passages = text(QUERY_TOKENS), [text(passage_tokens) for _ in range(hits)]
            started, worked = time.perf_counter(), time.process_time()
            reranker.scores(query, passages)
            took_ms.append((time.perf_counter() - started) * 1000)
            worked_ms.append((time.process_time() - worked) * 1000)
        memory_mb = _resident_mb() - before
    finally:
        reranker.close()
    p50, p95 = np.percentile(took_ms, (50, 95)).round(1).tolist()
    worked = round(float(np.median(worked_ms)), 1)
    return {
        "ms_p50": p50,
        "ms_p95": p95,
        "cpu_ms": worked,
        "load_ms": round(load_ms, 1),
        "memory_mb": round(memory_mb, 1),
    }


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--tokens", type=int, default=64, help="of a pair, marks included")
    parser.add_argument("--hits", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, (layers, hidden, heads) in SHAPES.items():
            path = Path(folder) / f"{layers}x{hidden}.gguf"
            Network(path, layers, hidden, heads)
            figures = measure(path, chosen.tokens, chosen.hits, chosen.rounds)
            line = {"bench": "rerank cost", "network": name, "tokens": chosen.tokens, "hits": chosen.hits}
            print(json.dumps(line | figures), flush=True)


if __name__ == "__main__":
    main()
