"""Other ways to find a memory, on the same texts, vectors and questions. One JSON line per figure.

    python bench/peers.py --data DIR [--set locomo] [--peers FOLDER] [--markdown]

Plain `sqlite3` FTS5 (OR of the words, bm25; stemmed, and by trigrams for Chinese, as well), float32 numpy
over the model's raw vectors, the better full text joined with them by reciprocal ranks as hybrid stores do,
chromadb (given the vectors of the first windows) and the MCP reference memory server (asked for the longest
word, because it finds only texts that contain what it is asked). The last two are installed into FOLDER; one
that cannot be is reported with the reason. `peers_speed.py` measures their speed and memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import peers_store as store
import reference_memory as reference
from data_sets import SETS, Pool, Question, load
from embedded import CachedEmbedder
from peers_ways import Floats, FullText, joined, nearest, words
from retrieval import DEPTHS, groups

Finder = Callable[[Question], list[int]]
Figures = dict[str, dict[str, list[float]]]
MOST = max(DEPTHS)
CANDIDATES = (20, 100)
"""Rows of each list that are joined by ranks: neither number is the better one on all sets."""
_cjk = re.compile("[\u3400-\u9fff]").search


def figure(name: str, peer: str, metric: str, value: float | str, count: int) -> None:
    rounded = round(value, 4) if isinstance(value, float) else value
    line = {"bench": "peers", "set": name, "peer": peer, "metric": metric, "value": rounded, "n": count}
    print(json.dumps(line), flush=True)


def finders(pool: Pool, embedder: CachedEmbedder) -> dict[str, Finder]:
    """The ways that need no installation."""
    texts = [passage.text for passage in pool.passages]
    windows = embedder.passages(texts)
    owners = np.repeat(np.arange(len(texts)), [len(one) for one in windows])
    raw: Floats = np.concatenate(windows)
    made = embedder.queries([question.text for question in pool.questions])
    asked = {question.id: vector for question, vector in zip(pool.questions, made, strict=True)}
    tables = {"FTS5": FullText("unicode61"), "FTS5, stemmed": FullText("porter unicode61")}
    if any(_cjk(text) for text in texts):
        tables["FTS5, trigrams"] = FullText("trigram")
    for table in tables.values():
        table.put(texts)
    last = list(tables.values())[-1]

    def near(question: Question, most: int) -> list[int]:
        return nearest(raw, owners, asked[question.id], most)

    def both(candidates: int) -> Finder:
        return lambda asked_: joined(last.find(asked_.text, candidates), near(asked_, candidates), most=MOST)

    found: dict[str, Finder] = {name: _asking(table) for name, table in tables.items()}
    found["numpy, raw vectors"] = lambda question: near(question, MOST)
    return found | {f"ranks joined, {count} each": both(count) for count in CANDIDATES}


def _asking(table: FullText) -> Finder:
    return lambda question: table.find(question.text, MOST)


def by_chroma(python: str, pool: Pool, embedder: CachedEmbedder) -> list[list[int]]:
    texts = [passage.text for passage in pool.passages]
    questions = [question.text for question in pool.questions]
    vectors: Floats = np.stack([windows[0] for windows in embedder.passages(texts)])
    asked: Floats = np.stack(embedder.queries(questions))
    with store.handed(store.Given(texts, vectors, questions, asked)) as folder:
        store.driven(python, "chromadb", "fill", folder, MOST)
        return store.driven(python, "chromadb", "ask", folder, MOST)["found"]


async def by_reference(command: Sequence[str], pool: Pool) -> list[list[int]]:
    """What the server returns for the longest word of each question, in its order."""
    found: list[list[int]] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.jsonl"
        reference.write_file(file, [passage.text for passage in pool.passages])
        async with reference.serving(command, file) as server:
            for question in pool.questions:
                word = max(words(question.text), key=len, default="")
                result, _ = await server.tool("search_nodes", {"query": word})
                graph: dict[str, Any] = result.get("structuredContent") or {}
                names = [str(entity["name"]) for entity in graph.get("entities", ())]
                found.append([int(name.split()[1]) for name in names[:MOST]])
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
    """chromadb's interpreter and the server's command; a line about each that is not there, and None."""
    python, command = None, None
    if folder is None:
        for peer in ("chromadb", "MCP reference server"):
            figure("all", peer, "skipped", "no folder to install it into was given", 0)
        return python, command
    try:
        python = store.chroma_python(folder)
    except reference.NotThere as why:
        figure("all", "chromadb", "skipped", str(why), 0)
    try:
        command = reference.installed(folder / "reference")
    except reference.NotThere as why:
        figure("all", "MCP reference server", "skipped", str(why), 0)
    return python, command


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


def quality(data: Path, sets: Sequence[str], embedder: CachedEmbedder, folder: Path | None) -> Figures:
    """Recall of every peer on every set at each depth, printed as it is known."""
    python, command = installed(folder)
    every: Figures = {}
    for set_name in sets:
        for name, pools in groups(load(data, set_name)).items():
            rows: dict[str, list[list[float]]] = {}
            for pool in pools:
                for peer, found in answers(pool, embedder, python, command):
                    rows.setdefault(peer, []).extend(shares(pool, found))
            for peer, values in rows.items():
                means = np.mean(values, axis=0).tolist()
                every.setdefault(name, {})[peer] = means
                for depth, value in zip(DEPTHS, means, strict=True):
                    figure(name, peer, f"recall@{depth}", value, len(values))
    return every


def markdown(every: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """A row a set, a column a peer, the depths in each cell; a dash where a peer was not asked."""
    peers = list(dict.fromkeys(peer for row in every.values() for peer in row))
    lines = [f"| R@5 / R@10 / R@20 | {' | '.join(peers)} |", "|" + "---|" * (len(peers) + 1)]
    for name, row in every.items():
        cells = [" ".join(_short(value) for value in row[peer]) if peer in row else "-" for peer in peers]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _short(share: float) -> str:
    return "1.00" if share >= 0.9995 else f"{share:.3f}"[1:]


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo, madial, ...")
    parser.add_argument("--set", choices=SETS, action="append", help="only this set (may be repeated)")
    parser.add_argument("--peers", type=Path, help="folder to install chromadb and the server into")
    parser.add_argument("--cache", type=Path, help="folder for vectors between runs (default: temporary)")
    parser.add_argument("--markdown", action="store_true", help="a table at the end as well")
    chosen = parser.parse_args()
    embedder = CachedEmbedder(folder=chosen.cache)
    every = quality(chosen.data, chosen.set or SETS, embedder, chosen.peers)
    if chosen.markdown:
        print(markdown(every))


if __name__ == "__main__":
    main()
