"""Handlers of compiled contexts: compile one for a task, print the index, compare with and without memory."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import Any

from memvault.compile.index import MOST_LINES, TOPIC_CHARS, large_topics, projection
from memvault.compile.task import Level, Mode, Task, chosen_mode
from memvault.compile.tokens import Count, estimate
from memvault.daemon.methods import Call, Methods, Who
from memvault.errors import DiskFull, ModelUnavailable, ReadOnly, Usage
from memvault.rpc import context_wire
from memvault.services import comparing, compiling, gathering
from memvault.services.caller import Caller
from memvault.services.compiling import Context, Gathered
from memvault.services.recollect import Use
from memvault.services.vault import Vault
from memvault.store import contexts


def register(methods: Methods) -> None:
    methods.add("context.compile", context_wire.Compile, Who.READER, compile_)
    methods.add("context.index", context_wire.Index, Who.READER, index)
    methods.add("context.compare", context_wire.Compare, Who.PERSON, compare)
    methods.add("context.prefer", context_wire.Prefer, Who.PERSON, prefer)


def _task(call: Call, caller: Caller, params: context_wire.Compile) -> Task:
    """The task as asked, with the mode that follows from it. Raises Usage, TextUnusable, NotFound."""
    given = None if params.mode is None else Mode(params.mode)
    mode = chosen_mode(params.objective, given, Level(params.novelty), Level(params.continuity))
    if mode is Mode.AUDIT and call.session.is_agent:
        call.session.require_person()
    return compiling.checked(
        Task(
            objective=params.objective,
            mode=mode,
            project=compiling.project_for(call.keeper.require(), caller, params.project),
            session=params.session,
            verified_only=params.risk == "high",
            fresh_only=params.time_sensitivity == "high",
            ceiling=params.sensitivity,
            budget=params.budget,
        )
    )


async def _context(call: Call, caller: Caller, task: Task) -> Context:
    keeper = call.keeper
    with keeper.courtesy.hurried():
        vector, mode = await keeper.question_vector(task.objective)
        gathered = await keeper.read(compiling.gather, caller, task, vector, mode)
        count, counted_by = await _counter(call, gathered)
    if gathered.hold is not None:
        # A context is worth more than knowing next time what it held.
        with contextlib.suppress(DiskFull, ReadOnly):
            await keeper.write(compiling.hold, gathered.hold)
    return compiling.finish(gathered, count, counted_by)


async def _counter(call: Call, gathered: Gathered) -> tuple[Count, str]:
    """The loaded model's tokenizer over every line that may be shown; the estimate without one."""
    vault, worker = call.keeper.require(), call.keeper.embedding
    if worker is None:
        return estimate, "estimate"
    texts, model = compiling.texts(gathered), vault.model_id
    unknown = vault.token_counts.missing(model, texts)
    try:
        if unknown:
            counts = await asyncio.wrap_future(worker.count(unknown))
            vault.token_counts.learn(model, unknown, counts)
        elif worker.state == "absent":
            return estimate, "estimate"
    except ModelUnavailable:
        return estimate, "estimate"
    return vault.token_counts.counter(model, texts), model


async def _finished(call: Call, caller: Caller, context: Context, *, log: bool) -> dict[str, Any]:
    if log and context.pack.shown:
        answer = compiling.answer(call.keeper.require(), caller, context)
        call.keeper.note_use(Use(caller.actor, answer))
    return compiling.plain_context(context)


async def compile_(call: Call, params: context_wire.Compile) -> dict[str, Any]:
    caller = call.session.caller
    task = _task(call, caller, params)
    if task.mode is not Mode.CONTRASTIVE:
        return await _finished(call, caller, await _context(call, caller, task), log=params.log)
    found, bare = await _pair(call, caller, task, params)
    answer = await _finished(call, caller, found, log=params.log)
    without = await _finished(call, caller, bare, log=False)
    return {**answer, "mode": Mode.CONTRASTIVE, "without": without}


async def _pair(
    call: Call, caller: Caller, task: Task, params: context_wire.Compile
) -> tuple[Context, Context]:
    """Two packs: with what M1 (or, for what goes on, M2) loads, and without memory but for what binds."""
    mode = Mode.CONTINUITY if params.continuity == "high" else Mode.SCOPED
    found = await _context(call, caller, replace(task, mode=mode))
    return found, await _context(call, caller, replace(task, mode=Mode.MINIMAL))


async def index(call: Call, params: context_wire.Index) -> dict[str, Any]:
    caller = call.session.caller
    project = compiling.project_for(call.keeper.require(), caller, params.project)
    return await call.keeper.browse(_index, caller, project, params.topics)


def _index(vault: Vault, caller: Caller, project: str | None, topics: bool) -> dict[str, Any]:
    mine = compiling.narrowed(caller, Task("", Mode.SCOPED, project))
    found = gathering.index_entries(vault.browser, vault, mine.reach, project, MOST_LINES + 1)
    made = projection(found)
    sizes = contexts.topic_sizes(vault.browser, mine.reach, TOPIC_CHARS) if topics else {}
    return {
        "text": made.text,
        "lines": made.lines,
        "bytes": made.size_bytes,
        "shortened": list(made.shortened),
        "left_out": [{"id": memory, "reason": reason} for memory, reason in made.left_out.items()],
        "large_topics": large_topics(sizes),
    }


async def compare(call: Call, params: context_wire.Compare) -> dict[str, Any]:
    caller = call.session.caller
    task = _task(call, caller, params)
    if (params.with_memory is None) != (params.without_memory is None):
        raise Usage("give both answers or none", "One that was made with memory and one made without.")
    found, bare = await _pair(call, caller, task, params)
    texts = {comparing.WITH: found.pack.text, comparing.WITHOUT: bare.pack.text}
    if params.with_memory is not None and params.without_memory is not None:
        texts = {comparing.WITH: params.with_memory, comparing.WITHOUT: params.without_memory}
    made = await call.keeper.read(comparing.blind, task.objective, found.gathered.task.mode, params.seed)
    await call.keeper.write(comparing.keep, made)
    return comparing.shown(made, texts)


async def prefer(call: Call, params: context_wire.Prefer) -> dict[str, Any]:
    return await call.keeper.write(comparing.prefer, params.comparison, params.picked)
