"""Read: recall, get, list, facets, history, inbox. The caller's reach goes into every statement and search.

Owns the shape of answers (SPEC 14). Runs in the reader's thread. Knows nothing of the socket.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.errors import NotFound, Usage
from memvault.model import Record, Status
from memvault.recall.query import Hit, Query
from memvault.services import plain
from memvault.services.caller import PERSON, Caller, shelves
from memvault.services.vault import Vault, keep_learned
from memvault.store import events, memories, recalls
from memvault.store.memories import Filter
from memvault.text import accept
from memvault_models.language import language

QUERY_BYTES = 65_536
"""UTF-8 bytes of a question; a pasted task fits."""
MOST_RESULTS = 100
MOST_ROWS = 500


@dataclass(frozen=True, slots=True)
class Question:
    """A recall as asked. `include` may name expired and archived."""

    query: str
    project: str | None = None
    limit: int = 5
    include: tuple[str, ...] = ()
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    results: list[dict[str, Any]]
    mode: str
    used: list[str]
    query_hash: bytes
    logged: list[dict[str, Any]]
    query: Query


@dataclass(frozen=True, slots=True)
class Use:
    """A recall that reached somebody, to be logged."""

    actor: str
    answer: Answer


def note_uses(vault: Vault, uses: Sequence[Use]) -> None:
    """Log recalls and count the use of what they returned, in one transaction. For the writer's thread.

    Only a person's questions teach the index: no agent shifts what the person is answered.
    """
    now, today = vault.now(), vault.today()
    with vault.writer.transaction():
        for use in uses:
            recalls.log(vault.writer, now, use.actor, use.answer.query_hash, use.answer.logged)
            recalls.use(vault.writer, now, use.answer.used)
            if use.actor == PERSON.actor:
                vault.index.note_question(use.answer.query)
        vault.told.keep(vault.writer, now)
        keep_learned(vault)
    for memory in {memory for use in uses for memory in use.answer.used}:
        vault.index.touch(memory, used_day=today)


def checked(question: Question) -> Question:
    """Raises TextUnusable, Usage."""
    text = accept(question.query, "question", QUERY_BYTES)
    if not 1 <= question.limit <= MOST_RESULTS:
        raise Usage(f"the limit is between 1 and {MOST_RESULTS}")
    unknown = sorted(set(question.include) - {"expired", "archived"})
    if unknown:
        raise Usage(f"cannot be included: {', '.join(unknown)}", "Choose expired, archived or both.")
    return Question(text, question.project, question.limit, question.include, question.kind)


def recall(
    vault: Vault, caller: Caller, question: Question, vector: npt.NDArray[np.float32] | None, mode: str
) -> Answer:
    """Filter, then search, then read the winners (SPEC 8). `vector` None: by words alone."""
    pools = frozenset({"current", "conflict", "resting"} if question.include else {"current", "conflict"})
    query = Query(
        text=question.query,
        terms=vault.analyser.query(question.query),
        vector=vector,
        language=language(question.query),
        today=vault.today(),
        kinds=None if question.kind is None else frozenset({question.kind}),
    )
    allow = shelves(caller, question.project, pools)
    hits = vault.index.search(query, allow, question.limit * 3 if question.include else question.limit)
    found = memories.get(vault.reader, [hit.id for hit in hits], caller.reach)
    kept = [(hit, found[hit.id]) for hit in hits if hit.id in found]
    kept = [(hit, record) for hit, record in kept if _asked_for(record, question, vault.now())]
    kept = kept[: question.limit]
    vault.told.note(caller.actor, [record for _, record in kept])
    return Answer(
        results=[_result(hit, record) for hit, record in kept],
        mode=mode,
        used=[record.id for _, record in kept],
        query_hash=hmac.digest(vault.secrets.lookup, question.query.encode(), "sha256"),
        query=query,
        logged=[
            {
                "id": hit.id,
                "score": round(hit.score, 4),
                "lexical": round(hit.lexical, 4),
                "semantic": None if hit.semantic is None else round(hit.semantic, 4),
                "weight": round(hit.weight, 4),
            }
            for hit, _ in kept
        ],
    )


def _asked_for(record: Record, question: Question, now: str) -> bool:
    """Archived and expired memories come on request only; past its date, one counts as expired."""
    ends = [end for end in (record.claim.expires_at, record.claim.valid_to) if end is not None]
    state = record.status
    if state in (Status.ACTIVE, Status.CONFLICT) and any(end <= now for end in ends):
        state = Status.EXPIRED
    return state in (Status.ACTIVE, Status.CONFLICT) or state in question.include


def _result(hit: Hit, record: Record) -> dict[str, Any]:
    claim = record.claim
    why = list(hit.reasons)
    if record.status is Status.CONFLICT:
        why.insert(0, "contradicted: not a fact until a person decides")
    return {
        "id": record.id,
        "version": record.version,
        "kind": claim.kind,
        "scope": claim.scope,
        "project": claim.project,
        "content": claim.content,
        "conditions": claim.conditions,
        "score": round(hit.score, 4),
        "sources": [plain.source(source) for source in record.sources],
        "trust": plain.TRUST[claim.kind],
        "verify_first": plain.verify_first(record),
        "why": why,
        "status": record.status,
        "updated_at": record.updated_at,
        "verified_at": record.verified_at,
    }


def explain(
    vault: Vault, caller: Caller, question: Question, memory: str, vector: npt.NDArray[np.float32] | None
) -> dict[str, Any]:
    """Why a memory is, or is not, in the answer to a question."""
    query = Query(
        text=question.query,
        terms=vault.analyser.query(question.query),
        vector=vector,
        language=language(question.query),
        today=vault.today(),
    )
    allow = shelves(caller, question.project, frozenset({"current", "conflict"}))
    found = vault.index.explain(query, allow, memory, question.limit)
    return {
        "id": memory,
        "verdict": found.verdict,
        "rank": found.rank,
        "threshold": found.threshold,
        "reasons": list(found.reasons),
    }


def get(vault: Vault, caller: Caller, memory: str) -> dict[str, Any]:
    """One record. Raises NotFound, the same for absent and not granted."""
    record = memories.get(vault.reader, [memory], caller.reach).get(memory)
    if record is None:
        raise NotFound("no such memory")
    vault.told.note(caller.actor, [record])
    return plain.record(record)


def page(vault: Vault, caller: Caller, wanted: Filter, sort: str, limit: int, offset: int) -> dict[str, Any]:
    """Records and the number of all that match. Raises Usage."""
    if not 0 <= limit <= MOST_ROWS or offset < 0:
        raise Usage(f"the limit is between 0 and {MOST_ROWS}, the offset not negative")
    if sort not in memories.SORTS:
        raise Usage(f"no such order: choose {', '.join(memories.SORTS)}")
    records, total = memories.page(vault.reader, caller.reach, wanted, sort, limit, offset)
    if not caller.is_person:
        vault.told.note(caller.actor, records)
    return {"items": [plain.record(record) for record in records], "total": total}


def facets(vault: Vault, caller: Caller, wanted: Filter) -> dict[str, dict[str, int]]:
    return memories.facets(vault.reader, caller.reach, wanted)


def history(vault: Vault, caller: Caller, memory: str) -> dict[str, Any]:
    """Versions and events of one memory. Raises NotFound."""
    get(vault, caller, memory)
    return {
        "versions": memories.versions(vault.reader, memory),
        "events": events.of_memory(vault.reader, memory),
    }


def export_page(vault: Vault, caller: Caller, wanted: Filter, cursor: int, limit: int) -> dict[str, Any]:
    """A page in the order of creation; `cursor` is the offset to go on from, None at the end."""
    found = page(vault, caller, wanted, "created", limit, cursor)
    following = cursor + len(found["items"])
    return {
        "items": found["items"],
        "cursor": following if following < found["total"] else None,
        "total": found["total"],
    }
