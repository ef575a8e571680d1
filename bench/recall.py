"""Speed and memory of recall, end to end through the socket. One JSON line per figure.

    python bench/recall.py [--data DIR] [--sizes 10000,100000] [--queries 200]

A real daemon with the real model answers the `recall` calls of one client; times are that client's wall
clock. Beside it, in the same run, on the same texts, vectors and questions: embedding each question once,
plain `sqlite3` FTS5 (OR of the words, first five by bm25), brute-force float32 numpy. `ratio_p95` is recall's
p95 over the sum of their three p95s; at most 1 is the aim at 100,000 memories.

Texts are sentences made for this, or, with `--data`, turns and events of the public sets. At most 1,500 of
them are embedded by the model; the others are those sentences with names and numbers added, and their vectors
are those vectors, jittered to a cosine of 0.9. That fills a vault in minutes and changes nothing of what is
measured, because the work of a search does not depend on where vectors come from. Beyond 100,000 the rows of
the vault are copies of the first ones with a number added to their content (see `filling`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import filling
import numpy as np
import numpy.typing as npt
from data_sets import load
from embedded import DEFAULT_MODEL, CachedEmbedder
from sentences import NAMES, TOWNS, made

from memvault.client import Client
from memvault.keys import header_file, ring
from memvault.paths import HomeLayout
from memvault_models.means import Means

Floats = npt.NDArray[np.float32]

PASSPHRASE = "a passphrase for benchmarks only"  # noqa: S105
BASE_TEXTS = 1_500
"""Texts that the model embeds; every other text is one of them, varied."""
JITTER_COSINE = 0.9
TOP = 5
WARM_UP = 20
CHUNK = 1_000
PATIENCE_S = 60.0
UNLOCK_S = 900.0
"""Longest wait for a call: a million memories take a while to open."""


@dataclass(frozen=True, slots=True)
class Material:
    """Texts with vectors, shape (texts, dims), of which the model made the first `embedded`; questions."""

    texts: list[str]
    vectors: Floats
    questions: list[str]
    embedded: int


def figure(size: int, name: str, value: float | str) -> None:
    rounded = round(value, 3) if isinstance(value, float) else value
    print(json.dumps({"bench": "recall", "size": size, "figure": name, "value": rounded}), flush=True)


def percentiles(times_ms: Sequence[float]) -> tuple[float, float]:
    """p50 and p95."""
    return float(np.percentile(times_ms, 50)), float(np.percentile(times_ms, 95))


def _read(data: Path, queries: int, rnd: random.Random) -> tuple[list[str], list[str]]:
    """Base texts and questions of the public sets: LoCoMo in English, MADial in Chinese."""
    english = [passage.text for pool in load(data, "locomo") for passage in pool.passages]
    chinese = [p.text for pool in load(data, "madial") if pool.name == "zh" for p in pool.passages]
    asked = [question.text for pool in load(data, "locomo") for question in pool.questions]
    rnd.shuffle(chinese)
    few = chinese[: BASE_TEXTS // 5]
    base = [*few, *rnd.sample(sorted(set(english)), BASE_TEXTS - len(few))]
    events = chinese[len(few) : len(few) + queries // 5]
    return base, [*events, *rnd.sample(sorted(set(asked)), queries - len(events))]


def material(size: int, queries: int, data: Path | None, embedder: CachedEmbedder) -> Material:
    """The texts of one size: the base, then variations of it, each different."""
    rnd = random.Random(7)
    base, asked = _read(data, queries + WARM_UP, rnd) if data else made(BASE_TEXTS, queries + WARM_UP, rnd)
    base = list(dict.fromkeys(base))[:size]
    known = np.stack([vectors[0] for vectors in embedder.passages(base)])
    texts = list(base)
    while len(texts) < size:
        text = base[len(texts) % len(base)]
        texts.append(f"{text} {rnd.choice(NAMES)} {rnd.choice(TOWNS)} {len(texts)}")
    return Material(texts, _jittered(known, size), asked, len(base))


def _jittered(known: Floats, size: int) -> Floats:
    """The known vectors, then neighbours of them, shape (size, dims)."""
    random_ = np.random.default_rng(7)
    near = known[np.arange(size) % len(known)].copy()
    aside = random_.standard_normal((size - len(known), known.shape[1]), dtype=np.float32)
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    near[len(known) :] *= np.float32(JITTER_COSINE)
    near[len(known) :] += np.float32(np.sqrt(1.0 - JITTER_COSINE**2)) * aside
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    return near


def fill(layout: HomeLayout, found: Material, means: Means) -> None:
    """One memory a text, in a new vault, with its vector beside it; see `filling` for more than 100,000."""
    filling.fill(layout, PASSPHRASE, found.texts[: filling.WRITTEN], found.vectors, DEFAULT_MODEL, means)


def rss_mb(pid: int) -> float:
    """Resident memory of a process now, MB of 10^6 bytes."""
    facts = Path(f"/proc/{pid}/status").read_text().splitlines()
    kib = next(int(line.split()[1]) for line in facts if line.startswith("VmRSS"))
    return kib * 1_024 / 1e6


def timed_ms(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - started)


def measure_daemon(home: Path, size: int, questions: list[str]) -> float:
    """Start, unlock, ask; print its figures and return recall's p95 in ms."""
    client = Client(home, name="bench", timeout_s=UNLOCK_S)
    try:
        figure(size, "start_ms", timed_ms(client.connect))
        header = header_file.read(home)
        figure(size, "key_derivation_ms", timed_ms(lambda: ring.open_with_passphrase(header, PASSPHRASE)))
        unlock = timed_ms(lambda: client.call("vault.unlock", {"passphrase": PASSPHRASE}))
        figure(size, "unlock_ms", unlock)
        figure(size, "model_ready_ms", timed_ms(lambda: await_model(client)))
        for question in questions[:WARM_UP]:
            client.call("recall", {"query": question})
        times_ms: list[float] = []
        answered, last = 0, list[dict[str, Any]]()
        for question in questions[WARM_UP:]:
            started = time.perf_counter()
            answer = client.call("recall", {"query": question})
            times_ms.append(1e3 * (time.perf_counter() - started))
            last = answer["results"] or last
            answered += bool(answer["results"])
            if answer["mode"] != "hybrid":
                raise SystemExit(f"a recall was {answer['mode']}, not hybrid")
        p50, p95 = percentiles(times_ms)
        figure(size, "recall_p50_ms", p50)
        figure(size, "recall_p95_ms", p95)
        figure(size, "recall_answered_share", answered / len(times_ms))
        figure(size, "daemon_rss_mb", rss_mb(client.hello["pid"]))
        measure_changes(client, size, last[:1])
        return p95
    finally:
        end(client)


def measure_changes(client: Client, size: int, last: list[dict[str, Any]]) -> None:
    """One memory more until it is acknowledged, and one old memory deleted."""
    source = {"type": "user", "ref": "bench:added"}
    new = {"content": "The spare key of the archive hangs behind door 41", "kind": "fact", "scope": "private"}
    figure(size, "add_ms", timed_ms(lambda: client.call("memory.add", {**new, "source": source})))
    client.call("presence.prove", {"passphrase": PASSPHRASE})
    ids = [found["id"] for found in last]
    if ids:
        figure(size, "delete_ms", timed_ms(lambda: client.call("memory.delete", {"ids": ids})))


def await_model(client: Client) -> None:
    """Wait until a recall is hybrid. Raises SystemExit."""
    deadline = time.monotonic() + PATIENCE_S
    while client.call("recall", {"query": "ready", "log": False})["mode"] != "hybrid":
        if time.monotonic() > deadline:
            raise SystemExit("the model did not load: see `memvault doctor`")
        time.sleep(0.01)


def end(client: Client) -> None:
    """Hang up and end the daemon by its id."""
    pid = client.hello.get("pid")
    client.close()
    if pid is not None:
        os.kill(pid, signal.SIGTERM)


def measure_embedding(embedder: CachedEmbedder, questions: list[str]) -> tuple[list[float], list[Floats]]:
    """Times in ms of embedding each question once, and the vectors."""
    model = embedder.model()
    for question in questions[:WARM_UP]:
        model.embed_query(question)
    vectors: list[Floats] = []
    times_ms: list[float] = []
    for question in questions[WARM_UP:]:
        started = time.perf_counter()
        vectors.append(model.embed_query(question))
        times_ms.append(1e3 * (time.perf_counter() - started))
    return times_ms, vectors


def measure_fts5(folder: Path, texts: list[str], questions: list[str]) -> list[float]:
    """Times in ms of plain FTS5: the words of a question joined by OR, the first five by bm25."""
    db = sqlite3.connect(folder / "plain.db")
    try:
        db.execute("CREATE VIRTUAL TABLE plain USING fts5(content, tokenize = 'porter unicode61')")
        db.executemany("INSERT INTO plain VALUES(?)", ((text,) for text in texts))
        db.commit()
        sql = "SELECT rowid, content, bm25(plain) FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?"
        expressions = [" OR ".join(f'"{word}"' for word in _words(question)) for question in questions]
        for expression in expressions[:WARM_UP]:
            db.execute(sql, (expression, TOP)).fetchall()
        return [
            timed_ms(lambda e=expression: db.execute(sql, (e, TOP)).fetchall())
            for expression in expressions[WARM_UP:]
        ]
    finally:
        db.close()


def _words(question: str) -> list[str]:
    return re.findall(r"\w+", question) or ["nothing"]


def measure_numpy(vectors: Floats, asked: list[Floats]) -> list[float]:
    """Times in ms of brute force: every dot product in float32, the first five."""

    def search(query: Floats) -> npt.NDArray[np.int64]:
        scores = vectors @ query
        some = np.argpartition(-scores, TOP)[:TOP]
        return some[np.argsort(-scores[some])]

    for query in asked[:WARM_UP]:
        search(query)
    return [timed_ms(lambda q=query: search(q)) for query in asked]


def run(size: int, queries: int, data: Path | None, embedder: CachedEmbedder) -> None:
    """Every figure of one size."""
    found = material(size, queries, data, embedder)
    folder = Path(tempfile.mkdtemp(prefix="mvb", dir="/tmp"))
    layout = HomeLayout(folder / "h")
    layout.root.mkdir(mode=0o700)
    try:
        figure(size, "texts", "public sets, varied" if data else "made sentences, varied")
        figure(size, "vectors_embedded", found.embedded)
        figure(size, "vectors_jittered", size - found.embedded)
        started = time.perf_counter()
        fill(layout, found, embedder.means())
        figure(size, "fill_s", time.perf_counter() - started)
        figure(size, "database_mb", layout.database.stat().st_size / 1e6)
        whole_p95 = measure_daemon(layout.root, size, found.questions)
        embed_ms, asked = measure_embedding(embedder, found.questions)
        parts: dict[str, list[float]] = {
            "embed_once": embed_ms,
            "fts5": measure_fts5(folder, found.texts, found.questions),
            "numpy_float32": measure_numpy(found.vectors, asked),
        }
        for name, times_ms in parts.items():
            p50, p95 = percentiles(times_ms)
            figure(size, f"{name}_p50_ms", p50)
            figure(size, f"{name}_p95_ms", p95)
        total_p95 = sum(percentiles(times_ms)[1] for times_ms in parts.values())
        figure(size, "sum_p95_ms", total_p95)
        figure(size, "ratio_p95", whole_p95 / total_p95)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sizes(text: str) -> Iterator[int]:
    for part in text.split(","):
        yield int(part.replace("_", ""))


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the public sets: their texts and questions")
    parser.add_argument("--sizes", default="10000,100000", help="numbers of memories, joined by commas")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--cache", type=Path, help="folder for the vectors of the base texts")
    chosen = parser.parse_args()
    os.environ.pop("MEMVAULT_EMBEDDER", None)
    embedder = CachedEmbedder(folder=chosen.cache)
    for size in _sizes(chosen.sizes):
        run(size, chosen.queries, chosen.data, embedder)


if __name__ == "__main__":
    main()
