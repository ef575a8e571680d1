"""Runs and their rollback, the checks behind `doctor`, and what the event log can prove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memvault.errors import DependentChanges, Illegal, NotFound, Refused, VaultDamaged
from memvault.model import Claim
from memvault.services import aliasing, backup, graves
from memvault.services.caller import Caller
from memvault.services.change import EVERYTHING, Change, change
from memvault.services.forgetting import CLOCK_JUMPED
from memvault.services.vault import Vault
from memvault.store import backups, codec, events, memories, runs, settings, tombstones, vectors

Found = tuple[bool, str, str]
"""Whether all is well, what was found, and how to mend it."""

_COPY_FIRST = "Make a copy of the vault's folder, then restore the newest backup."


_GONE = ("a deletion cannot be taken back: nothing of it is left",)
_KEYS = ("a change of keys or a recovery cannot be taken back",)
_FINAL: dict[str, tuple[str, ...]] = {
    "delete": _GONE,
    "reject": _GONE,
    "restore": ("a restore is not taken back as a run", "Restore the copy that was made before it."),
    "keys": _KEYS,
    "recover": _KEYS,
    "lift": ("a tombstone that was lifted stays lifted", "Delete the memory again if it came back."),
}
"""Kinds of runs that no rollback takes back: why, and what to do instead."""


@dataclass(frozen=True, slots=True)
class RolledBack:
    """`restored` are as they were before the run, `removed` were created by it."""

    restored: list[str]
    removed: list[str]
    run: str


def show_run(vault: Vault, run: str) -> dict[str, Any]:
    """A run with its changes. Raises NotFound."""
    found = runs.get(vault.reader, run)
    if found is None:
        raise NotFound("no such run", "`memvault runs` lists them.")
    return {**found, "changes": events.of_run(vault.reader, run)}


def roll_back(vault: Vault, caller: Caller, run: str, *, with_dependents: bool) -> RolledBack:
    """Restore what `run` found. Deletions stay deletions; versions and events only grow.

    Raises NotFound, Illegal (nothing to take back), DependentChanges when later runs changed the same
    memories and `with_dependents` was not given, Refused when a tombstone forbids what would come back.
    """
    found = runs.get(vault.writer, run)
    if found is None:
        raise NotFound("no such run", "`memvault runs` lists them.")
    if found["status"] == "rolled_back":
        raise Illegal("the run was taken back already")
    if found["status"] == "running":
        raise Illegal("the run is still going on", "Cancel it, or wait until it has ended.")
    if found["kind"] in _FINAL:
        raise Illegal(*_FINAL[found["kind"]])
    dependents = _dependents(vault, run)
    if dependents and not with_dependents:
        raise DependentChanges(
            f"{len(dependents)} later runs changed the same memories: {', '.join(dependents)}"
        )
    removed: dict[str, None] = {}
    restored: dict[str, None] = {}
    with change(vault, "rollback", caller.actor) as work:
        for taken in (*reversed(dependents), run):
            _take_back(work, taken, restored, removed)
            runs.set_status(vault.writer, taken, "rolled_back")
            for earlier in _taken_by(vault, taken):
                runs.set_status(vault.writer, earlier, "kept")
        work.summary["taken"] = [*dependents, run]
    vault.writer.truncate_log()
    return RolledBack([memory for memory in restored if memory not in removed], list(removed), work.run)


def _take_back(work: Change, run: str, restored: dict[str, None], removed: dict[str, None]) -> None:
    """Bring every memory that `run` touched, and that still exists, back to its image."""
    images = aliasing.put_back(work, runs.images(work.vault.writer, run))
    living = memories.get(work.vault.writer, [memory for memory, _ in images], EVERYTHING)
    for memory, image in images:
        record = living.get(memory)
        if record is None:
            continue
        if image is None:
            work.withdraw(record, "its run was taken back")
            removed[memory] = None
        elif "flag" in image:
            work.unflag(record, image["flag"])
            restored[memory] = None
        else:
            _require_allowed(work.vault, record.claim, codec.claim_of(image["claim"]))
            work.restore(record, image, "its run was taken back")
            restored[memory] = None


def _require_allowed(vault: Vault, now: Claim, before: Claim) -> None:
    """Raises Refused when going back would bring back what was deleted for good since (SPEC 7)."""
    grave = None if now == before else graves.newly_met(vault, now, before)
    if grave is not None and grave.forbids:
        raise Refused(f"what it would bring back is refused: {grave.reason}", grave.hint)


def _dependents(vault: Vault, run: str) -> list[str]:
    """Every later run that changed what `run` changed, and the runs that build on those; oldest first."""
    found: set[str] = set()
    waiting = [run]
    while waiting:
        current = waiting.pop()
        for memory, _ in runs.images(vault.writer, current):
            for later in events.later_runs(vault.writer, memory, current):
                stands = (runs.get(vault.writer, later) or {}).get("status") != "rolled_back"
                if later in found or not stands or _cancels_out(vault, later, current):
                    continue
                if not _gone(vault, memory):
                    found.add(later)
                    waiting.append(later)
    return sorted(found)


def _taken_by(vault: Vault, run: str) -> list[str]:
    """The runs that a rollback took back; empty for any other run."""
    return (runs.get(vault.writer, run) or {}).get("summary", {}).get("taken", [])


def _cancels_out(vault: Vault, later: str, run: str) -> bool:
    """Whether `later` only took back what came after `run` as well: the two together changed nothing."""
    taken = _taken_by(vault, later)
    return bool(taken) and all(one > run for one in taken)


def _gone(vault: Vault, memory: str) -> bool:
    """Deleted memories bind nothing: there is nothing left to bring back."""
    return memory not in memories.get(vault.writer, [memory], EVERYTHING)


def undo(vault: Vault, caller: Caller) -> RolledBack:
    """Take back the caller's newest run that can be. Raises Illegal when there is none."""
    run = runs.newest_undoable(vault.writer, caller.actor)
    if run is None:
        raise Illegal("there is nothing to undo")
    return roll_back(vault, caller, run, with_dependents=False)


def verify_audit(vault: Vault) -> dict[str, Any]:
    """Whether the event log adds up, link by link, and reaches the mark that is kept outside the database."""
    broken = events.first_broken(vault.writer, vault.secrets.events)
    known, last = vault.mark.read(), events.head(vault.writer)
    short = known.seq > last.seq or (known.seq > 0 and events.hash_at(vault.writer, known.seq) != known.hash)
    lost = sum(last - first + 1 for first, last in events.gaps(vault.writer))
    detail = f"the chain is whole{f', but for {lost:,} events that damage took' if lost else ''}"
    if broken is not None:
        detail = f"event {broken} was edited, removed or put elsewhere"
    elif short:
        detail = f"the log ends at event {last.seq}, the mark outside the database stands at {known.seq}"
    return {"ok": broken is None and not short, "events": last.seq, "broken_at": broken, "detail": detail}


def examine(vault: Vault) -> list[dict[str, Any]]:
    """Checks of the open vault, each with `name`, `ok`, `detail`, `fix`. Reads everything; takes seconds."""
    return [
        _tried("pages", _pages, vault),
        _tried("event log", _event_log, vault),
        _high_water_mark(vault),
        _check(
            "clock",
            CLOCK_JUMPED not in vault.warnings,
            "it agrees with the newest changes" if CLOCK_JUMPED not in vault.warnings else CLOCK_JUMPED,
            "Set this machine's clock; if it is right, nothing is to be done.",
        ),
        _tried("embeddings", _embeddings, vault),
        _tried("index", _index, vault),
        _check(
            "reserve", vault.layout.reserve.exists(), "room to delete on a full disk", "Free some disk space."
        ),
        _tried("tombstones", _tombstones, vault),
        _tried("backup", _backup, vault),
        _watched(vault),
    ]


def _high_water_mark(vault: Vault) -> dict[str, Any]:
    found = "; ".join(warning for warning in vault.warnings if warning != CLOCK_JUMPED)
    detail = found or "nothing acknowledged is missing"
    return _check("high-water mark", not found, detail, "Compare with the newest backup.")


def _tried(name: str, look: Callable[[Vault], Found], vault: Vault) -> dict[str, Any]:
    """A check that reads the database: damage it stumbles over is its answer."""
    try:
        return _check(name, *look(vault))
    except VaultDamaged as error:
        return _check(name, False, error.message, _COPY_FIRST)


def _pages(vault: Vault) -> Found:
    pages = vault.writer.damaged_pages()
    return not pages, "; ".join(pages[:5]) or "every page decrypts and adds up", _COPY_FIRST


def _event_log(vault: Vault) -> Found:
    broken = events.first_broken(vault.writer, vault.secrets.events)
    detail = "the chain is whole" if broken is None else f"broken at event {broken}"
    return broken is None, detail, "Something changed the log behind memvault's back: restore a backup."


def _embeddings(vault: Vault) -> Found:
    missing, total = vectors.count_missing(vault.writer, vault.model_id), memories.count(vault.writer)
    detail = f"{total - missing:,} of {total:,} memories embedded"
    return missing == 0, detail, "They are embedded in the background; recall by words works meanwhile."


def _index(vault: Vault) -> Found:
    held, total = len(vault.index), memories.count(vault.writer)
    return held == total, f"{held:,} of {total:,} memories in the index", "Lock and unlock to rebuild it."


def _tombstones(vault: Vault) -> Found:
    prevented = settings.counters(vault.writer).get("prevented_resurrections", 0)
    kept = tombstones.count(vault.writer)
    return True, f"{kept:,} kept, {prevented:,} resurrections prevented", ""


def _backup(vault: Vault) -> Found:
    """Having none is no fault of the vault, so it is told, not marked."""
    newest = backup.newest_whole(vault.layout, backups.every(vault.writer))
    if newest is None:
        return True, "there is none yet: `memvault backup` makes one", ""
    return True, f"the newest whole one: {newest.path} of {newest.at}, {newest.memories or 0:,} memories", ""


def _watched(vault: Vault) -> dict[str, Any]:
    detail = "changes of cited files are heard of at once"
    if vault.unwatched is None:
        detail = "cited files are not watched"
    fix = "They are looked at every hour; more watches: fs.inotify.max_user_watches, max_user_instances."
    return _check("cited files", not vault.unwatched, vault.unwatched or detail, fix)


def _check(name: str, ok: bool, detail: str, fix: str) -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail, "fix": "" if ok else fix}
