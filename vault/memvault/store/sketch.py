"""Keyed sketches of a set of features: enough to measure likeness, too little to read the features back.

MinHash (Broder 1997) of 64 values, of which only two bits each are kept (b-bit minwise hashing, Li and
König 2010); 16 bands of four values, each a 16-bit hash, to find candidates by an index; and the number of
tokens in each of 128 buckets, which shows that a word was replaced. Hundreds of words of a dictionary, and
about thirty common Chinese characters, share a bucket: no entry names a word even to somebody who has the
key. Knows nothing of texts or tables.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

VALUES = 64
BANDS = 16
BITS = 2
BUCKETS = 128
_PER_BAND = VALUES // BANDS
_PER_CHUNK = 4_096
"""Features hashed at once: 2 MiB for all values."""

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Sketch:
    """`values`: 64 times two bits, packed; `bands`: 16 numbers below 2**20, one per band."""

    values: bytes
    bands: tuple[int, ...]


def sketch(key: bytes, features: Collection[str], context: bytes) -> Sketch | None:
    """The sketch of `features`, None for none of them. Bands agree only under the same `context`."""
    if not features:
        return None
    lowest = _lowest(key, _hashed(hmac.digest(key, b"feature", "sha256"), features))
    kept = (lowest * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - BITS)
    bits = np.unpackbits(kept.astype(np.uint8)[:, None], axis=1)[:, -BITS:]
    band_key = hmac.digest(key, b"band" + context, "sha256")
    bands = (
        _short(band_key, bytes([band]) + lowest[band * _PER_BAND : (band + 1) * _PER_BAND].tobytes(), 2)
        + (band << 16)
        for band in range(BANDS)
    )
    return Sketch(np.packbits(bits.ravel()).tobytes(), tuple(bands))


def likeness_of(one: bytes, other: bytes) -> float:
    """Estimate of the share of features that two sketches have in common (0..1), give or take 0.06."""
    bits = np.unpackbits(np.frombuffer(one, np.uint8) ^ np.frombuffer(other, np.uint8)).reshape(VALUES, BITS)
    agreeing = float((~bits.any(axis=1)).mean())
    by_chance = 2.0**-BITS
    return max(0.0, (agreeing - by_chance) / (1 - by_chance))


def buckets(key: bytes, tokens: Collection[str]) -> bytes:
    """How many tokens each bucket holds, at most 255."""
    keyed = hmac.digest(key, b"bucket", "sha256")
    counts = [0] * BUCKETS
    for token in tokens:
        counts[_short(keyed, token.encode(), 1) % BUCKETS] += 1
    return bytes(min(count, 255) for count in counts)


def _short(key: bytes, data: bytes, size_bytes: int) -> int:
    return int.from_bytes(blake2b(data, digest_size=size_bytes, key=key).digest(), "little")


def _hashed(key: bytes, features: Collection[str]) -> Hashes:
    raw = b"".join(blake2b(feature.encode(), digest_size=8, key=key).digest() for feature in features)
    return np.frombuffer(raw, dtype="<u8")


def _lowest(key: bytes, hashes: Hashes) -> Hashes:
    """The lowest value of each of 64 keyed permutations (multiply, add, fold) over all hashes."""
    raw = b"".join(hmac.digest(key, f"permutation {number}".encode(), "sha256") for number in range(VALUES))
    factors = np.frombuffer(raw, dtype="<u8").reshape(VALUES, 4)
    lowest = np.full(VALUES, np.iinfo(np.uint64).max, dtype=np.uint64)
    for start in range(0, len(hashes), _PER_CHUNK):
        mixed = hashes[None, start : start + _PER_CHUNK] * (factors[:, :1] | np.uint64(1)) + factors[:, 1:2]
        mixed ^= mixed >> np.uint64(32)
        mixed *= factors[:, 2:3] | np.uint64(1)
        lowest = np.minimum(lowest, mixed.min(axis=1))
    return lowest
