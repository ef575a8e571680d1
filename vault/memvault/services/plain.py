"""Records and sources as the flat JSON that callers get (SPEC 2 and 14)."""

from __future__ import annotations

import re
from typing import Any

from memvault.model import Kind, Record, Source
from memvault.store import codec

TRUST = {
    Kind.POLICY: "high",
    Kind.PREFERENCE: "high",
    Kind.FACT: "medium",
    Kind.RELATIONSHIP: "medium",
    Kind.EPISODE: "medium",
    Kind.PROCEDURE: "medium",
    Kind.REFLECTION: "low",
}
"""Trust on recall by kind (SPEC 2)."""

NEEDS_VERIFICATION = "needs_verification"

SOURCE_CHANGED = "source_changed"
"""Beside NEEDS_VERIFICATION: it was flagged because a cited file changed; goes when it is as before."""

_OF_ITSELF = (NEEDS_VERIFICATION, SOURCE_CHANGED)
"""Flags that say something of no other memory."""

_CHECKABLE = re.compile(
    r"`[^`]+`|\b[\w-]+\.(?:py|js|ts|go|rs|c|h|cpp|java|rb|sh|md|toml|yaml|yml|json|sql|cfg|ini|txt)\b"
    r"|(?:^|\s)(?:~|\.{0,2})/[\w./-]+|(?:^|\s)--?[a-z][\w-]+|\b\w+\(\)|\bv?\d+\.\d+(?:\.\d+)?\b"
    r"|\b[A-Z]\w+(?:SQL|DB)?\s+\d+\b|\b(?:version|版本)\s*\d"
)


def verify_first(record: Record) -> bool:
    """Whether a reader must check it before use: by kind, by what a fact names, or because it was flagged."""
    if NEEDS_VERIFICATION in record.flags:
        return True
    kind = record.claim.kind
    if kind is Kind.FACT:
        return _CHECKABLE.search(record.claim.content) is not None
    return kind not in (Kind.POLICY, Kind.PREFERENCE)


def source(found: Source, *, hashes: bool = True) -> dict[str, Any]:
    """A source; without `hashes`, nothing in it tells what else its file holds."""
    plain = codec.plain_source(found)
    return plain if hashes else {**plain, "content_hash": None, "verified": False}


def record(found: Record, *, hashes: bool = True) -> dict[str, Any]:
    """Every public field of one memory. `hashes`: as for `source`.

    Without, as for an agent: nothing tells of a memory that was replaced or deleted.
    """
    flags = [flag for flag in found.flags if hashes or flag in _OF_ITSELF]
    return {
        "id": found.id,
        "version": found.version,
        **codec.plain_claim(found.claim),
        "sources": [source(s, hashes=hashes) for s in found.sources],
        "authority": found.authority,
        "confidence": round(found.confidence, 4),
        "status": found.status,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
        "verified_at": found.verified_at,
        "last_used_at": found.last_used_at,
        "usage_count": found.usage_count,
        "observations": found.observations,
        "supersedes": found.supersedes if hashes else None,
        "flags": flags,
        "trust": TRUST[found.claim.kind],
        "verify_first": verify_first(found),
    }
