"""Entries without a vault: records as the store would give them."""

from __future__ import annotations

from typing import Any

import pytest

from memvault.compile.entry import Entry
from memvault.model import Authority, Claim, Kind, Record, Scope, Source, SourceType, Status

SAID = "2026-03-02T09:00:00.000Z"


def entry(number: int, content: str, kind: Kind = Kind.FACT, **more: Any) -> Entry:
    """Memory number `number`; keywords are fields of claim, record or entry."""
    ident = f"01999999-0000-7000-8000-{number:012x}"
    beside = {name: more.pop(name) for name in ("verify_first", "stale", "score", "ends_at") if name in more}
    record = {
        name: more.pop(name)
        for name in ("status", "authority", "verified_at", "version", "created_at", "flags")
        if name in more
    }
    source = more.pop("source", "user:me").partition(":")
    at = record.get("created_at", SAID)
    return Entry(
        Record(
            id=ident,
            claim=Claim(kind, more.pop("scope", Scope.PRIVATE), content, **more),
            sources=(Source(SourceType(source[0]), source[2], observed_at=at),),
            confidence=0.9,
            updated_at=at,
            **{
                "version": 1, "authority": Authority.USER_CONFIRMED, "status": Status.ACTIVE,
                "created_at": SAID, **record,
            },
        ),
        written_at=at,
        **beside,
    )  # fmt: skip


@pytest.fixture(name="entry")
def _entry() -> Any:
    return entry
