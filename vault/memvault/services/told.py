"""What memvault told whom: keyed hashes of recalled texts, so that an echo is no observation (SPEC 10, 12).

Owns recognising text that comes back: it carries the id of a memory, or says nothing but what was told to the
same caller. Holds no text. Noted in the reader's thread, asked and stored in the writer's.
"""

from __future__ import annotations

import hmac
import re
import secrets
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
    """`key`: the vault's lookup key; without one, nothing outlives the process."""

    def __init__(self, key: bytes | None = None, known: Iterable[tuple[str, str, bytes]] = ()) -> None:
        self._key = secrets.token_bytes(32) if key is None else key
        self._prints: dict[tuple[str, bytes], str] = {(actor, print_): id_ for actor, id_, print_ in known}
        self._fresh: deque[tuple[str, str, bytes]] = deque(maxlen=MOST)

    def _print(self, text: str) -> bytes:
        return hmac.digest(self._key, b"told\x1f" + gist(text).encode(), "sha256")[:16]

    def note(self, actor: str, records: Iterable[Record]) -> None:
        """These memories reached `actor`."""
        for record in records:
            for text in {record.claim.content, *_sentences(record.claim.content)}:
                found = (actor, self._print(text))
                if found not in self._prints:
                    self._prints[found] = record.id
                    self._fresh.append((actor, record.id, found[1]))

    def keep(self, db: Database, at: str) -> None:
        """Store what was noted since. Inside the caller's transaction."""
        rows = [self._fresh.popleft() for _ in range(len(self._fresh))]
        if rows:
            recalls.keep_told(db, at, rows, iso(parse(at) - KEPT), MOST)

    def forget(self, db: Database, memory: str) -> None:
        """A deleted memory leaves nothing here. Inside the caller's transaction."""
        recalls.forget_told(db, memory)
        self._fresh = deque((row for row in list(self._fresh) if row[1] != memory), maxlen=MOST)
        for found in [found for found, id_ in list(self._prints.items()) if id_ == memory]:
            self._prints.pop(found, None)

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
