"""Handlers that read: recall, get, list, facets, history, inbox, export, and why something was recalled."""

from __future__ import annotations

import time
from typing import Any

from memvault.daemon.methods import Call, Methods, Who
from memvault.rpc import wire
from memvault.services import recollect
from memvault.services.recollect import Question
from memvault.store.memories import Filter


def register(methods: Methods) -> None:
    methods.add("recall", wire.Recall, Who.READER, recall)
    methods.add("recall.explain", wire.Explain, Who.PERSON, explain)
    methods.add("memory.get", wire.OneMemory, Who.READER, get)
    methods.add("memory.list", wire.ListPage, Who.READER, listing)
    methods.add("memory.facets", wire.ListFilter, Who.PERSON, facets)
    methods.add("memory.history", wire.OneMemory, Who.PERSON, history)
    methods.add("inbox", wire.Page, Who.PERSON, inbox)
    methods.add("export.page", wire.ExportPage, Who.PRESENT, export_page)


def _filter(params: wire.ListFilter) -> Filter:
    ids = None if params.ids is None else tuple(params.ids)
    return Filter(
        params.kind,
        params.scope,
        params.project,
        params.status,
        params.subject,
        params.source,
        params.text,
        None,
        ids,
    )


async def recall(call: Call, params: wire.Recall) -> dict[str, Any]:
    started = time.perf_counter()
    call.keeper.require()
    question = recollect.checked(
        Question(params.query, params.project, params.limit, tuple(params.include), params.kind)
    )
    vector, mode = await call.keeper.question_vector(question.query)
    caller = call.session.caller
    answer = await call.keeper.read(recollect.recall, caller, question, vector, mode)
    if params.log and answer.used:
        call.keeper.note_use(recollect.Use(caller.actor, answer))
    took_ms = (time.perf_counter() - started) * 1000
    return {"results": answer.results, "took_ms": round(took_ms, 2), "mode": answer.mode}


async def explain(call: Call, params: wire.Explain) -> dict[str, Any]:
    question = recollect.checked(Question(params.query, params.project, params.limit))
    vector, _ = await call.keeper.question_vector(question.query)
    return await call.keeper.read(recollect.explain, call.session.caller, question, params.id, vector)


async def get(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return await call.keeper.read(recollect.get, call.session.caller, params.id)


async def listing(call: Call, params: wire.ListPage) -> dict[str, Any]:
    asked = (_filter(params), params.sort, params.limit, params.offset)
    return await call.keeper.read(recollect.page, call.session.caller, *asked)


async def facets(call: Call, params: wire.ListFilter) -> dict[str, Any]:
    return await call.keeper.read(recollect.facets, call.session.caller, _filter(params))


async def history(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return await call.keeper.read(recollect.history, call.session.caller, params.id)


async def inbox(call: Call, params: wire.Page) -> dict[str, Any]:
    waiting = Filter(waiting=True)
    return await call.keeper.read(
        recollect.page, call.session.caller, waiting, "created", params.limit, params.offset
    )


async def export_page(call: Call, params: wire.ExportPage) -> dict[str, Any]:
    wanted = Filter(scope=params.scope, project=params.project, status=params.status)
    return await call.keeper.read(
        recollect.export_page, call.session.caller, wanted, params.cursor, params.limit
    )
