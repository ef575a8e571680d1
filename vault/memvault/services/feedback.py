"""What agents say a memory was worth: used, wrong or outdated, with evidence (SPEC 5 and 13).

Owns what becomes of it: a use is counted; doubt flags the memory for a person, with the evidence beside it in
its history, and never changes the claim. Taking the run back takes the flag off. Knows nothing of the socket.
"""

from __future__ import annotations

from typing import Any

from memvault.errors import LimitReached, Usage
from memvault.services.caller import Caller, Verb
from memvault.services.candidates import readable
from memvault.services.change import change
from memvault.services.plain import NEEDS_VERIFICATION
from memvault.services.screening import require_clean
from memvault.services.vault import Vault
from memvault.store import events, recalls, settings
from memvault.store.connection import Database
from memvault.text import accept

WORD = "feedback"
"""The type of the event that holds an agent's evidence."""

DOUBTS_A_DAY = 20
"""Of one agent: what finds more to be wrong is more likely wrong itself."""
USES_A_DAY = 500

EVIDENCE_BYTES = 8_192


def used(vault: Vault, caller: Caller, memory: str) -> str:
    """Count one use, in the log as well. Raises NotFound, LimitReached."""
    record = readable(vault, caller, memory)
    name = _spent(vault, caller, "used", USES_A_DAY)
    now = vault.now()
    with vault.writer.transaction():
        settings.count(vault.writer, name)
        said: list[dict[str, Any]] = [{"id": record.id, "feedback": "used"}]
        recalls.log(vault.writer, now, caller.actor, b"", said)
        recalls.use(vault.writer, now, [record.id])
    vault.index.touch(record.id, used_day=vault.today())
    return "counted"


def doubt(vault: Vault, caller: Caller, memory: str, verdict: str, evidence: str | None) -> str:
    """Flag a memory as `verdict` (wrong or outdated) on this evidence; one flagged already stays as it is.

    Raises NotFound, NotGranted, LimitReached, Refused for a credential, TextUnusable, Usage.
    """
    caller.require(Verb.PROPOSE)
    if evidence is None:
        raise Usage("say what shows that the memory no longer holds")
    shown = accept(evidence, "evidence", EVIDENCE_BYTES)
    require_clean("evidence", shown)
    record = readable(vault, caller, memory)
    flagged = NEEDS_VERIFICATION in record.flags
    if flagged and any(note["actor"] == caller.actor for note in notes(vault.writer, memory)):
        return "known"
    name = _spent(vault, caller, "doubt", DOUBTS_A_DAY)
    with change(vault, "feedback", caller.actor) as work:
        settings.count(vault.writer, name)
        said: list[dict[str, Any]] = [{"id": record.id, "feedback": verdict}]
        recalls.log(vault.writer, vault.now(), caller.actor, b"", said)
        if not flagged:
            work.flag(record, NEEDS_VERIFICATION, reversible=True)
        work.note(record.id, WORD, f"{verdict}: {shown}", record.status, record.version)
    return "flagged"


def notes(db: Database, memory: str) -> list[dict[str, Any]]:
    """What agents gave as evidence against a memory since it was last verified, oldest first."""
    found: list[dict[str, Any]] = []
    for event in events.of_memory(db, memory):
        if event["type"] == "verify":
            found.clear()
        elif event["type"] == WORD:
            found.append({"at": event["at"], "actor": event["actor"], "text": event["reason"]})
    return found


def _spent(vault: Vault, caller: Caller, what: str, most: int) -> str:
    """The name of today's counter. Raises LimitReached when it is full."""
    name = f"feedback:{what}:{caller.actor}:{vault.now()[:10]}"
    if caller.is_agent and settings.counters(vault.writer).get(name, 0) >= most:
        raise LimitReached(f"this agent has given as much feedback as is taken in a day ({most})")
    return name
