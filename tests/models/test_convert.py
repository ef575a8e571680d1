from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memvault_models import ModelDamaged
from memvault_models.container import parse_container
from memvault_models.convert import write_gguf
from memvault_models.gguf_header import parse_pairs, read_head

TINY_SHA256 = "94ffbf30ac0696fcd573377062ecc3baf8ea7c6f51b9896f5cf7614789564874"


def test_output_is_always_the_same(container_bytes: bytes, tmp_path: Path) -> None:
    container = parse_container(np.frombuffer(container_bytes, dtype=np.uint8))
    for name in ("a.gguf", "b.gguf"):
        write_gguf(container, tmp_path / name, "tiny", "MIT")
    assert (tmp_path / "a.gguf").read_bytes() == (tmp_path / "b.gguf").read_bytes()
    assert hashlib.sha256((tmp_path / "a.gguf").read_bytes()).hexdigest() == TINY_SHA256


def test_keys_are_those_of_the_architecture(tiny_gguf: Path) -> None:
    pairs = parse_pairs(tiny_gguf.read_bytes(), "tiny.gguf")
    expected = {
        "general.architecture": "bert",
        "bert.pooling_type": 1,
        "bert.attention.causal": False,
        "tokenizer.ggml.model": "t5",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.add_space_prefix": True,
        "tokenizer.ggml.remove_extra_whitespaces": True,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_eos_token": True,
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.cls_token_id": 0,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.seperator_token_id": 2,
        "tokenizer.ggml.padding_token_id": 1,
        "tokenizer.ggml.unknown_token_id": 3,
    }
    assert {key: pairs.get(key) for key in expected} == expected
    assert read_head(tiny_gguf).dimensions == 32


def test_progress_rises_to_the_whole(container_bytes: bytes, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    container = parse_container(np.frombuffer(container_bytes, dtype=np.uint8))
    write_gguf(container, tmp_path / "a.gguf", "tiny", "MIT", lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1] > 0


def test_missing_tensor_is_named(container_bytes: bytes, tmp_path: Path) -> None:
    container = parse_container(np.frombuffer(container_bytes, dtype=np.uint8))
    tensors = {name: tensor for name, tensor in container.tensors.items() if name != "l0.k.w"}
    with pytest.raises(ModelDamaged, match=r"l0\.k\.w"):
        write_gguf(replace(container, tensors=tensors), tmp_path / "a.gguf", "tiny", "MIT")
