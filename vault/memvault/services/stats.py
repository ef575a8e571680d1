"""How the vault is doing, in numbers (SPEC 13): no text of any memory, no subject.

Owns which numbers are shown and when one is an alarm. For a person; changes nothing.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memvault.clock import iso
from memvault.lifecycle import Move
from memvault.services.caller import Caller
from memvault.services.plain import NEEDS_VERIFICATION
from memvault.services.vault import Vault
from memvault.store import memories, settings, statistics, vectors
from memvault.store.memories import Filter

WEEKS = 12
"""Weeks of growth that are shown, the present one included."""

MOST_STALE = 0.10
"""Share of stale citations over which an alarm is raised (SPEC 13)."""

_REFUSED = "refused:"
_OF_AN_AGENT = "refused_of:"
_JUDGED = {
    "confirmed": Move.CONFIRM,
    "promoted": Move.PROMOTE,
    "rejected": Move.REJECT,
    "lapsed": Move.LAPSE,
}
_MERGES = {"merged": "merge", "seen_again": "observe"}


def stats(vault: Vault, caller: Caller) -> dict[str, Any]:
    """All numbers at once. For the browser's thread."""
    db = vault.browser
    counts = memories.facets(db, caller.reach, Filter())
    counters = settings.counters(db)
    events = statistics.events_of(db, tuple(_MERGES.values()))
    standing, unused = statistics.never_used(db)
    return {
        "at": vault.now(),
        "memories": sum(counts["statuses"].values()),
        **counts,
        "growth": _growth(vault),
        "duplicates": {word: events.get(name, 0) for word, name in _MERGES.items()},
        "refusals": {
            **{n.removeprefix(_REFUSED): count for n, count in counters.items() if n.startswith(_REFUSED)},
            "resurrection": counters.get("prevented_resurrections", 0),
        },
        "held_resemblances": counters.get("held_resemblances", 0),
        "citations": _citations(vault),
        "sources": _sources(vault),
        "candidates": _candidates(vault, counters),
        "recalls": _recalls(vault),
        "reached": _reached(vault),
        "unused": {"standing": standing, "never_recalled": unused, "share": _share(unused, standing)},
        "index": {
            "memories": len(vault.index),
            "size_bytes": vault.index.size_bytes(),
            "without_vectors": vectors.count_missing(db, vault.model_id),
            "database_bytes": statistics.size_bytes(db),
        },
    }


def _share(part: int, whole: int) -> float | None:
    return None if whole == 0 else round(part / whole, 4)


def _growth(vault: Vault) -> list[dict[str, Any]]:
    """Every week up to the present one, those in which nothing happened included."""
    today = vault.clock.now().date()
    monday = today - timedelta(days=today.weekday())
    mondays = [monday - timedelta(weeks=ago) for ago in range(WEEKS - 1, -1, -1)]
    since = iso(vault.clock.now() - timedelta(days=today.weekday(), weeks=WEEKS))
    found = {week: (came, went) for week, came, went in statistics.weeks(vault.browser, since)}
    return [
        {"week": day.isoformat(), "added": came, "removed": went}
        for day in mondays
        for came, went in [found.get(day.isoformat(), (0, 0))]
    ]


def _citations(vault: Vault) -> dict[str, Any]:
    cited, stale = statistics.citations(vault.browser, NEEDS_VERIFICATION)
    share = _share(stale, cited)
    return {"cited": cited, "stale": stale, "share": share, "alarm": (share or 0.0) > MOST_STALE}


def _sources(vault: Vault) -> dict[str, Any]:
    found = statistics.sources(vault.browser)
    return {**found, "complete": _share(found["with_excerpt"], found["memories"])}


def _candidates(vault: Vault, counters: dict[str, int]) -> list[dict[str, Any]]:
    """By who proposed them, the busiest first. A candidate merged into another memory counts as neither."""
    judged = statistics.judgements(vault.browser, tuple(_JUDGED.values()))
    waiting = statistics.waiting_of(vault.browser)
    refused = {
        name.removeprefix(_OF_AN_AGENT): count
        for name, count in counters.items()
        if name.startswith(_OF_AN_AGENT)
    }
    rows = [
        {
            "actor": actor,
            "proposed": judged.get(actor, {}).get("propose", 0),
            **{word: judged.get(actor, {}).get(move, 0) for word, move in _JUDGED.items()},
            "waiting": waiting.get(actor, 0),
            "refused": refused.get(actor, 0),
        }
        for actor in {*judged, *refused}
    ]
    return sorted(rows, key=lambda row: (-row["proposed"], row["actor"]))


def _reached(vault: Vault) -> dict[str, Any]:
    """What came to agents and the person, and what they said of it; without any word of theirs no share."""
    found = statistics.reached(vault.browser)
    said = found["used"] + found["wrong"] + found["outdated"]
    unused = _share(found["memories"] - found["used"], found["memories"]) if said else None
    return {**found, "unused_share": unused}


def _recalls(vault: Vault) -> dict[str, Any]:
    """From the log of recalls: how many were asked, and the share that found something."""
    rows = statistics.recalls(vault.browser)
    asked, answered = (sum(row[name] for row in rows) for name in ("asked", "answered"))
    return {
        "asked": asked,
        "answered": answered,
        "hit_rate": _share(answered, asked),
        "since": min((row["since"] for row in rows), default=None),
        "by": [{name: row[name] for name in ("actor", "asked", "answered", "returned")} for row in rows],
    }
