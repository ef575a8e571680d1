"""Handlers of what a person asks about the memories as a whole: about whom, why recalled, how many."""

from __future__ import annotations

from typing import Any

from memvault.daemon.methods import Call, Methods, Who
from memvault.daemon.readers import Room
from memvault.rpc import insight_wire, wire
from memvault.services import about, recollect, stats, why
from memvault.services.recollect import Question


def register(methods: Methods) -> None:
    methods.add("memory.about", insight_wire.About, Who.PERSON, of_subject)
    methods.add("recall.explain", wire.Explain, Who.PERSON, explain)
    methods.add("stats", wire.Nothing, Who.PERSON, numbers)


async def of_subject(call: Call, params: insight_wire.About) -> dict[str, Any]:
    asked = (params.subject, params.limit, params.offset, Room(call.keeper.courtesy))
    return await call.keeper.browse(about.page, call.session.caller, *asked)


async def explain(call: Call, params: wire.Explain) -> dict[str, Any]:
    project = call.keeper.require().places.spelling(params.project)
    asked = Question(params.query, project, params.limit, tuple(params.include), params.kind)
    question = recollect.checked(asked)
    vector, mode = await call.keeper.question_vector(question.query)
    return await call.keeper.read(why.explain, call.session.caller, question, params.id, vector, mode)


async def numbers(call: Call, _: wire.Nothing) -> dict[str, Any]:
    return await call.keeper.browse(stats.stats, call.session.caller)
