"""Defence against a polluting agent: how much it may propose, what it wrote, and taking all of it out.

Owns the rate of proposals, the report on one agent and the purge. What a person confirmed is a person's by
then: it stays unless that is asked for too. Knows nothing of grants' rights.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from memvault.clock import iso, parse
from memvault.lifecycle import Move
from memvault.model import Authority, Status
from memvault.services.caller import Caller
from memvault.services.candidates import sightings
from memvault.services.change import Change, change, fetch
from memvault.services.erase import empty_log, older_backups
from memvault.services.granting import found
from memvault.services.vault import Vault
from memvault.store import memories, settings, tombstones, written

PROPOSALS_AN_HOUR = 60
"""Writes of one agent that are taken within an hour; a diligent session needs a tenth of it."""

_WINDOW = timedelta(hours=1)
_NEWEST_RUNS = 5_000

TOO_MANY = "too many proposals within the hour: only conclusions count"


def too_many(vault: Vault, caller: Caller) -> bool:
    """Whether an agent has proposed as much as is taken within an hour."""
    if not caller.is_agent:
        return False
    since = iso(parse(vault.now()) - _WINDOW)
    return written.recent_runs(vault.writer, caller.actor, since, _NEWEST_RUNS) >= PROPOSALS_AN_HOUR


def refusal(vault: Vault, caller: Caller) -> str | None:
    """Why nothing is taken from this agent just now, counted; None when it is."""
    if not too_many(vault, caller):
        return None
    with vault.writer.transaction():
        settings.count(vault.writer, "refused:too_fast")
    return TOO_MANY


@dataclass(frozen=True, slots=True)
class Share:
    """Ids of what rests on one agent: `waiting` for a person, active `unreviewed`, `confirmed` by a person.

    `shared`: what others said as well, so that only its sources would go.
    """

    waiting: list[str]
    unreviewed: list[str]
    confirmed: list[str]
    shared: list[str]

    def plain(self) -> dict[str, list[str]]:
        return {name: list(getattr(self, name)) for name in self.__slots__}


def share(vault: Vault, name: str) -> Share:
    """What rests on the agent. Raises NotFound for one that was never let in."""
    parts = Share([], [], [], [])
    for id_, status, authority, others in written.shares(vault.writer, f"agent:{found(vault, name).name}"):
        if others:
            parts.shared.append(id_)
        elif status == Status.CANDIDATE:
            parts.waiting.append(id_)
        elif Authority(authority).rank >= Authority.USER_CONFIRMED.rank:
            parts.confirmed.append(id_)
        else:
            parts.unreviewed.append(id_)
    return parts


def report(vault: Vault, name: str) -> dict[str, Any]:
    """What an agent brought in and how it was judged: numbers and ids, no text."""
    grant = found(vault, name)
    judged = written.judged(vault.writer, f"agent:{name}")
    return {
        "agent": grant.name,
        "state": grant.state,
        "quarantined": grant.quarantined,
        "brought_in": written.brought_in(vault.writer, f"agent:{name}"),
        "judged": {
            word: judged.get(move, 0)
            for word, move in (
                ("confirmed", Move.CONFIRM),
                ("promoted", Move.PROMOTE),
                ("rejected", Move.REJECT),
                ("lapsed", Move.LAPSE),
                ("deleted", Move.DELETE),
                ("contradicted", Move.CONTRADICT),
                ("superseded", Move.SUPERSEDE),
                ("disabled", Move.DISABLE),
            )
        },
        "refused": settings.counters(vault.writer).get(f"refused_of:agent:{name}", 0),
        **{part: len(ids) for part, ids in share(vault, name).plain().items()},
    }


def count_refused(vault: Vault, caller: Caller) -> None:
    """Count a refusal against the agent that met it. Inside the caller's transaction."""
    settings.count(vault.writer, f"refused_of:{caller.actor}")


def silence(vault: Vault, caller: Caller, name: str) -> None:
    """What a quarantined agent brought as the user's words is not recalled any more: it only waits."""
    said = [id_ for id_ in share(vault, name).waiting if memories.SAID in fetch(vault, id_).flags]
    if said:
        with change(vault, "quarantine", caller.actor) as work:
            for memory in said:
                work.unflag(fetch(vault, memory), memories.SAID)


def purge(vault: Vault, caller: Caller, name: str, *, confirmed: bool) -> dict[str, Any]:
    """Erase in one run what rests on the agent alone, with tombstones, and its part of what others said too.

    `confirmed`: also what a person confirmed.
    """
    parts = share(vault, name)
    gone = [*parts.waiting, *parts.unreviewed, *(parts.confirmed if confirmed else ())]
    with change(vault, "purge", caller.actor) as work:
        for memory in gone:
            record = fetch(vault, memory)
            move = Move.REJECT if record.status is Status.CANDIDATE else Move.DELETE
            work.erase(record, move, None, tombstone=True, source=None)
        for memory in parts.shared:
            _disown(work, memory, f"agent:{name}")
        work.beside("grant.purged", {"agent": name, "erased": len(gone), "shared": len(parts.shared)})
    empty_log(vault)
    return {
        "deleted": gone,
        "shared": parts.shared,
        "kept": [] if confirmed else parts.confirmed,
        "tombstones": tombstones.count_of_run(vault.writer, work.run),
        "run": work.run,
        "older_backups": older_backups(vault),
    }


def _disown(work: Change, memory: str, actor: str) -> None:
    """Take an agent's sources, and what they counted as observations, from what others said as well."""
    before = fetch(work.vault, memory)
    work.drop_sources(before, actor)
    left = fetch(work.vault, memory)
    seen = max(1, sightings(left.sources)) if before.observations > 1 else before.observations
    work.trust(
        left, "disown", "an agent's sources were taken out", observations=min(before.observations, seen)
    )
