"""Where a passphrase comes from: a file, or a person at a terminal. Never from arguments, never kept.

Owns reading and asking. Knows nothing of what the passphrase opens.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from memvault.cli.output import Output, dim
from memvault.errors import Usage

MAX_FILE_BYTES = 4096
VARIABLE = "MEMVAULT_PASSPHRASE_FILE"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that holds a passphrase, and whether it was named for this very command."""

    path: Path
    explicit: bool


def source(option: str | None) -> Source | None:
    """The file named by --passphrase-file, else by MEMVAULT_PASSPHRASE_FILE."""
    if option:
        return Source(Path(option).expanduser(), True)
    named = os.environ.get(VARIABLE, "")
    return Source(Path(named).expanduser(), False) if named else None


def read(path: Path, out: Output) -> str:
    """The first line of a file, at most MAX_FILE_BYTES. Raises Usage when there is none to read."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise Usage(f"the passphrase file cannot be read: {path}: {error.strerror}") from error
    if stat.S_ISREG(mode) and mode & 0o077 and sys.stderr.isatty():
        out.note(dim(f"Other users of this computer may read {path}; chmod 600 makes it yours alone."))
    line = data.split(b"\n", 1)[0].removesuffix(b"\r")
    if len(line) > MAX_FILE_BYTES:
        raise Usage(f"the first line of the passphrase file is longer than {MAX_FILE_BYTES:,} bytes")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Usage(f"the passphrase file is not UTF-8: {path}") from error
    if not text:
        raise Usage(f"the first line of the passphrase file is empty: {path}")
    return text


def terminal_at_hand() -> bool:
    """Whether a person can be asked: a controlling terminal, and stdin or stderr on one."""
    if not (sys.stdin.isatty() or sys.stderr.isatty()):
        return False
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def ask_secret(prompt: str) -> str:
    """Ask at the terminal without echo. Only call when `terminal_at_hand`."""
    from getpass import getpass

    return getpass(prompt)


def ask(prompt: str) -> str:
    """Ask at the terminal with echo, whatever stdin and stdout are; empty at end of input."""
    with Path("/dev/tty").open("r+b", buffering=0) as terminal:
        terminal.write(prompt.encode("utf-8"))
        answer = bytearray()
        while (byte := terminal.read(1)) not in (b"\n", b"", None):
            answer += byte
    return answer.decode("utf-8", "replace").strip()


def ask_new(prompt: str, may_be_empty: bool) -> str | None:
    """Ask twice for a new passphrase until both agree; None when left empty, if it may be."""
    while True:
        first = ask_secret(f"{prompt}: ")
        if not first:
            if may_be_empty:
                return None
            sys.stderr.write("It must not be empty.\n")
            continue
        if first == ask_secret("Once more: "):
            return first
        sys.stderr.write("The two differ; try again.\n")
