"""The complete check of an open vault: pages, rows, references, vectors, the chain, the mark, the header.

Changes nothing but that the write-ahead log is brought into the database first, which the page check needs
(SECURITY, trap 5). For the writer's thread. Knows nothing of repairs: `recovery` has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memvault.errors import MemvaultError
from memvault.keys import header as header_codec
from memvault.keys import header_file
from memvault.services.change import EVERYTHING
from memvault.services.vault import Vault, check_mark
from memvault.store import events, integrity, memories, vectors
from memvault.store.connection import MAX_VARIABLES

Told = Callable[[str, int, int], None]
"""Hears (name of the check, checks done, checks in all)."""
Found = tuple[bool, str, str]
"""Whether all is well, what was found, and how to mend it."""

_RECOVER = "`memvault recover` mends what can be mended."
_RESTORE = "Restore a backup from before: `memvault backups`."


def complete(vault: Vault, told: Told) -> list[dict[str, Any]]:
    """Every check with `name`, `ok`, `detail`, `fix`. Reads the whole vault: seconds for 100,000 memories."""
    looks = (
        ("header", _header),
        ("pages", _pages),
        ("structure", _structure),
        ("references", _references),
        ("event log", _event_log),
        ("high-water mark", _mark),
        ("memories", _memories),
        ("versions", _versions),
        ("vectors", _vectors),
        ("index", _index),
    )
    checks: list[dict[str, Any]] = []
    for number, (name, look) in enumerate(looks):
        told(name, number, len(looks))
        try:
            ok, detail, fix = look(vault)
        except MemvaultError as error:
            ok, detail, fix = False, error.message, _RECOVER
        checks.append({"name": name, "ok": ok, "detail": detail, "fix": "" if ok else fix})
    return checks


def _header(vault: Vault) -> Found:
    root = vault.layout.root
    header = header_file.read(root)
    if not header_codec.proved_by(header, vault.key):
        return False, "something that does not hold the vault's key wrote it", _RESTORE
    if header_file.restorable(root) != header:
        return False, "its copy is missing or another one", "Lock and unlock: that renews the copy."
    slots = len(header.slots)
    return True, f"whole, its copy too; {slots} {'slot opens' if slots == 1 else 'slots open'} the vault", ""


def _pages(vault: Vault) -> Found:
    pages = vault.writer.damaged_pages()
    return not pages, "; ".join(pages[:20]) or "every page decrypts and adds up", _RECOVER


def _structure(vault: Vault) -> Found:
    found = integrity.structure(vault.writer)
    return not found, "; ".join(found[:20]) or "tables and their indexes agree", _RECOVER


def _references(vault: Vault) -> Found:
    found = integrity.orphans(vault.writer)
    detail = ", ".join(f"{number:,} rows of {table}" for table, number in sorted(found.items()))
    return not found, detail or "every row's owner is there", _RECOVER


def _event_log(vault: Vault) -> Found:
    broken, last = events.first_broken(vault.writer, vault.secrets.events), events.head(vault.writer).seq
    if broken is not None:
        return False, f"event {broken} was edited, removed or put elsewhere", _RESTORE
    lost = sum(last - first + 1 for first, last in events.gaps(vault.writer))
    return (
        True,
        f"{last:,} events, the chain is whole{f' but for {lost:,} lost to damage' if lost else ''}",
        "",
    )


def _mark(vault: Vault) -> Found:
    found = check_mark(vault.writer, vault.mark)
    return not found, "; ".join(found) or "nothing acknowledged is missing", _RECOVER


def _memories(vault: Vault) -> Found:
    """Each one is read as a reader would, and each one the log speaks of is there."""
    ids = memories.ids_of(vault.writer, EVERYTHING, memories.Filter())
    unreadable: list[str] = []
    for start in range(0, len(ids), MAX_VARIABLES):
        batch = ids[start : start + MAX_VARIABLES]
        try:
            memories.get(vault.writer, batch, EVERYTHING)
        except (KeyError, TypeError, ValueError):
            unreadable += [one for one in batch if not _reads(vault, one)]
    if unreadable:
        return False, f"cannot be read: {', '.join(unreadable[:20])}", _RESTORE
    missing = sorted(integrity.expected(vault.writer) - set(ids))
    if missing:
        return False, f"gone without having been deleted: {', '.join(missing[:20])}", _RESTORE
    return True, f"{len(ids):,} read in full", ""


def _reads(vault: Vault, memory: str) -> bool:
    try:
        memories.get(vault.writer, [memory], EVERYTHING)
    except (KeyError, TypeError, ValueError):
        return False
    return True


def _versions(vault: Vault) -> Found:
    found = integrity.without_version(vault.writer)
    return (
        not found,
        ", ".join(found[:20]) or "the present version of each memory is the newest kept",
        _RECOVER,
    )


def _vectors(vault: Vault) -> Found:
    odd, waiting = integrity.odd_vectors(vault.writer), vectors.count_missing(vault.writer, vault.model_id)
    if odd:
        return (
            False,
            f"{odd:,} are not as their model makes them",
            "Choose the model anew: `memvault models use`.",
        )
    return True, f"all fit their model{f'; {waiting:,} memories wait to be embedded' if waiting else ''}", ""


def _index(vault: Vault) -> Found:
    held, total = len(vault.index), memories.count(vault.writer)
    return held == total, f"{held:,} of {total:,} memories in the index", "Lock and unlock to rebuild it."
