"""Why a memory is, or is not, in the answer to a question (SPEC 8), for a person.

Owns the verdicts: what the index says of words, meaning and threshold, and what keeps a memory out before any
of that counts (its state, its project, a hold). Knows nothing of how scores are made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.errors import NotFound
from memvault.model import Record, Status
from memvault.recall.calibration import THRESHOLD
from memvault.recall.query import Explanation, Hit, Query, Shelf
from memvault.services.caller import Caller, shelves
from memvault.services.dates import counts_as_expired
from memvault.services.graves import is_held
from memvault.services.recollect import Question, asked_for, query_of, searched, searched_pools
from memvault.services.vault import Vault
from memvault.store import memories, vectors

NEAR = 5
"""Memories shown that came close and are not in the answer."""
COUNTED = 500
"""Places that are looked through for memories that were not asked for."""

_NOT_SEARCHED = "it is not among the memories that this question searches"

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
    query, allow = query_of(vault, caller, question, vector), _allow(caller, question)
    most = searched(question) + NEAR
    hits = vault.index.search(query, allow, most)
    above = {hit.id for hit in hits}
    wide = [] if len(hits) == most else vault.index.search(replace(query, threshold=0.0), allow, most + NEAR)
    below = sorted((hit for hit in wide if hit.id not in above), key=lambda hit: -hit.relevance)[:NEAR]
    found = memories.get(vault.reader, [hit.id for hit in (*hits, *below)], caller.reach)
    items: list[dict[str, Any]] = []
    rank = 0
    for place, hit in enumerate((hit for hit in hits if hit.id in found), 1):
        record = found[hit.id]
        out = _filtered(vault, question, record)
        if out is not None:
            items.append(_plain(record, Explanation(hit.id, "kept_out", None, THRESHOLD, hit, (out,))))
            continue
        rank += 1
        if rank <= question.limit + NEAR:
            items.append(_plain(record, _placed(question, hit, rank, place)))
    low = ((hit.id, vault.index.explain(query, allow, hit.id, question.limit)) for hit in below)
    return [*items, *(_plain(found[memory], told) for memory, told in low if memory in found)]


def _placed(question: Question, hit: Hit, rank: int, place: int) -> Explanation:
    """A hit that passes: `rank` among those that were asked for, `place` among all that were searched."""
    returned = rank <= question.limit and place <= searched(question)
    why = f"rank {rank}, the first {question.limit} are shown"
    return Explanation(hit.id, "returned" if returned else "beyond_limit", rank, THRESHOLD, hit, (why,))


def _of_one(vault: Vault, caller: Caller, question: Question, memory: str, vector: Vector) -> dict[str, Any]:
    """What became of one memory, in the order of the stages of recall."""
    record = memories.get(vault.reader, [memory], caller.reach).get(memory)
    if record is None:
        raise NotFound("no such memory")
    query, allow = query_of(vault, caller, question, vector), _allow(caller, question)
    out = _filtered(vault, question, record)
    if out is not None:
        return _plain(record, Explanation(memory, "kept_out", None, THRESHOLD, None, (out,)))
    found = vault.index.explain(query, allow, memory, question.limit)
    if found.verdict == "not_permitted":
        found = replace(found, verdict="kept_out", reasons=(_NOT_SEARCHED,))
    elif found.verdict == "not_matched":
        found = replace(found, reasons=(_unmatched(vault, memory, vector),))
    elif found.hit is not None and found.rank is not None:
        ahead = _passed_over(vault, caller, question, query, found.rank - 1)
        found = _placed(question, found.hit, found.rank - ahead, found.rank)
    return _plain(record, found)


def _passed_over(vault: Vault, caller: Caller, question: Question, query: Query, places: int) -> int:
    """How many of the first so many places are held by memories that were not asked for."""
    hits = vault.index.search(query, _allow(caller, question), min(places, COUNTED)) if places else []
    found = memories.get(vault.reader, [hit.id for hit in hits], caller.reach)
    return sum(hit.id not in found or not asked_for(vault, found[hit.id], question) for hit in hits)


def _allow(caller: Caller, question: Question) -> Callable[[Shelf], bool]:
    return shelves(caller, question.project, searched_pools(question))


def _filtered(vault: Vault, question: Question, record: Record) -> str | None:
    """What keeps a memory out before its words and meaning count; None for nothing."""
    claim = record.claim
    if question.project is not None and claim.project not in (question.project, None):
        return f"the question was asked in the project {question.project}, it belongs to another one"
    if not asked_for(vault, record, question):
        return _held_back(vault, record)
    if question.kind is not None and claim.kind != question.kind:
        return f"the question asks for the kind {question.kind} alone, it is of the kind {claim.kind}"
    return None


def _unmatched(vault: Vault, memory: str, vector: Vector) -> str:
    if vector is None:
        return "it shares no word with the question, which was searched by words alone"
    if not vectors.of(vault.reader, memory, vault.model_id):
        return "it shares no word with the question, and its meaning has not been computed yet"
    return "it shares neither words nor meaning with the question"


def _plain(record: Record, found: Explanation) -> dict[str, Any]:
    hit = found.hit
    return {
        "id": record.id,
        "verdict": found.verdict,
        "rank": found.rank,
        "reasons": [*found.reasons, *(() if hit is None else hit.reasons)],
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
