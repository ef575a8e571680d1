"""The reranker, where the settings name one: loaded while the vault is open, asked about the first answers.

Owns the model's life and the time it may take. Whatever goes wrong, recall goes on with the order it had.
Knows nothing of callers: who asks hands over only what the caller may see. The model layer is imported when a
reranker was chosen, and not before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from memvault.config import Config
from memvault.recall.blend import order
from memvault.recall.query import Hit
from memvault_models.errors import ModelClosed, ModelError, RerankFailed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from memvault_models.rerank import Reranker

    Scores = npt.NDArray[np.float32]

log = logging.getLogger(__name__)

_SLOW_SHARE = 0.1
"""Doctor complains from this share of late answers on ..."""
_SLOW_FROM = 20
"""... when so many were asked for."""


class Reranking:
    """Off when the settings name none. `folder`: where a relative path starts; `cache`: of the models."""

    def __init__(self, config: Config, folder: Path, cache: Path) -> None:
        self.name = config.reranker
        self.depth = config.reranker_hits
        self.failure = ""
        self._within_s = config.reranker_within_s
        self._folder, self._cache = folder, cache
        self._pool: ThreadPoolExecutor | None = None
        self._loading: Future[Reranker] | None = None
        self._asked = self._late = 0

    @property
    def state(self) -> str:
        """off, closed (no vault is open), loading, ready or absent."""
        if self.name is None:
            return "off"
        if self._loading is None:
            return "closed"
        if self.failure:
            return "absent"
        return "ready" if self._loading.done() else "loading"

    def start(self) -> None:
        """Load the model in the background; nothing happens when it is off or loaded."""
        if self.name is not None and self._loading is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="reranking")
            self.failure, self._asked, self._late = "", 0, 0
            self._loading = self._pool.submit(self._load, self.name)

    def _load(self, name: str) -> Reranker:
        from memvault_models.registry import open_reranker

        try:
            return open_reranker(name, self._folder, self._cache)
        except Exception as error:  # the thread's boundary
            log.warning("reranker absent: %s", getattr(error, "code", type(error).__name__))
            self.failure = str(error) if isinstance(error, ModelError) else "its file cannot be read"
            raise

    def stop(self) -> None:
        """Cut off what is under way and give the model's memory back. Waits for its thread."""
        pool, loading = self._pool, self._loading
        self._pool = self._loading = None
        if pool is None or loading is None:
            return
        if loading.done() and loading.exception() is None:
            loading.result().hurry()
        pool.shutdown(cancel_futures=True)
        if not loading.cancelled() and loading.exception() is None:
            loading.result().close()

    async def reorder(self, question: str, hits: Sequence[tuple[Hit, str]]) -> list[Hit]:
        """The hits (with what each says) in the order that recall and reranker give together.

        Each says in its reasons what the reranker did. The order stays when the model is not ready, is too
        late or fails. The same hits get the same order, unless time runs out.
        """
        kept = [hit for hit, _ in hits]
        if len(kept) < 2 or self.state != "ready":
            return kept
        try:
            scores = await self._scores(question, [text for _, text in hits])
        except RerankFailed:
            self._late += 1
            why = f"not reranked: it would have taken longer than {self._within_s * 1000:.0f} ms"
            return [_saying(hit, why) for hit in kept]
        except ModelError as error:
            log.warning("not reranked: %s", error.code)
            return [_saying(hit, "not reranked: the reranker failed") for hit in kept]
        return [_saying(kept[at], f"reranked: was {at + 1} of {len(kept)}") for at in order(kept, scores)]

    async def _scores(self, question: str, texts: list[str]) -> Scores:
        pool, loading = self._pool, self._loading
        if pool is None or loading is None:
            raise ModelClosed("the reranker is closed")
        self._asked += 1
        until = monotonic() + self._within_s
        try:
            asked = pool.submit(lambda: loading.result().scores(question, texts, until - monotonic()))
        except RuntimeError as error:  # it was closed just now
            raise ModelClosed("the reranker is closed") from error
        # Its own deadline ends it within one step of the network; what waits in the queue is dropped here.
        done, _ = await asyncio.wait({answer := asyncio.wrap_future(asked)}, timeout=self._within_s * 2)
        if not done:
            answer.cancel()
            raise RerankFailed("the reranker has too much to do")
        if answer.cancelled():
            raise ModelClosed("the reranker was closed")
        return answer.result()

    def warnings(self) -> list[str]:
        """What a person should know, in a sentence; empty when all is well or it is off."""
        return [f"the reranker is not usable, recall goes without: {self.failure}"] if self.failure else []

    def check(self) -> list[dict[str, Any]]:
        """The line of `doctor`, if a reranker was chosen."""
        if self.name is None:
            return []
        slow = self._asked >= _SLOW_FROM and self._late >= self._asked * _SLOW_SHARE
        detail = f"{Path(self.name).name}, {self.state}"
        if self.failure:
            detail += f": {self.failure}"
        elif self._asked:
            detail += f", too late for {self._late} of {self._asked} recalls"
        fix = ""
        if self.failure:
            fix = "Correct or remove recall.reranker in config.toml, then restart the daemon."
        elif slow:
            fix = (
                "Name a smaller reranker in config.toml, or set fewer recall.reranker_hits or more"
                " recall.reranker_ms, then restart the daemon."
            )
        return [{"name": "reranker", "ok": not fix, "detail": detail, "fix": fix}]


def _saying(hit: Hit, why: str) -> Hit:
    return replace(hit, reasons=(*hit.reasons, why))
