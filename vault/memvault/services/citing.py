"""Files named as sources: what the daemon finds in them, and when one vouches for a claim by itself.

Owns the rule of docs/design.md ("Files as sources"). An agent can write files and choose excerpts, so a file
is an observation of its own only where neither helps. Pure but for what `Told` knows: it reads no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from memvault.clock import parse
from memvault.gate import echo
from memvault.model import Claim, Draft, Source, SourceType
from memvault.services.told import Told, carries_id
from memvault.text import fold, gist, words
from memvault.watch.cited import Cited, Lack, normal

SETTLED_S = 86_400.0
"""A file that changed within a day may be the work of a helper that outlived its session."""

MOST_VOUCHING_BYTES = 262_144
"""Of a file that may vouch: all of it is searched for what memvault itself said."""

_SAYS_NO_MORE = ("why", "how_to_apply", "conditions", "context", "about", "failure")
_MARKER = re.compile(r"^\s*(?:[-*+•>#]+|\d+[.)])\s+")
_WORD_BREAK = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Sitting:
    """Who cites: since when (seconds since 1970; None: unknown), and the folder that the work is in.

    `bound`: only files inside `root` are read, as an agent must not learn of others.
    """

    began: float | None
    root: str | None
    cwd: str | None
    bound: bool


def cites_a_file(draft: Draft) -> bool:
    return any(source.type is SourceType.FILE and source.evidence for source in draft.sources)


def places(ref: str, sitting: Sitting) -> list[str]:
    """Absolute paths that a reference may mean, the likeliest first; none outside a bound sitting's root."""
    given = str(Path(ref).expanduser()) if ref.startswith("~/") else ref
    bases = [base for base in dict.fromkeys((sitting.cwd, sitting.root)) if base is not None]
    found = [given] if Path(given).is_absolute() else [str(Path(base) / given) for base in bases]
    if not sitting.bound:
        return found
    return [path for path in found if sitting.root is not None and _inside(path, sitting.root)]


def _inside(path: str, root: str) -> bool:
    """By the words of the path, `..` taken out; links are told by `Cited.path`."""
    flat: list[str] = []
    for part in Path(path).parts:
        if part == "..":
            flat = flat[:-1] or flat
        else:
            flat.append(part)
    return Path(*flat).is_relative_to(root)


def read_as(source: Source, ref: str, found: Cited | Lack, sitting: Sitting, at: str) -> Source | None:
    """The source with what was found in the file; None when the excerpt is not there. `at`: now, ISO 8601."""
    if isinstance(found, Lack) or not source.evidence:
        return None
    if sitting.bound and (sitting.root is None or not Path(found.path).is_relative_to(sitting.root)):
        return None
    if normal(source.evidence).strip() not in found.text:
        return None
    return replace(source, ref=ref, content_hash=found.sha256, observed_at=at)


def vouches(claim: Claim, evidence: str, found: Cited, sitting: Sitting, at: str, said: Told) -> bool:
    """Whether the file may stand as an independent observation of the claim (SPEC 4).

    It was not changed since before the sitting began, nor within a day; it is a plain file of the project; it
    says the claim in a sentence of its own; and it repeats nothing that memvault said.
    """
    if sitting.began is None or sitting.root is None or not found.plain:
        return False
    if found.changed_at >= min(sitting.began, parse(at).timestamp() - SETTLED_S):
        return False
    if not Path(found.path).is_relative_to(sitting.root) or len(found.text) > MOST_VOUCHING_BYTES:
        return False
    if not _says(found.text, normal(evidence).strip(), claim) or carries_id(found.text):
        return False
    return not said.knows(_sentences(found.text))


def _says(text: str, evidence: str, claim: Claim) -> bool:
    """Whether whole sentences of the file, around the excerpt, are the whole claim and hold its value.

    Sentences are the file's, not the excerpt's: "deploy by hand" can be cut out of "never deploy by hand".
    """
    if any(getattr(claim, name) is not None for name in _SAYS_NO_MORE):
        return False
    at = text.find(evidence)
    start, end = text.rfind("\n\n", 0, at), text.find("\n\n", at + len(evidence))
    around = text[start + 1 if start >= 0 else 0 : end if end >= 0 else len(text)]
    heard = {gist(sentence) for sentence in _sentences(around)}
    wanted = [gist(sentence) for sentence in _sentences(claim.content)]
    if not wanted or any(sentence not in heard for sentence in wanted):
        return False
    named = set(words(claim.content))
    attribute = [part for part in _WORD_BREAK.split(fold(claim.attribute or "")) if part]
    value = words(claim.value or "")
    return all(word in named for word in (*attribute, *value))


def _sentences(text: str) -> Iterator[str]:
    """Sentences, put together again where a line was wrapped, without the marks of lists and headings."""
    joined: list[str] = []
    for line in text.split("\n"):
        bare = _MARKER.sub("", line)
        if joined and line.strip() and bare == line and joined[-1]:
            joined[-1] += f" {bare.strip()}"
        else:
            joined.append(bare.strip())
    for paragraph in joined:
        if paragraph:
            yield from echo.sentences(paragraph)
