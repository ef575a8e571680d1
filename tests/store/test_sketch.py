"""Keyed sketches measure likeness, find candidates by an index, and name nothing."""

from __future__ import annotations

import secrets
from statistics import mean

import pytest

from memvault.store.sketch import BANDS, BUCKETS, buckets, likeness_of, sketch

KEY = b"k" * 32


def pair(share: float, number: int, size: int = 60) -> tuple[list[str], list[str]]:
    """Two sets of `size` features of which `share` (Jaccard) is common."""
    common = round(2 * size * share / (1 + share))
    both = [f"{number} both {n}" for n in range(common)]
    one = [f"{number} one {n}" for n in range(size - common)]
    return both + one, both + [f"{number} other {n}" for n in range(size - common)]


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_the_estimate_is_near_the_share_in_common(share: float) -> None:
    found: list[float] = []
    shared_band = 0
    for number in range(60):
        one, other = (sketch(KEY, features, b"") for features in pair(share, number))
        assert one is not None
        assert other is not None
        found.append(likeness_of(one.values, other.values))
        shared_band += bool(set(one.bands) & set(other.bands))
    assert mean(found) == pytest.approx(share, abs=0.04)
    assert shared_band / 60 == pytest.approx(1 - (1 - share**4) ** BANDS, abs=0.2)


def test_order_and_repetition_change_nothing_and_nothing_has_no_sketch() -> None:
    assert sketch(KEY, ["a", "b", "c"], b"") == sketch(KEY, ["c", "a", "b", "a"], b"")
    assert sketch(KEY, [], b"") is None


def test_everything_depends_on_the_key_and_bands_on_the_context() -> None:
    features = [f"word {n}" for n in range(40)]
    mine, theirs = sketch(KEY, features, b""), sketch(secrets.token_bytes(32), features, b"")
    there = sketch(KEY, features, b"other marks")
    assert mine is not None
    assert theirs is not None
    assert there is not None
    assert likeness_of(mine.values, theirs.values) < 0.4
    assert not set(mine.bands) & set(theirs.bands)
    assert mine.values == there.values
    assert not set(mine.bands) & set(there.bands)
    assert buckets(KEY, features) != buckets(secrets.token_bytes(32), features)


def test_a_sketch_is_too_small_to_name_a_word() -> None:
    """Two bits a value, and hundreds of words a bucket."""
    drawn = sketch(KEY, [f"word {n}" for n in range(40)], b"")
    assert drawn is not None
    assert len(drawn.values) == 16
    assert len(buckets(KEY, ["one"])) == BUCKETS
    words = [f"word number {n}" for n in range(100_000)]
    sizes = [0] * BUCKETS
    for start in range(0, len(words), 250):
        part = buckets(KEY, words[start : start + 250])
        sizes = [size + more for size, more in zip(sizes, part, strict=True)]
    assert min(sizes) > 500


def test_a_replaced_word_shows_in_the_buckets() -> None:
    noticed = sum(
        buckets(KEY, [f"{n} a", f"{n} b"]) != buckets(KEY, [f"{n} a", f"{n} c"]) for n in range(1_000)
    )
    assert noticed > 980
