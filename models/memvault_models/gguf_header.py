"""Reads the key-value head of a GGUF file. Owns the bounds checks; must not read tensors or vocabularies.

Format: magic, u32 version, u64 tensor count, u64 pair count, then pairs of key, u32 type and value.
Reference: the GGUF description of the ggml project, versions 2 and 3 (little-endian).
"""

from __future__ import annotations

import mmap
import struct
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
_POOLING = {1: "mean", 2: "cls", 3: "last"}


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
    try:
        with path.open("rb") as source, mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as data:
            pairs = _read_pairs(_Cursor(data, path.name))
    except OSError as error:
        raise ModelSourceMissing(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ModelDamaged(f"{path.name}: the file is empty") from error
    return _interpret(pairs, path.name)


def parse_pairs(data: bytes, name: str) -> dict[str, Scalar]:
    """The scalar and string pairs of a GGUF file in memory. Raises ModelDamaged."""
    return _read_pairs(_Cursor(data, name))


def _read_pairs(cursor: _Cursor) -> dict[str, Scalar]:
    if cursor.take("<4s") != b"GGUF":
        raise ModelDamaged("not a GGUF file: the magic differs")
    version = cursor.take("<I")
    if version not in (2, 3):
        raise ModelDamaged(f"GGUF version {version} is not supported")
    cursor.take("<Q")
    count = cursor.take("<Q")
    if count > _MOST_PAIRS:
        raise ModelDamaged(f"{count} key-value pairs are more than any model has")
    pairs: dict[str, Scalar] = {}
    for _ in range(count):
        key = cursor.string()
        value = cursor.value(cursor.take("<I"))
        if value is not None:
            pairs[key] = value
    return pairs


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
