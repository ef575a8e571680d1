"""Ways to find a text that any program could use: full text, brute force, both joined. Owns how each asks.

Needs numpy and the standard library only, because it also runs in the environments of the peers.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
RANK_CONSTANT = 60
"""Of reciprocal rank fusion, as in the paper that proposed it (Cormack, Clarke and Buettcher, 2009)."""
words = re.compile(r"\w+").findall


class FullText:
    """An FTS5 table of texts, asked by the OR of a question's words; rows are numbered from 0.

    With the tokeniser "trigram" a question is asked by every three letters in a row.
    """

    def __init__(self, tokenizer: str, path: Path | str = ":memory:") -> None:
        self._by_three = tokenizer == "trigram"
        self._tokenizer = tokenizer
        self._db = sqlite3.connect(path)

    def put(self, texts: Sequence[str]) -> None:
        """Make the table and fill it."""
        self._db.execute(f"CREATE VIRTUAL TABLE passage USING fts5(text, tokenize='{self._tokenizer}')")
        self._db.executemany("INSERT INTO passage(rowid, text) VALUES(?, ?)", enumerate(texts))
        self._db.commit()

    def find(self, text: str, most: int) -> list[int]:
        """The first rows by bm25."""
        terms = [f'"{term}"' for term in dict.fromkeys(self._terms(text))]
        if not terms:
            return []
        sql = "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY bm25(passage), rowid LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (" OR ".join(terms), most))]

    def _terms(self, text: str) -> list[str]:
        if not self._by_three:
            return words(text)
        return [word[at : at + 3] for word in words(text) for at in range(len(word) - 2)]


def nearest(rows: Floats, owners: npt.NDArray[np.int64], vector: Floats, most: int) -> list[int]:
    """Owners of the rows with the largest products, each once."""
    order = owners[np.argsort(-(rows @ vector), kind="stable")]
    return list(dict.fromkeys(order.tolist()))[:most]


def best(rows: Floats, vector: Floats, most: int) -> list[int]:
    """The rows with the largest products, without sorting all of them."""
    scores = rows @ vector
    if most >= len(scores):
        return np.argsort(-scores, kind="stable").tolist()
    some = np.argpartition(-scores, most)[:most]
    return some[np.argsort(-scores[some])].tolist()


def joined(*ranked: Sequence[int], most: int) -> list[int]:
    """Reciprocal rank fusion; equal scores in the order of their numbers."""
    scores: dict[int, float] = {}
    for rows in ranked:
        for rank, row in enumerate(rows, start=1):
            scores[row] = scores.get(row, 0.0) + 1.0 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))[:most]
