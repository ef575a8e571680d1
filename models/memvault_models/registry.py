"""The doors of this package: list, pull, add and open models. Owns no state; reads no environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from memvault_models.container import find_resource
from memvault_models.errors import ModelDamaged, ModelIdTaken, ModelLoadFailed, ModelSourceMissing
from memvault_models.fake import FAKE_DIMS, FAKE_MODEL_ID, FakeEmbedder
from memvault_models.fetch import ensure_entry, is_verified, model_path, models_dir
from memvault_models.files import sha256_of, write_atomically
from memvault_models.gguf_header import has_classifier, read_head
from memvault_models.manifest import (
    DEFAULT_MODEL_ID,
    FileSource,
    Manifest,
    ModelEntry,
    PackageSource,
    add_entry,
    decode_manifest,
    encode_manifest,
    load_manifest,
    shipped_manifest,
)
from memvault_models.means import Means, compute_means, neutral_means, read_means, shipped_means
from memvault_models.port import Embedder, Pooling, Progress

if TYPE_CHECKING:
    from memvault_models.rerank import Reranker

Availability = Literal["ready", "can_be_made", "can_be_fetched", "missing"]


RERANKER_HINT = 'A reranker is named in config.toml: `reranker = "ID or path"` below `[recall]`.'


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A line of the list: `ready` needs nothing more, `missing` cannot be had as things are."""

    id: str
    role: Literal["embedder", "reranker"]
    origin: Literal["shipped", "user"]
    availability: Availability
    dimensions: int
    context_tokens: int
    size_bytes: int
    licence: str
    path: Path
    is_default: bool


def list_models(cache_dir: Path) -> list[ModelInfo]:
    """Every known model, shipped ones first; hashes and loads nothing. Raises ManifestInvalid."""
    shipped = {entry.id for entry in shipped_manifest().model}
    return [
        ModelInfo(
            entry.id,
            "reranker" if entry.pooling == "rank" else "embedder",
            "shipped" if entry.id in shipped else "user",
            _availability(entry, cache_dir),
            entry.dimensions,
            entry.context_tokens,
            entry.size_bytes,
            entry.licence,
            model_path(entry, cache_dir),
            entry.id == DEFAULT_MODEL_ID,
        )
        for entry in load_manifest(cache_dir).model
    ]


def _availability(entry: ModelEntry, cache_dir: Path) -> Availability:
    if is_verified(entry, cache_dir):
        return "ready"
    if isinstance(entry.source, PackageSource):
        try:
            find_resource(entry.source.distribution, entry.source.resource)
        except ModelSourceMissing:
            return "missing"
        return "can_be_made"
    if isinstance(entry.source, FileSource):
        return "ready" if model_path(entry, cache_dir).is_file() else "missing"
    return "can_be_fetched"


def ensure(model_id: str, cache_dir: Path, progress: Progress | None = None) -> Path:
    """Path of a model's verified file, converted or fetched when needed; progress counts bytes.

    Raises ModelNotFound, ManifestInvalid, ModelSourceMissing, ModelDamaged, OSError.
    """
    return ensure_entry(load_manifest(cache_dir).get(model_id), cache_dir, progress)


def pull(model_id: str, cache_dir: Path, progress: Progress | None = None) -> Path:
    """The same as `ensure`, under the name the command has."""
    return ensure(model_id, cache_dir, progress)


def add_file(
    path: Path,
    model_id: str,
    cache_dir: Path,
    *,
    query_prefix: str = "",
    passage_prefix: str = "",
    pooling: Pooling | None = None,
    licence: str | None = None,
) -> ModelEntry:
    """Record a user's own GGUF, used where it lies; its size, sha256 and dimensions are read from it.

    `pooling` and `licence` are read from the file when not given (mean and "unknown" when it is silent). A
    file with a classification head is a reranker (pooling "rank"), whatever else it says.
    Raises ModelSourceMissing, ModelDamaged, ModelIdTaken, ManifestInvalid (an id or prefix out of form).
    """
    whole = path.expanduser().resolve()
    if model_id.startswith("fake-hash-"):
        raise ModelIdTaken("ids that begin with fake-hash- belong to the test embedder")
    head = read_head(whole)
    if has_classifier(whole):
        pooling = "rank"
    elif "rank" in (pooling, head.pooling):
        raise ModelDamaged(f"{whole.name} calls itself a reranker and has no classification head")
    entry = ModelEntry(
        id=model_id,
        file=f"{model_id}.gguf",
        size_bytes=whole.stat().st_size,
        sha256=sha256_of(whole),
        dimensions=head.dimensions,
        context_tokens=head.context_tokens,
        pooling=pooling or cast("Pooling", head.pooling or "mean"),
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        licence=licence or head.licence or "unknown",
        source=FileSource(str(whole)),
    )
    decode_manifest(encode_manifest(Manifest(1, (entry,))), f"model {model_id!r}")
    add_entry(cache_dir, entry)
    return entry


def open_embedder(
    model_id: str, cache_dir: Path, progress: Progress | None = None, workers: int | None = None
) -> Embedder:
    """Make sure of the file, load it, and return it ready; progress counts the bytes of making or fetching.

    `fake-hash-384` (or another number) opens the lexical test embedder. `workers` is the number of
    llama.cpp contexts of one thread each that share passages; it defaults to min(cores, 4).
    Raises ModelNotFound, ManifestInvalid, ModelSourceMissing, ModelDamaged, ModelLoadFailed.
    """
    if model_id == FAKE_MODEL_ID:
        return FakeEmbedder(FAKE_DIMS)
    from memvault_models.runtime import LlamaEmbedder

    entry = load_manifest(cache_dir).get(model_id)
    if entry.pooling == "rank":
        raise ModelLoadFailed(f"{model_id} is a reranker: it embeds nothing", RERANKER_HINT)
    return LlamaEmbedder(entry, ensure_entry(entry, cache_dir, progress), workers)


def open_reranker(name: str, folder: Path, cache_dir: Path) -> Reranker:
    """Load a reranker: that of a manifest when `name` is an id, else a file, relative to `folder`.

    Raises ModelSourceMissing, ModelDamaged, ManifestInvalid, ModelLoadFailed (not a reranker), OSError.
    """
    from memvault_models.rerank import Reranker

    entry = next((entry for entry in load_manifest(cache_dir).model if entry.id == name), None)
    if entry is None:
        return Reranker(folder / Path(name).expanduser())
    if entry.pooling != "rank":
        raise ModelLoadFailed(f"{name} is an embedding model, not a reranker", "Name a reranker.")
    return Reranker(ensure_entry(entry, cache_dir))


def means_for(embedder: Embedder, cache_dir: Path, progress: Progress | None = None) -> Means:
    """Shipped means, else the user's file, else those cached, else computed now (tens of seconds) and cached.

    The fake embedder gets neutral ones. The cache holds only statistics of the shipped background, nothing of
    a vault; damaged or foreign cached means are made again. Progress counts texts. Raises ModelDamaged when
    means that a manifest names are damaged, ModelSourceMissing when they are gone.
    """
    if embedder.model_id == FAKE_MODEL_ID:
        return neutral_means(embedder.model_id, embedder.dims)
    entry = load_manifest(cache_dir).get(embedder.model_id)
    if entry.means is not None:
        if any(entry == other for other in shipped_manifest().model):
            return _fitting(shipped_means(entry.means), embedder)
        return _fitting(read_means(cache_dir / entry.means), embedder)
    cached = models_dir(cache_dir) / f"means-{entry.id}-{entry.sha256[:16]}.json"
    if cached.is_file():
        try:
            return _fitting(read_means(cached), embedder)
        except ModelDamaged:
            cached.unlink(missing_ok=True)
    made = compute_means(embedder, progress=progress)
    write_atomically(cached, made.encode())
    return made


def _fitting(means: Means, embedder: Embedder) -> Means:
    if (means.model_id, means.dims) != (embedder.model_id, embedder.dims):
        raise ModelDamaged(f"means of {means.model_id} do not belong to {embedder.model_id}")
    return means


def bench(model_id: str, cache_dir: Path, seconds: float = 10.0) -> dict[str, float]:
    """Measure a model: load_s, query_ms_p50, texts_per_s_1, _2, _4, _8 (texts per call, one context) and
    texts_per_s_workers (one text per call, `workers` contexts).

    `seconds` is shared out evenly; loading comes on top. Raises as `open_embedder`.
    """
    from memvault_models.measure import measure

    return measure(model_id, cache_dir, seconds)
