"""Looking for readable text in the bytes of a vault's files: which words, and the search. Only reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_WORD = re.compile(r"[A-Za-z][A-Za-z]{5,}")
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{4}")
_ENCODINGS = ("utf-8", "utf-16-le")


@dataclass(frozen=True, slots=True)
class Search:
    """What was searched and what was found: files and the number of words in each, never the words."""

    files: int
    size_bytes: int
    words: int
    found: dict[str, int]


def distinctive_words(texts: Iterable[str]) -> set[str]:
    """Latin words of six letters or more, and runs of four CJK characters."""
    found: set[str] = set()
    for text in texts:
        found.update(_WORD.findall(text))
        found.update(_CJK_RUN.findall(text))
    return found


def read_files(home: Path) -> dict[str, bytes]:
    """Every regular file below `home`; one that vanishes meanwhile is left out."""
    files: dict[str, bytes] = {}
    for path in sorted(home.rglob("*")):
        try:
            if path.is_file() and not path.is_symlink():
                files[str(path.relative_to(home))] = path.read_bytes()
        except FileNotFoundError:
            continue
    return files


def words_in(files: dict[str, bytes], words: set[str]) -> dict[str, set[str]]:
    """Per file, the words that stand in its bytes in UTF-8 or UTF-16."""
    found: dict[str, set[str]] = {}
    for name, data in files.items():
        hits = {word for word in words if any(word.encode(encoding) in data for encoding in _ENCODINGS)}
        if hits:
            found[name] = hits
    return found


def search(home: Path, words: set[str]) -> Search:
    """Search every byte of every file below `home`."""
    files = read_files(home)
    hits = words_in(files, words)
    return Search(
        files=len(files),
        size_bytes=sum(map(len, files.values())),
        words=len(words),
        found={name: len(of_file) for name, of_file in hits.items()},
    )
