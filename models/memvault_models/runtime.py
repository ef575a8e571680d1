"""Embeds texts with llama.cpp. Owns the model in memory, tokenising, prefixes, windows and pooling.

Must not know where the file came from or who asks. One text is put through the network per call: with short texts
that is as fast as any batch on a CPU, because attention runs over a whole batch, and it makes a text's vector
independent of its neighbours. (`texts_per_call` is there to measure that.)
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from memvault_models.errors import ModelClosed, ModelDamaged, ModelLoadFailed
from memvault_models.llama_api import POOLING_TYPES, Batch, Handle, LlamaApi, api, forget_errors, recent_errors
from memvault_models.manifest import ModelEntry
from memvault_models.port import Matrix, Progress, ShouldStop, Vector
from memvault_models.text import normalise, normalise_all
from memvault_models.windows import cut

_MOST_THREADS = 4  # beyond that a model of this size gains little, and the machine is the user's
_PROBE = b"a"


def default_threads() -> int:
    """min(cores this process may use, 4)."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, min(len(os.sched_getaffinity(0)), _MOST_THREADS))
    return max(1, min(os.cpu_count() or 1, _MOST_THREADS))


class LlamaEmbedder:
    """A loaded model. Use it from one thread at a time; it need not be the one that loaded it."""

    def __init__(self, entry: ModelEntry, path: Path, threads: int | None = None, texts_per_call: int = 1) -> None:
        """Load the file. Raises ModelLoadFailed, or ModelDamaged when it is not the model the manifest describes."""
        self._entry = entry
        self._api: LlamaApi = api()
        self._texts_per_call = max(1, texts_per_call)
        self._model: Handle | None = None
        self._context: Handle | None = None
        self._batch: Batch | None = None
        self._unfinished: tuple[list[list[int]], list[Vector]] = ([], [])
        try:
            self._load(path, threads or default_threads())
        except (ModelLoadFailed, ModelDamaged):
            self.close()
            raise

    def _load(self, path: Path, threads: int) -> None:
        forget_errors()
        model_params = self._api.llama_model_default_params()
        model_params.n_gpu_layers = 0  # vectors must not depend on the machine's graphics card
        self._model = self._api.llama_model_load_from_file(os.fsencode(path), model_params)
        if self._model is None:
            raise ModelLoadFailed(f"llama.cpp refused the file of {self.model_id}: {recent_errors()}")
        found = self._api.llama_model_n_embd(self._model)
        if found != self.dims:
            raise ModelDamaged(f"{self.model_id} has {found} dimensions, the manifest says {self.dims}")
        self._window_tokens = min(self._entry.context_tokens, self._api.llama_model_n_ctx_train(self._model))
        self._context = self._make_context(threads)
        self._batch = self._api.llama_batch_init(self._window_tokens * self._texts_per_call, 0, 1)
        self._vocab: Handle = self._api.llama_model_get_vocab(self._model)
        bare, marked = self._tokenize(_PROBE, False), self._tokenize(_PROBE, True)
        at = next((i for i in range(len(marked)) if marked[i : i + len(bare)] == bare), 0)
        self._begin, self._end = marked[:at], marked[at + len(bare) :]

    def _make_context(self, threads: int) -> Handle:
        params = self._api.llama_context_default_params()
        tokens = self._window_tokens * self._texts_per_call
        params.n_ctx = params.n_batch = params.n_ubatch = tokens
        params.n_seq_max = self._texts_per_call
        params.n_threads = params.n_threads_batch = threads
        params.pooling_type = POOLING_TYPES[self._entry.pooling]
        params.embeddings = True
        params.no_perf = True
        params.offload_kqv = False
        context = self._api.llama_init_from_model(self._model, params)
        if context is None:
            raise ModelLoadFailed(f"llama.cpp made no context for {self.model_id}: {recent_errors()}")
        return context

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
        windows = self._windows(normalise(text), self._entry.query_prefix)
        return self._run(windows[:1])[0]

    def embed_passages(
        self,
        texts: Sequence[str],
        on_progress: Progress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> list[Matrix]:
        """Embed texts, one matrix (windows, dims) a text; windows overlap as `windows.py` says.

        `should_stop` is asked before every call into llama.cpp; then the texts finished so far are returned, and
        the windows of a long text in the middle are kept for the next call that begins with that text.
        Raises ModelInputInvalid (naming the position, before anything is embedded), ModelClosed.
        """
        shown = normalise_all(list(texts))
        done: list[Matrix] = []
        while len(done) < len(shown):
            group = shown[len(done) : len(done) + self._texts_per_call]
            matrices = self._embed_group([self._windows(text, self._entry.passage_prefix) for text in group], should_stop)
            if matrices is None:
                break
            done += matrices
            if on_progress is not None:
                on_progress(len(done), len(shown))
        return done

    def tokens(self, text: str) -> int:
        """Count tokens of the normalised text, without prefix and marks; 0 for an empty one. Raises ModelClosed."""
        self._open_context()
        return len(self._tokenize(normalise(text).encode("utf-8"), False)) if text.strip() else 0

    def close(self) -> None:
        """Free the model; later calls raise ModelClosed, a second close does nothing."""
        if self._batch is not None:
            self._api.llama_batch_free(self._batch)
        if self._context is not None:
            self._api.llama_free(self._context)
        if self._model is not None:
            self._api.llama_model_free(self._model)
        self._batch = self._context = self._model = None
        self._unfinished = ([], [])

    def _open_context(self) -> tuple[Handle, Batch]:
        if self._context is None or self._batch is None:
            raise ModelClosed(f"{self.model_id} is closed")
        return self._context, self._batch

    def _windows(self, text: str, prefix: str) -> list[list[int]]:
        """Token windows of a text, each with marks and prefix.

        The prefix is tokenised together with the text, then taken off; should a tokeniser join the two, apart.
        """
        self._open_context()
        before = self._tokenize(prefix.encode("utf-8"), False) if prefix else []
        whole = self._tokenize((prefix + text).encode("utf-8"), False)
        body = whole[len(before) :] if whole[: len(before)] == before else self._tokenize(text.encode("utf-8"), False)
        return cut(body, [*self._begin, *before], self._end, self._window_tokens)

    def _embed_group(
        self, texts: list[list[list[int]]], should_stop: ShouldStop | None
    ) -> list[Matrix] | None:
        """Vectors of the windows of some texts, or none when told to stop before the last of them."""
        windows = [window for text in texts for window in text]
        vectors = self._unfinished[1] if self._unfinished[0] == windows else []
        while len(vectors) < len(windows):
            if should_stop is not None and should_stop():
                self._unfinished = (windows, vectors)
                return None
            vectors += self._run(windows[len(vectors) : len(vectors) + self._texts_per_call])
        self._unfinished = ([], [])
        ends = np.cumsum([0, *(len(text) for text in texts)]).tolist()
        return [np.stack(vectors[start:end]) for start, end in pairwise(ends)]

    def _tokenize(self, text: bytes, marks: bool) -> list[int]:
        """Token ids; marks written out in the text are text."""
        most = len(text) + 8
        tokens: Any = (self._api.llama_token * most)()
        count = self._api.llama_tokenize(self._vocab, text, len(text), tokens, most, marks, False)
        if count < 0:
            tokens = (self._api.llama_token * -count)()
            count = self._api.llama_tokenize(self._vocab, text, len(text), tokens, -count, marks, False)
        return list(tokens[: max(count, 0)])

    def _run(self, windows: list[list[int]]) -> list[Vector]:
        """One call into llama.cpp, one vector (dims,) a window."""
        context, batch = self._open_context()
        at = 0
        for sequence, window in enumerate(windows):
            for position, token in enumerate(window):
                batch.token[at] = token
                batch.pos[at] = position
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = sequence
                batch.logits[at] = 1
                at += 1
        batch.n_tokens = at
        memory = self._api.llama_get_memory(context)
        if memory:
            self._api.llama_memory_clear(memory, True)
        status = self._api.llama_decode(context, batch) if memory else self._api.llama_encode(context, batch)
        if status != 0:
            raise ModelLoadFailed(f"llama.cpp failed on {at} tokens with status {status}: {recent_errors()}")
        return [self._read(context, sequence) for sequence in range(len(windows))]

    def _read(self, context: Handle, sequence: int) -> Vector:
        pointer = self._api.llama_get_embeddings_seq(context, sequence)
        if not pointer:
            raise ModelLoadFailed(f"llama.cpp gave no embedding for {self.model_id}: {recent_errors()}")
        raw = np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), (self.dims,))
        norm = float(np.linalg.norm(raw))
        if not np.isfinite(norm) or norm == 0.0:
            raise ModelDamaged(f"{self.model_id} gave a vector without a direction")
        return (raw / np.float32(norm)).astype(np.float32)
