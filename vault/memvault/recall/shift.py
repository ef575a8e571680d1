"""How far one vault moves the line that an answer needs: by the question's language, as it is stored.

Owns the bounds and the stored form. Which shift suits a vault is `services.calibrating`'s to say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Literal, cast

from memvault.errors import VaultDamaged
from memvault_models.port import LANGUAGES, Language

Group = Literal["en", "zh", "other"]
GROUPS: tuple[Group, ...] = ("en", "zh", "other")
"""Languages of questions that a vault may judge by a line of their own."""

BOUND = 0.15
"""The most it can be moved either way: about what lies between one foreign question in three and none."""


def group_of(language: str) -> Group:
    return language if language in ("en", "zh") else "other"


def by_group(shifts: Mapping[Language, float]) -> dict[Group, float]:
    """What `Index.shift` holds, as a person sets it."""
    return {group: shifts.get(group, 0.0) for group in GROUPS}


def by_language(shifts: Mapping[Group, float]) -> dict[Language, float]:
    """What `Index.shift` takes; nothing that is out of bounds gets there."""
    return {language: _bounded(shifts.get(group_of(language), 0.0)) for language in LANGUAGES}


def encode(shifts: Mapping[Group, float]) -> bytes:
    return json.dumps({group: round(_bounded(shifts.get(group, 0.0)), 4) for group in GROUPS}).encode()


def decode(stored: bytes) -> dict[Group, float]:
    """Raises VaultDamaged."""
    try:
        found: object = json.loads(stored)
        named = cast("dict[str, object]", found) if isinstance(found, dict) else {}
        return {group: _bounded(float(cast("float", named[group]))) for group in GROUPS}
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise VaultDamaged("the vault's calibration of what counts as an answer cannot be read") from error


def _bounded(shift: float) -> float:
    """Raises ValueError for what is no number."""
    if not math.isfinite(shift):
        raise ValueError("a shift is a finite number")
    return min(max(shift, -BOUND), BOUND)
