"""Watching the files that memories cite, while the vault is open: hear, look, let the vault flag.

Owns when files are looked at: when the vault is opened, when something was heard of them, and every hour.
Looks at nothing and keeps no path while it is locked. What a change means, `services.cited_files` knows.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from memvault.daemon.citations import forbidden, in_time
from memvault.daemon.keeper import Keeper
from memvault.daemon.readers import Lane
from memvault.errors import Locked, MemvaultError, VaultAbsent
from memvault.services import cited_files
from memvault.services.cited_files import Seen
from memvault.watch import cited
from memvault.watch.cited import Cited, Lack
from memvault.watch.watcher import Coverage, Watcher

log = logging.getLogger(__name__)

QUIET_S = 0.3
"""Events that follow each other faster are one change, as when an editor saves."""
LONGEST_S = 3.0
"""However much is going on, after so long it is looked at."""
SECOND_LOOK_S = 1.0
"""What is gone is looked for once more after this: some programs delete a file before they write it anew."""
SWEEP_S = 3_600.0
"""Without a word of them, cited files are looked at this often."""
AT_ONCE = 200
MOST_NEWCOMERS = 256
OWN = "watch"
"""The kind of the runs made here; news of them call for nothing."""


@dataclass(slots=True)
class _News:
    """What was heard since the last look: cited path -> where it went, files that appeared, other changes."""

    files: dict[str, str | None] = field(default_factory=dict[str, str | None])
    newcomers: dict[str, None] = field(default_factory=dict[str, None])
    memories: bool = False


class Watching:
    """One task while the vault is open, none while it is not."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._lane = Lane("watcher")
        self._watcher = Watcher(self._heard)
        self._loop = asyncio.get_running_loop()
        self._stir = asyncio.Event()
        self._news = _News()
        self._task: asyncio.Task[None] | None = None
        self._refs: dict[str, list[str]] = {}
        self._known: dict[str, tuple[tuple[int, ...] | None, str | None]] = {}
        """Path -> what its directory entry and its content were at the last look."""
        keeper.listeners.append(self._hear)
        keeper.on_lock.append(self._end)

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        if method == "state" and params.get("state") == "unlocked" and self._task is None:
            self._task = self._loop.create_task(self._work(), name="watch cited files")
        elif method == "changed" and params.get("reason") != OWN:
            self._news.memories = True
            self._stir.set()

    def _heard(self, path: str, place: str | None) -> None:
        """Called in the observer's thread."""
        with contextlib.suppress(RuntimeError):  # the loop was closed just now
            self._loop.call_soon_threadsafe(self._note, path, place)

    def _note(self, path: str, place: str | None) -> None:
        if self._task is None:
            return
        if path != place:
            self._news.files[path] = place or self._news.files.get(path)
        elif len(self._news.newcomers) < MOST_NEWCOMERS:
            self._news.newcomers[path] = None
        if path != place:
            self._stir.set()

    def _end(self) -> None:
        """The vault is being locked: stop, and forget every path."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        self._lane.submit(self._watcher.stop)
        self._news, self._refs, self._known = _News(), {}, {}
        self._stir.clear()

    async def stop(self) -> None:
        """The daemon ends."""
        task = self._task
        self._end()
        if task is not None:
            await asyncio.wait([task])
        await in_time(partial(self._lane.submit, self._watcher.stop))

    async def _work(self) -> None:
        step = self._all
        while self._task is asyncio.current_task():
            try:
                await step()
            except (Locked, VaultAbsent):
                return
            except MemvaultError as error:
                log.warning("cited files were not looked at: %s", error.code)
            step = self._turn

    async def _all(self) -> None:
        await self._list()
        await self._look(list(self._refs), {})

    async def _turn(self) -> None:
        """Wait until there is something to look at, or an hour; then look."""
        try:
            async with asyncio.timeout(SWEEP_S):
                await self._stir.wait()
        except TimeoutError:
            await self._all()
            return
        until = self._loop.time() + LONGEST_S
        while self._stir.is_set() and self._loop.time() < until:
            self._stir.clear()
            await asyncio.sleep(QUIET_S)
        self._stir.clear()
        news, self._news = self._news, _News()
        if news.memories:
            before = set(self._refs)
            await self._list()
            news.files.update({path: None for path in self._refs if path not in before})
        await self._look(list(news.files), _places(news))

    async def _list(self) -> None:
        """Learn which files are cited now, and observe their folders."""
        self._refs = await self._keeper.read(cited_files.cited)
        found = await in_time(partial(self._lane.submit, self._watcher.watch, list(self._refs)))
        vault = self._keeper.vault
        if vault is not None:
            vault.unwatched = _in_words(found, len(self._refs))

    async def _look(self, paths: list[str], moved: dict[str, str]) -> None:
        for start in range(0, len(paths), AT_ONCE):
            part = paths[start : start + AT_ONCE]
            refs = [ref for path in part for ref in self._refs.get(path, [])]
            if not refs:
                continue
            beside = await self._keeper.read(cited_files.beside, refs)
            asked = {*part, *beside, *moved.values()}
            hashes = await self._hashes(asked)
            doubtful = [path for path, found in hashes.items() if not found]
            if doubtful:
                await asyncio.sleep(SECOND_LOOK_S)
                hashes |= await self._hashes(doubtful)
            if asked - set(hashes):
                log.warning("cited files: a disk does not answer")
            if await self._keeper.write(cited_files.note, refs, Seen(hashes, moved)) and moved:
                self._news.memories = True  # a new place is cited now
                self._stir.set()

    async def _hashes(self, paths: Iterable[str]) -> dict[str, str | None]:
        """What lies at the paths now. Ends early when a disk does not answer."""
        found: dict[str, str | None] = {}
        away = forbidden(self._keeper)
        for path in paths:
            known = self._known.get(path)
            looked = await in_time(partial(self._keeper.jobs.files.submit, _look_at, path, known, away))
            if looked is None:
                break
            self._known[path] = looked
            found[path] = looked[1]
        return found


def _look_at(
    path: str, known: tuple[tuple[int, ...] | None, str | None] | None, away: list[Path]
) -> tuple[tuple[int, ...] | None, str | None]:
    """The stamp and the hash of a file; what has the stamp it had is not read again."""
    stamp = cited.stamp(path)
    if known is not None and known[1] and known[0] == stamp:
        return known
    found = cited.read(path, away)
    if isinstance(found, Cited):
        return stamp, found.sha256
    return stamp, None if found is Lack.MISSING else ""


def _places(news: _News) -> dict[str, str]:
    """Where files went: as heard, or where one of the same name appeared."""
    found = {path: place for path, place in news.files.items() if place is not None}
    for newcomer in news.newcomers:
        for path in news.files:
            if path not in found and path != newcomer and Path(path).name == Path(newcomer).name:
                found[path] = newcomer
    return found


def _in_words(found: Coverage | None, files: int) -> str:
    """What of the cited files is not observed; empty for nothing."""
    if found is None:
        return "the folders of cited files cannot be watched: a disk does not answer"
    said: list[str] = []
    if found.beyond:
        said.append(f"{found.beyond:,} folders of cited files beyond the {found.folders:,} that are watched")
    if found.exhausted:
        said.append(f"{found.exhausted:,} folders for which the system has no watch left")
    if files >= cited_files.MOST_FILES:
        said.append(f"all but the {files:,} files cited last")
    return "; ".join(said)
