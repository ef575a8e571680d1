"""Fills one peer with given texts and vectors, or opens what was filled and asks it; a process for each.

    python peers_driver.py WAY fill|ask FOLDER MOST

Run by `peers_store.py`, for chromadb in an environment of its own. FOLDER holds vectors.npy and asked.npy
(float32), texts.json and questions.json; the peer keeps what it stores in FOLDER/store. Prints one JSON
object: seconds to fill; or seconds to open, the rows found and milliseconds of each question, and the
memory of the process when all were asked, MB of 10^6 bytes.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peers_ways import FullText, best

BATCH = 1_000
Finder = Callable[[int], list[int]]


class Plain:
    """FTS5 in a file."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._file = folder / "store" / "plain.db"

    def fill(self) -> None:
        FullText("porter unicode61", self._file).put(_list(self._folder / "texts.json"))

    def ask(self) -> Finder:
        questions = _list(self._folder / "questions.json")
        table = FullText("porter unicode61", self._file)
        return lambda number: table.find(questions[number], self._most)


class Numpy:
    """A file of vectors, read whole, and the texts beside it."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most

    def fill(self) -> None:
        for name in ("vectors.npy", "texts.json"):
            shutil.copyfile(self._folder / name, self._folder / "store" / name)

    def ask(self) -> Finder:
        rows = np.load(self._folder / "store" / "vectors.npy")
        asked = np.load(self._folder / "asked.npy")
        self._texts = _list(self._folder / "store" / "texts.json")
        return lambda number: best(rows, asked[number], self._most)


class Chroma:
    """A persistent collection with cosine distance, given the vectors."""

    def __init__(self, folder: Path, most: int) -> None:
        import chromadb
        from chromadb.config import Settings

        self._folder, self._most = folder, most
        quiet = Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder / "store"), quiet)

    def fill(self) -> None:
        vectors, texts = np.load(self._folder / "vectors.npy"), _list(self._folder / "texts.json")
        space = {"hnsw:space": "cosine"}
        store = self._client.create_collection("memories", metadata=space, embedding_function=None)
        for start in range(0, len(texts), BATCH):
            part = slice(start, start + BATCH)
            ids = [str(at) for at in range(start, min(start + BATCH, len(texts)))]
            store.add(ids=ids, embeddings=vectors[part], documents=texts[part])

    def ask(self) -> Finder:
        asked = np.load(self._folder / "asked.npy")
        store = self._client.get_collection("memories", embedding_function=None)
        most = min(self._most, store.count())

        def find(number: int) -> list[int]:
            answer = store.query(query_embeddings=[asked[number]], n_results=most)
            return [int(one) for one in answer["ids"][0]]

        return find


WAYS = {"fts5": Plain, "numpy": Numpy, "chromadb": Chroma}


def _list(path: Path) -> list[str]:
    return json.loads(path.read_text(encoding="utf-8"))


def _rss_mb() -> float:
    """Resident now: getrusage would give the most of the process that started this one."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1_024 / 1e6


def fill(way: str, folder: Path, most: int) -> dict[str, Any]:
    (folder / "store").mkdir()
    began = time.perf_counter()
    WAYS[way](folder, most).fill()
    return {"fill_s": time.perf_counter() - began}


def ask(way: str, folder: Path, most: int) -> dict[str, Any]:
    count = len(_list(folder / "questions.json"))
    began = time.perf_counter()
    find = WAYS[way](folder, most).ask()
    opened = time.perf_counter() - began
    found: list[list[int]] = []
    times_ms: list[float] = []
    for number in range(count):
        began = time.perf_counter()
        found.append(find(number))
        times_ms.append(1e3 * (time.perf_counter() - began))
    return {"open_s": opened, "found": found, "times_ms": times_ms, "rss_mb": _rss_mb()}


def main() -> None:
    """Fill or ask, then report."""
    way, step, folder, most = sys.argv[1:5]
    print(json.dumps({"fill": fill, "ask": ask}[step](way, Path(folder), int(most))))


if __name__ == "__main__":
    main()
