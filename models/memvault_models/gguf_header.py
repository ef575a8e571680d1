"""Reads the head of a GGUF file: its pairs, and the names of its tensors. Owns the bounds checks; must not
read weights or vocabularies.

Format: magic, u32 version, u64 tensor count, u64 pair count, then pairs of key, u32 type and value, then for
each tensor its name, u32 dimensions, their u64 sizes, u32 type and u64 offset.
Reference: the GGUF description of the ggml project, versions 2 and 3 (little-endian).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from memvault_models.errors import ModelDamaged, ModelSourceMissing

Scalar = int | float | bool | str

_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_STRING, _ARRAY = 8, 9
_MOST_PAIRS = 10_000
_MOST_TENSORS = 100_000
_MOST_DIMENSIONS = 8
_CLASSIFIER = frozenset({"cls.weight", "cls.output.weight"})
_POOLING = {1: "mean", 2: "cls", 3: "last", 4: "rank"}


@dataclass(frozen=True, slots=True)
class GgufHead:
    """What a manifest entry needs; `pooling` is none when the file names none or one that is not offered."""

    architecture: str
    dimensions: int
    context_tokens: int
    pooling: str | None
    licence: str | None


class _Cursor:
    """Walks over bytes; every step is checked against the end."""

    def __init__(self, data: Any, name: str) -> None:
        self._data = data
        self._name = name
        self._at = 0

    def skip(self, count: int) -> int:
        start = self._at
        if count < 0 or start + count > len(self._data):
            raise ModelDamaged(f"{self._name}: cut short at byte {start}")
        self._at = start + count
        return start

    def take(self, form: str) -> Any:
        return struct.unpack_from(form, self._data, self.skip(struct.calcsize(form)))[0]

    def string(self) -> str:
        count = cast("int", self.take("<Q"))
        start = self.skip(count)
        return bytes(self._data[start : start + count]).decode("utf-8", "replace")

    def value(self, kind: int) -> Scalar | None:
        """A scalar or string; arrays are skipped and give none."""
        if kind == _STRING:
            return self.string()
        if kind in _SCALARS:
            return cast("Scalar", self.take(_SCALARS[kind]))
        if kind != _ARRAY:
            raise ModelDamaged(f"{self._name}: value type {kind} before byte {self._at} is unknown")
        self._skip_array()
        return None

    def _skip_array(self) -> None:
        kind, count = self.take("<I"), self.take("<Q")
        if kind in _SCALARS:
            self.skip(count * struct.calcsize(_SCALARS[kind]))
        elif kind == _STRING:
            for _ in range(count):
                self.skip(self.take("<Q"))
        else:
            raise ModelDamaged(f"{self._name}: array of type {kind} before byte {self._at} is not supported")


def read_head(path: Path) -> GgufHead:
    """Read dimensions, context and pooling. Raises ModelSourceMissing, ModelDamaged."""
    with _opened(path) as cursor:
        return _interpret(_read_pairs(cursor), path.name)


def has_classifier(path: Path) -> bool:
    """Whether there is a head that scores texts. Raises ModelSourceMissing, ModelDamaged."""
    return not _CLASSIFIER.isdisjoint(read_tensor_names(path))


def read_tensor_names(path: Path) -> frozenset[str]:
    """The names of the tensors a file says it has. Raises ModelSourceMissing, ModelDamaged."""
    with _opened(path) as cursor:
        return _read_names(cursor)


@contextmanager
def _opened(path: Path) -> Iterator[_Cursor]:
    try:
        with path.open("rb") as source, mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield _Cursor(data, path.name)
    except OSError as error:
        raise ModelSourceMissing(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ModelDamaged(f"{path.name}: the file is empty") from error


def parse_pairs(data: bytes, name: str) -> dict[str, Scalar]:
    """The scalar and string pairs of a GGUF file in memory. Raises ModelDamaged."""
    return _read_pairs(_Cursor(data, name))


def parse_tensor_names(data: bytes, name: str) -> frozenset[str]:
    """The same as `read_tensor_names` for a GGUF file in memory. Raises ModelDamaged."""
    return _read_names(_Cursor(data, name))


def _read_names(cursor: _Cursor) -> frozenset[str]:
    count, _ = _read_both(cursor)
    if count > _MOST_TENSORS:
        raise ModelDamaged(f"{count} tensors are more than any model has")
    names: set[str] = set()
    for _ in range(count):
        names.add(cursor.string())
        dimensions = cursor.take("<I")
        if dimensions > _MOST_DIMENSIONS:
            raise ModelDamaged(f"a tensor of {dimensions} dimensions")
        cursor.skip(8 * dimensions + 4 + 8)  # sizes, type, offset
    return frozenset(names)


def _read_pairs(cursor: _Cursor) -> dict[str, Scalar]:
    return _read_both(cursor)[1]


def _read_both(cursor: _Cursor) -> tuple[int, dict[str, Scalar]]:
    """How many tensors follow, and the pairs before them."""
    if cursor.take("<4s") != b"GGUF":
        raise ModelDamaged("not a GGUF file: the magic differs")
    version = cursor.take("<I")
    if version not in (2, 3):
        raise ModelDamaged(f"GGUF version {version} is not supported")
    tensors, count = cast("int", cursor.take("<Q")), cast("int", cursor.take("<Q"))
    if count > _MOST_PAIRS:
        raise ModelDamaged(f"{count} key-value pairs are more than any model has")
    pairs: dict[str, Scalar] = {}
    for _ in range(count):
        key = cursor.string()
        value = cursor.value(cursor.take("<I"))
        if value is not None:
            pairs[key] = value
    return tensors, pairs


def _interpret(pairs: dict[str, Scalar], name: str) -> GgufHead:
    architecture = pairs.get("general.architecture")
    if not isinstance(architecture, str):
        raise ModelDamaged(f"{name}: no general.architecture")
    numbers: list[int] = []
    for key in ("embedding_length", "context_length"):
        number = pairs.get(f"{architecture}.{key}")
        if not isinstance(number, int) or number < 1:
            raise ModelDamaged(f"{name}: no {architecture}.{key}")
        numbers.append(number)
    pooling = pairs.get(f"{architecture}.pooling_type")
    licence = pairs.get("general.license")
    return GgufHead(
        architecture,
        numbers[0],
        numbers[1],
        _POOLING.get(pooling) if isinstance(pooling, int) else None,
        licence if isinstance(licence, str) and licence else None,
    )
