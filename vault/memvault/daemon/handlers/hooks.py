"""Handler of agent hosts' hooks: what a session starts with, what a prompt needs, what it asks to be kept."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from memvault.compile.task import Mode, Task
from memvault.compile.tokens import estimate
from memvault.daemon.methods import Call, Methods, Who
from memvault.daemon.process import hung_up
from memvault.errors import DiskFull, ReadOnly, Usage
from memvault.hooks import frame, need, words
from memvault.rpc.hook_wire import HookEvent
from memvault.services import compiling, prompting
from memvault.services.caller import Caller, Verb
from memvault.services.hearing import Key
from memvault.services.prompting import Note, Shown, Vector
from memvault.services.recollect import Use

VECTOR_PATIENCE_S = 0.12
"""A prompt waits no longer for its vector; then recall goes by words."""
NO_PROJECT = "…"
"""What a session outside of any project is about: no word of it finds anything."""

Told = tuple[str, list[Note]]
"""Text for the session, and what became of proposals."""


def register(methods: Methods) -> None:
    methods.add("hook.event", HookEvent, Who.READER, event)


async def event(call: Call, params: HookEvent) -> dict[str, Any]:
    """One event. Raises Usage for a connection that is no agent's."""
    vault = call.keeper.require()
    if not call.session.is_agent:
        raise Usage("a hook speaks for an agent", "hello takes its name and token.")
    if call.session.peer.cwd is None:
        # It is gone already, and with it what tells in which project it ran.
        return _answer("", [])
    caller = call.session.caller
    key = (caller.actor, params.session)
    text, notes = "", list[Note]()
    match params.event:
        case "SessionStart":
            text = await _start(call, caller, key)
        case "UserPromptSubmit":
            text, notes = await _prompt(call, caller, key, params.prompt)
        case "PreCompact":
            vault.hearing.forget_shown(key)
        case "Stop":
            if call.keeper.config.hook_proposals and Verb.PROPOSE in caller.verbs:
                vault.hearing.note_message(key, frame.without(params.last_assistant_message))
        case "SessionEnd":
            vault.hearing.end(key)
    return _answer(text, notes)


def _answer(text: str, notes: list[Note]) -> dict[str, Any]:
    return {
        "context": frame.wrapped(text) if text else None,
        "notes": [{"what": n.what, "outcome": n.outcome, "id": n.id, "reason": n.reason} for n in notes],
    }


async def _start(call: Call, caller: Caller, key: Key) -> str:
    """The compiled context, without vector and by estimated tokens: a session waits for no model."""
    keeper = call.keeper
    vault = keeper.require()
    vault.hearing.forget_shown(key)
    if keeper.config.hook_recall == "off":
        return ""
    session = f"hook:{key[1]}" if key[1] else None
    task = Task(caller.project or NO_PROJECT, Mode.SCOPED, caller.project, session)
    with keeper.courtesy.hurried():
        gathered = await keeper.read(compiling.gather, caller, compiling.checked(task), None, "keyword")
    if gathered.hold is not None:
        with contextlib.suppress(DiskFull, ReadOnly):
            await keeper.jobs.whole(keeper.write(compiling.hold, gathered.hold))
    context = compiling.finish(gathered, estimate, "estimate")
    if context.pack.shown and not _gone(call):
        keeper.note_use(Use(caller.actor, compiling.answer(vault, caller, context)))
        vault.hearing.note_shown(key, context.pack.shown)
    return context.pack.text


async def _prompt(call: Call, caller: Caller, key: Key, prompt: str) -> Told:
    notes = await _proposed(call, caller, key, prompt)
    shown = await _recalled(call, caller, key, prompt, {note.id for note in notes if note.id})
    parts = [*prompting.told_of(notes), *([] if shown is None else [shown.text])]
    return "\n".join(part for part in parts if part), notes


async def _proposed(call: Call, caller: Caller, key: Key, prompt: str) -> list[Note]:
    """To its end, even when the host does not wait for the answer."""
    keeper = call.keeper
    if not keeper.config.hook_proposals or Verb.PROPOSE not in caller.verbs:
        return []
    message = keeper.require().hearing.take_message(key)
    found = prompting.proposals(prompt, message)
    if not found:
        return []
    try:
        return await keeper.jobs.whole(keeper.write(prompting.propose, caller, key[1], found))
    except (DiskFull, ReadOnly):
        return []


async def _recalled(call: Call, caller: Caller, key: Key, prompt: str, fresh: set[str]) -> Shown | None:
    """Memories for the prompt, when it needs any; neither what the session has nor what it just said."""
    keeper = call.keeper
    setting = keeper.config.hook_recall
    if setting in ("off", "start"):
        return None
    own = setting != "auto"
    asked = need.shortened(words.own(prompt, whole=True)) if own else need.question(prompt)
    if not asked:
        return None
    known = keeper.require().hearing.shown(key) | fresh
    with keeper.courtesy.hurried():
        vector, mode = await _vector(call, asked)
        shown = await keeper.read(prompting.recalled, caller, asked, vector, mode, frozenset(known))
    if shown.answer.used and not _gone(call):
        keeper.note_use(Use(caller.actor, shown.answer))
        keeper.require().hearing.note_shown(key, shown.answer.used)
    return shown


def _gone(call: Call) -> bool:
    """The hook waits for a moment only: what it no longer hears was not shown."""
    return hung_up(call.session.writer.get_extra_info("socket"))


async def _vector(call: Call, asked: str) -> tuple[Vector, str]:
    try:
        asking = call.keeper.question_vector(asked, hasty=True)
        return await asyncio.wait_for(asking, VECTOR_PATIENCE_S)
    except TimeoutError:
        return None, "keyword"
