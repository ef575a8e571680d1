"""Compile the context for a task (SPEC 9): gather, compare with the session, fit, log.

Owns what is read for a task and what a session's stable zone is compared with. Zones, modes and budgets are
`compile`'s. `gather` runs in the reader's thread, `hold` in the writer's. Knows nothing of the socket.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.clock import iso, parse
from memvault.compile import stable
from memvault.compile.dates import absolute
from memvault.compile.entry import Entry
from memvault.compile.fit import Pack, Rank, assemble
from memvault.compile.lines import FRAME, TITLES
from memvault.compile.plan import Material, Plan, plan
from memvault.compile.stable import Drift, Held
from memvault.compile.task import LOADED, MOST_BUDGET, Mode, Task
from memvault.compile.tokens import Count
from memvault.errors import NotFound, Usage
from memvault.model import Record, Status
from memvault.recall.query import Query
from memvault.services import auditing, gathering
from memvault.services.caller import Caller, up_to
from memvault.services.recollect import QUERY_BYTES, Answer, Question, query_of
from memvault.services.vault import Vault
from memvault.store import contexts, events, memories
from memvault.text import accept, fold

MOST_LEFT_OUT = 200
"""Entries of `left_out` that an answer carries."""
SESSION_KEPT = timedelta(days=30)

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Holding:
    """What is to be kept of a session's stable zone."""

    session: bytes
    variant: str
    seq: int
    held: tuple[Held, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything read for a task; what is left is counting and fitting."""

    task: Task
    plan: Plan
    query: Query
    mode: str
    drift: tuple[Drift, ...]
    hold: Holding | None


@dataclass(frozen=True, slots=True)
class Context:
    """A finished context with what it came from."""

    gathered: Gathered
    pack: Pack
    counted_by: str


def checked(task: Task) -> Task:
    """Raises TextUnusable, Usage."""
    if task.budget > MOST_BUDGET:
        raise Usage(f"the budget is at most {MOST_BUDGET:,} tokens", "Memory is a small part of a context.")
    session = None if task.session is None else accept(task.session, "session", 512)
    return replace(task, objective=accept(task.objective, "objective", QUERY_BYTES), session=session)


def project_for(vault: Vault, caller: Caller, project: str | None) -> str | None:
    """The project a context is for: an agent's own, else the one named. Raises NotFound for another's."""
    if not caller.is_agent:
        return vault.places.spelling(project)
    if project is not None and (caller.project is None or fold(project) != fold(caller.project)):
        raise NotFound("nothing there that you were granted")
    return caller.project


def narrowed(caller: Caller, task: Task) -> Caller:
    """The caller with the task's place and privacy limit put into its reach."""
    reach = caller.reach
    wanted: tuple[str | None, ...] = (None,) if task.project is None else (task.project, None)
    projects = tuple(p for p in wanted if reach.projects is None or p in reach.projects)
    levels = reach.sensitivities
    if task.ceiling is not None:
        allowed = up_to(task.ceiling)
        levels = tuple(level for level in levels if level in allowed)
    return replace(caller, reach=replace(reach, projects=projects, sensitivities=levels))


def gather(vault: Vault, caller: Caller, task: Task, vector: Vector | None, mode: str) -> Gathered:
    """Read what a task may need. `vector` None: recall by words alone."""
    # Taken before anything is read: what changes meanwhile leaves no line in the next one.
    render = vault.standing.renderer
    mine = narrowed(caller, task)
    asked = query_of(vault, mine, Question(task.objective, task.project), vector)
    query = replace(asked, kinds=None if task.mode is Mode.AUDIT else frozenset(LOADED[task.mode]))
    recalled, contradicted = gathering.recalled(vault, mine, task, query)
    known_here = {entry.id for entry in recalled}
    facts = gathering.project_facts(vault, mine, task)
    recalled = (*recalled, *(entry for entry in facts if entry.id not in known_here))
    sets, half_hidden = gathering.conflicts(vault, mine, task, contradicted)
    session = _session(vault, caller, task)
    known = None if session is None else contexts.held(vault.reader, session, task.variant)
    seq = _began(vault, session)
    standing = gathering.standing_entries(vault, mine.reach)
    ids = [entry.id for entry in standing]
    material = Material(
        now=vault.now(),
        standing=standing,
        recalled=recalled,
        conflicts=sets,
        half_hidden=half_hidden,
        index=()
        if task.mode is Mode.MINIMAL
        else gathering.index_entries(vault.reader, vault, mine.reach, task.project),
        held=None if known is None else tuple(Held(*one) for one in known),
        fresh=frozenset() if session is None else contexts.activated_since(vault.reader, ids, seq),
    )
    made = plan(task, material, render)
    if task.mode is Mode.AUDIT:
        made.units += auditing.units(vault, mine, made)
    drift, holding = _compared(vault, caller, task, material, made, session, seq)
    return Gathered(task, made, query, mode, drift, holding)


def _session(vault: Vault, caller: Caller, task: Task) -> bytes | None:
    """A keyed name of the caller's session: whose it is cannot be read from it."""
    if task.session is None:
        return None
    text = "\x1f".join(("session", caller.actor, task.project or "", task.session))
    return hmac.digest(vault.secrets.lookup, text.encode(), "sha256")[:16]


def _began(vault: Vault, session: bytes | None) -> int:
    began = None if session is None else contexts.began_at(vault.reader, session)
    return events.head(vault.reader).seq if began is None else began


def _compared(
    vault: Vault,
    caller: Caller,
    task: Task,
    found: Material,
    made: Plan,
    session: bytes | None,
    seq: int,
) -> tuple[tuple[Drift, ...], Holding | None]:
    """What changed since the session's last call, and what is to be kept of this one."""
    if session is None:
        return (), None
    ids = [memory for placed in made.stable for memory in placed.unit.ids]
    now = stable.held(ids, made.entries)
    holding = Holding(session, task.variant, seq, now)
    if found.held is None:
        return (), holding
    gone = [one.id for one in found.held if one.id not in set(ids)]
    drift = stable.drift(found.held, now, _reasons(vault, caller, made, gone))
    return tuple(drift), holding if now != found.held else None


def _reasons(vault: Vault, caller: Caller, made: Plan, gone: Sequence[str]) -> dict[str, str]:
    """Why memories left the stable zone, as far as the caller may know."""
    readable = memories.get(vault.reader, gone, caller.reach)
    out: dict[str, str] = {}
    for memory in gone:
        record = readable.get(memory)
        if memory in made.reasons:
            out[memory] = made.reasons[memory]
        elif record is None:
            out[memory] = "no longer in force" if caller.is_agent else "deleted"
        elif record.status is Status.ACTIVE:
            out[memory] = "no longer of this place, kind or sensitivity"
        else:
            out[memory] = str(record.status)
    return out


def texts(gathered: Gathered) -> list[str]:
    """Every line whose tokens are needed, the frame and the headings too."""
    return [FRAME, *TITLES.values(), *gathered.plan.texts()]


def finish(gathered: Gathered, count: Count, counted_by: str) -> Context:
    """Fit what was gathered into the budget. Pure."""
    made = gathered.plan
    pack = assemble(made.stable, made.units, gathered.task.budget, count, made.reasons)
    return Context(gathered, pack, counted_by)


def hold(vault: Vault, found: Holding) -> None:
    """Keep what a stable zone held; old ones go. For the writer's thread."""
    rows = [(one.id, one.version, one.verify_first) for one in found.held]
    with vault.writer.transaction():
        contexts.hold(
            vault.writer, found.session, found.variant, found.seq, vault.now(), rows, _kept_since(vault)
        )


def lapse_sessions(vault: Vault) -> None:
    """Forget what the stable zones of old sessions held."""
    with vault.writer.transaction():
        contexts.lapse(vault.writer, _kept_since(vault))


def _kept_since(vault: Vault) -> str:
    return iso(parse(vault.now()) - SESSION_KEPT)


def plain_context(context: Context) -> dict[str, Any]:
    """The answer of SPEC 14."""
    pack, made = context.pack, context.gathered.plan
    left_out = [{"id": memory, "reason": reason} for memory, reason in pack.left_out.items()]
    indexed = next(len(lines) for name, lines, _ in pack.zones if name == "index")
    shown = set(pack.shown)
    offered = sum(unit.rank is Rank.INDEX and unit.ids[0] not in shown for unit in made.units)
    return {
        "text": pack.text,
        "zones": [{"name": name, "lines": list(lines), "ids": list(ids)} for name, lines, ids in pack.zones],
        "tokens": pack.tokens,
        "budget": context.gathered.task.budget,
        "stable_hash": pack.stable_hash,
        "stable_bytes": len(pack.stable_text.encode()),
        "left_out": left_out[:MOST_LEFT_OUT],
        "left_out_total": len(left_out),
        "mode": context.gathered.task.mode,
        "project": context.gathered.task.project,
        "drift": [
            {"id": one.id, "version": one.version, "reason": one.reason} for one in context.gathered.drift
        ],
        "index": {"shown": indexed, "left_out": offered - indexed + made.unnamed},
        "recall": context.gathered.mode,
        "counted_by": context.counted_by,
    }


def answer(vault: Vault, caller: Caller, context: Context) -> Answer:
    """What is logged and counted: the memories that were shown in full. Their text is noted as told."""
    made, pack = context.gathered.plan, context.pack
    shown = [made.entries[memory] for memory in pack.shown if memory in made.entries]
    vault.told.note(caller.actor, [as_told(entry) for entry in shown], vault.now())
    return Answer(
        results=[],
        mode=context.gathered.mode,
        used=[entry.id for entry in shown],
        query_hash=hmac.digest(vault.secrets.lookup, context.gathered.task.objective.encode(), "sha256"),
        logged=[
            {"id": entry.id, "score": round(entry.score, 4), "context": context.gathered.task.mode}
            for entry in shown
        ],
        query=context.gathered.query,
    )


def as_told(entry: Entry) -> Record:
    """The record with its sentences as they are and as the context dated them: both would be echoes."""
    claim = entry.record.claim
    written = absolute(claim.content, entry.said_on)
    if written == claim.content:
        return entry.record
    return replace(entry.record, claim=replace(claim, content=f"{claim.content}\n{written}"))
