"""Asks a local chat model one question at a time. Owns the model in memory, its thread and the bounds.

Knows nothing of what is asked or why: the caller brings an instruction, a text that is only looked at, and a
grammar (GBNF) that the answer cannot leave. The model's own chat template frames the question. Any GGUF file
that carries a template will do. llama_cpp is imported in the thread, on first use.
"""

from __future__ import annotations

import importlib
import logging
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, cast

from memvault_models.errors import ChatFailed, ModelClosed, ModelError, ModelLoadFailed, ModelSourceMissing
from memvault_models.gguf_header import read_head
from memvault_models.llama_api import api, forget_errors, recent_errors
from memvault_models.runtime import default_workers
from memvault_models.template_marks import finder, without_marks

log = logging.getLogger(__name__)

CONTEXT_TOKENS = 2_048
"""Question and answer together; a longer question fails."""

MOST_WAITING = 4
"""Questions that may wait for the one under way; a further one fails at once, so that nobody queues long."""

_SEED = 1


class _Library(Protocol):
    """What is used of llama_cpp's high-level part, and the two calls around it."""

    Llama: Callable[..., Any]
    LlamaGrammar: Any
    ggml_abort_callback: Callable[[Callable[[Any], bool]], Any]

    def llama_set_abort_callback(self, context: Any, callback: Any, data: Any) -> None: ...
    def llama_model_get_vocab(self, model: Any) -> Any: ...
    def llama_vocab_is_control(self, vocab: Any, token: int) -> bool: ...
    def llama_sampler_init_grammar(self, vocab: Any, grammar: bytes, root: bytes) -> Any: ...
    def llama_sampler_free(self, sampler: Any) -> None: ...
    def llama_vocab_get_text(self, vocab: Any, token: int) -> bytes: ...


class LlamaChat:
    """One model, loaded in the background. `state` is "loading", "ready" or "absent"; `failure` says why it
    is absent, or what became of the last question that got no answer."""

    def __init__(
        self, path: Path, *, context_tokens: int = CONTEXT_TOKENS, threads: int | None = None
    ) -> None:
        """Start loading; whoever asks meanwhile waits for it. `threads` of llama.cpp: half the cores."""
        self.path = path
        self.state = "loading"
        self.failure = ""
        self._context_tokens = context_tokens
        self._threads = threads or max(1, default_workers() // 2)
        self._library: _Library | None = None
        self._model: Any = None
        self._vocab: Any = None
        self._marks: re.Pattern[str] | None = None
        self._deadline_s = 0.0
        self._closing = threading.Event()
        self._waiting: set[Future[str]] = set()
        self._kept: Any = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="chat")
        self._loaded = self._pool.submit(self._load)

    def ask(
        self, instruction: str, data: str, grammar: str, *, most_tokens: int, within_s: float
    ) -> Future[str]:
        """The answer to `instruction` about `data`, a text of the language of `grammar` (GBNF).

        The same question gets the same answer: temperature 0, nothing carried over from earlier ones. Marks
        of the model's template inside `data` are taken apart, so that it cannot end its own message.
        `within_s` counts from when its turn comes. The future raises ChatFailed (too late, too long, cut off,
        grammar unusable, too many waiting), ModelLoadFailed, ModelSourceMissing, ModelDamaged, ModelClosed.
        """
        answer: Future[str]
        self._waiting = {one for one in self._waiting if not one.done()}
        if self._closing.is_set():
            answer = Future()
            answer.set_exception(ModelClosed(f"{self.path.name} is closed"))
            return answer
        if len(self._waiting) > MOST_WAITING:
            answer = Future()
            answer.set_exception(ChatFailed("too many questions wait for the chat model"))
            return answer
        answer = self._pool.submit(self._answer, instruction, data, grammar, most_tokens, within_s)
        self._waiting.add(answer)
        return answer

    def wait_loaded(self, timeout_s: float) -> str:
        """Wait for the end of loading, at most `timeout_s`; returns the state then."""
        try:
            self._loaded.result(timeout_s)
        except TimeoutError:
            return self.state
        return self.state

    def close(self) -> None:
        """Cut off the question under way, drop those that wait, free the model; again, nothing."""
        self._closing.set()
        self._pool.shutdown(cancel_futures=True)
        if self._model is not None:
            self._model.close()
        self._model = self._kept = None

    def _load(self) -> None:
        try:
            self._open()
        except ModelError as error:
            self._absent(str(error), error.code)
        except Exception as error:  # llama_cpp names no errors of its own; this is the thread's boundary
            log.exception("chat model not loaded: %s", type(error).__name__)
            self._absent(f"llama.cpp could not use {self.path.name}: {recent_errors()}", "model_load_failed")
        else:
            self.state = "ready"

    def _absent(self, reason: str, code: str) -> None:
        log.warning("chat model absent: %s", code)
        self.state, self.failure = "absent", reason

    def _open(self) -> None:
        """Raises ModelSourceMissing, ModelDamaged, ModelLoadFailed, or what llama_cpp raises."""
        if not self.path.is_file():
            raise ModelSourceMissing(f"there is no file {self.path.name}", "Name a GGUF file that is there.")
        read_head(self.path)
        api()
        forget_errors()
        library = cast("_Library", importlib.import_module("llama_cpp"))
        model = library.Llama(
            str(self.path),
            n_ctx=self._context_tokens,
            n_threads=self._threads,
            n_threads_batch=self._threads,
            n_gpu_layers=0,
            seed=_SEED,
            verbose=False,
        )
        if "tokenizer.chat_template" not in cast("dict[str, str]", model.metadata):
            model.close()
            raise ModelLoadFailed(
                f"{self.path.name} carries no chat template", "Name an instruction-tuned model."
            )
        self._kept = library.ggml_abort_callback(lambda _: self._out_of_time())
        library.llama_set_abort_callback(model.ctx, self._kept, None)
        self._vocab = vocab = library.llama_model_get_vocab(model.model)
        controls = (token for token in range(model.n_vocab()) if library.llama_vocab_is_control(vocab, token))
        self._marks = finder(library.llama_vocab_get_text(vocab, token) for token in controls)
        self._library, self._model = library, model

    def _out_of_time(self) -> bool:
        return self._closing.is_set() or time.monotonic() > self._deadline_s

    def _answer(self, instruction: str, data: str, grammar: str, most_tokens: int, within_s: float) -> str:
        if self._model is None or self._library is None:
            raise ModelLoadFailed(self.failure or f"{self.path.name} is closed")
        self._deadline_s = time.monotonic() + within_s
        try:
            found = self._complete(self._library, instruction, data, grammar, most_tokens)
        except Exception as error:  # llama_cpp names no errors of its own; this is the thread's boundary
            why = "too late" if self._out_of_time() else type(error).__name__
            raise self._failed(f"the chat model gave no answer: {why}") from error
        if found["finish_reason"] != "stop":
            raise self._failed("the chat model's answer was cut off")
        self.failure = ""
        return str(found["message"]["content"])

    def _failed(self, reason: str) -> ChatFailed:
        self.failure = reason
        return ChatFailed(reason)

    def _complete(
        self, library: _Library, instruction: str, data: str, grammar: str, most_tokens: int
    ) -> dict[str, Any]:
        self._require_usable(library, grammar)
        # One message: several templates know no system role.
        content = f"{instruction}\n\n{self._quiet(data)}"
        self._model.reset()
        answer = self._model.create_chat_completion(
            [{"role": "user", "content": content}],
            grammar=library.LlamaGrammar.from_string(grammar, verbose=False),
            temperature=0.0,
            seed=_SEED,
            max_tokens=most_tokens,
        )
        return cast("dict[str, Any]", answer["choices"][0])

    def _require_usable(self, library: _Library, grammar: str) -> None:
        """Raises ChatFailed; a grammar that llama.cpp cannot read would end the process when it is used."""
        sampler = library.llama_sampler_init_grammar(self._vocab, grammar.encode("utf-8"), b"root")
        if not sampler:
            raise ChatFailed("the grammar cannot be read")
        library.llama_sampler_free(sampler)

    def _quiet(self, text: str) -> str:
        """`text` without anything that the tokeniser would take for a mark of the template."""
        quiet = without_marks(text, self._marks)
        if quiet is None:
            raise ChatFailed("the text is made of template marks")
        return quiet
