"""Compiling a context beside recall, end to end through the socket. One JSON line per figure.

    python bench/compile.py [--sizes 10000,100000] [--queries 200]

A real daemon with the real model answers one client. Each objective is asked twice in turn, as a recall and
as a compile in mode M1 with the default budget, so that both meet the same machine; which comes first
alternates. `ratio` is the median of compile over the median of recall, `ratio_p95` that of their 95th
percentiles; at most 1.3 is the aim at 100,000 memories. Beside the texts of `bench/recall.py` the vault holds
20 policies, 60 preferences and 20 constraints, and one memory in four is a procedure, an episode or a
reflection.

`changed`: a memory is written before every compile, so that nothing is cached.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from embedded import DEFAULT_MODEL, CachedEmbedder

import recall
from memvault.client import Client
from memvault.clock import SystemClock
from memvault.keys import ring
from memvault.model import Claim, Draft, Kind, Scope, Source, SourceType
from memvault.paths import HomeLayout
from memvault.services import remember
from memvault.services.caller import PERSON
from memvault.services.change import change
from memvault.services.vault import Vault, create_database, open_vault
from memvault_models.means import Means
from recall import CHUNK, PASSPHRASE, WARM_UP, Material, material, percentiles, timed_ms

PROJECT = "bench"
KINDS = (Kind.FACT,) * 9 + (Kind.PROCEDURE, Kind.EPISODE, Kind.REFLECTION)
SOURCE = (Source(SourceType.IMPORT, "bench:texts"),)


def figure(size: int, name: str, value: float | str) -> None:
    rounded = round(value, 3) if isinstance(value, float) else value
    print(json.dumps({"bench": "compile", "size": size, "figure": name, "value": rounded}), flush=True)


def fill(layout: HomeLayout, found: Material, means: Means) -> None:
    """Write standing memories, then every text as one of KINDS, half of them of the project."""
    made = ring.create(layout.root, passphrase=PASSPHRASE, use_keychain=False)
    create_database(layout, made.key)
    vault = open_vault(layout, made.key, SystemClock(), DEFAULT_MODEL, means, lambda ids, reason: None)
    try:
        _standing(vault)
        for start in range(0, len(found.texts), CHUNK):
            ids: list[tuple[int, str]] = []
            with change(vault, "import:bench", PERSON.actor) as work:
                for at in range(start, min(start + CHUNK, len(found.texts))):
                    project = PROJECT if at % 2 else None
                    claim = Claim(KINDS[at % len(KINDS)], Scope.PRIVATE, found.texts[at], project)
                    written = remember.write(work, PERSON, Draft(claim, SOURCE))
                    if written.id is not None and written.changed:
                        ids.append((at, written.id))
            vault.put_vectors([(id_, found.vectors[at][None]) for at, id_ in ids])
            vault.waiting.clear()
    finally:
        vault.close()


def _standing(vault: Vault) -> None:
    with change(vault, "import:bench", PERSON.actor) as work:
        for kind, count in ((Kind.POLICY, 20), (Kind.PREFERENCE, 60), (Kind.FACT, 20)):
            for number in range(count):
                attribute = "constraint" if kind is Kind.FACT else f"{kind} {number}"
                claim = Claim(
                    kind,
                    Scope.PRIVATE,
                    f"For matter {number} the {kind} says: always check step {number} before the next one.",
                    PROJECT if number % 2 or kind is Kind.FACT else None,
                    subject=f"matter {number}",
                    attribute=attribute,
                )
                remember.write(work, PERSON, Draft(claim, SOURCE))


def measure(home: Path, size: int, questions: list[str]) -> None:
    """Ask every question both ways and print what it took."""
    client = Client(home, name="bench")
    try:
        client.connect()
        client.call("vault.unlock", {"passphrase": PASSPHRASE})
        recall.await_model(client)
        times: dict[str, list[float]] = {"recall": [], "compile": []}
        tokens: list[int] = []
        shown: list[int] = []
        counted_by = ""
        asked: dict[str, Any] = {
            "recall": lambda q: client.call("recall", {"query": q, "project": PROJECT}),
            "compile": lambda q: client.call(
                "context.compile", {"objective": q, "project": PROJECT, "mode": "M1"}
            ),
        }
        for number, question in enumerate(questions):
            for name in ("recall", "compile") if number % 2 else ("compile", "recall"):
                started = time.perf_counter()
                answer = asked[name](question)
                took_ms = 1e3 * (time.perf_counter() - started)
                if number >= WARM_UP:
                    times[name].append(took_ms)
                    if name == "compile":
                        counted_by = answer["counted_by"]
                        tokens.append(answer["tokens"])
                        shown.append(sum(len(zone["ids"]) for zone in answer["zones"]))
        _report(size, times)
        figure(size, "tokens_mean", sum(tokens) / len(tokens))
        figure(size, "memories_shown_mean", sum(shown) / len(shown))
        figure(size, "counted_by", counted_by)
        _measure_changed(client, size, questions[: WARM_UP * 2])
    finally:
        recall.end(client)


def _report(size: int, times: dict[str, list[float]]) -> None:
    for name, found in times.items():
        p50, p95 = percentiles(found)
        figure(size, f"{name}_p50_ms", p50)
        figure(size, f"{name}_p95_ms", p95)
    one, other = percentiles(times["compile"]), percentiles(times["recall"])
    figure(size, "ratio", one[0] / other[0])
    figure(size, "ratio_p95", one[1] / other[1])


def _measure_changed(client: Client, size: int, questions: list[str]) -> None:
    times_ms: list[float] = []
    for number, question in enumerate(questions):
        fresh = {
            "content": f"Between two questions {number} was noted.", "kind": "fact", "scope": "private",
            "source": {"type": "user", "ref": "bench"},
        }  # fmt: skip
        client.call("memory.add", fresh)
        client.call("recall", {"query": "settle", "log": False})
        asked = {"objective": question, "project": PROJECT, "mode": "M1"}
        times_ms.append(timed_ms(lambda asked=asked: client.call("context.compile", asked)))
    p50, p95 = percentiles(times_ms)
    figure(size, "compile_changed_p50_ms", p50)
    figure(size, "compile_changed_p95_ms", p95)


def run(size: int, queries: int, embedder: CachedEmbedder) -> None:
    found = material(size, queries, None, embedder)
    folder = Path(tempfile.mkdtemp(prefix="mvb", dir="/tmp"))
    layout = HomeLayout(folder / "h")
    layout.root.mkdir(mode=0o700)
    try:
        started = time.perf_counter()
        fill(layout, found, embedder.means())
        figure(size, "fill_s", time.perf_counter() - started)
        measure(layout.root, size, found.questions)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10000,100000", help="numbers of memories, joined by commas")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--cache", type=Path, help="folder for the vectors of the base texts")
    chosen = parser.parse_args()
    os.environ.pop("MEMVAULT_EMBEDDER", None)
    embedder = CachedEmbedder(folder=chosen.cache)
    for size in (int(part.replace("_", "")) for part in chosen.sizes.split(",")):
        run(size, chosen.queries, embedder)


if __name__ == "__main__":
    main()
