"""What a vault's questions have in common. Owns a running mean of question vectors by language.

The questions put to one vault resemble each other ("what did Ada ...", "how do we ..."), and what they share
says nothing about which memory answers. Centring questions by their own running mean instead of the model's
background alone found 60 % instead of 54 % of the LoCoMo turns among the first ten by vectors (see
docs/benchmarks.md). A day's questions count from the next day on, so that an answer stays the same all day.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.errors import VaultDamaged
from memvault.recall.calibration import ASKED_HALF_AT, ASKED_KEPT_FROM, ASKED_MEMORY
from memvault_models.means import Means
from memvault_models.port import LANGUAGES, Language

Vector = npt.NDArray[np.float32]
_FORMAT = b"asked1"


@dataclass(slots=True)
class _Sum:
    total: npt.NDArray[np.float64]
    count: float


@dataclass(frozen=True, slots=True, eq=False)
class _Used:
    mean: Vector
    share: float


class Asked:
    """Sums of raw question vectors by language; `mean` is what centres the questions of a day."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._sums: dict[Language, _Sum] = {}
        self._used: dict[Language, _Used] = {}
        self._day: int | None = None
        self._fresh = False

    def note(self, vector: Vector, language: Language) -> None:
        """Count one raw question vector in; older ones fade with a memory of some hundred questions."""
        found = self._sums.setdefault(language, _Sum(np.zeros(self._means.dims), 0.0))
        fade = 1.0 - 1.0 / ASKED_MEMORY
        found.total = found.total * fade + vector
        found.count = found.count * fade + 1.0
        self._fresh = True

    def mean(self, language: Language, day: int) -> Vector:
        """What questions of that day are centred by; computed once a day."""
        found = self._today(day).get(language)
        return self._means.of("query", language) if found is None else found.mean

    def share(self, language: Language, day: int) -> float:
        """How much of that mean was learned here, 0..1."""
        found = self._today(day).get(language)
        return 0.0 if found is None else found.share

    def _today(self, day: int) -> dict[Language, _Used]:
        if day != self._day:
            self._day = day
            if self._fresh:
                self._used = {lang: self._blend(lang, found) for lang, found in self._sums.items()}
                self._fresh = False
        return self._used

    def centre(self, vector: Vector, language: Language, day: int) -> Vector:
        """The question vector with what all questions share taken off, of length 1, or 0."""
        moved = vector - self.mean(language, day)
        length = float(np.linalg.norm(moved))
        return (moved / length if length > 1e-6 else moved * 0.0).astype(np.float32)

    def encode(self) -> bytes:
        """The sums as bytes, for the vault; none of so few questions that one could be told apart."""
        parts = [_FORMAT]
        for language, found in sorted(self._sums.items()):
            if found.count < ASKED_KEPT_FROM:
                continue
            parts.append(language.encode().ljust(8, b"\0"))
            parts.append(np.append(found.total, found.count).astype("<f8").tobytes())
        return b"".join(parts)

    def restore(self, data: bytes) -> None:
        """Take in what `encode` gave; it counts from the next question on. Raises VaultDamaged."""
        size = 8 + 8 * (self._means.dims + 1)
        body = data[len(_FORMAT) :]
        if not data.startswith(_FORMAT) or len(body) % size:
            raise VaultDamaged("the record of what questions have in common cannot be read")
        for at in range(0, len(body), size):
            name = body[at : at + 8].rstrip(b"\0").decode("ascii", "replace")
            values = np.frombuffer(body, "<f8", self._means.dims + 1, at + 8)
            if name in LANGUAGES and bool(np.isfinite(values).all()):
                self._sums[name] = _Sum(values[:-1].copy(), float(values[-1]))
        self._day, self._fresh = None, True

    def _blend(self, language: Language, found: _Sum) -> _Used:
        own = found.total / max(found.count, 1e-9)
        share = found.count / (found.count + ASKED_HALF_AT)
        blended = (1.0 - share) * self._means.of("query", language) + share * own
        return _Used(blended.astype(np.float32), share)
