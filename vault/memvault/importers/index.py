"""The index of a memory folder: which of its lines only lead to a topic file. Must not know fields or claims.

A line leads to a topic when it begins with a link to a Markdown file inside the folder, as `[Title](file.md)`
or `[[file]]`; a link in the middle of a sentence is a part of what the sentence says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from memvault.importers import blocks
from memvault.importers.blocks import Block

_MAX_LINK_CHARS = 1_000

_LINK = re.compile(
    r"[*_`\s]*(?:"
    r"\[[^\]]{0,300}\]\([ \t]{0,4}<?([^()<>]{1,500}?)>?[ \t]{0,4}\)"
    r"|\[\[([^\[\]|#]{1,300})[^\[\]]*\]\]"
    r"|`([\w./-]{1,200}\.md)`)"
)


@dataclass(frozen=True, slots=True)
class Link:
    """A line that leads to a topic file of this folder."""

    line: int
    exists: bool


def entries(found: Sequence[Block], folder: Path) -> Iterator[Link | Block]:
    """The index line by line: links to topics, and blocks that say something themselves.

    Lines of one paragraph that are links are taken apart; check boxes and images are left to the caller.
    """
    for block in blocks.claims(found):
        if block.form in {"task", "image"}:
            continue
        rest: list[str] = []
        begun = block.line
        for offset, line in enumerate(block.lines):
            target = _target(line)
            if target is None:
                begun = begun if rest else block.line + offset
                rest.append(line)
            else:
                yield Link(block.line + offset, _is_topic(folder, target))
        if any(line.strip() for line in rest):
            yield replace(block, lines=tuple(rest), line=begun)


def _target(line: str) -> PurePosixPath | None:
    """The topic file that a line begins with a link to."""
    match = _LINK.match(line.strip()[:_MAX_LINK_CHARS])
    if match is None:
        return None
    path, wiki, code = match.groups()
    if wiki:
        return PurePosixPath(wiki.strip() if wiki.strip().lower().endswith(".md") else f"{wiki.strip()}.md")
    written = unquote(path.split("#")[0]) if path else code
    if "://" in written or not written.lower().endswith(".md"):
        return None
    target = PurePosixPath(written)
    return None if target.is_absolute() or ".." in target.parts else target


def _is_topic(folder: Path, target: PurePosixPath) -> bool:
    try:
        path = folder / target
        return path.is_file() and not path.is_symlink()
    except (OSError, ValueError):
        return False
