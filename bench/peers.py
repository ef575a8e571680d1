"""Other ways to find a memory, on the same texts, vectors and questions. One JSON line per figure.

    python bench/peers.py --data DIR [--set locomo] [--peers FOLDER] [--speed 10000,100000]

Plain `sqlite3` FTS5 (OR of the words, bm25; its trigram tokeniser for Chinese as well), float32 numpy over
the model's raw vectors, both joined by reciprocal ranks as hybrid stores do, a vector store from PyPI
(chromadb, given the same vectors) and the MCP reference memory server. The last two are installed into
FOLDER, never among this project's packages; one that cannot be is reported with the reason.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import reference_memory as reference
from data_sets import SETS, Pool, Question, load
from embedded import CachedEmbedder
from retrieval import DEPTHS, groups

Floats = npt.NDArray[np.float32]
Finder = Callable[[Question], list[int]]
CHROMADB = "chromadb==1.5.1"
RANK_CONSTANT = 60
"""Of reciprocal rank fusion, as in the paper that proposed it (Cormack, Clarke and Buettcher, 2009)."""
_MOST = max(DEPTHS)
_words = re.compile(r"\w+").findall
_cjk = re.compile("[\u3400-\u9fff]")


def figure(name: str, peer: str, what: str, value: float | str, count: int) -> None:
    rounded = round(value, 4) if isinstance(value, float) else value
    line = {"bench": "peers", "set": name, "peer": peer, "metric": what, "value": rounded, "n": count}
    print(json.dumps(line), flush=True)


class FullText:
    """An FTS5 table of texts, asked by the OR of a question's words."""

    def __init__(self, texts: Sequence[str], tokenizer: str) -> None:
        self._by_three = tokenizer == "trigram"
        self._db = sqlite3.connect(":memory:")
        self._db.execute(f"CREATE VIRTUAL TABLE passage USING fts5(text, tokenize='{tokenizer}')")
        rows = list(enumerate(texts))
        self._db.executemany("INSERT INTO passage(rowid, text) VALUES(?, ?)", rows)

    def find(self, text: str) -> list[int]:
        terms = self._terms(text)
        if not terms:
            return []
        match = " OR ".join('"' + term + '"' for term in dict.fromkeys(terms))
        sql = "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY bm25(passage), rowid LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (match, _MOST))]

    def _terms(self, text: str) -> list[str]:
        words = _words(text)
        if not self._by_three:
            return words
        return [word[at : at + 3] for word in words for at in range(len(word) - 2)]


def nearest(raw: Floats, owners: npt.NDArray[np.int64], vector: Floats) -> list[int]:
    """Rows by cosine of raw vectors, each once."""
    order = owners[np.argsort(-(raw @ vector), kind="stable")]
    return list(dict.fromkeys(order.tolist()))[:_MOST]


def joined(*ranked: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion."""
    scores: dict[int, float] = {}
    for rows in ranked:
        for rank, row in enumerate(rows, start=1):
            scores[row] = scores.get(row, 0.0) + 1.0 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))[:_MOST]


def finders(pool: Pool, embedder: CachedEmbedder) -> dict[str, Finder]:
    """The ways that need no installation."""
    texts = [passage.text for passage in pool.passages]
    windows = embedder.passages(texts)
    owners = np.repeat(np.arange(len(texts)), [len(one) for one in windows])
    raw = np.concatenate(windows)
    asked = {
        question.id: vector
        for question, vector in zip(
            pool.questions, embedder.queries([q.text for q in pool.questions]), strict=True
        )
    }
    plain = FullText(texts, "unicode61")
    found: dict[str, Finder] = {
        "FTS5": lambda question: plain.find(question.text),
        "numpy, raw vectors": lambda question: nearest(raw, owners, asked[question.id]),
    }
    words = plain
    if any(_cjk.search(text) for text in texts):
        by_three = words = FullText(texts, "trigram")
        found["FTS5 trigram"] = lambda question: by_three.find(question.text)
    found["both by reciprocal ranks"] = lambda question: joined(
        words.find(question.text), nearest(raw, owners, asked[question.id])
    )
    return found


def chroma_python(folder: Path) -> str | None:
    """The interpreter of an environment with chromadb; made the first time. None where it cannot be."""
    python = folder / "chroma" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "chroma")], check=True)
        wanted = [str(python), "-m", "pip", "install", "--quiet", CHROMADB]
        if subprocess.run(wanted, capture_output=True, check=False).returncode:
            return None
    there = subprocess.run([str(python), "-c", "import chromadb"], capture_output=True, check=False)
    return None if there.returncode else str(python)


def chroma(python: str, vectors: Floats, texts: Sequence[str], asked: Floats) -> dict[str, object]:
    """What `chroma_driver.py` reports: rows found by question, times, memory and disk."""
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder)
        np.save(given / "vectors.npy", vectors)
        np.save(given / "asked.npy", asked)
        (given / "texts.json").write_text(json.dumps(list(texts)), encoding="utf-8")
        driver = Path(__file__).with_name("chroma_driver.py")
        done = subprocess.run([python, str(driver), folder, str(_MOST)], capture_output=True, check=False)
        if done.returncode:
            raise reference.NotThere(done.stderr.decode(errors="replace").strip().splitlines()[-1][:200])
        return json.loads(done.stdout)


def by_chroma(python: str, pool: Pool, embedder: CachedEmbedder) -> list[list[int]]:
    texts = [passage.text for passage in pool.passages]
    vectors = np.stack([windows[0] for windows in embedder.passages(texts)])
    asked = np.stack(embedder.queries([question.text for question in pool.questions]))
    found = chroma(python, vectors, texts, asked)["found"]
    assert isinstance(found, list)
    return found


async def by_reference(command: Sequence[str], pool: Pool) -> list[list[int]]:
    """What the reference server returns for the longest word of each question, in its order."""
    found: list[list[int]] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.jsonl"
        reference.write_file(file, [passage.text for passage in pool.passages])
        async with reference.serving(command, file) as server:
            for question in pool.questions:
                word = max(_words(question.text), key=len, default="")
                result, _ = await server.tool("search_nodes", {"query": word})
                graph = result.get("structuredContent") or {}
                names = [str(entity["name"]) for entity in graph.get("entities", ())]
                found.append([int(name.split()[1]) for name in names[:_MOST]])
    return found


def shares(pool: Pool, found: Sequence[Sequence[int]]) -> Iterator[list[float]]:
    """Recall of every question at each depth."""
    ids = [passage.id for passage in pool.passages]
    for question, rows in zip(pool.questions, found, strict=True):
        first = [ids[row] for row in rows]
        yield [
            len(question.relevant.intersection(first[:depth])) / len(question.relevant) for depth in DEPTHS
        ]


def installed(folder: Path | None) -> tuple[str | None, list[str] | None]:
    """chromadb's interpreter and the server's command; None and a line about it for what is not there."""
    if folder is None:
        figure("all", "chromadb, MCP reference server", "skipped", "no folder was given", 0)
        return None, None
    python, command = chroma_python(folder), None
    if python is None:
        figure("all", "chromadb", "skipped", "it cannot be installed", 0)
    try:
        command = reference.installed(folder / "reference")
    except reference.NotThere as why:
        figure("all", "MCP reference server", "skipped", str(why), 0)
    return python, command


def quality(data: Path, sets: Sequence[str], embedder: CachedEmbedder, folder: Path | None) -> None:
    """Recall of every peer on every set."""
    python, command = installed(folder)
    for set_name in sets:
        for name, pools in groups(load(data, set_name)).items():
            rows: dict[str, list[list[float]]] = {}
            for pool in pools:
                for peer, found in answers(pool, embedder, python, command):
                    rows.setdefault(peer, []).extend(shares(pool, found))
            for peer, values in rows.items():
                for depth, value in zip(DEPTHS, np.mean(values, axis=0).tolist(), strict=True):
                    figure(name, peer, f"recall@{depth}", value, len(values))


def answers(
    pool: Pool, embedder: CachedEmbedder, python: str | None, command: list[str] | None
) -> Iterator[tuple[str, list[list[int]]]]:
    """Every peer with the rows it finds for each question of a pool."""
    for peer, find in finders(pool, embedder).items():
        yield peer, [find(question) for question in pool.questions]
    if python is not None:
        yield "chromadb, raw vectors", by_chroma(python, pool, embedder)
    if command is not None:
        yield "MCP reference server", asyncio.run(by_reference(command, pool))


def speed(sizes: Sequence[int], embedder: CachedEmbedder, folder: Path) -> None:
    """Times, memory and disk of the vector store, on what `recall.py` measures memvault with."""
    from recall import material

    python = chroma_python(folder)
    if python is None:
        return
    for size in sizes:
        made = material(size, 200, None, embedder)
        asked = np.stack(embedder.queries(made.questions))
        for what, value in chroma(python, made.vectors, made.texts, asked).items():
            if what != "found":
                assert isinstance(value, float | int | str)
                figure(f"{size} memories", "chromadb", what, value, len(asked))


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo, madial, ...")
    parser.add_argument("--set", choices=SETS, action="append", help="only this set (may be repeated)")
    parser.add_argument("--peers", type=Path, help="folder to install chromadb and the server into")
    parser.add_argument("--speed", help="sizes to measure the vector store's speed at, instead of quality")
    parser.add_argument("--cache", type=Path, help="folder for vectors between runs (default: temporary)")
    chosen = parser.parse_args()
    embedder = CachedEmbedder(folder=chosen.cache)
    if chosen.speed:
        speed([int(size) for size in chosen.speed.split(",")], embedder, chosen.peers)
    else:
        quality(chosen.data, chosen.set or SETS, embedder, chosen.peers)


if __name__ == "__main__":
    main()
