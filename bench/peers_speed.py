"""Speed, memory and files of other ways to keep memories, each in its own process. One JSON line per figure.

    python bench/peers_speed.py --peers FOLDER [--sizes 10000,100000] [--markdown]

The texts, vectors and questions are those `recall.py` measures memvault with. Vectors are given to the
peers: the time of embedding a question is in none of their figures, but is in memvault's. The first questions
are not counted. Whether a known text and its float32 vector can be found in a peer's files is looked up byte
by byte. Several threads of numpy wait for each other where another program has a core, so it is measured with
one as well.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import peers_store as store
import reference_memory as reference
from embedded import CachedEmbedder
from peers import figure, installed
from peers_ways import words

from recall import TOP, WARM_UP, material, rss_mb

Row = dict[str, float | str]
REFERENCE = "MCP reference server"
FEW = 40
"""Questions put to the reference server, which reads its whole file for each."""


@dataclass(frozen=True, slots=True)
class Way:
    """How `peers_driver.py` names a peer, who runs it, and at most how many threads numpy may use."""

    name: str
    python: str
    threads: int | None = None


def summed(times_ms: Sequence[float]) -> Row:
    """Least, p50 and p95 of all but the first questions."""
    counted = times_ms[WARM_UP:]
    return {
        "least_ms": float(min(counted)),
        "p50_ms": float(np.percentile(counted, 50)),
        "p95_ms": float(np.percentile(counted, 95)),
    }


def stored(folder: Path, given: store.Given, *, vectors: bool) -> Row:
    """What a peer's files say of it; the text looked for needs no escape in any file format."""
    said = {True: "yes", False: "no"}
    at = next(at for at, text in enumerate(given.texts) if text.isascii() and text.isprintable())
    seen = said[store.readable(folder, given.vectors[at].tobytes())] if vectors else "it keeps none"
    return {
        "disk_mb": store.disk_mb(folder),
        "text_readable": said[store.readable(folder, given.texts[at].encode())],
        "vector_readable": seen,
    }


def of_driver(way: Way, given: store.Given) -> Row:
    """One process fills, the next opens and asks. Raises reference.Died."""
    with store.handed(given) as folder:
        filled = store.driven(way.python, way.name, "fill", folder, TOP, way.threads)
        asked = store.driven(way.python, way.name, "ask", folder, TOP, way.threads)
        memory: Row = {"rss_mb": asked["rss_mb"], "fill_s": filled["fill_s"], "open_s": asked["open_s"]}
        files = stored(folder / "store", given, vectors=way.name != "fts5")
        return summed(asked["times_ms"]) | memory | files


async def of_reference(command: Sequence[str], given: store.Given) -> Row:
    """Its file is written for it, not by calls, so there is no time of filling it. Raises reference.Died."""
    with TemporaryDirectory(prefix="mvp") as name:
        file = Path(name) / "memory.jsonl"
        reference.write_file(file, given.texts)
        times_ms: list[float] = []
        async with reference.serving(command, file) as server:
            for question in given.questions[: WARM_UP + FEW]:
                word = max(words(question), key=len)
                began = time.perf_counter()
                await server.tool("search_nodes", {"query": word})
                times_ms.append(1e3 * (time.perf_counter() - began))
            memory: Row = {"rss_mb": rss_mb(server.process.pid)}
        return summed(times_ms) | memory | stored(Path(name), given, vectors=False)


def measured(given: store.Given, python: str | None, command: list[str] | None, size: str) -> dict[str, Row]:
    """Every peer's figures; a line about one that failed."""
    rows: dict[str, Row] = {}
    ways = {
        "FTS5, stemmed": Way("fts5", sys.executable),
        "numpy float32": Way("numpy", sys.executable),
        "numpy float32, one thread": Way("numpy", sys.executable, 1),
    }
    if python is not None:
        ways["chromadb"] = Way("chromadb", python)
    for peer, way in ways.items():
        try:
            rows[peer] = of_driver(way, given)
        except reference.Died as why:
            figure(size, peer, "skipped", str(why), 0)
    if command is not None:
        try:
            rows[REFERENCE] = asyncio.run(of_reference(command, given))
        except reference.Died as why:
            figure(size, REFERENCE, "skipped", str(why), 0)
    return rows


def markdown(size: str, rows: dict[str, Row]) -> str:
    """A row a figure, a column a peer."""
    metrics = list(dict.fromkeys(metric for row in rows.values() for metric in row))
    lines = [f"| {size} | {' | '.join(rows)} |", "|" + "---|" * (len(rows) + 1)]
    for metric in metrics:
        cells = [_short(row[metric]) if metric in row else "-" for row in rows.values()]
        lines.append(f"| {metric} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _short(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}"


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--peers", type=Path, help="folder to install chromadb and the server into")
    parser.add_argument("--sizes", default="10000,100000", help="numbers of memories, joined by commas")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--cache", type=Path, help="folder for vectors between runs (default: temporary)")
    parser.add_argument("--markdown", action="store_true", help="tables at the end as well")
    chosen = parser.parse_args()
    embedder = CachedEmbedder(folder=chosen.cache)
    python, command = installed(chosen.peers)
    tables: list[str] = []
    for size in (int(part.replace("_", "")) for part in chosen.sizes.split(",")):
        made = material(size, chosen.queries, None, embedder)
        asked = np.stack(embedder.queries(made.questions))
        given = store.Given(made.texts, made.vectors, made.questions, asked)
        name = f"{size:,} memories"
        figure(name, "all", "load average before", os.getloadavg()[0], 0)
        rows = measured(given, python, command, name)
        for peer, row in rows.items():
            for metric, value in row.items():
                figure(name, peer, metric, value, FEW if peer == REFERENCE else chosen.queries)
        tables.append(markdown(name, rows))
    if chosen.markdown:
        print("\n\n".join(tables))


if __name__ == "__main__":
    main()
