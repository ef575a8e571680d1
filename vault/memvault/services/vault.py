"""An unlocked vault: connections, secrets and the in-memory index, opened and closed as one.

Owns what an unlocked vault is made of and the unit of work that every change goes through. Knows nothing
of sockets, callers or grants.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from memvault.clock import Clock, iso, parse
from memvault.errors import MemvaultError
from memvault.gate.score import THETA
from memvault.keys.envelope import VaultKey
from memvault.model import Claim, Sensitivity, Status
from memvault.paths import HomeLayout
from memvault.recall import shift
from memvault.recall.aliases import Aliases
from memvault.recall.index import Index
from memvault.recall.naming import Labels
from memvault.recall.query import Entry, Matrix, Shelf
from memvault.recall.terms import Analyser
from memvault.services import learning
from memvault.services.grant import Grant, of_rows
from memvault.services.hearing import Hearing
from memvault.services.places import Places, of_store
from memvault.services.standing import Standing, TokenCounts
from memvault.services.told import Told
from memvault.store import agents, events, memories, runs, schema, settings, tellings, turns, vectors
from memvault.store.connection import Database, Row, can_write, check_file
from memvault.store.mark import Mark
from memvault.store.memories import Derived
from memvault.store.turns import Turn
from memvault.text import fold, gist
from memvault_models.language import language
from memvault_models.means import Means

LAST_KEEPING_S = 0.5
"""Longest time that taking in what was told last may hold up closing."""
RESERVE_BYTES = 1_048_576
"""A file that is given up when the disk is full, so that deletions still work (SECURITY, trap 7)."""

BROWSER_CACHE_KIB = 16_384
"""Lists pass over many pages once: a large cache would not help them."""

SEARCHED = (
    ("content", 1.0),
    ("subject", 0.6),
    ("attribute", 0.6),
    ("value", 0.6),
    ("why", 0.3),
    ("how_to_apply", 0.4),
    ("conditions", 0.5),
    ("about", 0.4),
    ("context", 0.3),
)
"""Fields that keyword search looks into, with their weight beside the content."""

_POOLS: dict[str, str] = {
    Status.ACTIVE: "current",
    Status.CONFLICT: "conflict",
    Status.CANDIDATE: "waiting",
    Status.EXPIRED: "resting",
    Status.ARCHIVED: "resting",
    Status.DISABLED: "off",
    Status.SUPERSEDED: "off",
}
_SAID_POOL = "said"
_RANKS = {sensitivity.value: sensitivity.rank for sensitivity in Sensitivity}


def day_of(instant: str | None) -> int | None:
    """Days since 1970-01-01 UTC."""
    return None if instant is None else _day_of(instant[:10] if instant.endswith("Z") else instant)


@lru_cache(maxsize=4_096)
def _day_of(instant: str) -> int:
    return int(parse(instant).timestamp() // 86_400)


@dataclass(frozen=True, slots=True)
class Secrets:
    """Keys of one vault that never leave it; 32 bytes each."""

    events: bytes
    tombstones: bytes
    lookup: bytes
    terms: bytes


@dataclass(slots=True)
class Vault:
    """Everything an unlocked vault holds. Writing methods belong to the writer's thread."""

    layout: HomeLayout
    key: VaultKey
    writer: Database
    reader: Database
    browser: Database
    """Reads at length: lists, counts, exports. Never holds a snapshot between two statements."""
    mark: Mark
    secrets: Secrets
    analyser: Analyser
    labels: Labels
    index: Index
    clock: Clock
    model_id: str
    changed: Callable[[Sequence[str], str], None]
    """Called after a commit, in the writer's thread, with the ids that changed and the kind of run."""
    warnings: list[str] = field(default_factory=list[str])
    waiting: deque[str] = field(default_factory=deque[str])
    """Memories whose text has no vectors yet, oldest first; filled by the writer, emptied by the embedder."""
    clearing: threading.Event = field(default_factory=threading.Event)
    """Set while a deletion waits for the write-ahead log: whoever reads at length gives way."""

    theta: float = THETA
    """What a claim must score to be written."""
    told: Told = field(default_factory=Told)
    unwatched: str | None = None
    """What of the cited files is not watched, in words; "" for nothing, None while nobody watches."""
    standing: Standing = field(default_factory=Standing)
    token_counts: TokenCounts = field(default_factory=TokenCounts)
    grants: Mapping[str, Grant] = field(default_factory=dict[str, Grant])
    """What each agent may do, by name. Replaced as a whole by the writer."""
    places: Places = field(default_factory=Places)
    seen: dict[str, str] = field(default_factory=dict[str, str])
    """When each agent last called; kept when the vault is closed."""
    hearing: Hearing = field(default_factory=Hearing)
    aliases: Aliases = field(default_factory=Aliases)

    @property
    def read_only(self) -> bool:
        """Nothing can be written where the vault lies; every change raises ReadOnly."""
        return not self.writer.writable

    def now(self) -> str:
        return iso(self.clock.now())

    def today(self) -> int:
        return int(self.clock.now().timestamp() // 86_400)

    def derive(self, claim: Claim) -> Derived:
        """Lookup keys, language and full-text terms of a claim."""
        place = (claim.scope, claim.project or "")
        about = None
        if claim.subject and claim.attribute:
            about = self._key("claim", *place, fold(claim.subject), fold(claim.attribute))
        fields = [(text, weight) for name, weight in SEARCHED if (text := getattr(claim, name))]
        return Derived(
            claim_key=about,
            content_key=self._key("content", *place, gist(claim.content)),
            language=language(claim.content),
            terms=self.analyser.passage(fields),
        )

    def _key(self, *parts: str) -> bytes:
        return hmac.digest(self.secrets.lookup, "\x1f".join(parts).encode(), "sha256")[:16]

    def refresh(self, ids: Sequence[str], moved: set[str]) -> None:
        """Bring the index up to date after a commit; the text of `moved` changed, or they are gone."""
        self.standing.forget()
        rows = {row[1]: row for row in memories.index_rows(self.writer, ids)}
        said = turns.of(self.writer, [row[0] for row in rows.values()])
        entries: dict[str, Entry] = {}
        for memory in ids:
            row = rows.get(memory)
            if row is None:
                self.index.drop(memory)
                self.aliases.forget(memory)
                continue
            kept = None if memory in moved else _matrix(vectors.of(self.writer, memory, self.model_id))
            entries[memory] = _entry(row, self.labels, kept, said.get(row[0]))
            self.index.put(entries[memory])
            if kept is None:
                self.waiting.append(memory)
        learning.follow(self.writer, self.aliases, {id_: one.shelf for id_, one in entries.items()})

    def take_waiting(self, limit: int) -> list[tuple[str, str]]:
        """(id, text) of memories to embed, at most `limit`. For the reader's thread."""
        ids = [self.waiting.popleft() for _ in range(min(limit, len(self.waiting)))]
        return memories.contents(self.reader, ids)

    def put_vectors(self, found: Sequence[tuple[str, Matrix]]) -> None:
        """Store the vectors of memories that still exist, if anything can be stored; let the index know."""
        if not self.read_only:
            with self.writer.transaction():
                for memory, matrix in found:
                    parts = [row.astype("<f4").tobytes() for row in matrix]
                    vectors.put(self.writer, memory, self.model_id, parts)
        for memory, matrix in found:
            self.index.set_vectors(memory, matrix)

    def close(self) -> None:
        """Checkpoint if that can be done (else the log stays), close the connections, forget the index."""
        self.index.clear()
        self.aliases.clear()
        self.hearing.clear()
        self.reader.close()
        self.browser.close()
        with contextlib.suppress(MemvaultError):
            if self.writer.writable:
                with self.writer.transaction():
                    agents.keep_seen(self.writer, self.seen)
                    self.told.keep(self.writer, self.now(), within_s=LAST_KEEPING_S)
                self.writer.truncate_log()
        self.writer.close()
        self.mark.close()


def _matrix(parts: Sequence[bytes]) -> Matrix | None:
    if not parts:
        return None
    return np.frombuffer(b"".join(parts), dtype="<f4").reshape(len(parts), -1).astype(np.float32, copy=False)


def _entry(row: Row, labels: Labels, found: Matrix | None, turn: Turn | None) -> Entry:
    (
        _, memory, scope, project, sensitivity, status, kind, lang, terms,
        confidence, authority, created, verified, used, used_before, subject, attribute, said, dated,
    ) = row  # fmt: skip
    pool = _SAID_POOL if said and status == Status.CANDIDATE else _POOLS[status]
    return Entry(
        id=memory,
        shelf=Shelf(scope, project, _RANKS[sensitivity], pool),
        kind=kind,
        language=lang,
        terms=bytes(terms),
        vectors=found,
        confidence=confidence,
        authority=authority,
        created_day=day_of(created) or 0,
        dated_day=day_of(dated),
        verified_day=day_of(verified),
        used_day=day_of(used),
        used_before_day=day_of(used_before),
        named=labels.named(subject, attribute),
        thread=None if turn is None else turn.thread,
        place=0 if turn is None else turn.place,
    )


def _entries(db: Database, labels: Labels, model_id: str) -> Iterator[Entry]:
    """Rows joined with their vectors and turns, all streamed in the order of rows."""
    said = turns.stream(db)
    turn = next(said, None)
    parts = vectors.stream(db, model_id)
    ahead = next(parts, None)
    for row in memories.index_rows(db):
        mine: list[bytes] = []
        while ahead is not None and ahead[0] <= row[0]:
            if ahead[0] == row[0]:
                mine.append(ahead[2])
            ahead = next(parts, None)
        while turn is not None and turn.row < row[0]:
            turn = next(said, None)
        yield _entry(row, labels, _matrix(mine), turn if turn is not None and turn.row == row[0] else None)


def load_index(db: Database, labels: Labels, model_id: str, means: Means) -> Index:
    """The index of everything in the vault; without means of the model, by keywords alone."""
    index = Index(means.dims, means)
    index.put_many(_entries(db, labels, model_id))
    learned = settings.get(db, f"asked:{model_id}")
    if learned is not None:
        index.restore_learned(learned)
    calibrated = settings.get(db, f"shift:{model_id}")
    if calibrated is not None:
        index.shift = shift.by_language(shift.decode(calibrated))
    return index


def keep_learned(vault: Vault) -> None:
    """Store what the index has learned from questions. Inside the caller's transaction."""
    settings.put(vault.writer, f"asked:{vault.model_id}", vault.index.learned())


def check_mark(db: Database, mark: Mark) -> list[str]:
    """What the mark knows and the event log does not, as sentences; empty when all is there."""
    known, last = mark.read(), events.head(db)
    if known.seq > last.seq:
        return [f"{known.seq - last.seq} acknowledged changes are missing: the write-ahead log was damaged"]
    if known.seq and events.hash_at(db, known.seq) != known.hash:
        return ["the event log does not match its high-water mark: an older copy of the vault was put back"]
    return []


def keep_reserve(layout: HomeLayout) -> None:
    """Make the reserve file when it is missing and there is room: whole, or not at all."""
    with contextlib.suppress(OSError):
        if layout.reserve.exists():
            return
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(layout.reserve, flags, 0o600)
        try:
            written = os.write(handle, bytes(RESERVE_BYTES))
        except OSError:
            written = 0
        finally:
            os.close(handle)
        if written < RESERVE_BYTES:
            layout.reserve.unlink(missing_ok=True)


def create_database(layout: HomeLayout, key: VaultKey) -> None:
    """The empty database of a new vault. Raises FileExistsError when one is there."""
    db = Database(layout.database, key, writable=True, create=True)
    try:
        schema.migrate(db)
    finally:
        db.close()
    keep_reserve(layout)


def open_vault(
    layout: HomeLayout,
    key: VaultKey,
    clock: Clock,
    model_id: str,
    means: Means,
    changed: Callable[[Sequence[str], str], None],
) -> Vault:
    """Open, migrate and index; for reading only where nothing can be written.

    Raises VaultMissing, VaultDamaged, SchemaNewer, ReadOnly (a vault that would have to be migrated first).
    """
    check_file(layout.database)
    writable = can_write(layout.database)
    writer = Database(layout.database, key, writable=writable)
    reader: Database | None = None
    browser: Database | None = None
    mark: Mark | None = None
    try:
        schema.migrate(writer)
        with writer.transaction() if writable else contextlib.nullcontext():
            if writable:
                runs.close_unfinished(writer, iso(clock.now()))
                learning.catch_up(writer)
            names = ("events", "tombstones", "lookup", "terms")
            found = Secrets(*(settings.secret(writer, f"secret:{name}") for name in names))
        mark = Mark(layout.mark, key.derive("mark"), writable=writable)
        warnings = check_mark(writer, mark)
        mark.held = bool(warnings) or not writable
        reader = Database(layout.database, key, writable=False)
        browser = Database(layout.database, key, writable=False, cache_kib=BROWSER_CACHE_KIB)
        analyser = Analyser(found.terms)
        labels = Labels(analyser)
        index = load_index(reader, labels, model_id, means)
    except BaseException:
        for opened in (browser, reader, mark, writer):
            if opened is not None:
                opened.close()
        raise
    keep_reserve(layout)
    vault = Vault(
        layout=layout,
        key=key,
        writer=writer,
        reader=reader,
        browser=browser,
        mark=mark,
        secrets=found,
        analyser=analyser,
        labels=labels,
        index=index,
        clock=clock,
        model_id=model_id,
        changed=changed,
        warnings=warnings,
    )
    vault.grants = {row["name"]: of_rows(row) for row in agents.grants(reader)}
    vault.places = of_store(agents.places(reader), agents.project_names(reader))
    vault.told = Told(found.lookup, tellings.known(reader))
    vault.aliases = Aliases(found.lookup)
    rows = memories.index_rows(reader, learning.teachers(reader))
    learning.follow(reader, vault.aliases, {row[1]: _entry(row, labels, None, None).shelf for row in rows})
    learning.settle(reader, vault.aliases)
    vault.waiting.extend(vectors.missing(reader, model_id))
    return vault
