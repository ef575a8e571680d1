"""The gate's second opinion, where the settings name a local chat model: loaded while the vault is open.

Owns the model's life, and turning a draft into a question and its answer into an estimate. Whatever goes
wrong, the gate goes on with its rules. Knows nothing of callers; who asks keeps drafts with a secret away.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

from memvault.gate.estimate import GRAMMAR, MOST_TOKENS, Estimate, question, read_answer
from memvault.model import Draft
from memvault_models.chat import LlamaChat
from memvault_models.errors import ModelError

log = logging.getLogger(__name__)

WITHIN_S = 10.0
"""A proposal waits so long for its estimate, and no longer."""


class Opinion:
    """Without a path it is off: it answers None and reports nothing."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._chat: LlamaChat | None = None

    @property
    def state(self) -> str:
        """off, closed (no vault is open), loading, ready or absent."""
        if self.path is None:
            return "off"
        return "closed" if self._chat is None else self._chat.state

    def start(self) -> None:
        """Load the model in the background; nothing happens when it is off or loaded."""
        if self.path is not None and self._chat is None:
            self._chat = LlamaChat(self.path)

    def stop(self) -> None:
        """Cut off what is under way and give the model's memory back. Waits for its thread."""
        chat, self._chat = self._chat, None
        if chat is not None:
            chat.close()

    async def of(self, draft: Draft) -> Estimate | None:
        """What the model thinks of the draft's claim; None when it is not ready, too slow or unreadable."""
        chat = self._chat
        if chat is None or chat.state != "ready":
            return None
        asked = chat.ask(*question(draft.claim), GRAMMAR, most_tokens=MOST_TOKENS, within_s=WITHIN_S)
        answer = asyncio.wrap_future(asked)
        # Not wait_for: a question that was dropped because the vault closes must not cancel who asked it.
        await asyncio.wait({answer}, timeout=WITHIN_S)
        try:
            return read_answer(answer.result())
        except (ModelError, ValueError, asyncio.InvalidStateError) as error:
            log.warning("no estimate: %s", getattr(error, "code", type(error).__name__))
        except asyncio.CancelledError:
            log.warning("no estimate: closed")
        finally:
            answer.cancel()
        return None

    def warnings(self) -> list[str]:
        """What a person should know, in a sentence; empty when all is well or it is off."""
        if self.state != "absent" or self._chat is None:
            return []
        return [f"the gate's chat model is not usable, the gate goes by its rules: {self._chat.failure}"]

    def check(self) -> list[dict[str, Any]]:
        """The line of `doctor`, if a chat model was chosen."""
        if self.path is None:
            return []
        detail = f"{self.path.name}, {self.state}"
        if self._chat is not None and self._chat.failure:
            detail += f": {self._chat.failure}"
        ok = self.state != "absent"
        fix = "" if ok else "Correct or remove gate.chat_model in config.toml, then restart the daemon."
        return [{"name": "gate's chat model", "ok": ok, "detail": detail, "fix": fix}]
