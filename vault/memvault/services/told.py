"""What memvault told whom, so that an echo is no observation (SPEC 5, 10, 12): no feedback loop.

Owns recognising text that comes back: it carries the id of a memory, or says nothing but what was told to
the same caller within `KEPT`, lightly reworded or not. What is kept are keyed hashes, of whole sentences in
memory, of what sentences and clauses say in the vault. The text itself stays only until the writer takes it
in. Noted in a reading thread, asked and stored in the writer's.
"""

from __future__ import annotations

import hmac
import math
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import timedelta
from hashlib import blake2b
from typing import Generic, TypeVar

from memvault.clock import iso, parse
from memvault.gate import echo
from memvault.gate.echo import Piece, Said
from memvault.model import Draft, Record
from memvault.store import tellings
from memvault.store.connection import Database
from memvault.store.tellings import Found, Telling
from memvault.text import gist

KEPT = timedelta(days=30)
"""As long as a candidate waits for its second observation."""
MOST = 50_000
"""Sentences and clauses remembered as told; older ones go."""
MOST_WAITING = 300
"""Memories that the writer has not taken in yet; of more, only the whole sentences are known."""
AGAIN = timedelta(days=1)
"""What was told to the same caller so lately is not noted anew."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)

K = TypeVar("K", bound=Hashable)


class _Lately(Generic[K]):
    """When something of a memory was last told: by key, and by memory, longest ago first."""

    def __init__(self) -> None:
        self._at: OrderedDict[K, tuple[str, str]] = OrderedDict()
        self._of: dict[str, set[K]] = {}

    def put(self, key: K, memory: str, at: str) -> None:
        self.drop(key)
        self._at[key] = (memory, at)
        self._of.setdefault(memory, set()).add(key)

    def at(self, key: K) -> str:
        """ISO 8601; empty for what is not known."""
        found = self._at.get(key)
        return "" if found is None else found[1]

    def drop(self, key: K) -> None:
        found = self._at.pop(key, None)
        if found is not None:
            mine = self._of[found[0]]
            mine.discard(key)
            if not mine:
                del self._of[found[0]]

    def drop_memory(self, memory: str) -> None:
        for key in self._of.pop(memory, ()):
            self._at.pop(key, None)

    def trim(self, since: str, most: int) -> None:
        while self._at:
            key, (_, at) = next(iter(self._at.items()))
            if len(self._at) <= most and at >= since:
                return
            self.drop(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self._at)


class Told:
    """Who was told what. `key`: the vault's lookup key; without one, nothing outlives the process."""

    def __init__(self, key: bytes | None = None, known: Iterable[tuple[str, str, bytes, str]] = ()) -> None:
        self._key = secrets.token_bytes(32) if key is None else key
        self._prints: _Lately[tuple[str, bytes]] = _Lately()
        """By actor and the keyed hash of a sentence or text."""
        self._noted: _Lately[tuple[str, str, int]] = _Lately()
        """By actor, memory, and version and wording."""
        self._waiting: OrderedDict[tuple[str, str, int], list[str]] = OrderedDict()
        self._guard = threading.Lock()
        for actor, memory, print_, at in known:
            self._prints.put((actor, print_), memory, at)

    def _print(self, text: str) -> bytes:
        return hmac.digest(self._key, b"told\x1f" + gist(text).encode(), "sha256")[:16]

    def note(self, actor: str, records: Iterable[Record], at: str) -> None:
        """These memories reached `actor` at `at` (ISO 8601)."""
        lately = iso(parse(at) - AGAIN)
        for record in records:
            noted = (actor, record.id, hash((record.version, record.claim.content)))
            with self._guard:
                if self._noted.at(noted) > lately:
                    continue
            texts = _told_texts(record)
            found = {self._print(part) for text in texts for part in {text, *echo.sentences(text)}}
            with self._guard:
                self._noted.put(noted, record.id, at)
                self._noted.trim(lately, MOST)
                self._waiting[noted] = texts
                if len(self._waiting) > MOST_WAITING:
                    self._waiting.popitem(last=False)
                for print_ in found:
                    self._prints.put((actor, print_), record.id, at)
                self._prints.trim(_since(at), MOST)

    def keep(
        self,
        db: Database,
        at: str,
        *,
        within_s: float = math.inf,
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        """Store what was noted since, and forget what is too old. Inside the caller's transaction.

        What does not fit into `within_s` waits for the next time. `give_way` is called before each piece.
        """
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            with self._guard:
                if not self._waiting:
                    break
                (actor, memory, _), texts = self._waiting.popitem(last=False)
            for text in texts:
                for telling in self._tellings(actor, memory, text):
                    give_way()
                    tellings.keep(db, at, (telling,))
        self.roll_off(db, at)

    def roll_off(self, db: Database, at: str) -> None:
        """Forget what was told longer ago than `KEPT`. Inside the caller's transaction."""
        tellings.roll_off(db, _since(at), MOST)
        with self._guard:
            self._prints.trim(_since(at), MOST)

    def forget(self, db: Database, memory: str) -> None:
        """A deleted memory leaves nothing here. Inside the caller's transaction."""
        tellings.forget(db, memory)
        with self._guard:
            self._prints.drop_memory(memory)
            self._noted.drop_memory(memory)
            for noted in [noted for noted in self._waiting if noted[1] == memory]:
                del self._waiting[noted]

    def echoed(self, db: Database, at: str, actors: Sequence[str], draft: Draft) -> bool:
        """Whether the claim, or its evidence, says nothing but what was told to one of `actors`.

        What was noted last must have been kept.
        """
        evidence = [source.evidence for source in draft.sources if source.evidence]
        return any(self._is_echo(db, at, actors, text) for text in (draft.claim.content, *evidence))

    def _is_echo(self, db: Database, at: str, actors: Sequence[str], text: str) -> bool:
        if self._knows_whole(text, actors, at):
            return True
        told = False
        for sentence in echo.sentences(text):
            if not self._knows_whole(sentence, actors, at):
                verdict = self._accounted_for(db, at, actors, sentence)
                if verdict is False:
                    return False
                told = told or verdict is True
            else:
                told = True
        return told

    def _knows_whole(self, text: str, actors: Sequence[str], at: str) -> bool:
        print_, since = self._print(text), _since(at)
        with self._guard:
            return any(self._prints.at((actor, print_)) >= since for actor in actors)

    def _accounted_for(self, db: Database, at: str, actors: Sequence[str], sentence: str) -> bool | None:
        """Whether told pieces account for a sentence; None for one that says nothing by itself."""
        everything, core = echo.said(sentence), echo.said(echo.unframed(sentence))
        if not core.features and not core.negations:
            return None
        clauses = list(echo.clauses(sentence)) if core.negations else []
        if any(self._accounted_for(db, at, actors, clause) is False for clause in clauses):
            return False  # what is negated is part of what is said
        near = tellings.near(db, actors, _since(at), self._hashes(everything))
        return echo.accounts(
            frozenset(map(self._hash, everything.features)),
            frozenset(map(self._hash, core.features)),
            frozenset(map(self._hash, core.apart)),
            core.negations,
            [_piece(found) for found in near],
        )

    def knows(self, texts: Iterable[str]) -> bool:
        """Whether one of these sentences was told to anybody."""
        with self._guard:
            known = {found for _, found in self._prints}
        return bool(known) and any(self._print(text) in known for text in texts)

    def _tellings(self, actor: str, memory: str, text: str) -> Iterator[Telling]:
        """A text, its sentences, and the clauses of those that have several."""
        parts = echo.sentences(text)
        if len(parts) > 1:
            yield Telling(actor, memory, self._print(text), True, 0, ())
        for sentence in parts:
            yield self._telling(actor, memory, sentence, whole=True)
            for clause in echo.clauses(sentence):
                found = self._telling(actor, memory, clause, whole=False)
                if len(found.hashes) + found.negations >= echo.LEAST:
                    yield found

    def _telling(self, actor: str, memory: str, text: str, *, whole: bool) -> Telling:
        found = echo.said(text)
        return Telling(actor, memory, self._print(text), whole, found.negations, self._hashes(found))

    def _hash(self, feature: str) -> int:
        raw = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=4, key=self._key).digest()
        return int.from_bytes(raw, "little") >> 1

    def _hashes(self, found: Said) -> tuple[int, ...]:
        """Shifted by one, with the bit that tells claims apart."""
        return tuple(
            self._hash(feature) << 1 | (tellings.APART if feature in found.apart else 0)
            for feature in found.features
        )


def _since(at: str) -> str:
    return iso(parse(at) - KEPT)


def _piece(found: Found) -> Piece:
    return Piece(
        found.memory,
        frozenset(value >> 1 for value in found.hashes),
        frozenset(value >> 1 for value in found.hashes if value & tellings.APART),
        found.negations,
        found.whole,
    )


def _told_texts(record: Record) -> list[str]:
    """Everything of a memory that is more than a name, and that whoever is told it may repeat."""
    claim = record.claim
    texts = [claim.content, claim.why, claim.how_to_apply, claim.conditions]
    texts += [source.evidence for source in record.sources]
    return list(dict.fromkeys(text for text in texts if text))


def carries_id(text: str) -> bool:
    """Whether something in the text has the form of a memory's id."""
    return _ID.search(text) is not None


def carried_ids(draft: Draft) -> list[str]:
    """Ids, in the form that memories have, anywhere in the claim or its sources."""
    claim = draft.claim
    texts = [claim.content, claim.value, claim.why, claim.context]
    texts += [text for source in draft.sources for text in (source.ref, source.evidence)]
    return [found.lower() for text in texts if text for found in _ID.findall(text)][:20]
