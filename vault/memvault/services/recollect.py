"""Read: recall, get, list, facets, history, inbox. The caller's reach goes into every statement and search.

Owns the shape of answers (SPEC 14). Runs in the reader's thread. Knows nothing of the socket.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from memvault.errors import NotFound, Usage
from memvault.model import Record, Status
from memvault.recall import when
from memvault.recall.gist import gist
from memvault.recall.query import Hit, Query
from memvault.services import plain
from memvault.services.caller import PERSON, Caller, shelves
from memvault.services.dates import counts_as_expired
from memvault.services.graves import is_held
from memvault.services.vault import Vault, keep_learned
from memvault.store import events, memories, recalls
from memvault.store.memories import Filter
from memvault.text import accept
from memvault_models.language import language

QUERY_BYTES = 65_536
"""UTF-8 bytes of a question; a pasted task fits."""
KEEPING_S = 0.03
"""Longest time that taking in what was told keeps the writer; the rest waits for the next time."""
MOST_RESULTS = 100
POOLS = frozenset({"current", "conflict", "said"})
"""Shelves of the index that an ordinary question searches, as far as the caller may."""
MOST_ROWS = 500

Shape = Callable[[Record], dict[str, Any]]
"""How a record is put into an answer."""
PORTION_ROWS = 20
"""Records read at once: about a millisecond, then others come first."""


class Room(Protocol):
    """What an answer of many records may take, and when to stand aside while it is read."""

    def give_way(self) -> None: ...

    def pack(self, item: dict[str, Any]) -> Any | None:
        """The item as the answer holds it; None when the answer is full."""
        ...


class Boundless:
    """Room for everything, without hurry."""

    def give_way(self) -> None:
        """Nobody waits."""

    def pack(self, item: dict[str, Any]) -> Any:
        return item


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
    """A recall that somebody asked for, to be logged; what it found may be nothing."""

    actor: str
    answer: Answer


def note_uses(vault: Vault, uses: Sequence[Use], give_way: Callable[[], None] = lambda: None) -> None:
    """Log recalls and count the use of what they returned, in one transaction. For the writer's thread.

    `give_way` is called between parts of a millisecond: a search that is under way shall not wait for them.
    Only a person's questions teach the index: no agent shifts what the person is answered.
    """
    now, today = vault.now(), vault.today()
    with vault.writer.transaction():
        for use in uses:
            give_way()
            recalls.log(vault.writer, now, use.actor, use.answer.query_hash, use.answer.logged)
            recalls.use(vault.writer, now, use.answer.used)
            if use.actor == PERSON.actor and use.answer.used:
                vault.index.note_question(use.answer.query)
        vault.told.keep(vault.writer, now, within_s=KEEPING_S, give_way=give_way)
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


def query_of(
    vault: Vault, caller: Caller, question: Question, vector: npt.NDArray[np.float32] | None
) -> Query:
    """The question as the index takes it, with other names that the caller may know of.

    Without `vector` by words alone.
    """
    text, allow = question.query, shelves(caller, question.project, POOLS)
    asked, today = gist(text), vault.today()
    return Query(
        text=text,
        terms=vault.aliases.expand(text, vault.analyser.query(text), vault.analyser, allow),
        marks=vault.analyser.marks(question.query),
        span=when.asked(asked, today),
        vector=vector,
        language=language(asked),
        today=today,
        kinds=None if question.kind is None else frozenset({question.kind}),
    )


def best(
    vault: Vault, caller: Caller, question: Question, vector: npt.NDArray[np.float32] | None, most: int
) -> list[tuple[Hit, str]]:
    """At least `most` answers, if there are so many, with what each says: for a reranker to read."""
    wider = replace(question, limit=max(question.limit, most))
    hits = _search(vault, caller, wider, query_of(vault, caller, question, vector))
    kept = _kept(vault, caller, wider, hits)
    return [(hit, record.claim.content) for hit, record in kept]


def recall(
    vault: Vault,
    caller: Caller,
    question: Question,
    vector: npt.NDArray[np.float32] | None,
    mode: str,
    ranked: Sequence[Hit] | None = None,
) -> Answer:
    """Filter, then search, then read the winners (SPEC 8). `vector` None: by words alone.

    `ranked`: what `best` found, in another order; then nothing is searched. What was deleted meanwhile, or
    taken from the caller's reach, does not come.
    """
    query = query_of(vault, caller, question, vector)
    hits = _search(vault, caller, question, query) if ranked is None else ranked
    kept = _kept(vault, caller, question, hits)
    vault.told.note(caller.actor, [record for _, record in kept], vault.now())
    return Answer(
        results=[_result(hit, record, hashes=not caller.is_agent) for hit, record in kept],
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


def _search(vault: Vault, caller: Caller, question: Question, query: Query) -> list[Hit]:
    allow = shelves(caller, question.project, searched_pools(question))
    return vault.index.search(query, allow, searched(question))


def searched_pools(question: Question) -> frozenset[str]:
    """The shelves of the index that a question searches, as far as the caller may."""
    return POOLS | {"resting"} if question.include else POOLS


def searched(question: Question) -> int:
    """How many memories the index is asked for; of those that rest, not all were asked for."""
    return question.limit * 3 if question.include else question.limit


def _kept(vault: Vault, caller: Caller, question: Question, hits: Sequence[Hit]) -> list[tuple[Hit, Record]]:
    """The first hits that are there for the caller and were asked for, with their records."""
    found = memories.get(vault.reader, [hit.id for hit in hits], caller.reach)
    kept = [(hit, found[hit.id]) for hit in hits if hit.id in found]
    return [(hit, record) for hit, record in kept if asked_for(vault, record, question)][: question.limit]


def asked_for(vault: Vault, record: Record, question: Question) -> bool:
    """Archived and expired memories come on request only; past its date, one counts as expired.

    What resembles something deleted never comes until a person has let it back.
    """
    if is_held(record):
        return False
    state = record.status
    if state in (Status.ACTIVE, Status.CONFLICT) and counts_as_expired(vault.reader, record, vault.now()):
        state = Status.EXPIRED
    return state in (Status.ACTIVE, Status.CONFLICT) or is_said(record) or state in question.include


def is_said(record: Record) -> bool:
    """A candidate that repeats what the user said in so many words, and that nothing else holds back."""
    return record.status is Status.CANDIDATE and record.flags == (memories.SAID,)


def said_on(record: Record) -> str:
    """The date (ISO 8601) it was said."""
    return next((s.observed_at for s in record.sources if s.observed_at), record.created_at)[:10]


def _result(hit: Hit, record: Record, *, hashes: bool) -> dict[str, Any]:
    claim = record.claim
    why = list(hit.reasons)
    if is_said(record):
        why.insert(0, f"unconfirmed, said on {said_on(record)}")
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
        "sources": [plain.source(source, hashes=hashes) for source in record.sources],
        "trust": plain.TRUST[claim.kind],
        "verify_first": plain.verify_first(record),
        "why": why,
        "status": record.status,
        "unconfirmed": is_said(record),
        "updated_at": record.updated_at,
        "verified_at": record.verified_at,
    }


def get(vault: Vault, caller: Caller, memory: str) -> dict[str, Any]:
    """One record. Raises NotFound, the same for absent and not granted."""
    record = memories.get(vault.reader, [memory], caller.reach).get(memory)
    if record is None:
        raise NotFound("no such memory")
    vault.told.note(caller.actor, [record], vault.now())
    return plain.record(record, hashes=not caller.is_agent)


def page(
    vault: Vault,
    caller: Caller,
    wanted: Filter,
    sort: str,
    limit: int,
    offset: int,
    room: Room | None = None,
    shape: Shape | None = None,
) -> dict[str, Any]:
    """Records, the number of all that match, and the offset to go on from, None at the end.

    A page that has no more room ends early. Raises Usage. For the browser's thread.
    """
    if not 0 <= limit <= MOST_ROWS or offset < 0:
        raise Usage(f"the limit is between 0 and {MOST_ROWS}, the offset not negative")
    if sort not in memories.SORTS:
        raise Usage(f"no such order: choose {', '.join(memories.SORTS)}")
    ids, total = memories.page(vault.browser, caller.reach, wanted, sort, limit, offset)
    items, passed = _packed(vault, caller, ids, room or Boundless(), shape or _shape(caller))
    following = offset + passed
    return {"items": items, "total": total, "next": following if passed and following < total else None}


def _shape(caller: Caller) -> Shape:
    return partial(plain.record, hashes=not caller.is_agent)


def _packed(
    vault: Vault,
    caller: Caller,
    ids: Sequence[str],
    room: Room,
    shape: Shape,
) -> tuple[list[Any], int]:
    """The records of `ids` that there is room for, and how many of `ids` that makes, in short portions.

    No snapshot is held between two portions: who was deleted meanwhile is passed over.
    """
    items: list[Any] = []
    for start in range(0, len(ids), PORTION_ROWS):
        room.give_way()
        portion = ids[start : start + PORTION_ROWS]
        found = memories.get(vault.browser, portion, caller.reach)
        for at, memory in enumerate(portion, start):
            if memory not in found:
                continue
            packed = room.pack(shape(found[memory]))
            if packed is None:
                return items, at
            items.append(packed)
            if not caller.is_person:
                vault.told.note(caller.actor, [found[memory]], vault.now())
    return items, len(ids)


def facets(vault: Vault, caller: Caller, wanted: Filter) -> dict[str, dict[str, int]]:
    return memories.facets(vault.browser, caller.reach, wanted)


def history(vault: Vault, caller: Caller, memory: str) -> dict[str, Any]:
    """Versions and events of one memory. Raises NotFound."""
    get(vault, caller, memory)
    return {
        "versions": memories.versions(vault.reader, memory),
        "events": events.of_memory(vault.reader, memory),
    }


def export_page(
    vault: Vault, caller: Caller, wanted: Filter, cursor: int, limit: int, room: Room | None = None
) -> dict[str, Any]:
    """A page in the order of creation; `cursor` is the offset to go on from, None at the end."""
    found = page(vault, caller, wanted, "created", limit, cursor, room)
    return {"items": found["items"], "cursor": found["next"], "total": found["total"]}
