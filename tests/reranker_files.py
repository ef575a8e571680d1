"""Tiny rerankers made from nothing, with seeded weights: real files that llama.cpp loads and runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf import GGUFWriter, PoolingType, TokenType

Floats = npt.NDArray[np.floating[Any]]

HIDDEN, HEADS, FFN, POSITIONS = 32, 4, 64, 48
CLS, SEP, UNK = 1, 2, 3
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?"
PIECES = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *(f"\u2581{c}" for c in LETTERS), *LETTERS]
RERANK_TEMPLATE = "<|im_start|>Q: {query} D: {document}<|im_end|>yes?"


def tokens(text: str) -> list[int]:
    """What the tokeniser of these files does with small letters, digits and marks."""
    found: list[int] = []
    for word in text.lower().replace("?", " ?").replace(".", " .").replace(",", " ,").split():
        found += [PIECES.index(f"\u2581{word[0]}"), *(PIECES.index(letter) for letter in word[1:])]
    return found


def pair(query: str, passage: str) -> list[int]:
    """Question and passage as a cross-encoder reads them: the question takes half the room at most."""
    room = POSITIONS - 3
    asked = tokens(query)[: room // 2]
    return [CLS, *asked, SEP, *tokens(passage)[: room - len(asked)], SEP]


@dataclass(frozen=True)
class CrossEncoder:
    """A BERT of one layer; `scores` is its forward pass in numpy."""

    weights: dict[str, Floats]

    def score(self, tokens: list[int]) -> float:
        w = self.weights
        x = (
            w["token_embd.weight"][tokens]
            + w["position_embd.weight"][: len(tokens)]
            + w["token_types.weight"][0]
        )
        x = _norm(x, w["token_embd_norm.weight"], w["token_embd_norm.bias"])
        x = _norm(
            x + self._attention(x), w["blk.0.attn_output_norm.weight"], w["blk.0.attn_output_norm.bias"]
        )
        inner = _gelu(x @ w["blk.0.ffn_up.weight"].T + w["blk.0.ffn_up.bias"])
        x = x + inner @ w["blk.0.ffn_down.weight"].T + w["blk.0.ffn_down.bias"]
        first = _norm(x, w["blk.0.layer_output_norm.weight"], w["blk.0.layer_output_norm.bias"])[0]
        if "cls.weight" in w:
            first = np.tanh(w["cls.weight"] @ first + w["cls.bias"])
        if "cls.output.weight" in w:
            first = w["cls.output.weight"] @ first + w["cls.output.bias"]
        return float(first[0])

    def _attention(self, x: Floats) -> Floats:
        w, size = self.weights, HIDDEN // HEADS
        q, k, v = (x @ w[f"blk.0.attn_{n}.weight"].T + w[f"blk.0.attn_{n}.bias"] for n in "qkv")
        out = np.empty_like(x)
        for head in range(HEADS):
            at = slice(head * size, (head + 1) * size)
            logits = q[:, at] @ k[:, at].T / np.sqrt(size)
            share = np.exp(logits - logits.max(axis=1, keepdims=True))
            out[:, at] = share / share.sum(axis=1, keepdims=True) @ v[:, at]
        return out @ w["blk.0.attn_output.weight"].T + w["blk.0.attn_output.bias"]


def _norm(x: Floats, weight: Floats, bias: Floats) -> Floats:
    mean, spread = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(spread + 1e-12) * weight + bias


def _gelu(x: Floats) -> Floats:
    """The tanh form, which is ggml's."""
    return 0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)))


def make_cross_encoder(
    path: Path,
    *,
    head: str = "both",
    labels: tuple[str, ...] = (),
    pooling: bool = True,
    ffn: int = FFN,
    seed: int = 5,
) -> CrossEncoder:
    """Write a BERT with seeded weights. `head`: both, dense, output or none. A large `ffn` makes it slow."""
    random = np.random.default_rng(seed)

    def some(*shape: int, scale: float = 0.35) -> Floats:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    outputs = max(1, len(labels))
    w = {
        "token_embd.weight": some(len(PIECES), HIDDEN, scale=1.0),
        "position_embd.weight": some(POSITIONS, HIDDEN),
        "token_types.weight": some(2, HIDDEN),
    }
    shapes = {"attn_q": (HIDDEN, HIDDEN), "attn_k": (HIDDEN, HIDDEN), "attn_v": (HIDDEN, HIDDEN)}
    shapes |= {"attn_output": (HIDDEN, HIDDEN), "ffn_up": (ffn, HIDDEN), "ffn_down": (HIDDEN, ffn)}
    for name, shape in shapes.items():
        w[f"blk.0.{name}.weight"], w[f"blk.0.{name}.bias"] = some(*shape), some(shape[0], scale=0.1)
    for name in ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"):
        w[f"{name}.weight"], w[f"{name}.bias"] = 1 + some(HIDDEN, scale=0.1), some(HIDDEN, scale=0.1)
    if head in ("both", "dense"):
        w["cls.weight"], w["cls.bias"] = some(HIDDEN, HIDDEN), some(HIDDEN, scale=0.1)
    if head in ("both", "output"):
        w["cls.output.weight"], w["cls.output.bias"] = some(outputs, HIDDEN), some(outputs, scale=0.1)
    writer = GGUFWriter(path, "bert")
    writer.add_name("tiny cross-encoder")
    writer.add_license("mit")
    _sizes(writer, ffn=ffn)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_token_type_count(2)
    if pooling:
        writer.add_pooling_type(PoolingType.RANK)
    if labels:
        writer.add_classifier_output_labels(labels)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(PIECES)
    writer.add_token_types(
        [TokenType.CONTROL] * 3 + [TokenType.UNKNOWN] + [TokenType.NORMAL] * (len(PIECES) - 4)
    )
    writer.add_bos_token_id(CLS)
    writer.add_sep_token_id(SEP)
    writer.add_unk_token_id(UNK)
    writer.add_pad_token_id(0)
    _finish(writer, w)
    return CrossEncoder(w)


def make_instructed(path: Path, *, template: str | None = RERANK_TEMPLATE, seed: int = 5) -> None:
    """Write a Qwen3 of one layer with the two-label head and the template of a reranker."""
    random = np.random.default_rng(seed)

    def some(*shape: int, scale: float = 0.35) -> Floats:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    pieces = ["<|im_start|>", "<|im_end|>", *(chr(c) for c in range(33, 127)), "\u0120", "\u010a"]
    kinds = [TokenType.CONTROL] * 2 + [TokenType.NORMAL] * (len(pieces) - 2)
    size = HIDDEN // HEADS
    w = {"token_embd.weight": some(len(pieces), HIDDEN), "output_norm.weight": 1 + some(HIDDEN, scale=0.1)}
    for name, shape in {
        "attn_q": (HIDDEN, HIDDEN), "attn_k": (HIDDEN, HIDDEN), "attn_v": (HIDDEN, HIDDEN),
        "attn_output": (HIDDEN, HIDDEN), "ffn_gate": (FFN, HIDDEN), "ffn_up": (FFN, HIDDEN),
        "ffn_down": (HIDDEN, FFN),
    }.items():  # fmt: skip
        w[f"blk.0.{name}.weight"] = some(*shape)
    for name, width in (
        ("attn_norm", HIDDEN),
        ("ffn_norm", HIDDEN),
        ("attn_q_norm", size),
        ("attn_k_norm", size),
    ):
        w[f"blk.0.{name}.weight"] = 1 + some(width, scale=0.1)
    w["cls.output.weight"] = some(2, HIDDEN)
    writer = GGUFWriter(path, "qwen3")
    writer.add_name("tiny instructed reranker")
    _sizes(writer, positions=256)
    writer.add_head_count_kv(HEADS)
    writer.add_key_length(size)
    writer.add_value_length(size)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    writer.add_pooling_type(PoolingType.RANK)
    writer.add_classifier_output_labels(("yes", "no"))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(pieces)
    writer.add_token_types(kinds)
    writer.add_token_merges(["e r"])
    writer.add_eos_token_id(1)
    writer.add_bos_token_id(0)
    writer.add_add_bos_token(False)
    if template is not None:
        writer.add_string("tokenizer.chat_template.rerank", template)
    _finish(writer, w)


def _sizes(writer: GGUFWriter, positions: int = POSITIONS, ffn: int = FFN) -> None:
    writer.add_context_length(positions)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(ffn)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)


def _finish(writer: GGUFWriter, weights: dict[str, Floats]) -> None:
    for name, array in weights.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
