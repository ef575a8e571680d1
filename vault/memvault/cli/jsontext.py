"""JSON as the command line prints it: UTF-8, nothing in it that acts on a terminal. Knows no shapes."""

from __future__ import annotations

import json
from typing import Any

from memvault.text import visible


def encode(document: Any, pretty: bool) -> str:
    """One document with a line feed at its end.

    Letters of every script stay as they are; control, bidi and zero-width characters become JSON escapes, so
    that the text means the same to a program and does nothing to a terminal.
    """
    text = json.dumps(document, ensure_ascii=False, indent=2 if pretty else None)
    return (text if text.isascii() and "\x7f" not in text else "".join(map(_escaped, text))) + "\n"


def _escaped(char: str) -> str:
    if char == "\x7f":
        return "\\u007f"
    return char if char.isascii() or visible(char) == char else json.dumps(char)[1:-1]
