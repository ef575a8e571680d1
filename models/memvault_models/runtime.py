"""Embeds texts with llama.cpp. Owns the model in memory, tokenising, prefixes, windows and the work's order.

Must not know where the file came from or who asks. One text goes through the network per call: with short
texts that is as fast as any batch on a CPU, because attention runs over a whole batch, and it makes a
text's vector independent of its neighbours. `texts_per_call` is there to measure that.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue

import numpy as np

from memvault_models.errors import ModelClosed, ModelDamaged, ModelLoadFailed
from memvault_models.llama_api import Handle, LlamaApi, api, forget_errors, recent_errors, tokenize
from memvault_models.manifest import ModelEntry
from memvault_models.port import Matrix, Progress, ShouldStop, Vector
from memvault_models.slot import Capacity, Slot
from memvault_models.text import normalise, normalise_all
from memvault_models.windows import cut

_MOST_WORKERS = 4  # the machine is the user's, and a model of this size gains little beyond
_GROUP_TEXTS = 16  # texts tokenised ahead
_PROBE = b"a"

Windows = list[list[int]]


def default_workers() -> int:
    """min(cores this process may use, 4)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, _MOST_WORKERS))


class LlamaEmbedder:
    """A loaded model. Call it from one thread at a time; it need not be the one that loaded it.

    Passages are spread over `workers` contexts of one thread each; a query runs on one of them.
    """

    def __init__(
        self,
        entry: ModelEntry,
        path: Path,
        workers: int | None = None,
        texts_per_call: int = 1,
        threads: int = 1,
    ) -> None:
        """Load the file. Raises ModelLoadFailed, or ModelDamaged when it is not the model the manifest
        describes."""
        self._entry = entry
        self._api: LlamaApi = api()
        self._texts_per_call = max(1, texts_per_call)
        self._model: Handle | None = None
        self._slots: list[Slot] = []
        self._free: SimpleQueue[Slot] = SimpleQueue()
        self._pool: ThreadPoolExecutor | None = None
        self._unfinished: tuple[Windows, list[Vector]] = ([], [])
        try:
            self._load(path, workers or default_workers(), threads)
        except (ModelLoadFailed, ModelDamaged):
            self.close()
            raise

    def _load(self, path: Path, workers: int, threads: int) -> None:
        forget_errors()
        params = self._api.llama_model_default_params()
        params.n_gpu_layers = 0  # vectors must not depend on the machine's graphics card
        self._model = self._api.llama_model_load_from_file(os.fsencode(path), params)
        if self._model is None:
            raise ModelLoadFailed(f"llama.cpp refused the file of {self.model_id}: {recent_errors()}")
        found = self._api.llama_model_n_embd(self._model)
        if found != self.dims:
            raise ModelDamaged(f"{self.model_id} has {found} dimensions, the manifest says {self.dims}")
        self._window_tokens = min(self._entry.context_tokens, self._api.llama_model_n_ctx_train(self._model))
        capacity = Capacity(self._window_tokens, self._texts_per_call, threads, self._entry.pooling)
        for _ in range(workers):
            self._slots.append(Slot(self._api, self._model, self.dims, capacity))
            self._free.put(self._slots[-1])
        if workers > 1:
            self._pool = ThreadPoolExecutor(workers, thread_name_prefix="embed")
        self._vocab: Handle = self._api.llama_model_get_vocab(self._model)
        bare, marked = self._tokenize(_PROBE, False), self._tokenize(_PROBE, True)
        at = next((i for i in range(len(marked)) if marked[i : i + len(bare)] == bare), 0)
        self._begin, self._end = marked[:at], marked[at + len(bare) :]

    @property
    def model_id(self) -> str:
        """The id that vectors record."""
        return self._entry.id

    @property
    def dims(self) -> int:
        """Length of every vector."""
        return self._entry.dimensions

    def embed_query(self, text: str) -> Vector:
        """Embed a question, shape (dims,); what is beyond the context length is left out.

        Raises ModelInputInvalid, ModelClosed.
        """
        self._check_open()
        return self._slots[0].run(self._windows(normalise(text), self._entry.query_prefix)[:1])[0]

    def embed_passages(
        self,
        texts: Sequence[str],
        on_progress: Progress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> list[Matrix]:
        """Embed texts, one matrix (windows, dims) a text; windows overlap as `windows.py` says.

        `should_stop` is asked before every call into llama.cpp; then the texts finished so far are
        returned, and the windows of a long text in the middle are kept for the next call that begins with
        that text.
        Raises ModelInputInvalid (naming the position, before anything is embedded), ModelClosed.
        """
        self._check_open()
        shown = normalise_all(list(texts))
        done: list[Matrix] = []
        while len(done) < len(shown):
            group = shown[len(done) : len(done) + _GROUP_TEXTS]
            cut_texts = [self._windows(text, self._entry.passage_prefix) for text in group]
            matrices = self._embed_group(cut_texts, should_stop)
            done += matrices
            if on_progress is not None and matrices:
                on_progress(len(done), len(shown))
            if len(matrices) < len(group):
                break
        return done

    def tokens(self, text: str) -> int:
        """Count tokens of the normalised text, without prefix and marks; 0 for an empty one. Raises
        ModelClosed."""
        self._check_open()
        return len(self._tokenize(normalise(text).encode("utf-8"), False)) if text.strip() else 0

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
        self._unfinished = ([], [])

    def _check_open(self) -> None:
        if self._model is None:
            raise ModelClosed(f"{self.model_id} is closed")

    def _windows(self, text: str, prefix: str) -> Windows:
        """Token windows of a text, each with marks and prefix.

        The prefix is tokenised together with the text, then taken off; should a tokeniser join the two,
        apart.
        """
        before = self._tokenize(prefix.encode("utf-8"), False) if prefix else []
        whole = self._tokenize((prefix + text).encode("utf-8"), False)
        body = (
            whole[len(before) :]
            if whole[: len(before)] == before
            else self._tokenize(text.encode("utf-8"), False)
        )
        return cut(body, [*self._begin, *before], self._end, self._window_tokens)

    def _embed_group(self, texts: list[Windows], should_stop: ShouldStop | None) -> list[Matrix]:
        """Matrices of the texts that were finished; vectors of the next one are kept when told to stop."""
        windows = [window for text in texts for window in text]
        kept_windows, kept = self._unfinished
        vectors = list(kept) if kept and windows[: len(kept_windows)] == kept_windows else []
        vectors += self._run_all(windows[len(vectors) :], should_stop)
        self._unfinished = ([], [])
        ends: list[int] = np.cumsum([0, *(len(text) for text in texts)]).tolist()
        spans = [(start, end) for start, end in pairwise(ends) if end <= len(vectors)]
        if len(spans) < len(texts):
            first = ends[len(spans)]
            self._unfinished = (windows[first : len(vectors)], vectors[first:])
        return [np.stack(vectors[start:end]) for start, end in spans]

    def _run_all(self, windows: Windows, should_stop: ShouldStop | None) -> list[Vector]:
        """Vectors of the windows in order, fewer when told to stop."""
        step = self._texts_per_call
        calls = [windows[at : at + step] for at in range(0, len(windows), step)]
        vectors: list[Vector] = []
        running: deque[Future[list[Vector]]] = deque()
        for call in calls:
            if should_stop is not None and should_stop():
                break
            if self._pool is None:
                vectors += self._slots[0].run(call)
                continue
            running.append(self._pool.submit(self._run_on_any, call))
            if len(running) > len(self._slots):
                vectors += running.popleft().result()
        while running:
            vectors += running.popleft().result()
        return vectors

    def _run_on_any(self, call: Windows) -> list[Vector]:
        slot = self._free.get()
        try:
            return slot.run(call)
        finally:
            self._free.put(slot)

    def _tokenize(self, text: bytes, marks: bool) -> list[int]:
        """Token ids; marks written out in the text are text."""
        return tokenize(self._api, self._vocab, text, marks=marks, specials=False)
