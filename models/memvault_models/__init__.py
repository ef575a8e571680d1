"""Embedding models for memvault: manifest, conversion, llama.cpp runtime, centring, and a lexical stand-in.

A leaf: knows neither the vault nor its settings. Importing it loads neither llama.cpp nor a model.
"""

from memvault_models.errors import (
    ManifestInvalid,
    ModelClosed,
    ModelDamaged,
    ModelError,
    ModelIdTaken,
    ModelInputInvalid,
    ModelLoadFailed,
    ModelNotFound,
    ModelSourceMissing,
)
from memvault_models.fake import FAKE_DIMS, FAKE_MODEL_ID, FakeEmbedder
from memvault_models.language import language
from memvault_models.manifest import DEFAULT_MODEL_ID, ModelEntry
from memvault_models.means import Means, blend_weight, decode_means, neutral_means
from memvault_models.port import Embedder, Language, Matrix, Pooling, Progress, Role, ShouldStop, Vector
from memvault_models.registry import (
    ModelInfo,
    add_file,
    bench,
    ensure,
    list_models,
    means_for,
    open_embedder,
    pull,
)

__all__ = [
    "DEFAULT_MODEL_ID",
    "FAKE_DIMS",
    "FAKE_MODEL_ID",
    "Embedder",
    "FakeEmbedder",
    "Language",
    "ManifestInvalid",
    "Matrix",
    "Means",
    "ModelClosed",
    "ModelDamaged",
    "ModelEntry",
    "ModelError",
    "ModelIdTaken",
    "ModelInfo",
    "ModelInputInvalid",
    "ModelLoadFailed",
    "ModelNotFound",
    "ModelSourceMissing",
    "Pooling",
    "Progress",
    "Role",
    "ShouldStop",
    "Vector",
    "add_file",
    "bench",
    "blend_weight",
    "decode_means",
    "ensure",
    "language",
    "list_models",
    "means_for",
    "neutral_means",
    "open_embedder",
    "pull",
]
