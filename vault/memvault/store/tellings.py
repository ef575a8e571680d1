"""What was told to whom: keyed hashes of sentences and clauses, found again by what they have in common.

Each piece keeps a bottom-k sketch (Broder 1997; Cohen and Kaplan 2007): the lowest keyed 31-bit hashes of its
features, for a sentence all of them, so that "found whole in another text" can be asked, which plain MinHash
cannot. Two pairs of them are its bands: a text that contains the piece has those pairs. Holds no
text. Knows nothing of what a feature is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations, combinations_with_replacement

import numpy as np

from memvault.store.connection import Database

MOST_FEATURES = 64
"""Lowest hashes kept of a piece; a longer one is recognised by these."""
MOST_ASKED = 96
"""Features of one sentence that are looked up: their pairs grow with the square."""
MOST_PAIRED = 16
"""Lowest features of a piece among whose pairs its bands are chosen."""
MOST_FOUND = 300
"""Pieces looked at for one sentence: those that share both their bands first, then the newest."""
APART = 1
"""The lowest bit of a stored hash: set when the feature tells claims apart."""

_HASH_BITS = 31


@dataclass(frozen=True, slots=True)
class Telling:
    """One piece told to `actor`. `hashes`: feature hashes, shifted by one, with APART in the lowest bit."""

    actor: str
    memory: str
    print: bytes
    whole: bool
    negations: int
    hashes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A piece that shares a band with what is asked for."""

    memory: str
    whole: bool
    negations: int
    hashes: tuple[int, ...]


def known(db: Database) -> list[tuple[str, str, bytes, str]]:
    """(actor, memory, keyed hash, at) of the whole sentences and texts told lately, oldest first."""
    rows = db.all("SELECT actor, memory, print, at FROM told WHERE whole = 1 ORDER BY seq")
    return [(actor, memory, bytes(print_), at) for actor, memory, print_, at in rows]


def keep(db: Database, at: str, told: Iterable[Telling]) -> None:
    """Add what was told at `at`, in the place of what was told before of the same text."""
    for one in told:
        again = "DELETE FROM told WHERE actor = ? AND memory = ? AND print = ?"
        db.run(again, (one.actor, one.memory, one.print))
        kept = sorted(one.hashes)[:MOST_FEATURES]
        features = np.array(kept, dtype="<u4").tobytes() if kept else None
        values = (at, one.actor, one.memory, one.print, int(one.whole), one.negations, features)
        marks = ", ".join("?" * len(values))
        columns = "at, actor, memory, print, whole, negations, features"
        db.run(f"INSERT INTO told({columns}) VALUES({marks})", values)
        number = int(db.one("SELECT last_insert_rowid()")[0])
        db.run_many(
            "INSERT INTO told_band VALUES(?, ?)", [(band, number) for band in _bands(db, one.actor, kept)]
        )


def _bands(db: Database, actor: str, kept: Sequence[int]) -> list[int]:
    """Two pairs of features that the fewest pieces have, if it can be without one in common: a short way in.

    Of two features one pair, and the first of them by itself.
    """
    some, salt = kept[:MOST_PAIRED], _salt(actor)
    pairs = {_band(*pair) ^ salt: pair for pair in combinations(some, 2)}
    if len(pairs) < 2:
        return [*pairs, *(_band(one, one) ^ salt for one in some[:1])]
    marks = ", ".join("?" * len(pairs))
    sql = f"SELECT band, count(*) FROM told_band WHERE band IN ({marks}) GROUP BY band"
    crowd: dict[int, int] = dict(db.all(sql, list(pairs)))
    ranked = sorted(pairs, key=lambda band: (crowd.get(band, 0), band))
    best = ranked[0]
    apart = [band for band in ranked[1:] if not set(pairs[band]) & set(pairs[best])]
    return [best, (apart or ranked[1:])[0]]


def roll_off(db: Database, since: str, most: int) -> int:
    """Forget what was told before `since` (ISO 8601), or is more than `most` pieces; how many went."""
    return db.run("DELETE FROM told WHERE at < ? OR seq <= (SELECT max(seq) FROM told) - ?", (since, most))


def forget(db: Database, memory: str) -> None:
    db.run("DELETE FROM told WHERE memory = ?", (memory,))


def near(db: Database, actors: Sequence[str], since: str, hashes: Iterable[int]) -> list[Found]:
    """Pieces told to one of `actors` since then that may be contained in a text with these features."""
    asked = sorted(hashes)[:MOST_ASKED]
    pairs = [_band(one, other) for one, other in combinations_with_replacement(asked, 2)]
    found: list[Found] = []
    for actor in actors:
        salt = _salt(actor)
        rows = db.all(
            "SELECT memory, whole, negations, features FROM told JOIN (SELECT told, count(*) AS shared"
            " FROM told_band WHERE band IN (SELECT value FROM json_each(?)) GROUP BY told"
            " ORDER BY shared DESC, told DESC LIMIT ?) ON seq = told WHERE actor = ? AND at >= ?",
            (json.dumps([band ^ salt for band in pairs]), MOST_FOUND, actor, since),
        )
        for memory, whole, negations, features in rows:
            values = np.frombuffer(bytes(features), dtype="<u4").tolist()
            found.append(Found(memory, bool(whole), negations, tuple(values)))
    return found


def _band(one: int, other: int) -> int:
    """A pair of hashes as one number, whichever of them tells apart."""
    low, high = sorted((one >> 1, other >> 1))
    return (low << _HASH_BITS) | high


@lru_cache(maxsize=64)
def _salt(actor: str) -> int:
    """Keeps what was told to one apart from what was told to others."""
    return int.from_bytes(blake2b(actor.encode(), digest_size=8).digest(), "little") >> 2
