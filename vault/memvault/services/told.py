"""What memvault told whom: keyed hashes of recalled texts, so that an echo is no observation (SPEC 10, 12).

Owns recognising text that comes back: it carries the id of a memory, or says nothing but what was told to the
same caller. Holds no text. Noted in the reader's thread, asked and stored in the writer's.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import timedelta

from memvault.clock import iso, parse
from memvault.model import Draft, Record
from memvault.store import recalls
from memvault.store.connection import Database
from memvault.text import gist

KEPT = timedelta(days=7)
MOST = 20_000
"""Texts remembered as told; older ones go."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
_SENTENCE = re.compile(r"\n+|(?<=[.!?。！？;；])\s*(?=\S)")


class Told:
    """Who was told what. `key`: the vault's lookup key; without one, nothing outlives the process."""

    def __init__(self, key: bytes | None = None, known: Iterable[tuple[str, str, bytes]] = ()) -> None:
        self._key = secrets.token_bytes(32) if key is None else key
        self._prints: dict[tuple[str, bytes], str] = {(actor, print_): id_ for actor, id_, print_ in known}
        self._fresh: deque[tuple[str, str, bytes]] = deque(maxlen=MOST)
        self._guard = threading.Lock()

    def _print(self, text: str) -> bytes:
        return hmac.digest(self._key, b"told\x1f" + gist(text).encode(), "sha256")[:16]

    def note(self, actor: str, records: Iterable[Record]) -> None:
        """These memories reached `actor`."""
        found = [
            (actor, record.id, self._print(text))
            for record in records
            for text in {record.claim.content, *_sentences(record.claim.content)}
        ]
        with self._guard:
            for row in found:
                if (row[0], row[2]) not in self._prints:
                    self._prints[row[0], row[2]] = row[1]
                    self._fresh.append(row)
            while len(self._prints) > MOST:
                self._prints.pop(next(iter(self._prints)))

    def keep(self, db: Database, at: str) -> None:
        """Store what was noted since. Inside the caller's transaction."""
        with self._guard:
            rows = list(self._fresh)
            self._fresh.clear()
        if rows:
            recalls.keep_told(db, at, rows, iso(parse(at) - KEPT), MOST)

    def forget(self, db: Database, memory: str) -> None:
        """A deleted memory leaves nothing here. Inside the caller's transaction."""
        recalls.forget_told(db, memory)
        with self._guard:
            self._fresh = deque((row for row in self._fresh if row[1] != memory), maxlen=MOST)
            self._prints = {found: id_ for found, id_ in self._prints.items() if id_ != memory}

    def echoed(self, actors: Sequence[str], draft: Draft) -> bool:
        """Whether the claim, or its evidence, says nothing but what was told to one of `actors`."""
        evidence = [source.evidence for source in draft.sources if source.evidence]
        return any(
            all((actor, self._print(sentence)) in self._prints for sentence in _sentences(text))
            or (actor, self._print(text)) in self._prints
            for text in (draft.claim.content, *evidence)
            for actor in actors
        )


def _sentences(text: str) -> list[str]:
    return [found for found in map(str.strip, _SENTENCE.split(text)) if found] or [text]


def carried_ids(draft: Draft) -> list[str]:
    """Ids, in the form that memories have, anywhere in the claim or its sources."""
    claim = draft.claim
    texts = [claim.content, claim.value, claim.why, claim.context]
    texts += [text for source in draft.sources for text in (source.ref, source.evidence)]
    return [found.lower() for text in texts if text for found in _ID.findall(text)][:20]
