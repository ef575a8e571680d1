"""Handlers of task notes: open, note, done, reopen, get, list, close. Who may propose may keep notes."""

from __future__ import annotations

from typing import Any

from memvault.daemon.handlers.memories import draft_for, plain_outcome
from memvault.daemon.methods import Call, Methods, Who
from memvault.rpc import task_wire, wire
from memvault.services import tasks
from memvault.services.caller import Verb
from memvault.services.tasks import Keeping


def register(methods: Methods) -> None:
    methods.add("task.open", task_wire.OpenTask, Who.READER, open_, Verb.PROPOSE)
    methods.add("task.note", task_wire.AddNote, Who.READER, note, Verb.PROPOSE)
    methods.add("task.done", task_wire.OneNote, Who.READER, done, Verb.PROPOSE)
    methods.add("task.reopen", task_wire.ReopenNote, Who.READER, reopen, Verb.PROPOSE)
    methods.add("task.get", task_wire.OneTask, Who.READER, get, Verb.PROPOSE)
    methods.add("task.list", wire.Page, Who.READER, listing, Verb.PROPOSE)
    methods.add("task.close", task_wire.CloseTask, Who.READER, close, Verb.PROPOSE)


async def open_(call: Call, params: task_wire.OpenTask) -> dict[str, Any]:
    caller = call.session.writing_caller
    return await call.keeper.write(tasks.open_task, caller, params.title, params.task)


async def note(call: Call, params: task_wire.AddNote) -> dict[str, Any]:
    caller = call.session.writing_caller
    return await call.keeper.write(tasks.note, caller, params.task, params.kind, params.text)


async def done(call: Call, params: task_wire.OneNote) -> dict[str, Any]:
    return await call.keeper.write(tasks.done, call.session.writing_caller, params.task, params.note)


async def reopen(call: Call, params: task_wire.ReopenNote) -> dict[str, Any]:
    caller = call.session.writing_caller
    return await call.keeper.write(tasks.reopen, caller, params.task, params.note, params.why)


async def get(call: Call, params: task_wire.OneTask) -> dict[str, Any]:
    return await call.keeper.write(tasks.get, call.session.caller, params.task)


async def listing(call: Call, params: wire.Page) -> dict[str, Any]:
    return await call.keeper.write(tasks.listing, call.session.caller, params.limit, params.offset)


async def close(call: Call, params: task_wire.CloseTask) -> dict[str, Any]:
    caller = call.session.writing_caller
    keep = [Keeping(draft_for(call, one), one.correct) for one in params.keep]
    gone = await call.keeper.write(tasks.close, caller, params.task, keep)
    return {
        "id": gone.id,
        "erased": gone.erased,
        "overwritten": gone.overwritten,
        "kept": [plain_outcome(one) for one in gone.kept],
    }
