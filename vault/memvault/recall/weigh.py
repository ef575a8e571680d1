"""Weights of SPEC 8: two clocks, confidence, trust of the kind. Owns the tables; must not know relevance.

`w = max(0.3, exp(-d_used / tau_used) * exp(-d_verified / tau_verified)) * confidence * trust` with
`tau_verified = 2 * tau_used`. Ages are whole days; what was never used or verified counts from the day it
was made; a day in the future counts as today. A use counts from the next day on: a question is not answered
otherwise because it was asked before. A verification is a person's or a check's word and counts at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.recall.calibration import FLOOR
from memvault.recall.rows import NEVER, Rows, Slots

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KindWeight:
    """`tau_used_days` is infinite for kinds that never grow old by time; `trust` is 0..1."""

    tau_used_days: float
    trust: float


KIND_WEIGHTS: dict[str, KindWeight] = {
    "policy": KindWeight(math.inf, 1.0),
    "preference": KindWeight(math.inf, 1.0),
    "fact": KindWeight(180.0, 0.9),
    "relationship": KindWeight(365.0, 0.9),
    "episode": KindWeight(90.0 * 1.5 / math.log(2.0), 0.9),  # both clocks together halve in 90 days
    "procedure": KindWeight(180.0, 0.9),
    "reflection": KindWeight(90.0, 0.8),
}
"""From the table of kinds in SPEC 2."""
_UNKNOWN = KindWeight(180.0, 0.8)


def weights(rows: Rows, slots: Slots, today: int) -> npt.NDArray[np.float32]:
    """The weight of each slot, above 0 and at most 1."""
    by_kind = [KIND_WEIGHTS.get(name, _UNKNOWN) for name in rows.kinds.names]
    kinds = rows.column("kind")[slots]
    tau = np.array([entry.tau_used_days for entry in by_kind])[kinds]
    trust = np.array([entry.trust for entry in by_kind])[kinds]
    used = _age(rows, slots, rows.used(slots, today), today)
    verified = _age(rows, slots, rows.column("verified")[slots], today)
    return (_decay(tau, used, verified) * trust * rows.column("confidence")[slots]).astype(np.float32)


def weight(kind: str, confidence: float, used_days: int, verified_days: int) -> float:
    """The weight of one memory by its ages in whole days; an age below 0 counts as 0."""
    return faded(kind, used_days, verified_days) * KIND_WEIGHTS.get(kind, _UNKNOWN).trust * confidence


def faded(kind: str, used_days: int, verified_days: int) -> float:
    """What time has left of a memory: from FLOOR to 1."""
    tau = np.array([KIND_WEIGHTS.get(kind, _UNKNOWN).tau_used_days])
    ages = np.maximum(np.array([[used_days], [verified_days]], np.float64), 0.0)
    return float(_decay(tau, ages[0], ages[1])[0])


def _decay(tau: _Floats, used: _Floats, verified: _Floats) -> _Floats:
    return np.maximum(np.exp(-used / tau - verified / (2.0 * tau)), FLOOR)


def _age(rows: Rows, slots: Slots, days: npt.NDArray[np.int32], today: int) -> npt.NDArray[np.float64]:
    """Whole days since a date, or since the memory was made when it has none."""
    known = np.where(days == NEVER, rows.column("created")[slots], days)
    return np.maximum(today - known.astype(np.float64), 0.0)
