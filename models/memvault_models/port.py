"""What every embedder offers. Owns the shared types; must not know any backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
"""One embedding, shape (dims,), L2 norm 1."""

Matrix = npt.NDArray[np.float32]
"""Embeddings in rows, shape (n, dims), each of L2 norm 1."""

Progress = Callable[[int, int], None]
"""Called with (done, total): bytes for files, texts for embedding."""

ShouldStop = Callable[[], bool]
"""Asked between texts; true ends the work early."""

Role = Literal["query", "passage"]
Language = Literal["zh", "ja", "ko", "en", "ru", "other"]
Pooling = Literal["mean", "cls", "last", "rank"]
"""How a text becomes one vector; with "rank" a pair of texts becomes one score: the model is a reranker."""

ROLES: tuple[Role, ...] = ("query", "passage")
LANGUAGES: tuple[Language, ...] = ("zh", "ja", "ko", "en", "ru", "other")


class Embedder(Protocol):
    """Turns texts into unit vectors.

    An instance may be made in one thread and used in another, but by one thread at a time.
    """

    @property
    def model_id(self) -> str:
        """The id that vectors record."""
        ...

    @property
    def dims(self) -> int:
        """Length of every vector."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Embed a question, shape (dims,); beyond the context length it is cut at the end.

        Raises ModelInputInvalid when nothing is left to embed, ModelClosed.
        """
        ...

    def embed_passages(
        self,
        texts: Sequence[str],
        on_progress: Progress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> list[Matrix]:
        """Embed texts to be found, one matrix (windows, dims) a text, in the order given.

        When `should_stop` answers true the list is shorter: it holds the texts finished so far.
        Raises ModelInputInvalid (naming the position, before anything is embedded), ModelClosed.
        """
        ...

    def tokens(self, text: str) -> int:
        """Count the tokens of a text, without prefix, begin and end marks."""
        ...

    def close(self) -> None:
        """Give the memory back; may be called twice."""
        ...
