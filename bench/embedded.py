"""The real model for benchmarks, with a cache of vectors outside the repository. Owns the cache format.

The cache holds vectors keyed by a hash of model, role and text, never text; `--cache DIR` or the system's
temporary folder says where.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memvault.paths import cache_dir
from memvault.recall.gist import gist, last_said, together
from memvault_models.means import Means
from memvault_models.port import Embedder
from memvault_models.registry import means_for, open_embedder

Matrix = npt.NDArray[np.float32]
_SAVE_EVERY = 256
DEFAULT_MODEL = "multilingual-e5-small-q4"


class CachedEmbedder:
    """Embeds texts once and remembers them by hash; loads the model only when something is new."""

    def __init__(
        self, model_id: str = DEFAULT_MODEL, folder: Path | None = None, workers: int | None = None
    ) -> None:
        self._workers = workers
        self._model_id = model_id
        self._path = (folder or Path(tempfile.gettempdir()) / "memvault-bench") / f"{model_id}.npz"
        self._known: dict[str, Matrix] = {}
        self._embedder: Embedder | None = None
        if self._path.is_file():
            with np.load(self._path) as stored:
                self._known = {key: stored[key] for key in stored.files}

    def queries(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        """Raw query vectors, shape (dims,) each."""
        return [matrix[0] for matrix in self._get("query", texts)]

    def passages(self, texts: Sequence[str]) -> list[Matrix]:
        """Raw passage vectors, shape (windows, dims) each."""
        return self._get("passage", texts)

    def means(self) -> Means:
        """The background means of the model."""
        return means_for(self.model(), cache_dir())

    def model(self) -> Embedder:
        """The loaded model."""
        if self._embedder is None:
            self._embedder = open_embedder(self._model_id, cache_dir(), workers=self._workers)
        return self._embedder

    def _get(self, role: str, texts: Sequence[str]) -> list[Matrix]:
        keys = [_key(self._model_id, role, text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        for number, (key, text) in enumerate(missing.items(), start=1):
            model = self.model()
            made = model.embed_query(text)[None, :] if role == "query" else model.embed_passages([text])[0]
            self._known[key] = made
            if number % _SAVE_EVERY == 0 or number == len(missing):
                self._save()
        return [self._known[key] for key in keys]

    def _save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(".part.npz")
        np.savez(partial, **self._known)
        partial.replace(self._path)


def question_vector(embedder: CachedEmbedder, text: str) -> npt.NDArray[np.float32]:
    """The vector of a question as the daemon makes it, shape (dims,)."""
    last = last_said(text)
    whole, *more = embedder.queries([gist(text)] + ([] if last is None else [last]))
    return together(whole, more[0] if more else None)


def _key(model_id: str, role: str, text: str) -> str:
    return hashlib.sha256(f"{model_id}\0{role}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
