"""Run one long command and show that it lives.

Owns: starting the child, reading its output, the live line on a terminal and the occasional line without
one, and the tail of the output when the command fails. Must not know: what is being set up.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PLAIN_INTERVAL_S = 10.0
LIVE_INTERVAL_S = 0.2
TAIL_LINES = 40

# Turns one line of output into what the person should see of it, or None when the line says nothing new.
Describe = Callable[[str], "str | None"]


class StepFailed(Exception):
    """A command of the set-up ended with an error; the message is ready to print."""


class Reporter:
    """Shows one step: a line redrawn in place on a terminal, else a line every ten seconds."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._detail = ""
        self._started_s = time.monotonic()
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._next_s = self._started_s + (0.0 if self._live else PLAIN_INTERVAL_S)

    def elapsed_s(self) -> float:
        """Seconds since the step began."""
        return time.monotonic() - self._started_s

    def detail(self, text: str) -> None:
        """Take what the next line should say."""
        self._detail = text

    def tick(self) -> None:
        """Write the line when it is due."""
        now_s = time.monotonic()
        if now_s < self._next_s:
            return
        line = f"  {self._label} ({self.elapsed_s():.0f} s) {self._detail}".rstrip()
        if self._live:
            width = _terminal_columns() - 1
            sys.stderr.write(f"\r\x1b[K{line[:width]}")
            self._next_s = now_s + LIVE_INTERVAL_S
        else:
            sys.stderr.write(line + "\n")
            self._next_s = now_s + PLAIN_INTERVAL_S
        sys.stderr.flush()

    def end(self, outcome: str) -> None:
        """Replace the live line by how the step ended."""
        clear = "\r\x1b[K" if self._live else ""
        sys.stderr.write(f"{clear}  {self._label}: {outcome} in {self.elapsed_s():.1f} s\n")
        sys.stderr.flush()


def run_step(
    label: str, command: Sequence[str], env: Mapping[str, str], describe: Describe, cwd: Path
) -> None:
    """Run a command to its end under a progress line. Raises StepFailed with the end of its output."""
    reporter = Reporter(label)
    tail: deque[str] = deque(maxlen=TAIL_LINES)

    def on_line(line: str) -> None:
        tail.append(line)
        shown = describe(line)
        if shown is not None:
            reporter.detail(shown)

    output, child_output = os.pipe()
    child = subprocess.Popen(
        command, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=child_output, stderr=child_output
    )
    os.close(child_output)
    try:
        _read_lines(output, on_line, reporter.tick)
        status = child.wait()
    finally:
        os.close(output)
        if child.poll() is None:
            child.terminate()
            child.wait()
    reporter.end("done" if status == 0 else f"failed with status {status}")
    if status != 0:
        raise StepFailed(f"{label} failed. The last lines of its output:\n\n" + "\n".join(tail))


def _read_lines(output: int, on_line: Callable[[str], None], tick: Callable[[], None]) -> None:
    """Hand over each line read from a descriptor until its end, and tick twice a second meanwhile."""
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if selector.select(timeout=0.5):
                data = os.read(output, 65536)
                if not data:
                    break
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    on_line(line.decode("utf-8", "replace").rstrip())
            tick()
    if pending:
        on_line(pending.decode("utf-8", "replace").rstrip())


def _terminal_columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
