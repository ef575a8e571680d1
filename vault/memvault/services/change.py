"""One change of the vault: a transaction, a run, its events and before-images, and what follows a commit.

Every write goes through `change`; every move through the lifecycle table. Runs in the writer's thread.
Knows nothing of who may do what: callers have decided that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memvault import lifecycle
from memvault.errors import NotFound
from memvault.ids import new_id
from memvault.lifecycle import Move
from memvault.model import Authority, Claim, Record, Source, Status
from memvault.services import graves, learning
from memvault.services.vault import Vault
from memvault.store import codec, events, memories, recalls, runs, vectors, written
from memvault.store.events import Event, Head
from memvault.store.memories import Reach

EVERYTHING = Reach(
    scopes=("task", "private", "team"),
    projects=None,
    sensitivities=("public", "internal", "personal", "restricted"),
    statuses=tuple(Status),
)
"""What the vault itself may read when it compares or restores."""


def image_of(record: Record) -> dict[str, Any]:
    """Everything of a record that a rollback restores."""
    return {
        "claim": codec.plain_claim(record.claim),
        "version": record.version,
        "status": record.status,
        "authority": record.authority,
        "confidence": record.confidence,
        "observations": record.observations,
        "supersedes": record.supersedes,
        "sources": [codec.plain_source(source) for source in record.sources],
    }


def fetch(vault: Vault, memory: str) -> Record:
    """The record as the writer sees it. Raises NotFound."""
    record = memories.get(vault.writer, [memory], EVERYTHING).get(memory)
    if record is None:
        raise NotFound("no such memory")
    return record


@dataclass(slots=True)
class Change:
    """The open unit of work. Methods raise Illegal for moves that SPEC 4 does not have."""

    vault: Vault
    run: str
    actor: str
    at: str
    touched: dict[str, None] = field(default_factory=dict[str, None])
    moved: set[str] = field(default_factory=set[str])
    """Memories whose text changed or that are gone: their vectors no longer hold."""
    gone: set[str] = field(default_factory=set[str])
    """Memories that were erased: the log of recalls names them no more."""
    head: Head | None = None
    names: bool = False
    """Whether a person's other names changed."""
    summary: dict[str, Any] = field(default_factory=dict[str, Any])
    """Kept with the run, beside the number of memories it touched."""

    def create(self, record: Record, move: Move, reason: str) -> None:
        """Insert a new memory in the state its `move` gives it."""
        lifecycle.check(move, None, record.status)
        memories.insert(self.vault.writer, record, self.vault.derive(record.claim), self.run)
        learning.read(self.vault.writer, record.id, record.claim)
        runs.keep_image(self.vault.writer, self.run, record.id, None)
        self.moved.add(record.id)
        self._event(record.id, move, None, record.status, None, record.version, {"reason": reason})

    def move(self, record: Record, move: Move, after: Status, reason: str, **trust: Any) -> Record:
        """Change the state (and, through `trust`, authority, confidence, observations, supersedes)."""
        lifecycle.check(move, record.status, after)
        found = replace(record, status=after, updated_at=self.at, **trust)
        self._keep(record)
        self._write_state(found)
        self._event(record.id, move, record.status, after, record.version, record.version, {"reason": reason})
        return found

    def trust(self, record: Record, word: str, reason: str, **trust: Any) -> Record:
        """Change confidence, observations or authority alone; the state stays."""
        found = replace(record, updated_at=self.at, **trust)
        self._keep(record)
        self._write_state(found)
        self._event(
            record.id, word, record.status, record.status, record.version, record.version, {"reason": reason}
        )
        return found

    def revise(self, record: Record, claim: Claim, word: str, reason: str | None) -> Record:
        """Write a new version of the claim; the version before it is kept."""
        found = replace(record, claim=claim, version=record.version + 1, updated_at=self.at)
        changed = [
            name
            for name in codec.CLAIM_COLUMNS.split(", ")
            if getattr(record.claim, name) != getattr(claim, name)
        ]
        self._keep(record)
        derived = self.vault.derive(claim)
        memories.set_claim(self.vault.writer, record.id, found.version, claim, derived, self.at, self.run)
        learning.read(self.vault.writer, record.id, claim)
        if claim.content != record.claim.content:
            vectors.drop(self.vault.writer, record.id)
            self.moved.add(record.id)
        payload = {"reason": reason, "fields": changed}
        self._event(record.id, word, record.status, record.status, record.version, found.version, payload)
        return found

    def add_sources(self, record: Record, sources: Sequence[Source]) -> Record:
        """Keep further sources of the same claim."""
        self._keep(record)
        for source in sources:
            memories.add_source(self.vault.writer, record.id, source, self.run)
        self.touched[record.id] = None
        return replace(record, sources=(*record.sources, *sources))

    def drop_sources(self, record: Record, actor: str) -> None:
        """Take out the sources that `actor` brought."""
        self._keep(record)
        written.drop_sources(self.vault.writer, record.id, actor)
        self.touched[record.id] = None

    def erase(
        self, record: Record, move: Move, reason: str | None, *, tombstone: bool, source: str | None
    ) -> None:
        """Remove text, evidence, vectors, terms, versions, payloads and images; a tombstone may stay.

        `source`: the source or session that was deleted as a whole.
        """
        lifecycle.check(move, record.status, Status.DELETED)
        if tombstone:
            claims = self._claims_of(record)
            graves.bury(self.vault, record.id, claims, self.at, self.run, by_source=source is not None)
        self.forget(record.id)
        # The reason may quote the claim, so it is kept in the tombstone's event only as a length.
        self._event(
            record.id, move, record.status, Status.DELETED, record.version, None, {"reasoned": bool(reason)}
        )

    def _claims_of(self, record: Record) -> list[Claim]:
        """The claim in every version it had: none of them may come back."""
        older = memories.versions(self.vault.writer, record.id)
        claims = [codec.claim_of(version) for version in older] or [record.claim]
        return list(dict.fromkeys(claims))

    def forget(self, memory: str) -> None:
        """Remove a memory's rows everywhere, its events' readable parts and images included."""
        memories.remove(self.vault.writer, memory)
        events.erase_payloads(self.vault.writer, memory)
        runs.forget_images(self.vault.writer, memory)
        self.vault.told.forget(self.vault.writer, memory)
        self.gone.add(memory)
        self.touched[memory] = None
        self.moved.add(memory)

    def withdraw(self, record: Record, reason: str) -> None:
        """Remove what a rolled back run created: no tombstone, it may be written again."""
        self.forget(record.id)
        self._event(
            record.id, "withdraw", record.status, Status.DELETED, record.version, None, {"reason": reason}
        )

    def restore(self, record: Record, image: dict[str, Any], reason: str) -> Record:
        """Bring claim fields, sources, trust and state back to `image`; versions only grow."""
        claim, status = codec.claim_of(image["claim"]), Status(image["status"])
        found = record
        if claim != record.claim:
            found = self.revise(record, claim, "roll_back", reason)
        sources = tuple(codec.source_of(plain) for plain in image["sources"])
        if sources != record.sources:
            memories.set_sources(self.vault.writer, record.id, sources, self.run)
        found = replace(
            found,
            sources=sources,
            authority=Authority(image["authority"]),
            confidence=image["confidence"],
            observations=image["observations"],
            supersedes=image["supersedes"],
        )
        if status is record.status:
            return self.trust(found, "roll_back", reason)
        if record.status is Status.CONFLICT and status is Status.SUPERSEDED:
            # Taking back the rollback of a verdict is the verdict again: first active, then superseded.
            found = self.move(found, Move.RESOLVE, Status.ACTIVE, reason)
        return self.move(found, Move.ROLL_BACK, status, reason)

    def flag(self, record: Record, name: str, *, reversible: bool = False) -> Record:
        """Mark a memory for a person's look; flags make neither version nor event (SPEC 2).

        With `reversible` a rollback of the run takes the flag off again.
        """
        if reversible:
            runs.keep_image(self.vault.writer, self.run, record.id, {"flag": name})
        return self._set_flags(record, tuple(dict.fromkeys((*record.flags, name))))

    def unflag(self, record: Record, name: str) -> Record:
        return self._set_flags(record, tuple(flag for flag in record.flags if flag != name))

    def _set_flags(self, record: Record, flags: tuple[str, ...]) -> Record:
        memories.set_flags(self.vault.writer, record.id, flags)
        self.touched[record.id] = None
        return replace(record, flags=flags)

    def note(self, memory: str, word: str, reason: str, status: Status, version: int) -> None:
        """An event that changes neither claim nor state, such as a verification."""
        self._event(memory, word, status, status, version, version, {"reason": reason})

    def beside(self, word: str, details: dict[str, Any]) -> None:
        """An event about no memory, such as a grant."""
        self._event(None, word, None, None, None, None, details)

    def lifted(self, memory: str | None, tombstones: Sequence[str]) -> None:
        """These tombstones refuse nothing any more; `memory` is what the first one stood for."""
        state = None if memory is None else Status.DELETED
        self._event(memory, "lift", state, state, None, None, {"tombstones": list(tombstones)})

    def _keep(self, record: Record) -> None:
        runs.keep_image(self.vault.writer, self.run, record.id, image_of(record))

    def _write_state(self, found: Record) -> None:
        memories.set_state(
            self.vault.writer,
            found.id,
            status=found.status,
            at=self.at,
            authority=found.authority,
            confidence=found.confidence,
            observations=found.observations,
            supersedes=found.supersedes,
        )

    def _event(
        self,
        memory: str | None,
        word: str,
        before: Status | None,
        after: Status | None,
        version_before: int | None,
        version_after: int | None,
        payload: dict[str, Any],
    ) -> None:
        if memory is not None:
            self.touched[memory] = None
        event = Event(
            type=str(word),
            at=self.at,
            actor=self.actor,
            memory=memory,
            run=self.run,
            from_status=before,
            to_status=after,
            before_version=version_before,
            after_version=version_after,
            payload={name: value for name, value in payload.items() if value is not None},
        )
        self.head = events.append(self.vault.writer, self.vault.secrets.events, event)


@contextlib.contextmanager
def change(vault: Vault, kind: str, actor: str, *, run: str | None = None) -> Iterator[Change]:
    """Open a transaction and a run of `kind`; with `run`, go on with one that `start_run` opened.

    After the commit the high-water mark and the index follow, and listeners hear of it.
    """
    work = Change(vault, run or new_id(), actor, vault.now())
    with vault.writer.transaction():
        if run is None:
            runs.start(vault.writer, work.run, kind, actor, work.at)
        yield work
        recalls.forget(vault.writer, work.gone)
        if run is None:
            runs.finish(vault.writer, work.run, work.at, {"memories": len(work.touched), **work.summary})
    if work.head is not None:
        vault.mark.write(work.head)
    if work.names:
        learning.settle(vault.writer, vault.aliases)
    if work.touched:
        ids = list(work.touched)
        vault.refresh(ids, work.moved)
        vault.changed(ids, kind)
