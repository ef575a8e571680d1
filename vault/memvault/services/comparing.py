"""Blind comparisons of work with and without memory (M4): who sees A and B does not know which is which.

Owns the order and the verdict. Keeps ids, modes and what was picked, never a text.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memvault.errors import Illegal, NotFound
from memvault.ids import new_id
from memvault.services.vault import Vault
from memvault.store import contexts

WITH, WITHOUT, NEITHER = "with", "without", "neither"


@dataclass(frozen=True, slots=True)
class Blind:
    """A comparison that waits for its verdict; `first` is what stands behind A."""

    id: str
    first: str
    query_hash: bytes
    mode: str


def blind(vault: Vault, objective: str, mode: str, seed: int | None) -> Blind:
    """A new comparison; the same seed and objective give the same order."""
    chosen = secrets.randbits(53) if seed is None else seed
    digest = hashlib.sha256(f"{chosen}\x1f{objective}".encode()).digest()
    query_hash = hmac.digest(vault.secrets.lookup, objective.encode(), "sha256")
    return Blind(new_id(), WITH if digest[0] % 2 else WITHOUT, query_hash, mode)


def shown(found: Blind, texts: Mapping[str, str]) -> dict[str, Any]:
    """A and B, without a word on which is which; `texts` by WITH and WITHOUT."""
    second = WITHOUT if found.first == WITH else WITH
    return {"comparison": found.id, "A": texts[found.first], "B": texts[second]}


def keep(vault: Vault, found: Blind) -> None:
    """For the writer's thread."""
    with vault.writer.transaction():
        contexts.open_comparison(
            vault.writer, found.id, vault.now(), found.query_hash, found.mode, found.first
        )


def prefer(vault: Vault, ident: str, picked: str) -> dict[str, Any]:
    """Record what a person picked (A, B or neither), and say what it was. Raises NotFound, Illegal."""
    found = contexts.comparison(vault.writer, ident)
    if found is None:
        raise NotFound("no such comparison", "`memvault compare` starts one.")
    mode, first, before = found
    if before is not None:
        raise Illegal("this comparison has its verdict already")
    second = WITHOUT if first == WITH else WITH
    chosen = {"A": first, "B": second}.get(picked, NEITHER)
    with vault.writer.transaction():
        contexts.decide_comparison(vault.writer, ident, chosen)
    tally = {WITH: 0, WITHOUT: 0, NEITHER: 0, **contexts.tally(vault.writer)}
    return {"comparison": ident, "picked": chosen, "mode": mode, "A": first, "B": second, "so_far": tally}
