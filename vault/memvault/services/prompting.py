"""What a session gets and gives at its hooks: memories for a prompt, and proposals cut out of what was said.

Owns the text that is put into a session, and how claims are proposed from one. A hook is run by the host, and
whoever has a shell can run it too: nothing here counts as the user's own word. Knows nothing of the socket.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from memvault.compile.entry import Entry, confirmed, title
from memvault.compile.lines import FRAME, forms
from memvault.compile.task import Mode, Task
from memvault.compile.tokens import cost, estimate
from memvault.errors import Refused, TextUnusable, Usage
from memvault.hooks import corrected, lessons, said, topics, words
from memvault.hooks.claims import LEAST_SIZE, Claimed
from memvault.model import Claim, Draft, Kind, Outcome, Scope, Source, SourceType
from memvault.recall.query import Query
from memvault.services import gathering, plain, remember
from memvault.services.caller import Caller, Verb, shelves
from memvault.services.compiling import as_told, narrowed
from memvault.services.recollect import Answer, Question, asked_for, query_of
from memvault.services.trust import default_sensitivity
from memvault.services.vault import Vault
from memvault.store import memories, written
from memvault.text import visible

MOST_SHOWN = 3
"""Memories for one prompt."""
LOOKED_AT = 8
"""Of the best; some may have been shown before, or are too long."""
MOST_DUE = 2
"""Of them, rules that no word of the prompt asks for, but its topic does."""
MOST_TOKENS = 300
CONFIDENCE = 0.5
"""Of what a session's words propose: ranked low until a person has looked."""
MOST_REASON_CHARS = 200

_QUOTED = "it came from memvault itself and is no new observation"
_COLON = re.compile(r"(?:[:：]|\bthat\b|[\"“”「」])\s*")
_RULES = frozenset((Kind.POLICY, Kind.PREFERENCE, Kind.PROCEDURE))
"""Kinds that say how something is done here."""
_POOLS = frozenset({"current", "said"})
"""A conflict is shown with all its sides or not at all: there is no room for that beside a prompt."""

Vector = npt.NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A claim out of a session. `what`: said, corrected or confirmed; `setting` is for the gate alone."""

    what: str
    claim: Claimed
    setting: str


SAID = "said"
_SETTINGS = {
    SAID: "The user asked the agent to remember this.",
    "corrected": "The user corrected the agent, which had assumed otherwise.",
    "confirmed": "The user confirmed that this worked.",
}


@dataclass(frozen=True, slots=True)
class Note:
    """What became of a proposal; an agent learns no more of it than from `memory.add`."""

    what: str
    outcome: Outcome
    id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Shown:
    """`text`: lines for the session, empty when nothing is worth it. `answer`: what is logged."""

    text: str
    answer: Answer


def proposals(prompt: str, message: str) -> list[Proposal]:
    """What a prompt asks to be kept; `message` is what the agent said before it. Pure."""
    found = [(SAID, claim) for claim in said.explicit(prompt)]
    found += [("corrected", claim) for claim in corrected.corrections(prompt)]
    if message and lessons.confirms(prompt):
        learned = lessons.lesson(message)
        found += [] if learned is None else [("confirmed", learned)]
    once: dict[str, Proposal] = {}
    for what, claim in found:
        once.setdefault(claim.content, Proposal(what, claim, _SETTINGS[what]))
    return list(once.values())


def propose(vault: Vault, caller: Caller, session: str, found: Sequence[Proposal]) -> list[Note]:
    """Offer claims in the caller's project, each through every gate. For the writer's thread."""
    if Verb.PROPOSE not in caller.verbs or not caller.here or Scope.PRIVATE not in caller.write_scopes:
        return []
    agent = caller.actor.removeprefix("agent:")
    ref, task = (f"{agent}/{session}", session) if session else (agent, None)
    number = written.last_message(vault.writer, ref, task) + 1
    notes: list[Note] = []
    for proposal in found:
        source = Source(
            SourceType.CONVERSATION, ref, task=task, message_index=number, evidence=proposal.claim.evidence
        )
        flags = (memories.SAID,) if proposal.what == SAID else ()
        draft = Draft(_claim(caller, proposal.claim), (source,), CONFIDENCE)
        if proposal.what == "confirmed" and _quotes_memory(vault, caller, draft):
            notes.append(Note(proposal.what, Outcome.REFUSED, None, _QUOTED))
            continue
        try:
            done = remember.add(vault, caller, draft, correct=False, flags=flags, setting=proposal.setting)
        except (Refused, TextUnusable, Usage) as error:
            notes.append(Note(proposal.what, Outcome.REFUSED, None, error.message))
        else:
            notes.append(Note(proposal.what, done.outcome, done.id, done.reason))
    return notes


def _quotes_memory(vault: Vault, caller: Caller, draft: Draft) -> bool:
    """Whether what stands behind a colon is what the agent was told: "it works because of this: ..."."""
    with vault.writer.transaction():
        vault.told.keep(vault.writer, vault.now())
    pieces = [piece for piece in _COLON.split(draft.claim.content) if words.size(piece) >= LEAST_SIZE]
    drafts = [Draft(replace(draft.claim, content=piece), ()) for piece in pieces]
    return any(vault.told.echoed(vault.writer, vault.now(), (caller.actor,), one) for one in drafts)


def _claim(caller: Caller, found: Claimed) -> Claim:
    return Claim(
        kind=found.kind,
        scope=Scope.PRIVATE,
        content=found.content,
        project=caller.project,
        sensitivity=default_sensitivity(found.kind),
    )


def told_of(notes: Sequence[Note]) -> list[str]:
    """For the session: what became of what the user asked to be remembered, so that nobody saves it twice."""
    asked = [note for note in notes if note.what == SAID]
    lines: list[str] = []
    if any(note.outcome is not Outcome.REFUSED for note in asked):
        lines.append(
            "memvault has noted what the user asked to remember. It is unconfirmed until the user confirms it"
            " (`memvault inbox`). Do not save it again."
        )
    for note in asked:
        if note.outcome is Outcome.REFUSED:
            reason = visible(note.reason, one_line=True)[:MOST_REASON_CHARS]
            lines.append(f"memvault did not keep what the user asked to remember: {reason}.")
    return list(dict.fromkeys(lines))


def recalled(
    vault: Vault, caller: Caller, query: str, vector: Vector, mode: str, known: frozenset[str]
) -> Shown:
    """The few memories that matter for a prompt, without those that are `known`. For the reader's thread."""
    question = Question(query, caller.project, LOOKED_AT)
    here = narrowed(caller, Task(query, Mode.SCOPED, caller.project))
    asked = query_of(vault, here, question, vector)
    hits = vault.index.search(asked, shelves(here, caller.project, _POOLS), LOOKED_AT)
    fresh = {hit.id: hit for hit in hits if hit.id not in known}
    found = memories.get(vault.reader, list(fresh), here.reach)
    records = [found[memory] for memory in fresh if memory in found]
    kept = [record for record in records if asked_for(vault, record, question)]
    direct = gathering.entries(vault.reader, kept, fresh)
    due = _due(vault, here, query, known | {entry.id for entry in direct})
    shown, lines = _fitted([*direct[: MOST_SHOWN - 1], *due, *direct[MOST_SHOWN - 1 :]])
    vault.told.note(caller.actor, [as_told(entry) for entry in shown], vault.now())
    text = "\n".join((FRAME, *lines)) if lines else ""
    return Shown(text, _logged(vault, asked, mode, shown, frozenset(entry.id for entry in due)))


def _due(vault: Vault, here: Caller, query: str, known: frozenset[str]) -> list[Entry]:
    """Rules whose title speaks of the work that the prompt is about: who does not know of them cannot ask."""
    wanted = topics.topics(query)
    if not wanted:
        return []
    standing = gathering.standing_entries(vault, here.reach)
    named = gathering.index_entries(vault.reader, vault, here.reach, here.project)
    now = vault.now()
    found = {
        entry.id: entry
        for entry in (*standing, *named)
        if entry.record.claim.kind in _RULES
        and entry.id not in known
        and confirmed(entry)
        and not entry.is_past(now)
        and topics.topics(title(entry)) & wanted
    }
    return list(found.values())[:MOST_DUE]


def _fitted(entries: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """As many as there is room for, best first."""
    shown: list[Entry] = []
    lines: list[str] = []
    left = MOST_TOKENS - cost((FRAME,), estimate)
    for entry in entries:
        marks = (f"trust {plain.TRUST[entry.record.claim.kind]}", f"id {entry.id}")
        fitting = next((form for form in forms(entry, more=marks) if cost(form, estimate) <= left), None)
        if fitting is not None:
            shown.append(entry)
            lines += fitting
            left -= cost(fitting, estimate)
        if len(shown) == MOST_SHOWN:
            break
    return shown, lines


def _logged(vault: Vault, asked: Query, mode: str, shown: Sequence[Entry], due: frozenset[str]) -> Answer:
    return Answer(
        results=[],
        mode=mode,
        used=[entry.id for entry in shown],
        query_hash=hmac.digest(vault.secrets.lookup, asked.text.encode(), "sha256"),
        logged=[
            {
                "id": entry.id,
                "score": round(entry.score, 4),
                "hook": "topic" if entry.id in due else "prompt",
            }
            for entry in shown
        ],
        query=asked,
    )
