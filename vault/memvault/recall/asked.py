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
from memvault.recall.calibration import ASKED_APART, ASKED_HALF_AT, ASKED_KEPT_FROM, ASKED_MEMORY
from memvault_models.means import Means
from memvault_models.port import LANGUAGES, Language

Vector = npt.NDArray[np.float32]
_FORMAT = b"asked2"
_ANY_FORMAT = b"asked"
_NO_DAY = -(1 << 62)


@dataclass(slots=True)
class _Sum:
    total: npt.NDArray[np.float64]
    count: float
    fresh: int = 0
    """Questions since the day began."""

    def values(self) -> bytes:
        return np.append(self.total, self.count).astype("<f8").tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class _Used:
    mean: Vector
    share: float


class Asked:
    """Sums of raw question vectors by language; `mean` is what centres the questions of a day."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._sums: dict[Language, _Sum] = {}
        self._begun: dict[Language, _Sum] = {}
        """The sums as the day began: what counts until it is over, also after a restart."""
        self._used: dict[Language, _Used] = {}
        self._day = _NO_DAY

    def note(self, vector: Vector, language: Language) -> None:
        """Count one raw question vector in; older ones fade with a memory of some hundred questions."""
        found = self._sums.setdefault(language, _Sum(np.zeros(self._means.dims), 0.0))
        fade = 1.0 - 1.0 / ASKED_MEMORY
        found.total = found.total * fade + vector
        found.count = found.count * fade + 1.0
        found.fresh += 1

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
            self._begin(day, {lang: _Sum(found.total, found.count) for lang, found in self._sums.items()})
            for found in self._sums.values():
                found.fresh = 0
        return self._used

    def _begin(self, day: int, sums: dict[Language, _Sum]) -> None:
        """Let a day begin with these sums. So few questions that they are not kept do not count either."""
        kept: dict[Language, _Sum] = {lang: found for lang, found in sums.items() if _is_kept(found)}
        self._day, self._begun = day, kept
        self._used = {lang: self._blend(lang, found) for lang, found in self._begun.items()}

    def centre(self, vector: Vector, language: Language, day: int) -> Vector:
        """The question vector with what all questions share taken off, of length 1, or 0."""
        moved = vector - self.mean(language, day)
        length = float(np.linalg.norm(moved))
        return (moved / length if length > 1e-6 else moved * 0.0).astype(np.float32)

    def encode(self) -> bytes:
        """The sums as bytes, for the vault: as the day began, and now.

        None of so few questions, in all or since the day began, that one could be told apart.
        """
        parts = [_FORMAT, np.array([self._day], "<i8").tobytes()]
        nothing = _Sum(np.zeros(self._means.dims), 0.0)
        for language, found in sorted(self._sums.items()):
            begun = self._begun.get(language, nothing)
            now = found if found.fresh >= ASKED_APART else begun
            if _is_kept(now):
                parts += (language.encode().ljust(8, b"\0"), begun.values(), now.values())
        return b"".join(parts)

    def restore(self, data: bytes) -> None:
        """Take in what `encode` gave; what another version gave is learned again. Raises VaultDamaged."""
        at = len(_FORMAT) + 8
        if data.startswith(_ANY_FORMAT) and not data.startswith(_FORMAT) and len(data) >= at:
            return
        if not data.startswith(_FORMAT) or len(data) < at:
            raise VaultDamaged(_UNREADABLE)
        found = self._read(data[at:], 2)
        self._sums = {lang: sums[1] for lang, sums in found}
        for begun, now in (sums for _, sums in found):
            if now.count != begun.count:
                now.fresh = ASKED_APART  # so many of the day were stored before
        day = int(np.frombuffer(data[len(_FORMAT) : at], "<i8")[0])
        self._begin(day, {lang: sums[0] for lang, sums in found})

    def _read(self, body: bytes, sums: int) -> list[tuple[Language, tuple[_Sum, ...]]]:
        """Languages with so many sums each. Raises VaultDamaged."""
        one = 8 * (self._means.dims + 1)
        size = 8 + sums * one
        if len(body) % size:
            raise VaultDamaged(_UNREADABLE)
        out: list[tuple[Language, tuple[_Sum, ...]]] = []
        for at in range(0, len(body), size):
            name = body[at : at + 8].rstrip(b"\0").decode("ascii", "replace")
            values = np.frombuffer(body[at + 8 : at + size], "<f8").reshape(sums, self._means.dims + 1)
            if name in LANGUAGES and bool(np.isfinite(values).all()):
                out.append((name, tuple(_Sum(row[:-1].copy(), float(row[-1])) for row in values)))
        return out

    def _blend(self, language: Language, found: _Sum) -> _Used:
        own = found.total / max(found.count, 1e-9)
        share = found.count / (found.count + ASKED_HALF_AT)
        blended = (1.0 - share) * self._means.of("query", language) + share * own
        return _Used(blended.astype(np.float32), share)


def _is_kept(found: _Sum) -> bool:
    return found.count >= ASKED_KEPT_FROM


_UNREADABLE = "the record of what questions have in common cannot be read"
