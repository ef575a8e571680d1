"""The mean vectors an index starts with, before the model itself is loaded. Knows nothing of vaults."""

from __future__ import annotations

import logging

from memvault.paths import cache_dir
from memvault_models.errors import ModelError
from memvault_models.fake import FAKE_DIMS, FAKE_MODEL_ID
from memvault_models.manifest import DEFAULT_MODEL_ID, load_manifest
from memvault_models.means import Means, neutral_means, shipped_means

log = logging.getLogger(__name__)


def starting_means(model_id: str) -> Means:
    """Shipped means, else neutral ones until the model is loaded.

    A damaged or unknown model never keeps a vault closed: recall goes on by words.
    """
    if model_id == FAKE_MODEL_ID:
        return neutral_means(model_id, FAKE_DIMS)
    try:
        entry = load_manifest(cache_dir()).get(model_id)
        if entry.means is not None and model_id == DEFAULT_MODEL_ID:
            return shipped_means(entry.means)
        return neutral_means(model_id, entry.dimensions)
    except ModelError as error:
        log.warning("model %s: %s", model_id, error.code)
        return neutral_means(model_id, FAKE_DIMS)


def brings_its_own(model_id: str) -> bool:
    """Whether the model's means are known only once it is loaded."""
    return model_id not in (FAKE_MODEL_ID, DEFAULT_MODEL_ID)
