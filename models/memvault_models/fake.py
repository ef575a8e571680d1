"""A deterministic embedder without a model, for tests and for trying things. Owns a lexical hash projection.

Texts that share words, or CJK characters and pairs, are near; nothing else is: it knows no meaning, no
synonyms and no second language. Must not know llama.cpp.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from memvault_models.errors import ModelClosed
from memvault_models.port import Matrix, Progress, ShouldStop, Vector
from memvault_models.text import normalise, normalise_all

FAKE_MODEL_ID = "fake-hash-384"
FAKE_DIMS = 384

_WINDOW_UNITS = 510  # as many units a window as the default model takes tokens beside its two marks
_STRIDE_UNITS = 446
_SHORT_WEIGHT = 0.3  # words of up to three letters and single CJK characters tell little
_CJK = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_find_units = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+").findall
_is_cjk = re.compile(rf"[{_CJK}]").match


class FakeEmbedder:
    """Embeds by hashing units of text to signed random directions and adding them up."""

    def __init__(self, dims: int = FAKE_DIMS) -> None:
        if not 8 <= dims <= 4096:
            raise ValueError(f"dims must be within 8..4096, not {dims}")
        self._dims = dims
        self._closed = False

    @property
    def model_id(self) -> str:
        """`fake-hash-384`, or another number for other dimensions."""
        return f"fake-hash-{self._dims}"

    @property
    def dims(self) -> int:
        """Length of every vector."""
        return self._dims

    def embed_query(self, text: str) -> Vector:
        """Embed a question, shape (dims,). Raises ModelInputInvalid, ModelClosed."""
        self._check_open()
        return self._embed(_units(normalise(text))[:_WINDOW_UNITS])

    def embed_passages(
        self,
        texts: Sequence[str],
        on_progress: Progress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> list[Matrix]:
        """Embed texts, one matrix (windows, dims) a text. Raises ModelInputInvalid, ModelClosed."""
        self._check_open()
        done: list[Matrix] = []
        for text in normalise_all(list(texts)):
            if should_stop is not None and should_stop():
                break
            done.append(np.stack([self._embed(window) for window in _windows(_units(text))]))
            if on_progress is not None:
                on_progress(len(done), len(texts))
        return done

    def tokens(self, text: str) -> int:
        """Count words and CJK characters."""
        return len(_find_units(text))

    def close(self) -> None:
        """Nothing to give back; later calls raise ModelClosed."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise ModelClosed(f"{self.model_id} is closed")

    def _embed(self, units: list[str]) -> Vector:
        total = np.zeros(self._dims, dtype=np.float32)
        for feature, count in _features(units).items():
            weight = (1.0 + math.log(count)) * (_SHORT_WEIGHT if len(feature) <= _short(feature) else 1.0)
            total += np.float32(weight) * _direction(feature, self._dims)
        norm = float(np.linalg.norm(total))
        if norm == 0.0:
            return _direction("\x00empty", self._dims).copy()
        return total / np.float32(norm)


def _units(text: str) -> list[str]:
    found: list[str] = _find_units(text.casefold())
    return found or [text]


def _windows(units: list[str]) -> list[list[str]]:
    if len(units) <= _WINDOW_UNITS:
        return [units]
    starts = range(0, len(units) - _WINDOW_UNITS + _STRIDE_UNITS, _STRIDE_UNITS)
    return [units[start : start + _WINDOW_UNITS] for start in starts]


def _features(units: list[str]) -> Counter[str]:
    """Words as they are and their first four letters, CJK characters and pairs of them."""
    features: Counter[str] = Counter()
    for position, unit in enumerate(units):
        features[unit] += 1
        if not _is_cjk(unit):
            if len(unit) > 4:
                features[f"{unit[:4]}~"] += 1
        elif position + 1 < len(units) and _is_cjk(units[position + 1]):
            features[unit + units[position + 1]] += 1
    return features


def _short(feature: str) -> int:
    return 1 if _is_cjk(feature) else 3


@lru_cache(maxsize=65536)
def _direction(feature: str, dims: int) -> Vector:
    """A fixed direction of +1 and -1 for a feature, shape (dims,), norm 1, the same in every process."""
    digest = hashlib.shake_128(feature.encode("utf-8", "surrogatepass")).digest((dims + 7) // 8)
    bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8))[:dims]
    signs = bits.astype(np.float32) * np.float32(2.0) - np.float32(1.0)
    signs /= np.float32(np.sqrt(dims))
    signs.flags.writeable = False
    return signs
