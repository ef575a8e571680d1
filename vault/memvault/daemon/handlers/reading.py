"""Handlers that read: recall, get, list, facets, history, inbox, export."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.daemon.methods import Call, Methods, Who
from memvault.daemon.readers import Room
from memvault.recall.query import Hit
from memvault.rpc import wire
from memvault.services import inbox as waiting
from memvault.services import recollect
from memvault.services.recollect import Question
from memvault.store.memories import Filter


def register(methods: Methods) -> None:
    methods.add("recall", wire.Recall, Who.READER, recall)
    methods.add("memory.get", wire.OneMemory, Who.READER, get)
    methods.add("memory.list", wire.ListPage, Who.READER, listing)
    methods.add("memory.facets", wire.ListFilter, Who.PERSON, facets)
    methods.add("memory.history", wire.OneMemory, Who.PERSON, history)
    methods.add("inbox", wire.Page, Who.PERSON, inbox)
    methods.add("export.page", wire.ExportPage, Who.PRESENT, export_page)


def _spelled(call: Call, project: str | None) -> str | None:
    return call.keeper.require().places.spelling(project)


def _filter(call: Call, params: wire.ListFilter) -> Filter:
    ids = None if params.ids is None else tuple(params.ids)
    return Filter(
        params.kind,
        params.scope,
        _spelled(call, params.project),
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
        Question(
            params.query, _spelled(call, params.project), params.limit, tuple(params.include), params.kind
        )
    )
    caller = call.session.caller
    with call.keeper.courtesy.hurried():
        vector, mode = await call.keeper.question_vector(question.query)
        ranked = await _reranked(call, question, vector)
        with call.keeper.searching.hurried():
            answer = await call.keeper.read(recollect.recall, caller, question, vector, mode, ranked)
    if params.log:
        call.keeper.note_use(recollect.Use(caller.actor, answer))
    took_ms = (time.perf_counter() - started) * 1000
    return {"results": answer.results, "took_ms": round(took_ms, 2), "mode": answer.mode}


async def _reranked(
    call: Call, question: Question, vector: npt.NDArray[np.float32] | None
) -> list[Hit] | None:
    """The first answers in the order that the reranker gives them; None where there is none."""
    reranking = call.keeper.reranking
    if reranking.state != "ready":
        return None
    best = await call.keeper.read(recollect.best, call.session.caller, question, vector, reranking.depth)
    return await reranking.reorder(question.query, best)


async def get(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return await call.keeper.read(recollect.get, call.session.caller, params.id)


async def listing(call: Call, params: wire.ListPage) -> dict[str, Any]:
    asked = (_filter(call, params), params.sort, params.limit, params.offset)
    return await call.keeper.browse(recollect.page, call.session.caller, *asked, Room(call.keeper.courtesy))


async def facets(call: Call, params: wire.ListFilter) -> dict[str, Any]:
    return await call.keeper.browse(recollect.facets, call.session.caller, _filter(call, params))


async def history(call: Call, params: wire.OneMemory) -> dict[str, Any]:
    return await call.keeper.read(recollect.history, call.session.caller, params.id)


async def inbox(call: Call, params: wire.Page) -> dict[str, Any]:
    asked = (params.limit, params.offset, Room(call.keeper.courtesy))
    return await call.keeper.browse(waiting.page, call.session.caller, *asked)


async def export_page(call: Call, params: wire.ExportPage) -> dict[str, Any]:
    wanted = Filter(scope=params.scope, project=_spelled(call, params.project), status=params.status)
    asked = (wanted, params.cursor, params.limit, Room(call.keeper.courtesy))
    return await call.keeper.browse(recollect.export_page, call.session.caller, *asked)
