"""Files that a write names as its source: found, read and judged before the write goes its way.

Owns whose files may be read for whom, and how long a write waits for a disk. Whatever is found, the answer to
an agent is the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from memvault.daemon.keeper import Keeper
from memvault.daemon.process import Peer, sitting_began
from memvault.model import Draft, Source, SourceType
from memvault.paths import cache_dir
from memvault.services import citing
from memvault.services.citing import Sitting
from memvault.services.told import Told
from memvault.watch import cited

T = TypeVar("T")

PATIENCE_S = 5.0
"""How long anybody waits for one file; a disk that is slower counts as one that cannot be read."""


def forbidden(keeper: Keeper) -> list[Path]:
    """Folders whose files are never read for a memory."""
    return [keeper.layout.root, cache_dir()]


async def in_time(start: Callable[[], Future[T]]) -> T | None:
    """The result of work on a lane, or None when the disk does not answer in time."""
    try:
        # Not wait_for: when the result comes in that moment it swallows a cancellation (Python 3.11).
        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.wrap_future(start())
    except TimeoutError:
        return None


def _root_of(cwd: str | None) -> str | None:
    """The folder of the work at hand: the nearest with a `.git`, else `cwd`; never all of a home or more."""
    if cwd is None:
        return None
    root = cited.project_root(Path(cwd)) or Path(cwd)
    return None if Path.home().is_relative_to(root) else str(root)


async def checked(keeper: Keeper, peer: Peer, draft: Draft, *, bound: bool) -> Draft:
    """The draft with what the daemon found in the files it cites; unchanged where it found nothing.

    `bound`: read only what lies in the folder of the caller's work.
    """
    vault = keeper.require()
    if not citing.cites_a_file(draft):
        return draft
    said, at, away = vault.told, vault.now(), forbidden(keeper)

    def look() -> Draft:
        sitting = Sitting(sitting_began(peer.pid), _root_of(peer.cwd), peer.cwd, bound)
        found = [looked_up(source, draft, sitting, at, said, away) for source in draft.sources]
        return replace(draft, sources=tuple(found))

    return await in_time(lambda: keeper.jobs.files.submit(look)) or draft


def looked_up(
    source: Source, draft: Draft, sitting: Sitting, at: str, said: Told, away: list[Path]
) -> Source:
    if source.type is not SourceType.FILE or not source.evidence:
        return source
    for ref in dict.fromkeys((source.ref, cited.bare(source.ref))):
        for path in citing.places(ref, sitting):
            found = cited.read(path, away)
            kept = citing.read_as(source, _with_fragment(path, ref, source.ref), found, sitting, at)
            if kept is not None and isinstance(found, cited.Cited):
                sure = citing.vouches(draft.claim, source.evidence, found, sitting, at, said)
                return replace(kept, verified=sure)
    return source


def _with_fragment(path: str, ref: str, given: str) -> str:
    """The absolute path, followed by the `#anchor` or `:LINE` that the reference had."""
    return path + given[len(ref) :]
