"""What stays of a deleted memory: keyed hashes that recognise it and cannot be turned back into text.

The key is the vault's tombstone key (32 random bytes, never rotated). Knows nothing of why or by whom.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from memvault.model import Claim
from memvault.store.connection import Database
from memvault.text import fold, words


@dataclass(frozen=True, slots=True)
class Prints:
    """Keyed hashes (HMAC-SHA256) of one claim. `claim` is None without a subject and attribute."""

    content: bytes
    bag: bytes
    claim: bytes | None


def _keyed(key: bytes, label: str, *parts: str) -> bytes:
    return hmac.digest(key, "\x1f".join((label, *parts)).encode(), "sha256")


def prints(key: bytes, claim: Claim) -> Prints:
    """Hashes of the folded content, its bag of words, and (scope, project, subject, attribute, value)."""
    about = None
    if claim.subject and claim.attribute:
        about = _keyed(
            key,
            "claim",
            claim.scope,
            claim.project or "",
            fold(claim.subject),
            fold(claim.attribute),
            fold(claim.value if claim.value is not None else claim.content),
        )
    return Prints(
        content=_keyed(key, "content", fold(claim.content)),
        bag=_keyed(key, "bag", *sorted(words(claim.content))),
        claim=about,
    )


def source_print(key: bytes, ref: str) -> bytes:
    return _keyed(key, "source", ref)


def put(
    db: Database, tombstone: str, at: str, run: str, memory: str, found: Prints, source: bytes | None
) -> None:
    sql = "INSERT INTO tombstone VALUES(?, ?, ?, ?, ?, ?, ?, ?)"
    db.run(sql, (tombstone, at, run, memory, found.content, found.bag, found.claim, source))


def match(db: Database, found: Prints, sources: list[bytes]) -> str | None:
    """The id of a tombstone that forbids this claim, or one of the refs it comes from; else None."""
    row = db.maybe(
        "SELECT id FROM tombstone WHERE content = ? UNION ALL SELECT id FROM tombstone WHERE bag = ?"
        " UNION ALL SELECT id FROM tombstone WHERE claim = ? LIMIT 1",
        (found.content, found.bag, found.claim),
    )
    for ref in sources:
        row = row or db.maybe("SELECT id FROM tombstone WHERE source = ?", (ref,))
    return None if row is None else str(row[0])


def count(db: Database) -> int:
    return int(db.one("SELECT count(*) FROM tombstone")[0])
