"""From text to keyed term hashes. Owns what a term is; must not know scores, rows or storage.

A term is stored only as a keyed 64-bit hash, so neither the stored blob nor the index in memory holds a
readable word, and deleting a memory leaves no dictionary behind.

Words: NFKC, case-folded, accents off, stemmed (Snowball: English, Russian for Cyrillic). Identifiers
(`ship.sh`, `fooBar`, `snake_case`, `v1.2.3`) count whole and in parts. Runs of Chinese, Japanese and Korean
characters become single characters and pairs; a question counts the pairs, and a single character only when
it stands alone.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import Stemmer

from memvault.errors import VaultDamaged
from memvault.recall import marks
from memvault.recall.calibration import CJK_FUNCTION_WEIGHT, FUNCTION_WEIGHT, PART_WEIGHT
from memvault.recall.function_words import CJK_FUNCTION_PAIRS, FUNCTION_WORDS
from memvault.recall.gist import BESIDE_WEIGHT, gist
from memvault.recall.marks import Marks
from memvault.recall.query import QueryTerm

KEY_BYTES = 32
MAX_QUERY_TERMS = 256
"""More different terms than this in one question: the later ones of a long prompt are kept."""
QUARTERS = 4
"""Counts are stored in quarters of an occurrence, so that a field may weigh 0.25 to 16."""

_REMEMBERED = 32_768
"""Words and characters whose hashes stay at hand while the vault is open."""
_FORMAT = 1
_HEADER = struct.Struct("<B3xII")  # format, number of terms, length in quarters
_MAX_COUNT = 255
_NAME_CHARS = (2, 3, 4)

_CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_find_chunks = re.compile(rf"[{_CJK}]+|(?:[^\W{_CJK}]|[_])+(?:[.\-/:@+'’](?:[^\W{_CJK}]|[_])+)*[+#]*").findall
_is_cjk = re.compile(f"[{_CJK}]").match
_split_case = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z]{2})(?=\d)").split
_split_marks = re.compile(r"[._\-/:@+#'’]+").split
_is_date = re.compile(r"\d{4}([-/.])\d{1,2}\1\d{1,2}").fullmatch
_possessive = re.compile(r"['’]s?$")
_cyrillic = re.compile("[\u0400-\u052f]").search


class Analyser:
    """Makes term blobs for memories and weighted terms for questions, under one vault's key.

    May be used by one thread at a time (the stemmers keep state).
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"the term key has {len(key)} bytes, not {KEY_BYTES}")
        self._key = key
        self._english, self._russian = _stemmer("english"), _stemmer("russian")
        self._hash = lru_cache(maxsize=_REMEMBERED)(self._keyed)
        self._word = lru_cache(maxsize=_REMEMBERED)(self._analyse)

    def passage(self, fields: Sequence[tuple[str, float]]) -> bytes:
        """Encode the terms of a memory's fields, each with its weight (0.25..16; content is 1)."""
        counts: dict[int, float] = {}
        length = 0.0
        for text, weight in fields:
            for chunk in _chunks(text):
                if _is_cjk(chunk):
                    length += weight * max(len(chunk) - 1, 1)
                    hashed = [self._hash(term) for term in (*chunk, *_pairs(chunk))]
                else:
                    found = self._word(chunk)
                    length += weight * sum(term.weight for term in found)
                    hashed = [term.hash for term in found]
                for term in hashed:
                    counts[term] = counts.get(term, 0.0) + weight
        for mark in self._shown(fields[0][0] if fields else ""):
            counts[mark] = 1.0
        return encode(counts, length)

    def _shown(self, text: str) -> Iterator[int]:
        """The marks of a memory's content, as terms."""
        if marks.asks(text):
            yield self._hash(marks.ASKS)
        for word in marks.speaker(text):
            yield self._hash(marks.BY + self._stemmed(_shown_as(word)))

    def marks(self, text: str) -> Marks:
        """The marks by which a question finds turns that ask, and turns of whom it names."""
        names: list[int] = []
        for chunk in _chunks(text):
            if _is_cjk(chunk):
                names.extend(self._hash(marks.BY + part) for part in _name_like(chunk))
            else:
                word = _possessive.sub("", chunk.casefold())
                if word not in FUNCTION_WORDS:
                    names.append(self._hash(marks.BY + self._stemmed(word)))
        return Marks(self._hash(marks.ASKS), tuple(dict.fromkeys(names))[-MAX_QUERY_TERMS:])

    def query(self, text: str) -> tuple[QueryTerm, ...]:
        """The terms a question asks for, in order of appearance, each once; empty when it has no word.

        Of a long prompt those of its gist come last and weigh in full, the others BESIDE_WEIGHT of it.
        """
        asked = gist(text)
        found: dict[int, QueryTerm] = {}
        if asked != text:
            for term in self._all_asked(text):
                found.setdefault(term.hash, replace(term, weight=term.weight * BESIDE_WEIGHT))
        for term in self._all_asked(asked):
            known = found.get(term.hash)
            if known is None or known.weight < term.weight:
                if asked != text:
                    found.pop(term.hash, None)
                found[term.hash] = term
        return tuple(list(found.values())[-MAX_QUERY_TERMS:])

    def _all_asked(self, text: str) -> Iterator[QueryTerm]:
        for chunk in _chunks(text):
            yield from self._asked(chunk)

    def _keyed(self, term: str) -> int:
        digest = blake2b(term.encode("utf-8", "replace"), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "little") or 1

    def _asked(self, chunk: str) -> Iterator[QueryTerm]:
        if not _is_cjk(chunk):
            yield from self._word(chunk)
        elif len(chunk) == 1:
            yield QueryTerm(self._hash(chunk), 1.0, chunk)
        else:
            for pair in _pairs(chunk):
                weight = CJK_FUNCTION_WEIGHT if pair in CJK_FUNCTION_PAIRS else 1.0
                yield QueryTerm(self._hash(pair), weight, pair)

    def _analyse(self, chunk: str) -> tuple[QueryTerm, ...]:
        """A word, and its parts when it is an identifier."""
        whole = _possessive.sub("", chunk.casefold())
        weight = FUNCTION_WEIGHT if whole in FUNCTION_WORDS else 1.0
        terms = [QueryTerm(self._hash(self._stemmed(whole)), weight, whole)]
        some = _parts(chunk)
        terms.extend(QueryTerm(self._hash(self._stemmed(part)), PART_WEIGHT, part) for part in some)
        return tuple(terms)

    def _stemmed(self, word: str) -> str:
        return self._russian(word) if _cyrillic(word) else self._english(word)


def _stemmer(language: str) -> Callable[[str], str]:
    made = cast(Any, Stemmer).Stemmer(language)  # the package has no types
    return cast(Callable[[str], str], made.stemWord)


def _chunks(text: str) -> list[str]:
    """Runs of CJK characters and words with their inner marks; accents are taken off Latin letters."""
    shown = unicodedata.normalize("NFKC", text)
    if not shown.isascii():
        shown = _without_accents(shown)
    return _find_chunks(shown)


def _without_accents(text: str) -> str:
    out: list[str] = []
    for char in text:
        if "\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff":
            out.append(unicodedata.normalize("NFD", char)[0])
        else:
            out.append(char)
    return "".join(out)


def _shown_as(word: str) -> str:
    """A word of a name as `marks` looks for it."""
    shown = unicodedata.normalize("NFKC", word)
    return _without_accents(shown).casefold()


def _name_like(run: str) -> Iterator[str]:
    """Parts of a run of CJK characters that are as long as a name."""
    for size in _NAME_CHARS:
        yield from (run[at : at + size] for at in range(len(run) - size + 1))


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run) - 1))


def _parts(chunk: str) -> list[str]:
    """The parts of an identifier that are longer than a character; nothing of a plain word. Of a date the
    numbers, so that 2024-05-03 has those of "3 May 2024" and of 5月3日."""
    if _is_date(chunk):
        return [part.lstrip("0") or part for part in _split_marks(chunk)]
    parts = [part.casefold() for piece in _split_marks(chunk) for part in _split_case(piece) if part]
    return [part for part in parts if len(part) > 1] if len(parts) > 1 else []


def encode(counts: dict[int, float], length: float) -> bytes:
    """Header, hashes in ascending order (uint64), counts in quarters (uint8, at most 63.75 occurrences)."""
    hashes = sorted(counts)
    quarters = bytes([min(max(round(counts[term] * QUARTERS), 1), _MAX_COUNT) for term in hashes])
    head = _HEADER.pack(_FORMAT, len(hashes), round(length * QUARTERS))
    return head + struct.pack(f"<{len(hashes)}Q", *hashes) + quarters


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of many memories, one after the other: hashes, counts in quarters, how many each has.

    `lengths` are in occurrences.
    """

    hashes: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint8]
    sizes: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.float32]


def decode(blobs: Sequence[bytes]) -> Terms:
    """Read what `encode` wrote. Raises VaultDamaged."""
    heads = [_head(blob) for blob in blobs]
    start = _HEADER.size
    packed = b"".join([blob[start : start + 8 * size] for blob, (size, _) in zip(blobs, heads, strict=True)])
    counts = b"".join([blob[start + 8 * size :] for blob, (size, _) in zip(blobs, heads, strict=True)])
    table = np.array(heads, dtype=np.int64).reshape(len(heads), 2)
    return Terms(
        np.frombuffer(packed, dtype="<u8"),
        np.frombuffer(counts, dtype=np.uint8),
        table[:, 0],
        (table[:, 1] / QUARTERS).astype(np.float32),
    )


def _head(blob: bytes) -> tuple[int, int]:
    """Number of terms and length in quarters of one blob."""
    if len(blob) < _HEADER.size:
        raise VaultDamaged("a term blob is too short")
    form, size, length = _HEADER.unpack_from(blob)
    if form != _FORMAT or len(blob) != _HEADER.size + 9 * size:
        raise VaultDamaged("a term blob has an unknown format or a wrong length")
    return size, length
