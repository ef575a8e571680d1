"""Handler of feedback on memories: a use is counted, doubt is noted for the person."""

from __future__ import annotations

from typing import Any

from memvault.daemon.methods import Call, Methods, Who
from memvault.rpc import wire
from memvault.services import feedback


def register(methods: Methods) -> None:
    methods.add("memory.feedback", wire.Feedback, Who.READER, give)


async def give(call: Call, params: wire.Feedback) -> dict[str, Any]:
    caller = call.session.writing_caller
    if params.verdict == "used":
        outcome = await call.keeper.write(feedback.used, caller, params.id)
    else:
        outcome = await call.keeper.write(feedback.doubt, caller, params.id, params.verdict, params.evidence)
    return {"id": params.id, "outcome": outcome}
