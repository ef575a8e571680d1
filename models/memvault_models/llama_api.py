"""The part of llama_cpp's low-level interface that is used here, typed. Owns loading it and keeping it quiet.

llama_cpp takes 0.3 s and more to import and its ctypes signatures are not usable by a strict type checker:
so it is imported on first use and seen through a Protocol.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol, cast

from memvault_models.errors import ModelLoadFailed

POOLING_TYPES = {"mean": 1, "cls": 2, "last": 3, "rank": 4}
_LEVEL_ERROR = 4  # ggml's log levels: 1 debug, 2 info, 3 warn, 4 error
_KEPT_LINES = 3

Handle = Any
"""An opaque pointer of llama.cpp: model, vocabulary or context."""


class ModelParams(Protocol):
    """`llama_model_params`, the fields that are set."""

    n_gpu_layers: int
    use_mmap: bool


class ContextParams(Protocol):
    """`llama_context_params`, the fields that are set."""

    n_ctx: int
    n_batch: int
    n_ubatch: int
    n_seq_max: int
    n_threads: int
    n_threads_batch: int
    pooling_type: int
    embeddings: bool
    no_perf: bool
    offload_kqv: bool


class Batch(Protocol):
    """`llama_batch`: arrays of one value a token."""

    n_tokens: int
    token: Any
    pos: Any
    n_seq_id: Any
    seq_id: Any
    logits: Any


class LlamaApi(Protocol):
    """Functions of llama.h under their own names."""

    llama_token: Any
    llama_log_callback: Any
    ggml_abort_callback: Any

    def llama_backend_init(self) -> None: ...
    def llama_log_set(self, callback: Any, user_data: Any) -> None: ...
    def llama_model_default_params(self) -> ModelParams: ...
    def llama_model_load_from_file(self, path: bytes, params: ModelParams) -> Handle | None: ...
    def llama_model_free(self, model: Handle) -> None: ...
    def llama_model_get_vocab(self, model: Handle) -> Handle: ...
    def llama_model_n_embd(self, model: Handle) -> int: ...
    def llama_model_n_ctx_train(self, model: Handle) -> int: ...
    def llama_model_has_decoder(self, model: Handle) -> bool: ...
    def llama_model_has_encoder(self, model: Handle) -> bool: ...
    def llama_model_n_cls_out(self, model: Handle) -> int: ...
    def llama_model_cls_label(self, model: Handle, at: int) -> bytes | None: ...
    def llama_model_chat_template(self, model: Handle, name: bytes) -> bytes | None: ...
    def llama_vocab_n_tokens(self, vocab: Handle) -> int: ...
    def llama_vocab_get_text(self, vocab: Handle, token: int) -> bytes: ...
    def llama_vocab_is_control(self, vocab: Handle, token: int) -> bool: ...
    def llama_vocab_eos(self, vocab: Handle) -> int: ...
    def llama_vocab_sep(self, vocab: Handle) -> int: ...
    def llama_vocab_get_add_eos(self, vocab: Handle) -> bool: ...
    def llama_vocab_get_add_sep(self, vocab: Handle) -> bool: ...
    def llama_set_abort_callback(self, context: Handle, callback: Any, data: Any) -> None: ...
    def llama_context_default_params(self) -> ContextParams: ...
    def llama_init_from_model(self, model: Handle, params: ContextParams) -> Handle | None: ...
    def llama_free(self, context: Handle) -> None: ...
    def llama_get_memory(self, context: Handle) -> Handle | None: ...
    def llama_memory_clear(self, memory: Handle, data: bool) -> None: ...
    def llama_batch_init(self, tokens: int, embd: int, sequences: int) -> Batch: ...
    def llama_batch_free(self, batch: Batch) -> None: ...
    def llama_encode(self, context: Handle, batch: Batch) -> int: ...
    def llama_decode(self, context: Handle, batch: Batch) -> int: ...
    def llama_get_embeddings_seq(self, context: Handle, sequence: int) -> Any: ...
    def llama_tokenize(
        self,
        vocab: Handle,
        text: bytes,
        size: int,
        tokens: Any,
        most: int,
        add_special: bool,
        parse_special: bool,
    ) -> int: ...


def tokenize(library: LlamaApi, vocab: Handle, text: bytes, *, marks: bool, specials: bool) -> list[int]:
    """Token ids of a text. `marks`: with those of begin and end; `specials`: marks written out in it are
    taken for marks, not for text."""
    most = len(text) + 8
    tokens: Any = (library.llama_token * most)()
    count = library.llama_tokenize(vocab, text, len(text), tokens, most, marks, specials)
    if count < 0:
        tokens = (library.llama_token * -count)()
        count = library.llama_tokenize(vocab, text, len(text), tokens, -count, marks, specials)
    return list(tokens[: max(count, 0)])


_errors: list[str] = []
_kept_callbacks: list[Any] = []


@lru_cache(maxsize=1)
def api() -> LlamaApi:
    """Import and initialise once a process; its log goes nowhere. Raises ModelLoadFailed."""
    try:
        library = cast("LlamaApi", importlib.import_module("llama_cpp"))
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelLoadFailed(f"llama_cpp cannot be imported: {error}") from error
    make = cast("Callable[[Callable[[int, bytes, Any], None]], Any]", library.llama_log_callback)
    callback = make(_keep_error)
    _kept_callbacks.append(callback)  # the C side keeps no reference
    library.llama_log_set(callback, ctypes.c_void_p(0))
    library.llama_backend_init()
    return library


def _keep_error(level: int, text: bytes, _user_data: Any) -> None:
    if level == _LEVEL_ERROR:
        _errors.append(text.decode("utf-8", "replace").strip())
        del _errors[:-_KEPT_LINES]


def forget_errors() -> None:
    """Start a new record of what llama.cpp complains about."""
    _errors.clear()


def recent_errors() -> str:
    """The last complaints in one line, or a phrase saying there were none."""
    return "; ".join(_errors) or "llama.cpp gave no reason"
