"""What compiling a context need not read again: standing memories by reach, and token counts of lines.

Owns two small caches of one open vault. The first is dropped whole by every change, so nothing deleted
stays in it; the second holds keyed hashes and numbers, no text. Asked in any thread.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar, cast

from memvault.compile.lines import Renderer
from memvault.compile.tokens import Count, estimate

T = TypeVar("T")

MOST_REACHES = 64
MOST_LINES = 16_384


class Standing:
    """Values by key until something changes."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._changes = 0
        self._kept: dict[Hashable, Any] = {}
        self.renderer = Renderer()
        """Lines made since the last change; for the reader's thread."""

    def get(self, key: Hashable, load: Callable[[], T]) -> T:
        """The value kept for `key`, or what `load` gives; what changed meanwhile is not kept."""
        with self._guard:
            changes = self._changes
            if key in self._kept:
                return cast("T", self._kept[key])
        found = load()
        with self._guard:
            if changes == self._changes:
                while len(self._kept) >= MOST_REACHES:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[key] = found
        return found

    def forget(self) -> None:
        """Something changed."""
        with self._guard:
            self._changes += 1
            self._kept.clear()
            # Whoever uses the old one goes on with it and drops it: nothing deleted stays in the new one.
            self.renderer = Renderer()


class TokenCounts:
    """Token counts by model and line."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._key = secrets.token_bytes(16)
        self._known: dict[bytes, int] = {}

    def _name(self, model: str, text: str) -> bytes:
        return blake2b(f"{model}\x1f{text}".encode(), key=self._key, digest_size=16).digest()

    def missing(self, model: str, texts: Iterable[str]) -> list[str]:
        """Those of `texts` whose count is not known, each once."""
        with self._guard:
            return [text for text in dict.fromkeys(texts) if self._name(model, text) not in self._known]

    def learn(self, model: str, texts: Sequence[str], counts: Sequence[int]) -> None:
        with self._guard:
            if len(self._known) + len(texts) > MOST_LINES:
                self._known.clear()
            self._known.update(
                (self._name(model, text), count) for text, count in zip(texts, counts, strict=True)
            )

    def counter(self, model: str, texts: Iterable[str]) -> Count:
        """Counts of `texts`; by the estimate for any other text."""
        with self._guard:
            found: Mapping[str, int | None] = {
                text: self._known.get(self._name(model, text)) for text in set(texts)
            }

        def count(text: str) -> int:
            known = found.get(text)
            return estimate(text) if known is None else known

        return count
