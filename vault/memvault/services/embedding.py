"""The one thread that owns llama.cpp: questions go before passages, and small slots keep questions quick.

Owns loading the model and the queue. Knows nothing of the vault: passages come from and go to callables.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.errors import ModelUnavailable
from memvault_models.errors import ModelError, ModelInputInvalid
from memvault_models.means import Means
from memvault_models.port import Embedder
from memvault_models.registry import means_for, open_embedder

log = logging.getLogger(__name__)

Vector = npt.NDArray[np.float32]
Texts = Sequence[tuple[str, str]]
"""(memory id, text) pairs."""

SLOT_TEXTS = 2
"""Passages embedded before the queue is looked at again: about 30 ms, the most a question waits."""


class EmbeddingWorker:
    """Loads `model_id` in its own thread and serves it until `stop`.

    `take(limit)` gives passages that wait, `put(results)` stores their vectors; both are called in the
    worker's thread. `ready(means)` hears of the loaded model's mean vectors. `state` is "loading", "ready" or
    "absent"; `failure` says why it is absent.
    """

    def __init__(
        self,
        model_id: str,
        cache: Path,
        take: Callable[[int], Texts],
        put: Callable[[list[tuple[str, Vector]]], None],
        ready: Callable[[Means], None],
    ) -> None:
        self.model_id = model_id
        self.state = "loading"
        self.failure = ""
        self._cache, self._take, self._put, self._ready = cache, take, put, ready
        self._questions: list[tuple[str, Future[Vector]]] = []
        self._counted: list[tuple[Sequence[str], Future[list[int]]]] = []
        self._wake = threading.Condition()
        self._stopping = False
        self._idle = False
        self._more = True
        self._thread = threading.Thread(target=self._work, name="embedding", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the slot under way, and give the model's memory back."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        self._thread.join()

    def passages_wait(self) -> None:
        """Say that `take` has something again."""
        with self._wake:
            self._more, self._idle = True, False
            self._wake.notify_all()

    def ask(self, text: str) -> Future[Vector]:
        """The query vector of `text`, shape (dims,), as soon as the slot under way is done."""
        answer: Future[Vector] = Future()
        with self._wake:
            if self.state == "absent" or self._stopping:
                answer.set_exception(ModelUnavailable(self.failure or "the embedding model is not loaded"))
                return answer
            self._questions.append((text, answer))
            self._wake.notify_all()
        return answer

    def count(self, texts: Sequence[str]) -> Future[list[int]]:
        """Tokens of each text by the model's tokenizer, before anything is embedded."""
        answer: Future[list[int]] = Future()
        with self._wake:
            if self.state == "absent" or self._stopping:
                answer.set_exception(ModelUnavailable(self.failure or "the embedding model is not loaded"))
                return answer
            self._counted.append((texts, answer))
            self._wake.notify_all()
        return answer

    def drained(self, timeout_s: float) -> bool:
        """Wait until no passage waits; False when that takes longer, or the model is absent."""
        with self._wake:
            self._wake.wait_for(lambda: self._idle or self.state == "absent" or self._stopping, timeout_s)
            return self._idle

    @property
    def idle(self) -> bool:
        return self._idle

    def _work(self) -> None:
        try:
            embedder = open_embedder(self.model_id, self._cache)
            self._ready(means_for(embedder, self._cache))
        except (ModelError, OSError) as error:
            log.warning("model absent: %s", getattr(error, "code", type(error).__name__))
            self._fail(str(error) if isinstance(error, ModelError) else "the model's file cannot be read")
            return
        self.state = "ready"
        try:
            while self._next(embedder):
                pass
        except Exception as error:
            log.exception("embedding stopped: %s", type(error).__name__)
        finally:
            self._fail("the embedding model was closed")
            embedder.close()

    def _fail(self, reason: str) -> None:
        with self._wake:
            self.state, self.failure = "absent", reason
            waiting = [answer for _, answer in (*self._questions, *self._counted)]
            self._questions, self._counted = [], []
            self._wake.notify_all()
        for answer in waiting:
            if answer.set_running_or_notify_cancel():
                answer.set_exception(ModelUnavailable(reason))

    def _next(self, embedder: Embedder) -> bool:
        """One question, or one slot of passages, or a wait. False when it is time to stop."""
        with self._wake:
            self._wake.wait_for(lambda: self._stopping or self._questions or self._counted or self._more)
            if self._stopping:
                return False
            counted = self._counted.pop(0) if self._counted else None
            question = self._questions.pop(0) if self._questions and counted is None else None
            if question is None and counted is None:
                self._more = False
        if counted is not None:
            _count(embedder, *counted)
            return True
        if question is not None:
            _answer(embedder, *question)
            return True
        self._slot(embedder)
        return True

    def _slot(self, embedder: Embedder) -> None:
        texts = self._take(SLOT_TEXTS)
        if texts:
            self._put(list(zip([memory for memory, _ in texts], _embedded(embedder, texts), strict=True)))
        with self._wake:
            if texts:
                self._more = True
            else:
                self._idle = not self._more
                self._wake.notify_all()


def _embedded(embedder: Embedder, texts: Texts) -> list[Vector]:
    """Vectors of passages, shape (windows, dims) each; zero, near nothing, for text without words."""
    try:
        return list(embedder.embed_passages([text for _, text in texts]))
    except ModelInputInvalid:
        if len(texts) == 1:
            return [np.zeros((1, embedder.dims), dtype=np.float32)]
        return [_embedded(embedder, [one])[0] for one in texts]


def _count(embedder: Embedder, texts: Sequence[str], answer: Future[list[int]]) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result([embedder.tokens(text) for text in texts])
    except ModelError as error:
        answer.set_exception(ModelUnavailable(str(error)))


def _answer(embedder: Embedder, text: str, answer: Future[Any]) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(embedder.embed_query(text))
    except ModelError as error:
        answer.set_exception(ModelUnavailable(str(error)))
