"""Argon2id: from a passphrase to a slot's key, and the parameters for doing so on this machine.

Owns the limits of what is calibrated and of what a header may ask for. Knows nothing of slots or files.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from argon2.exceptions import HashingError
from argon2.low_level import Type, hash_secret_raw

from memvault.errors import Busy, HeaderDamaged, Usage
from memvault.keys.envelope import KEY_BYTES
from memvault.keys.slots import KdfParams

MIN_CHARACTERS = 8
MAX_BYTES = 1024
_ARGON2_VERSION = 0x13
_MAX_MEMORY_KIB = 1024 * 1024
_MAX_PASSES = 64
_MAX_LANES = 16
_MAX_WORK_KIB = 4 * 1024 * 1024
"""Memory times passes: 4 GiB of filling at most, where a calibrated slot has 2.5."""


@dataclass(frozen=True, slots=True)
class KdfProfile:
    """What `calibrate` aims at: seconds for one opening, and the floor and ceiling it keeps to."""

    target_s: float
    floor: KdfParams
    ceiling: KdfParams

    @classmethod
    def test(cls) -> KdfProfile:
        """A millisecond and no protection: for tests, where the caller says so by passing it."""
        cheap = KdfParams(memory_kib=64, passes=1, lanes=1)
        return cls(target_s=0.0, floor=cheap, ceiling=cheap)


STANDARD = KdfProfile(
    target_s=0.5,
    floor=KdfParams(memory_kib=64 * 1024, passes=3, lanes=4),
    ceiling=KdfParams(memory_kib=256 * 1024, passes=10, lanes=4),
)
"""RFC 9106's second recommendation (64 MiB, 3 passes, 4 lanes) or more."""


def check(params: KdfParams) -> None:
    """Refuse parameters that would exhaust memory or time, or that Argon2 has not. Raises HeaderDamaged."""
    sane = (
        1 <= params.lanes <= _MAX_LANES
        and 1 <= params.passes <= _MAX_PASSES
        and 8 * params.lanes <= params.memory_kib <= _MAX_MEMORY_KIB
        and params.memory_kib * params.passes <= _MAX_WORK_KIB
    )
    if not sane:
        raise HeaderDamaged(
            "the vault's header asks for key derivation parameters that memvault never writes"
        )


def accept_new(text: str) -> str:
    """The passphrase as it will be compared (NFKC).

    Raises Usage when it is shorter than 8 characters or longer than 1024 bytes, or holds control characters
    or lone surrogates.
    """
    normal = unicodedata.normalize("NFKC", text)
    categories = {unicodedata.category(char) for char in normal}
    if "Cs" in categories:
        raise Usage("the passphrase is not valid Unicode (a lone surrogate)")
    if "Cc" in categories:
        raise Usage("the passphrase holds a control character, such as a tab, a line feed or an arrow key")
    if len(normal) < MIN_CHARACTERS:
        raise Usage(
            f"a passphrase needs at least {MIN_CHARACTERS} characters",
            "Several unrelated words are easy to remember and hard to guess.",
        )
    if len(normal.encode("utf-8")) > MAX_BYTES:
        raise Usage(f"a passphrase has at most {MAX_BYTES:,} bytes")
    return normal


def can_open(text: str) -> bool:
    """Whether this could be a passphrase at all; what `accept_new` refuses never became one."""
    try:
        accept_new(text)
    except Usage:
        return False
    return True


def derive(text: str, salt: bytes, params: KdfParams) -> bytes:
    """The slot's 32 byte key. `text` has passed `accept_new`.

    Raises HeaderDamaged for absurd parameters and Busy when the machine has not the memory now.
    """
    check(params)
    normal = unicodedata.normalize("NFKC", text)
    try:
        return _argon2id(normal.encode("utf-8"), salt, params)
    except HashingError:
        raise Busy(
            f"deriving the key needs {params.memory_kib // 1024:,} MiB of memory, which is not free now"
        ) from None


def _argon2id(secret: bytes, salt: bytes, params: KdfParams) -> bytes:
    return hash_secret_raw(
        secret=secret,
        salt=salt,
        time_cost=params.passes,
        memory_cost=params.memory_kib,
        parallelism=params.lanes,
        hash_len=KEY_BYTES,
        type=Type.ID,
        version=_ARGON2_VERSION,
    )


def measure_s(params: KdfParams) -> float:
    """Seconds one derivation takes on this machine now."""
    started = time.perf_counter()
    _argon2id(b"calibration", b"calibration-salt", params)
    return time.perf_counter() - started


def calibrate(profile: KdfProfile = STANDARD, measure: Callable[[KdfParams], float] = measure_s) -> KdfParams:
    """Parameters that take about `profile.target_s` here, never below its floor or above its ceiling.

    Memory is raised before passes, since memory is what a guessing machine pays for. One measurement, at the
    floor: a machine that is busy just now gets the floor, which is strong enough by itself.
    """
    best, ceiling = profile.floor, profile.ceiling
    if best == ceiling:
        return best
    unit_s = measure(best) / (best.memory_kib * best.passes)
    while (
        best.memory_kib * 2 <= ceiling.memory_kib
        and unit_s * best.memory_kib * 2 * best.passes <= profile.target_s
    ):
        best = KdfParams(best.memory_kib * 2, best.passes, best.lanes)
    while best.passes < ceiling.passes and unit_s * best.memory_kib * (best.passes + 1) <= profile.target_s:
        best = KdfParams(best.memory_kib, best.passes + 1, best.lanes)
    return best
