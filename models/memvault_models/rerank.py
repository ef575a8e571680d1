"""Scores passages against a question with a reranker: a GGUF that reads both together (pooling "rank").

Owns the model in memory, how a pair is put to it, and the bounds of length and time. Knows nothing of recall.
Two kinds are known by what the file says: cross-encoders, whose pair is `begin question between passage end`
in the marks of their tokeniser, and instruction models that carry a template named "rerank". One pair goes
through the network per call, so that a score depends on its pair alone.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

import numpy as np
import numpy.typing as npt

from memvault_models.errors import ModelClosed, ModelDamaged, ModelError, ModelLoadFailed, RerankFailed
from memvault_models.gguf_header import has_classifier, read_head
from memvault_models.llama_api import Handle, LlamaApi, api, forget_errors, recent_errors, tokenize
from memvault_models.runtime import default_workers
from memvault_models.slot import Capacity, Slot
from memvault_models.template_marks import finder, without_marks
from memvault_models.text import normalise, normalise_all

Scores = npt.NDArray[np.float32]

PAIR_TOKENS = 512
"""Question, passage and marks together, at most; a passage is cut at its end, a question at half of this."""

_NOT_ONE = "Name a reranker: a GGUF that was converted with its classification head."
_YES = b"yes"
_PLACES = re.compile(r"\{(query|document)\}")
_LONGEST_PIECE = 16
"""Characters of a token, about; what is surely beyond the window is not tokenised."""
_CUTS = 12
_PROBE = b"a"


class _Framing(Protocol):
    """How a question and a passage become the tokens of one pair."""

    def pair(self, query: str, passage: str) -> list[int]: ...


class Reranker:
    """A loaded model. Call it from one thread at a time; pairs are spread over `workers` contexts of one
    thread each."""

    def __init__(self, path: Path, *, workers: int | None = None, pair_tokens: int = PAIR_TOKENS) -> None:
        """Load the file. Raises ModelSourceMissing, ModelDamaged, ModelLoadFailed (among others where it has
        no classification head, or one that sorts into several kinds)."""
        self.name = path.stem
        self._model: Handle | None = None
        self._slots: list[Slot] = []
        self._free: SimpleQueue[Slot] = SimpleQueue()
        self._pool: ThreadPoolExecutor | None = None
        self._deadline_s = 0.0
        head = read_head(path)
        if not has_classifier(path):  # llama.cpp would end the process
            raise ModelLoadFailed(f"{path.name} has no classification head: it is not a reranker", _NOT_ONE)
        self._api: LlamaApi = api()
        try:
            self._load(path, workers or default_workers(), min(pair_tokens, head.context_tokens))
        except ModelError:
            self.close()
            raise

    def _load(self, path: Path, workers: int, window: int) -> None:
        library = self._api
        forget_errors()
        params = library.llama_model_default_params()
        params.n_gpu_layers = 0  # scores must not depend on the machine's graphics card
        self._model = library.llama_model_load_from_file(os.fsencode(path), params)
        if self._model is None:
            raise ModelLoadFailed(f"llama.cpp refused {path.name}: {recent_errors()}", _NOT_ONE)
        outputs = max(1, library.llama_model_n_cls_out(self._model))
        self._wanted = self._output_of_yes(path, outputs)
        self._framing = self._frame(path, window)
        self._abort = library.ggml_abort_callback(self._out_of_time)
        for _ in range(workers):
            slot = Slot(library, self._model, outputs, Capacity(window, 1, 1, "rank"))
            slot.stop_when(self._abort)
            self._slots.append(slot)
            self._free.put(slot)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="rerank")

    def _output_of_yes(self, path: Path, outputs: int) -> int:
        """Which output is the score: the only one, or that of the label "yes"."""
        if outputs == 1:
            return 0
        labels = [self._api.llama_model_cls_label(self._model, at) for at in range(outputs)]
        if _YES not in labels:
            raise ModelLoadFailed(
                f"{path.name} sorts texts into {outputs} kinds, it is not a reranker", _NOT_ONE
            )
        return labels.index(_YES)

    def _frame(self, path: Path, window: int) -> _Framing:
        vocab = self._api.llama_model_get_vocab(self._model)
        template = self._api.llama_model_chat_template(self._model, b"rerank")
        if not template:
            return _Marked(self._api, vocab, window)
        parts = _PLACES.split(template.decode("utf-8", "replace"))
        if sorted(parts[1::2]) != ["document", "query"]:
            raise ModelLoadFailed(f"the rerank template of {path.name} does not name query and document once")
        return _Templated(self._api, vocab, window, parts)

    def scores(self, query: str, passages: Sequence[str], within_s: float = float("inf")) -> Scores:
        """One score a passage, shape (n,): more is better, and only the order within one question counts.

        The same pair always gets the same score. Raises RerankFailed when it takes longer than `within_s`,
        ModelInputInvalid (naming the position of an empty text), ModelClosed, ModelLoadFailed, ModelDamaged.
        """
        if self._pool is None:
            raise ModelClosed(f"{self.name} is closed")
        self._deadline_s = time.monotonic() + within_s
        asked, shown = normalise(query), normalise_all(list(passages))
        waiting = [self._pool.submit(self._score, asked, passage) for passage in shown]
        wait(waiting)
        return np.array([one.result() for one in waiting], np.float32)

    def _score(self, query: str, passage: str) -> float:
        self._require_time()
        pair = self._framing.pair(query, passage)
        slot = self._free.get()
        try:
            return float(slot.outputs(pair)[self._wanted])
        except ModelLoadFailed:
            self._require_time()
            raise
        finally:
            self._free.put(slot)

    def _out_of_time(self, _data: object = None) -> bool:
        return time.monotonic() > self._deadline_s

    def _require_time(self) -> None:
        if self._out_of_time():
            raise RerankFailed(f"{self.name} took too long")

    def hurry(self) -> None:
        """Let what is under way fail as too late. Any thread may call it."""
        self._deadline_s = 0.0

    def close(self) -> None:
        """Free the model; later calls raise ModelClosed, a second close does nothing."""
        if self._pool is not None:
            self._pool.shutdown()
        for slot in self._slots:
            slot.close()
        if self._model is not None:
            self._api.llama_model_free(self._model)
        self._pool = self._model = None
        self._slots = []


class _Marked:
    """A cross-encoder's pair. Between the texts stands what the file asks for there, else the end mark."""

    def __init__(self, library: LlamaApi, vocab: Handle, window: int) -> None:
        self._library, self._vocab = library, vocab
        bare, marked = self._tokens(_PROBE), tokenize(library, vocab, _PROBE, marks=True, specials=False)
        at = next((i for i in range(len(marked)) if marked[i : i + len(bare)] == bare), 0)
        self._begin, self._end = marked[:at], marked[at + len(bare) :]
        between: list[int] = []
        if library.llama_vocab_get_add_eos(vocab):
            between.append(library.llama_vocab_eos(vocab))
        if library.llama_vocab_get_add_sep(vocab):
            between.append(library.llama_vocab_sep(vocab))
        self._between = [token for token in between if token >= 0] or self._end
        self._room = window - len(self._begin) - len(self._between) - len(self._end)
        if self._room < 2:
            raise ModelDamaged(f"a window of {window} tokens has no room for a pair")

    def pair(self, query: str, passage: str) -> list[int]:
        asked = self._tokens(self._start(query))[: self._room // 2]
        shown = self._tokens(self._start(passage))[: self._room - len(asked)]
        return [*self._begin, *asked, *self._between, *shown, *self._end]

    def _start(self, text: str) -> bytes:
        return text[: self._room * _LONGEST_PIECE].encode("utf-8")

    def _tokens(self, text: bytes) -> list[int]:
        return tokenize(self._library, self._vocab, text, marks=False, specials=False)


class _Templated:
    """An instruction model's pair: its template with both texts put in, their own marks taken apart.

    The whole is tokenised at once, because neighbours join; what is too long is cut by characters, until it
    fits.
    """

    def __init__(self, library: LlamaApi, vocab: Handle, window: int, parts: list[str]) -> None:
        self._library, self._vocab, self._window = library, vocab, window
        self._parts = parts
        tokens = range(library.llama_vocab_n_tokens(vocab))
        controls = (token for token in tokens if library.llama_vocab_is_control(vocab, token))
        self._marks = finder(library.llama_vocab_get_text(vocab, token) for token in controls)
        self._frame = len(self._tokens("", ""))
        if window - self._frame < 2:
            raise ModelDamaged(f"a window of {window} tokens has no room for the rerank template")

    def pair(self, query: str, passage: str) -> list[int]:
        asked = self._cut("", self._quiet(query), self._frame + (self._window - self._frame) // 2)
        shown = self._cut(asked, self._quiet(passage), self._window)
        return self._tokens(asked, shown)

    def _cut(self, before: str, text: str, most: int) -> str:
        """As much of the start of `text` as fits behind `before`, within `most` tokens in all."""
        least = len(self._tokens(before, ""))
        kept = text[: most * _LONGEST_PIECE]
        for _ in range(_CUTS):
            count = len(self._tokens(before, kept))
            if count <= most:
                return kept
            kept = kept[: len(kept) * (most - least) // (count - least + 1)]
        return ""

    def _quiet(self, text: str) -> str:
        return without_marks(text, self._marks) or ""

    def _tokens(self, query: str, passage: str) -> list[int]:
        given = {"query": query, "document": passage}
        text = "".join(given[part] if at % 2 else part for at, part in enumerate(self._parts))
        return tokenize(self._library, self._vocab, text.encode("utf-8"), marks=False, specials=True)
