"""One llama.cpp context of one thread. Owns a batch and its reading; knows no texts, prefixes or windows.

Why one thread: the threads of a context wait for each other by spinning. With two threads on a machine of
two cores that had other work, 1,288 texts went through at 4 a second; with one thread at 27 to 34. Several
contexts of one thread each use the cores as well and do not stall each other.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from memvault_models.errors import ModelDamaged, ModelLoadFailed
from memvault_models.llama_api import POOLING_TYPES, Handle, LlamaApi, recent_errors
from memvault_models.port import Pooling, Vector


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a call may hold, and how it is pooled."""

    window_tokens: int
    texts_per_call: int
    threads: int
    pooling: Pooling


class Slot:
    """A context and its batch; used by one thread at a time."""

    def __init__(self, api: LlamaApi, model: Handle, dims: int, capacity: Capacity) -> None:
        """Make the context. Raises ModelLoadFailed."""
        self._api = api
        self._dims = dims
        tokens = capacity.window_tokens * capacity.texts_per_call
        params = api.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = tokens
        params.n_seq_max = capacity.texts_per_call
        params.n_threads = params.n_threads_batch = capacity.threads
        params.pooling_type = POOLING_TYPES[capacity.pooling]
        params.embeddings = True
        params.no_perf = True
        params.offload_kqv = False
        self._context = api.llama_init_from_model(model, params)
        if self._context is None:
            raise ModelLoadFailed(f"llama.cpp made no context: {recent_errors()}")
        self._batch = api.llama_batch_init(tokens, 0, 1)

    def close(self) -> None:
        """Free batch and context, once."""
        self._api.llama_batch_free(self._batch)
        self._api.llama_free(self._context)

    def run(self, windows: list[list[int]]) -> list[Vector]:
        """One call into llama.cpp, one unit vector (dims,) a window. Raises ModelLoadFailed, ModelDamaged."""
        self._compute(windows)
        return [self._read(sequence) for sequence in range(len(windows))]

    def outputs(self, window: list[int]) -> Vector:
        """One call: what a classification head gives for a window, shape (dims,), as it is.

        Raises ModelLoadFailed, ModelDamaged.
        """
        self._compute([window])
        found = self._raw(0).copy()
        if not np.isfinite(found).all():
            raise ModelDamaged("the model gave a score that is no number")
        return found

    def stop_when(self, callback: Any) -> None:
        """Ask a `ggml_abort_callback` while computing; the caller keeps it alive."""
        self._api.llama_set_abort_callback(self._context, callback, None)

    def _compute(self, windows: list[list[int]]) -> None:
        batch, at = self._batch, 0
        for sequence, window in enumerate(windows):
            for position, token in enumerate(window):
                batch.token[at] = token
                batch.pos[at] = position
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = sequence
                batch.logits[at] = 1
                at += 1
        batch.n_tokens = at
        memory = self._api.llama_get_memory(self._context)
        if memory:
            self._api.llama_memory_clear(memory, True)
            status = self._api.llama_decode(self._context, batch)
        else:
            status = self._api.llama_encode(self._context, batch)
        if status != 0:
            raise ModelLoadFailed(f"llama.cpp failed on {at} tokens with status {status}: {recent_errors()}")

    def _read(self, sequence: int) -> Vector:
        raw = self._raw(sequence)
        norm = float(np.linalg.norm(raw))
        if not np.isfinite(norm) or norm == 0.0:
            raise ModelDamaged("the model gave a vector without a direction")
        return (raw / np.float32(norm)).astype(np.float32)

    def _raw(self, sequence: int) -> Vector:
        """A view into llama.cpp's memory, good until the next call."""
        pointer = self._api.llama_get_embeddings_seq(self._context, sequence)
        if not pointer:
            raise ModelLoadFailed(f"llama.cpp gave no embedding: {recent_errors()}")
        return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), (self._dims,))
