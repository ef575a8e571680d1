"""How far a long piece of work is: a bar on a terminal, a line every few seconds elsewhere. On stderr."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from memvault.text import visible

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

LINE_EVERY_S = 5.0


class Meter:
    """Shows (stage, done, total) while the block runs; shows nothing when `quiet`.

    `unit` is what is counted, in the plural.
    """

    def __init__(self, title: str, unit: str, quiet: bool, no_color: bool = False) -> None:
        self._title, self._unit, self._quiet, self._no_color = title, unit, quiet, no_color
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._said_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._clear()

    def _clear(self) -> None:
        """Take the bar off the screen; the next update draws a new one."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None

    def update(self, done: int, total: int, stage: str = "") -> None:
        """Tell how far the work is; `total` is 0 when unknown."""
        if self._quiet:
            return
        label = visible(f"{self._title}, {stage}" if stage else self._title, one_line=True)
        if sys.stderr.isatty():
            self._draw(label, done, total)
        elif time.monotonic() - self._said_at >= LINE_EVERY_S:
            self._said_at = time.monotonic()
            whole = f" of {total:,}" if total else ""
            sys.stderr.write(f"{label}: {done:,}{whole} {self._unit}\n")
            sys.stderr.flush()

    def _draw(self, label: str, done: int, total: int) -> None:
        if self._bar is None:
            # A tenth of a second to import: only where a bar can be seen.
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True, no_color=self._no_color or None, highlight=False),
                transient=True,
            )
            self._task = self._bar.add_task(label, total=None)
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, description=label, completed=done, total=total or None)
        if done >= total > 0:
            self._clear()
