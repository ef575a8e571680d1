"""What memvault puts into a session is framed, and taken out again of whatever the session says. Pure.

Owns the marks around injected text. A person may quote it, an agent repeats it: it is never learned back.
"""

from __future__ import annotations

import re

OPEN, CLOSE = "<memvault-context>", "</memvault-context>"

_MARK = re.compile(r"<(?=/?\s*memvault-context)", re.IGNORECASE)
_BLOCK = re.compile(
    r"<memvault-context>.*(?:</memvault-context>|\Z)"
    # As the MCP server frames its answers.
    r"|\[history from memvault\b.*(?:\[end of the history from memvault\]|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""From the first opening to the last end: no text inside can end the block."""
_LINE = re.compile(
    r"^.*(?:</?memvault-context>|Remembered by memvault:|history from memvault).*$"
    r"|^[\s>*•|-]*\[(?:policy|preference|fact|relationship|episode|procedure"
    r"|reflection), \d{4}-\d\d-\d\d, .*$"
    r"|^[\s>*•|-]*- id [0-9a-f]{8}-[0-9a-f-]{27} · .*$|^\| .*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line of such a block that was quoted alone."""


def wrapped(text: str) -> str:
    """The text between its marks, which nothing in it can repeat."""
    return f"{OPEN}\n{_MARK.sub('‹', text).strip()}\n{CLOSE}"


def without(text: str) -> str:
    """The text without anything that memvault put into the session."""
    if "memvault" in text.lower():
        text = _BLOCK.sub("\n", text)
    return _LINE.sub("", text)
