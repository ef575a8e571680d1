"""Why a memory is, or is not, in the answer to a question (SPEC 8), for a person.

Owns the verdicts: what the index says of words, meaning and threshold, and what keeps a memory out before any
of that counts (its state, its project, a hold). Knows nothing of how scores are made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.errors import NotFound
from memvault.model import Record, Status
from memvault.recall.calibration import THRESHOLD
from memvault.recall.query import Explanation, Hit
from memvault.services.caller import Caller, shelves
from memvault.services.dates import counts_as_expired
from memvault.services.graves import is_held
from memvault.services.recollect import POOLS, Question, asked_for, query_of
from memvault.services.vault import Vault
from memvault.store import memories

NEAR = 5
"""Memories shown that came close and are not in the answer."""

_OUT = {
    Status.CANDIDATE: "it is a candidate: it waits for you, or for a second observation",
    Status.SUPERSEDED: "it was replaced by another memory",
    Status.EXPIRED: "it has expired: `--include expired` asks for those too",
    Status.ARCHIVED: "it is archived: `--include archived` asks for those too",
    Status.DISABLED: "it is switched off",
}

Vector = npt.NDArray[np.float32] | None


def explain(
    vault: Vault, caller: Caller, question: Question, memory: str | None, vector: Vector, mode: str
) -> dict[str, Any]:
    """The verdict on `memory`, or on everything in the answer and what came near. Raises NotFound.

    For the reader's thread.
    """
    if memory is None:
        items = _answer(vault, caller, question, vector)
    else:
        items = [_of_one(vault, caller, question, memory, vector)]
    return {"query": question.query, "mode": mode, "threshold": THRESHOLD, "items": items}


def _answer(vault: Vault, caller: Caller, question: Question, vector: Vector) -> list[dict[str, Any]]:
    """What is returned, best first, then what came near."""
    query = query_of(vault, question, vector)
    allow = shelves(caller, question.project, POOLS)
    hits = vault.index.search(query, allow, question.limit + NEAR)
    above = {hit.id for hit in hits}
    wide = vault.index.search(replace(query, threshold=0.0), allow, question.limit + 2 * NEAR)
    below = sorted((hit for hit in wide if hit.id not in above), key=lambda hit: -hit.relevance)
    found = memories.get(vault.reader, [hit.id for hit in (*hits, *below)], caller.reach)
    items: list[dict[str, Any]] = []
    for rank, hit in enumerate(hits, 1):
        if hit.id in found:
            beyond = rank > question.limit
            why = f"rank {rank}, the first {question.limit} are shown"
            plain = Explanation(
                hit.id, "beyond_limit" if beyond else "returned", rank, THRESHOLD, hit, (why,)
            )
            items.append(_plain(vault, question, found[hit.id], plain))
    for hit in below[:NEAR]:
        if hit.id in found:
            why = f"relevance {hit.relevance:.2f} is too low beside the threshold {THRESHOLD:.2f}"
            low = Explanation(hit.id, "below_threshold", None, THRESHOLD, hit, (why,))
            items.append(_plain(vault, question, found[hit.id], low))
    return items


def _of_one(vault: Vault, caller: Caller, question: Question, memory: str, vector: Vector) -> dict[str, Any]:
    record = memories.get(vault.reader, [memory], caller.reach).get(memory)
    if record is None:
        raise NotFound("no such memory")
    allow = shelves(caller, question.project, POOLS)
    found = vault.index.explain(query_of(vault, question, vector), allow, memory, question.limit)
    if found.verdict == "not_permitted":
        why = _OUT.get(record.status)
        if why is None:
            why = f"the question was asked in the project {question.project}, it belongs to another one"
        found = replace(found, verdict="kept_out", reasons=(why,))
    return _plain(vault, question, record, found)


def _plain(vault: Vault, question: Question, record: Record, found: Explanation) -> dict[str, Any]:
    verdict, reasons = found.verdict, list(found.reasons)
    if verdict != "kept_out" and not asked_for(vault, record, question):
        verdict, reasons = "kept_out", [_held_back(vault, record)]
    hit = found.hit
    return {
        "id": record.id,
        "verdict": verdict,
        "rank": found.rank if verdict in ("returned", "beyond_limit") else None,
        "reasons": reasons if hit is None else [*reasons, *hit.reasons],
        **_scores(hit),
        "kind": record.claim.kind,
        "scope": record.claim.scope,
        "project": record.claim.project,
        "content": record.claim.content,
        "status": record.status,
    }


def _held_back(vault: Vault, record: Record) -> str:
    if is_held(record):
        return "it resembles something you deleted and waits in the inbox"
    if record.status in _OUT:
        return _OUT[record.status]
    past = counts_as_expired(vault.reader, record, vault.now())
    return "its date has passed: `memvault verify` says that it holds" if past else "it was not asked for"


def _scores(hit: Hit | None) -> dict[str, float | None]:
    names = ("score", "relevance", "lexical", "semantic", "weight")
    values = {name: None if hit is None else getattr(hit, name) for name in names}
    return {name: None if value is None else round(float(value), 4) for name, value in values.items()}
