"""Handlers that calibrate what counts as an answer in this vault: try it, and set the line."""

from __future__ import annotations

import asyncio
from typing import Any

from memvault.daemon.label_files import label_lines
from memvault.daemon.methods import Call, Methods, Who
from memvault.errors import Illegal, ModelUnavailable
from memvault.recall import shift
from memvault.rpc import model_wire as wire
from memvault.services import calibrating, trials
from memvault.services.calibrating import LABELLED, UNLABELLED, Tried
from memvault.services.trials import Asked

TELL_EVERY = 5
"""Questions asked between two words on the progress: about a tenth of a second."""


def register(methods: Methods) -> None:
    methods.add("models.calibrate", wire.Calibrate, Who.PERSON, calibrate)
    methods.add("models.set_shift", wire.Shift, Who.PRESENT, set_shift)


async def calibrate(call: Call, params: wire.Calibrate) -> dict[str, Any]:
    _require_model(call)
    asked = await _questions(call, params.path)
    tried = await _tried(call, asked)
    vault = call.keeper.require()
    rule = UNLABELLED if params.path is None else LABELLED
    found = await asyncio.to_thread(calibrating.report, tried, rule, shift.by_group(vault.index.shift))
    return {"model": vault.model_id, "labelled": params.path is not None, **found}


def _require_model(call: Call) -> None:
    """Raises Locked, VaultAbsent, ModelUnavailable."""
    call.keeper.require()
    worker = call.keeper.embedding
    if worker is None or worker.state == "absent":
        raise ModelUnavailable("the embedding model is absent", "`memvault doctor` says why.")


async def _questions(call: Call, path: str | None) -> list[Asked]:
    if path is None:
        return await call.keeper.browse(trials.own_questions)
    asked = trials.parse(await asyncio.to_thread(label_lines, path))
    await call.keeper.read(trials.check_ids, asked)
    return asked


async def _tried(call: Call, asked: list[Asked]) -> list[Tried]:
    """Every question embedded and put to the index, one after the other: recalls come in between."""
    found: list[Tried] = []
    for done, one in enumerate(asked):
        if done % TELL_EVERY == 0:
            call.keeper.used_by_person()
            call.tell({"done": done, "total": len(asked), "stage": "asking"})
        vector, mode = await call.keeper.question_vector(one.text)
        if vector is None:
            raise ModelUnavailable("the embedding model is absent", "`memvault doctor` says why.")
        if mode != "hybrid" and not found:
            raise Illegal(
                "memories still wait to be embedded", "Calibrate when `memvault status` shows none waiting."
            )
        found.append(await call.keeper.read(calibrating.ask, one, vector))
    return found


async def set_shift(call: Call, params: wire.Shift) -> dict[str, Any]:
    """Move the line for this vault and the model in use, from now on."""
    if params.moves:
        _require_model(call)
    return await call.keeper.write(
        calibrating.keep, {"en": params.en, "zh": params.zh, "other": params.other}
    )
