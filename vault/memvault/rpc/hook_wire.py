"""Wire type of what an agent host's hook tells."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from memvault.rpc.wire import Params

Short = Annotated[str, Meta(max_length=200)]


class HookEvent(Params, frozen=True):
    """One event of a session; `session` is the host's name for it. Texts beyond what is looked at are cut."""

    event: Literal["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"]
    session: Short = ""
    prompt: str = ""
    source: Short = ""
    last_assistant_message: str = ""
    reason: Short = ""
    trigger: Short = ""
