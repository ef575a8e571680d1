"""Handlers of the gate: explain a text, calibrate theta on labelled claims, set theta; second opinions."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from typing import Any

from memvault import config
from memvault.daemon.keeper import Keeper
from memvault.daemon.label_files import label_lines
from memvault.daemon.methods import Call, Methods, Who
from memvault.errors import ReadOnly
from memvault.gate.calibrate import RULE, Labelled, Point, at, curve, judge, suggest
from memvault.gate.estimate import NONE, Estimate, Estimates
from memvault.gate.labels import Label, parse
from memvault.model import Draft
from memvault.rpc import wire
from memvault.services import screening
from memvault.text import accept

TELL_EVERY = 50
"""Claims judged between two words on the progress; the loop looks after others then."""


def register(methods: Methods) -> None:
    methods.add("gate.explain", wire.GateText, Who.PERSON, explain)
    methods.add("gate.calibrate", wire.Labels, Who.PERSON, calibrate)
    methods.add("gate.set_theta", wire.Theta, Who.PRESENT, set_theta)


async def second_opinions(
    keeper: Keeper, draft: Draft, given: wire.EstimateGiven | None, *, agent: bool
) -> Estimates:
    """The proposer's own estimate, and the chat model's where an agent's proposal hangs on it.

    A person is only warned by the gate, so the model is not asked for them.
    """
    own = None if given is None else Estimate(given.stable, given.reusable)
    vault = keeper.require()
    if not agent or keeper.opinion.state != "ready" or not screening.undecided(draft, vault.theta):
        return Estimates(own)
    return Estimates(own, await keeper.opinion.of(draft))


async def explain(call: Call, params: wire.GateText) -> dict[str, Any]:
    vault, opinion = call.keeper.require(), call.keeper.opinion
    draft = screening.proposed(accept(params.content), params.kind)
    given = params.estimate
    own = None if given is None else Estimate(given.stable, given.reusable)
    clean = screening.credential(draft.claim) is None
    chat = await opinion.of(draft) if clean else None
    found = screening.explain(draft, vault.theta, Estimates(own, chat))
    return {**found, "chat_model": opinion.state}


async def calibrate(call: Call, params: wire.Labels) -> dict[str, Any]:
    vault = call.keeper.require()
    labels = parse(await asyncio.to_thread(label_lines, params.path))
    rows = await _judged(call, labels)
    points = curve(rows)
    found = suggest(points)
    return {
        "rows": [_plain(point) for point in points],
        "labels": len(rows),
        "keep": sum(row.keep for row in rows),
        "theta": vault.theta,
        "current": _plain(at(rows, vault.theta)),
        "suggested": None if found is None else {**_plain(found.point), "by": found.by},
        "rule": RULE,
        "chat_model": call.keeper.opinion.state,
    }


async def _judged(call: Call, labels: list[Label]) -> list[Labelled]:
    """Every label through the gate as this daemon would decide it, the chat model included."""
    opinion, rows = call.keeper.opinion, list[Labelled]()
    for done, label in enumerate(labels):
        if done % TELL_EVERY == 0 or opinion.state == "ready":
            call.tell({"done": done, "total": len(labels), "stage": "weighing"})
            await asyncio.sleep(0)
        chat = None
        if opinion.state == "ready" and screening.credential(label.draft.claim) is None:
            chat = await opinion.of(label.draft)
        rows.append(judge(label.draft, label.keep, NONE if chat is None else Estimates(chat=chat)))
    return rows


def _plain(point: Point) -> dict[str, float]:
    return {name: round(value, 4) for name, value in asdict(point).items()}


async def set_theta(call: Call, params: wire.Theta) -> dict[str, Any]:
    """Keep theta in the settings file, and use it from now on."""
    keeper, theta = call.keeper, round(params.theta, 4)
    before = keeper.require().theta
    try:
        await asyncio.to_thread(config.write_theta, keeper.layout.config, theta)
    except OSError as error:
        raise ReadOnly(f"config.toml cannot be written: {error.strerror}") from error
    keeper.config = replace(keeper.config, theta=theta)
    keeper.require().theta = theta
    return {"theta": theta, "before": before}
