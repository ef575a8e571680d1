"""What a command prints: data on stdout, everything else on stderr, each text made safe on its way.

Owns colours, the width of the terminal and the choice between JSON and text. Every text goes through
`memvault.text.visible` here, so no command can forget it. Knows nothing of memories.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import Any, TextIO

from memvault.cli.jsontext import encode
from memvault.cli.options import Settings
from memvault.text import visible

_SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
UNLIMITED = 1_000_000
"""Columns when nobody looks: text to a file or a pipe is never cut or wrapped."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line with one style."""

    text: str
    style: str


def bold(text: str) -> Span:
    return Span(text, "bold")


def dim(text: str) -> Span:
    return Span(text, "dim")


def coloured(text: str, style: str) -> Span:
    return Span(text, style)


Piece = str | Span


class Output:
    """The two streams of one command."""

    def __init__(self, settings: Settings) -> None:
        self.as_json = settings.as_json
        self.quiet = settings.quiet
        self.to_person = sys.stdout.isatty()
        plain = settings.no_color or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self._colours = not plain

    @property
    def width(self) -> int:
        """Columns of the terminal (at least 40), UNLIMITED when stdout is none."""
        return max(40, shutil.get_terminal_size().columns) if self.to_person else UNLIMITED

    def document(self, document: Any) -> None:
        """The JSON answer."""
        self._write(sys.stdout, encode(document, pretty=self.to_person))

    def line(self, *pieces: Piece) -> None:
        """One line of the answer for a person."""
        self._write(sys.stdout, self._joined(pieces, self.to_person) + "\n")

    def note(self, *pieces: Piece) -> None:
        """Something worth knowing that is not the answer; --quiet drops it."""
        if not self.quiet:
            self._write(sys.stderr, self._joined(pieces, sys.stderr.isatty()) + "\n")

    def warn(self, text: str) -> None:
        """A warning; nothing drops it."""
        self._write(
            sys.stderr, self._joined([coloured("Warning: ", "yellow"), text], sys.stderr.isatty()) + "\n"
        )

    def tip(self, text: str) -> None:
        """What to do next, only where a person reads the answer."""
        if text and self.to_person and not self.as_json:
            self.note(dim(text))

    def _joined(self, pieces: tuple[Piece, ...] | list[Piece], to_person: bool) -> str:
        return "".join(self._styled(piece, to_person) for piece in pieces).rstrip(" ")

    def _styled(self, piece: Piece, to_person: bool) -> str:
        if isinstance(piece, str):
            return visible(piece, one_line=True)
        text = visible(piece.text, one_line=True)
        if not (text and to_person and self._colours):
            return text
        return f"\x1b[{_SGR[piece.style]}m{text}\x1b[0m"

    @staticmethod
    def _write(stream: TextIO, text: str) -> None:
        """Write as UTF-8 whatever the locale says; what cannot be encoded is escaped."""
        stream.flush()
        stream.buffer.write(text.encode("utf-8", "backslashreplace"))
        stream.buffer.flush()
