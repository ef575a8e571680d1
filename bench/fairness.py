"""What one client's long lists cost another client's recall.

    python bench/fairness.py [--size 10000] [--queries 200] [--cache DIR]

A real daemon with the real model. The recall's p50 and p95 alone, and while another client pages through all
memories, 500 at a time, without a pause; in turn, three times. Prints one JSON line per figure.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import tempfile
import time
from multiprocessing.synchronize import Event
from pathlib import Path

from embedded import CachedEmbedder

from memvault.client import Client
from memvault.paths import HomeLayout
from recall import PASSPHRASE, await_model, end, figure, fill, material, percentiles

ROUNDS = 3
PAGE_ROWS = 500


def page_for_ever(home: Path, begun: Event, over: Event) -> None:
    """Read every page, again and again, in a process of its own."""
    with Client(home, name="pager") as client:
        offset: int | None = 0
        while not over.is_set():
            page = client.call("memory.list", {"limit": PAGE_ROWS, "offset": offset or 0})
            offset = page["next"]
            begun.set()


def recall_ms(client: Client, questions: list[str]) -> tuple[float, float]:
    taken: list[float] = []
    for question in questions:
        started = time.perf_counter()
        client.call("recall", {"query": question, "log": False})
        taken.append(1e3 * (time.perf_counter() - started))
    return percentiles(taken)


def beside_a_pager(home: Path, client: Client, questions: list[str]) -> tuple[float, float]:
    begun, over = multiprocessing.Event(), multiprocessing.Event()
    pager = multiprocessing.Process(target=page_for_ever, args=(home, begun, over))
    pager.start()
    begun.wait()
    try:
        return recall_ms(client, questions)
    finally:
        over.set()
        pager.join()


def measure(home: Path, size: int, questions: list[str]) -> None:
    client = Client(home, name="bench")
    try:
        client.call("vault.unlock", {"passphrase": PASSPHRASE})
        await_model(client)
        recall_ms(client, questions[:20])
        for number in range(1, ROUNDS + 1):
            alone, beside = recall_ms(client, questions), beside_a_pager(home, client, questions)
            for name, (p50, p95) in (("alone", alone), ("beside_a_pager", beside)):
                figure(size, f"round_{number}_{name}_p50_ms", p50)
                figure(size, f"round_{number}_{name}_p95_ms", p95)
            figure(size, f"round_{number}_ratio_p95", beside[1] / alone[1])
    finally:
        end(client)


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=10_000, help="number of memories")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--cache", type=Path, help="folder for the vectors of the base texts")
    chosen = parser.parse_args()
    os.environ.pop("MEMVAULT_EMBEDDER", None)
    embedder = CachedEmbedder(folder=chosen.cache)
    found = material(chosen.size, chosen.queries, None, embedder)
    folder = Path(tempfile.mkdtemp(prefix="mvb", dir="/tmp"))
    layout = HomeLayout(folder / "h")
    layout.root.mkdir(mode=0o700)
    try:
        fill(layout, found, embedder.means())
        measure(layout.root, chosen.size, found.questions)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
