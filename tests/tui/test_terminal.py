"""The real program on a real pseudo-terminal: what it writes there is only what it means to write."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pyte

from memvault_tui.i18n import LOCALE_DIR

from .conftest import PASSPHRASE, PATIENCE_S, Vault

PROGRAM = "import sys; from memvault_tui.app import main; sys.exit(main())"
HOSTILE = "[@click=app.quit]x[/] \x1b]52;c;aGFjaw==\x07 \u202egnp.exe \x1b[31mred \x9b31m"


class Terminal:
    """The program behind a pseudo-terminal, with everything it wrote and the screen that makes."""

    def __init__(self, child: int, master: int, columns: int, lines: int) -> None:
        self.child = child
        self.master = master
        self.written = bytearray()
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)

    def read(self, wait_s: float = 0.05) -> None:
        ready, _w, _x = select.select([self.master], [], [], wait_s)
        if ready:
            data = os.read(self.master, 65_536)
            self.written += data
            self._stream.feed(re.sub(rb"\x1b\[[<>=?][0-9;]*[a-zA-Z$]+|\x1b\[\d* q", b"", data))

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, *words: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not all(word in self.text for word in words):
            assert time.monotonic() < deadline, f"never saw {words}\n{self.text}"
            self.read()

    def until_gone(self, word: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while word in self.text:
            assert time.monotonic() < deadline, f"{word} stayed\n{self.text}"
            self.read()

    def send(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def ended(self) -> int:
        """Read until the program ends; its exit status."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            assert time.monotonic() < deadline, f"it did not end\n{self.text}"
            try:
                self.read()
            except OSError:
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


@contextmanager
def program(home: str, columns: int = 80, lines: int = 24, **environment: str) -> Iterator[Terminal]:
    child, master = pty.fork()
    if child == 0:
        values = {
            **os.environ,
            "MEMVAULT_HOME": home,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            **environment,
        }
        os.execve(sys.executable, [sys.executable, "-c", PROGRAM], values)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    terminal = Terminal(child, master, columns, lines)
    try:
        yield terminal
    finally:
        try:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(master)


def test_hostile_text_never_reaches_the_terminal_as_a_sequence(vault: Vault) -> None:
    vault.add(HOSTILE, why=HOSTILE, evidence=HOSTILE)
    with program(os.fspath(vault.home)) as terminal:
        terminal.until("[@click=app.quit]x[/]", "1 memory")
        terminal.send("\r")
        for part in ("[text]", "[sources]", "[versions]", "[events]"):
            terminal.until(part)
            terminal.send("\t")
        terminal.until("[text]")
        terminal.send("e")
        terminal.until("ctrl+s save")
        terminal.send("\x1b")
        terminal.until("[text]")
        terminal.send("q")
        assert terminal.ended() == 0
        written = re.sub(rb"\x1b\]22;[a-z]+\x07", b"", bytes(terminal.written))  # Textual's mouse pointer
        assert b"\x1b]" not in written
        assert b"\x07" not in written
        assert "\u202e".encode() not in terminal.written
        assert "\x9b".encode() not in terminal.written
        assert b"aGFjaw==" in terminal.written, "the text itself is shown"


def test_chinese_from_the_locale_lines_up_on_the_terminal(vault: Vault) -> None:
    assert (LOCALE_DIR / "zh_CN" / "LC_MESSAGES" / "memvault_tui.mo").exists()
    vault.add("部署前先跑一遍冒烟测试", "preference")
    vault.add("Staging runs PostgreSQL 16")
    with program(os.fspath(vault.home), LC_ALL="zh_CN.UTF-8") as terminal:
        terminal.until("浏", "Staging", "部")
        rows = [[terminal.screen.buffer[y][x].data for x in range(80)] for y in range(2, 4)]
        starts = {next(x for x, cell in enumerate(row) if cell in ("S", "部")) for row in rows}
        assert len(starts) == 1
        assert 10 < starts.pop() < 40
        terminal.send("q")
        assert terminal.ended() == 0


def test_after_locking_nothing_of_the_content_is_painted_again(vault: Vault) -> None:
    vault.add("the combination is 4711")
    with program(os.fspath(vault.home)) as terminal:
        terminal.until("4711")
        terminal.send("L")
        terminal.until("memvault is locked.")
        terminal.until_gone("4711")  # a frame arrives in pieces
        del terminal.written[:]
        terminal.send(PASSPHRASE[:3])
        terminal.until("•••")
        fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        os.kill(terminal.child, signal.SIGWINCH)
        terminal.read(0.5)
        assert b"4711" not in terminal.written
        terminal.send("\x11")
        assert terminal.ended() == 0


def test_no_colour_is_written_when_it_is_not_wanted(vault: Vault) -> None:
    vault.add("plain to see")
    with program(os.fspath(vault.home), NO_COLOR="1") as terminal:
        terminal.until("plain to see")
        colours = set(re.findall(rb"38;2;(\d+);(\d+);(\d+)", bytes(terminal.written)))
        assert all(red == green == blue for red, green, blue in colours)
        terminal.send("q")
        assert terminal.ended() == 0
