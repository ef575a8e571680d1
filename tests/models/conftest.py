"""Small containers and GGUF files made from nothing, and the real model when it can be had."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from memvault_models import DEFAULT_MODEL_ID, Embedder, Means, ModelSourceMissing, means_for, open_embedder
from memvault_models.container import parse_container
from memvault_models.convert import write_gguf
from memvault_models.manifest import FileSource, ModelEntry, UrlSource

HIDDEN, FFN, VOCAB, POSITIONS = 32, 64, 40, 24
PIECES = [
    b"<s>",
    b"<pad>",
    b"</s>",
    b"<unk>",
    b"\xe2\x96\x81",
    *(bytes([c]) for c in range(97, 123)),
    b"<mask>",
]


def _tensor_plan() -> list[tuple[str, int, int]]:
    plan = [("emb.word", 1, VOCAB * HIDDEN), ("emb.pos", 0, POSITIONS * HIDDEN), ("emb.type", 0, 2 * HIDDEN)]
    plan += [("emb.ln.w", 0, HIDDEN), ("emb.ln.b", 0, HIDDEN)]
    for name, rows, columns in (("q", HIDDEN, HIDDEN), ("k", HIDDEN, HIDDEN), ("v", HIDDEN, HIDDEN)):
        plan += [(f"l0.{name}.w", 1, rows * columns), (f"l0.{name}.b", 0, rows)]
    plan += [("l0.ao.w", 1, HIDDEN * HIDDEN), ("l0.ao.b", 0, HIDDEN)]
    plan += [
        ("l0.fi.w", 1, FFN * HIDDEN),
        ("l0.fi.b", 0, FFN),
        ("l0.fo.w", 1, HIDDEN * FFN),
        ("l0.fo.b", 0, HIDDEN),
    ]
    return plan + [(f"l0.{name}.{part}", 0, HIDDEN) for name in ("aln", "oln") for part in ("w", "b")]


def make_container() -> bytes:
    """A container of one layer with fixed random weights, in the layout of the real one."""
    random = np.random.default_rng(7)
    head = struct.pack("<4sI7ifi", b"E5S1", 1, HIDDEN, 1, 4, FFN, VOCAB, POSITIONS, 2, 1e-12, 32)
    blob = b"".join(PIECES)
    ends = np.cumsum([0, *(len(piece) for piece in PIECES)]).astype("<u4").tobytes()
    scores = (-np.arange(len(PIECES), dtype="<f4")).tobytes()
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob)) + ends + scores + blob
    head += struct.pack("<iI", 1, 6) + b"\x01\x00\x00\x00\x01 "
    plan = _tensor_plan()
    at = len(head) + 4 + sum(2 + len(name) + 21 for name, _, _ in plan)
    directory, data = struct.pack("<i", len(plan)), b""
    for name, kind, elements in plan:
        size = elements // 32 * 18 if kind else 4 * elements
        directory += (
            struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, elements, at, size)
        )
        data += (
            _q4(random, elements)
            if kind
            else (random.standard_normal(elements) * 0.1).astype("<f4").tobytes()
        )
        at += size
    return head + directory + data


def _q4(random: np.random.Generator, elements: int) -> bytes:
    blocks = elements // 32
    scales = np.full((blocks, 1), 0.05, dtype="<f2").view(np.uint8).reshape(blocks, 2)
    return np.hstack([scales, random.integers(0, 256, (blocks, 16), dtype=np.uint8)]).tobytes()


@pytest.fixture(scope="session")
def container_bytes() -> bytes:
    return make_container()


@pytest.fixture(scope="session")
def tiny_gguf(container_bytes: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    write_gguf(parse_container(np.frombuffer(container_bytes, dtype=np.uint8)), path, "tiny", "MIT")
    return path


@pytest.fixture
def tiny_entry(tiny_gguf: Path) -> ModelEntry:
    return entry_of(tiny_gguf, FileSource(str(tiny_gguf)))


def entry_of(path: Path, source: FileSource | UrlSource) -> ModelEntry:
    return ModelEntry(
        id="tiny",
        file="tiny.gguf",
        size_bytes=path.stat().st_size,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        dimensions=HIDDEN,
        context_tokens=POSITIONS,
        pooling="mean",
        query_prefix="q ",
        passage_prefix="p ",
        licence="MIT",
        source=source,
    )


@pytest.fixture(scope="session")
def make_entry() -> Callable[[Path, FileSource | UrlSource], ModelEntry]:
    return entry_of


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests of the real model, so that it is converted once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def real(model_cache: Path) -> Iterator[Embedder]:
    try:
        embedder = open_embedder(DEFAULT_MODEL_ID, model_cache)
    except ModelSourceMissing as error:
        pytest.skip(f"the default model cannot be made here: {error}")
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def real_means(real: Embedder, model_cache: Path) -> Means:
    return means_for(real, model_cache)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public data sets; tests that need it are skipped where it is absent."""
    root = Path(__file__).resolve().parents[2]
    found = Path(os.environ.get("MEMVAULT_DATA", root.parent / "shared" / "data"))
    if not found.is_dir():
        pytest.skip(f"no data sets at {found}; set MEMVAULT_DATA to run this")
    return found
