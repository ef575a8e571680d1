"""Twenty agents at one vault, end to end through the socket, beside two references. JSON lines, then tables.

    python bench/agents.py [--memories 100000] [--seconds 60] [--think 1.0] [--keep DIR]

A real daemon with the real model; `--agents` agents (20), each with a connection, token and grant of its own, all
working in one project whose memories, with those of no project, are the whole vault. The driver is this one
process, with asyncio, on the same cores as the daemon; what processor time each took is printed. Phases:

1. *alone*: one agent, questions only, no pause (a quarter of `--seconds`)
2. *paced*: all agents, the mix of `agent_driver.MIX`, each thinking 0.5 to 1.5 times `--think` after an answer
3. *saturated*: the same mix without thinking (a quarter)
4. *together*: all agents, questions only, no pause (a quarter)

No question is asked twice; a third are Chinese. Beside it, on the same texts and with the same questions, alone and
together: `search_nodes` of the MCP reference memory server from npm, one process of it for all clients, and plain
`sqlite3` FTS5 in this process, a thread for each client. Then two processes of the reference server write to a
copy of its file, and what is lost of what they acknowledged is counted; of memvault's agents as well.

`--keep DIR` keeps the filled vault, the vectors and the npm packages for the next run, which works on a copy.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from compile import PROJECT, fill  # noqa: A004 - a sibling, not the builtin
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any

import reference_memory
from agent_driver import MIX, QUESTIONS_ONLY, Agent, Connection, Tally, phase
from embedded import CachedEmbedder

import recall
from memvault import agent_tokens
from memvault.client import Client
from memvault.paths import HomeLayout
from memvault.store import schema
from recall import PASSPHRASE, TOP, material, rss_mb

QUESTIONS = 10_000
WRITES = 20
"""Of each of the two processes that share the reference server's file."""
PAGE = 500


@dataclass(slots=True)
class Found:
    """Every figure of a run."""

    phases: dict[str, Tally] = field(default_factory=dict)
    rss_mb: dict[str, float] = field(default_factory=dict)
    proposals: int = 0
    lost: int = 0
    reference: dict[str, reference_memory.Asked] = field(default_factory=dict)
    reference_rss_mb: float = 0.0
    reference_writes: tuple[int, int] | None = None
    missing: str = ""
    fts5: dict[str, reference_memory.Asked] = field(default_factory=dict)


def figure(name: str, value: Any) -> None:
    rounded = round(value, 2) if isinstance(value, float) else value
    print(json.dumps({"bench": "agents", "figure": name, "value": rounded}), flush=True)


def distinct(questions: Sequence[str]) -> list[str]:
    """The questions, each about a release of its own, so that no two are equal."""
    return [
        f"{question} since release {number}" if question.isascii() else f"{question}，从版本{number}起"
        for number, question in enumerate(questions)
    ]


def prepared(memories: int, embedder: CachedEmbedder, home: Path, keep: Path | None) -> tuple[list[str], list[str]]:
    """Texts and questions; fills the vault in `home`, or copies the kept one of the same schema."""
    found = material(memories, QUESTIONS, None, embedder)
    shape = hashlib.sha256(Path(schema.__file__).read_bytes()).hexdigest()[:12]
    kept = None if keep is None else keep / f"vault-{memories}-{shape}"
    if kept is None or not kept.is_dir():
        filling = home if kept is None else kept.with_suffix(".part")
        shutil.rmtree(filling, ignore_errors=True)
        filling.mkdir(mode=0o700, parents=True)
        started = time.perf_counter()
        fill(HomeLayout(filling), found, embedder.means())
        figure("fill_s", time.perf_counter() - started)
        if kept is not None:
            filling.rename(kept)
    if kept is not None:
        shutil.copytree(kept, home)
    return found.texts, distinct(found.questions)


def let_in(person: Client, names: Sequence[str]) -> None:
    """A grant with the default rights for each. Raises SystemExit where this process counts as an agent."""
    person.call("presence.prove", {"passphrase": PASSPHRASE})
    for name in names:
        token = person.call("agents.add", {"name": name})["token"]
        if token is None:
            raise SystemExit("run this from a terminal of your own: below an agent host nobody is let in")
        agent_tokens.keep(person.layout, name, token)


def repository(folder: Path) -> Path:
    """A git repository by its looks, whose folder's name is the project that the agents work in."""
    found = folder / PROJECT
    (found / ".git").mkdir(parents=True)
    (found / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return found


async def drive(person: Client, names: list[str], questions: Iterator[str], chosen: Any, found: Found) -> None:
    """All phases against the daemon; what was proposed is looked up at the end."""
    layout, pid = person.layout, int(person.hello["pid"])
    agents = [
        Agent(name, await Connection.open(layout, name), questions, seed) for seed, name in enumerate(names)
    ]
    try:
        await phase(agents, pid, mix=MIX, seconds=1.0, think_s=0.2)  # warms up, and is not counted
        found.rss_mb["before"] = rss_mb(pid)
        short = chosen.seconds / 4
        for name, who, mix, seconds, think_s in (
            ("alone", agents[:1], QUESTIONS_ONLY, short, 0.0),
            ("paced", agents, MIX, chosen.seconds, chosen.think),
            ("saturated", agents, MIX, short, 0.0),
            ("together", agents, QUESTIONS_ONLY, short, 0.0),
        ):
            found.phases[name] = tally = await phase(who, pid, mix=mix, seconds=seconds, think_s=think_s)
            found.rss_mb[name] = rss_mb(pid)
            figure(f"{name}_calls", tally.calls)
    finally:
        for agent in agents:
            await agent.connection.close()
    proposed = [id_ for agent in agents for id_ in agent.proposed]
    found.proposals = len(proposed)
    found.lost = len(set(proposed) - await asyncio.to_thread(_there, person, proposed))


def _there(person: Client, ids: Sequence[str]) -> set[str]:
    """Which of the ids the vault has."""
    there: set[str] = set()
    for start in range(0, len(ids), PAGE):
        page = person.call("memory.list", {"ids": list(ids[start : start + PAGE]), "limit": PAGE})
        there |= {item["id"] for item in page["items"]}
    return there


async def drive_reference(folder: Path, npm: Path, texts: list[str], questions: list[str], chosen: Any) -> Found:
    """The reference server on the same texts and questions; `missing` says why it could not be run."""
    found = Found()
    try:
        command = reference_memory.installed(npm)
    except reference_memory.NotThere as error:
        found.missing = str(error)
        return found
    file = folder / "memory.jsonl"
    reference_memory.write_file(file, texts)
    short = chosen.seconds / 4
    async with reference_memory.serving(command, file) as server:
        for name, clients, asked in (
            ("alone", 1, iter(questions)),
            ("one_word", 1, reference_memory.longest_words(iter(questions))),
            ("together", chosen.agents, iter(questions)),
        ):
            found.reference[name] = await reference_memory.search(server, asked, clients, short)
            if found.reference[name].died:
                break
            found.reference_rss_mb = rss_mb(server.process.pid)
    try:
        found.reference_writes = await reference_memory.lost_writes(command, file, WRITES)
    except reference_memory.Died as death:
        found.missing = f"two writers: {death}"
    return found


def drive_fts5(folder: Path, texts: list[str], questions: list[str], chosen: Any) -> dict[str, reference_memory.Asked]:
    """Plain FTS5: the words of a question joined by OR, the first five by bm25; a thread for each client."""
    path = folder / "plain.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIRTUAL TABLE plain USING fts5(content, tokenize = 'porter unicode61')")
        db.executemany("INSERT INTO plain VALUES(?)", ((text,) for text in texts))
        db.commit()
    return {
        name: _ask_fts5(path, questions, clients, chosen.seconds / 4)
        for name, clients in (("alone", 1), ("together", chosen.agents))
    }


def _ask_fts5(path: Path, questions: list[str], clients: int, seconds: float) -> reference_memory.Asked:
    sql = "SELECT rowid, content, bm25(plain) FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?"
    asked, numbers = reference_memory.Asked(), count()
    ends = time.monotonic() + seconds

    def client() -> None:
        with closing(sqlite3.connect(path)) as db:
            while time.monotonic() < ends:
                expression = " OR ".join(f'"{word}"' for word in recall.words(questions[next(numbers)]))
                started = time.perf_counter()
                rows = db.execute(sql, (expression, TOP)).fetchall()
                asked.times_ms.append(1e3 * (time.perf_counter() - started))
                asked.answered += bool(rows)

    started = time.monotonic()
    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked.seconds = time.monotonic() - started
    return asked
