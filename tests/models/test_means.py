from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from memvault_models import (
    DEFAULT_MODEL_ID,
    FakeEmbedder,
    Means,
    ModelDamaged,
    blend_weight,
    decode_means,
    language,
    means_for,
    neutral_means,
)
from memvault_models.manifest import shipped_manifest
from memvault_models.means import background, compute_means, shipped_means

KEYS = {"zh": "zh", "ja": "ja", "ko": "ko", "ru": "ru"}


def shipped() -> Means:
    name = shipped_manifest().get(DEFAULT_MODEL_ID).means
    assert name is not None
    return shipped_means(name)


def test_background_has_enough_of_each_language_and_no_repeats() -> None:
    texts = background()
    counts = Counter((text.role, KEYS.get(text.lang, "en") if text.lang != "en" else "en!") for text in texts)
    for role in ("query", "passage"):
        assert counts[role, "zh"] >= 200
        assert counts[role, "en!"] >= 200
        assert all(counts[role, lang] >= 60 for lang in ("ja", "ko", "ru", "en"))
    assert len({text.text for text in texts}) == len(texts)
    assert all(language(text.text) == KEYS.get(text.lang, "en") for text in texts)


def test_centring_removes_the_mean_and_keeps_the_shape() -> None:
    fake = FakeEmbedder()
    means = compute_means(fake, background()[:60])
    one, many = fake.embed_query("hello"), np.stack([fake.embed_query("a b"), fake.embed_query("c d")])
    assert means.centre(one, "query", "en").shape == (384,)
    centred = means.centre(many, "passage", "en")
    assert centred.shape == (2, 384)
    assert centred.dtype == np.float32
    assert np.allclose(np.linalg.norm(centred, axis=1), 1.0, atol=1e-5)
    with pytest.raises(ValueError, match="384"):
        means.centre(np.zeros(3), "query", "en")


def test_a_vector_equal_to_the_mean_is_near_nothing() -> None:
    vector = FakeEmbedder().embed_query("hello")
    means = neutral_means("m", 384).refined("query", "zh", vector, 1.0)
    assert not means.centre(vector, "query", "zh").any()


def test_unknown_language_falls_back_to_the_mean_over_all() -> None:
    means = shipped()
    by_hand = Means(means.model_id, means.dims, {("query", "other"): means.of("query", "other")})
    assert np.array_equal(by_hand.of("query", "ko"), means.of("query", "other"))
    assert not by_hand.of("passage", "ko").any()


def test_refining_blends_and_leaves_the_old_alone() -> None:
    means = shipped()
    own = np.zeros((3, 384), dtype=np.float32)
    own[:, 0] = 1.0
    half = means.refined("passage", "zh", own, 0.5)
    assert np.allclose(half.of("passage", "zh"), 0.5 * means.of("passage", "zh") + 0.5 * own[0], atol=1e-6)
    assert np.array_equal(half.of("query", "zh"), means.of("query", "zh"))
    both = means.refined_from_passages("zh", own, 0.5)
    step = both.of("passage", "zh") - means.of("passage", "zh")
    assert np.allclose(both.of("query", "zh"), means.of("query", "zh") + step, atol=1e-6)
    assert means.refined("passage", "zh", np.zeros((0, 384)), 0.5) is means
    with pytest.raises(ValueError, match="weight"):
        means.refined("passage", "zh", own, 1.5)
    assert blend_weight(0) == 0.0
    assert blend_weight(100) == 0.5


def test_stored_form_round_trips() -> None:
    means = shipped()
    again = decode_means(means.encode())
    assert again.encode() == means.encode()
    assert all(np.array_equal(again.by_key[key], vector) for key, vector in means.by_key.items())


@pytest.mark.parametrize("change", [{"format": 9}, {"extra": 1}, {"dims": 12}, {"means": {"query.xx": ""}}])
def test_damaged_means_are_refused(change: dict[str, object]) -> None:
    stored = json.loads(shipped().encode()) | change
    with pytest.raises(ModelDamaged, match="means"):
        decode_means(json.dumps(stored).encode())


def test_the_fake_needs_no_means(tmp_path: Path) -> None:
    fake = FakeEmbedder()
    vector = fake.embed_query("hello there")
    assert np.allclose(means_for(fake, tmp_path).centre(vector, "query", "en"), vector, atol=1e-6)
    assert not list(tmp_path.iterdir())
