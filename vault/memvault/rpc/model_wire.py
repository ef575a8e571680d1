"""The wire types of what is calibrated for the model in use. Knows nothing of the answers."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memvault.rpc.wire import Params

Moved = Annotated[float, msgspec.Meta(ge=-0.15, le=0.15)]
"""How far the line for an answer may be moved (`recall.shift.BOUND`)."""


class Calibrate(Params, frozen=True):
    """`path`: a file of labels on the daemon's machine; without it the vault is asked about itself."""

    path: str | None = None


class Shift(Params, frozen=True):
    """Added to what an answer needs, by the language of the question; 0 everywhere is as shipped."""

    en: Moved = 0.0
    zh: Moved = 0.0
    other: Moved = 0.0

    @property
    def moves(self) -> bool:
        return any((self.en, self.zh, self.other))
