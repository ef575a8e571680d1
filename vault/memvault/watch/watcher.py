"""Hearing that files changed: the folders of cited files, observed through watchdog.

Owns the observer and its limits. It tells paths, in a thread of its own; what a change means is decided
elsewhere. A folder that is itself renamed is not heard of: whoever uses this looks at all files now and then.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

log = logging.getLogger(__name__)

MOST_FOLDERS = 64
"""Folders observed at once: each costs a thread, and a watch of those that the user's programs share."""

_QUIET = frozenset({"opened", "closed_no_write"})
_EXHAUSTED = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENFILE})

Heard = Callable[[str, str | None], None]
"""A cited path that something happened to, and where it went; or a newcomer, with itself as its place."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Folders observed; not observed for this module's limit; and for the system's limit on watches."""

    folders: int = 0
    beyond: int = 0
    exhausted: int = 0


class Watcher(FileSystemEventHandler):
    """Observes the folders of the files it was given. Methods block for a moment; for one thread."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._observer: BaseObserver | None = None
        self._watches: dict[str, ObservedWatch] = {}
        self._names: dict[str, str] = {}
        """Path without links -> path as it is cited."""

    def watch(self, files: Iterable[str]) -> Coverage:
        """Observe the folders of `files`, the first ones first, and no others."""
        names, folders = dict[str, str](), dict[str, None]()
        for path in files:
            folder = os.path.realpath(Path(path).parent)
            names[str(Path(folder) / Path(path).name)] = path
            if Path(folder).is_dir():
                folders[folder] = None
        wanted = list(folders)[:MOST_FOLDERS]
        self._names = names
        for folder in [folder for folder in self._watches if folder not in wanted]:
            self._leave(folder)
        exhausted = sum(not self._enter(folder) for folder in wanted if folder not in self._watches)
        return Coverage(len(self._watches), len(folders) - len(wanted), exhausted)

    def _enter(self, folder: str) -> bool:
        """Whether the system had a watch left; a folder that went away meanwhile needs none."""
        if self._observer is None:
            self._observer = Observer()
            self._observer.daemon = True
            self._observer.start()
        try:
            self._watches[folder] = self._observer.schedule(self, folder)
        except OSError as error:
            log.warning("a folder cannot be observed: %s", errno.errorcode.get(error.errno or 0, "?"))
            return error.errno not in _EXHAUSTED
        return True

    def _leave(self, folder: str) -> None:
        watch = self._watches.pop(folder)
        if self._observer is not None:
            self._observer.unschedule(watch)

    def stop(self) -> None:
        """Observe nothing any more; its threads are gone afterwards."""
        observer, self._observer = self._observer, None
        self._watches.clear()
        self._names = {}
        if observer is not None:
            observer.stop()
            observer.join()

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in _QUIET:
            return
        source, target = os.fsdecode(event.src_path), os.fsdecode(event.dest_path)
        names = self._names
        if source in names:
            self._heard(names[source], target or None)
        if target in names:
            self._heard(names[target], None)
        arrived = target or (source if event.event_type == "created" else "")
        if arrived and arrived not in names and not event.is_directory:
            self._heard(arrived, arrived)
