"""Twenty agents at one vault, end to end through the socket, beside two references. JSON lines, then tables.

    python bench/agents.py [--memories 100000] [--seconds 60] [--think 1.0] [--keep DIR]

A real daemon with the real model; `--agents` agents (20), each with a connection, token and grant of its own,
all working in one project whose memories, with those of no project, are the whole vault. The driver is this
one process, with asyncio, on the same cores as the daemon; the processor time of both is printed. Phases:

1. *alone*: one agent, questions only, no pause (a quarter of `--seconds`)
2. *paced*: all agents, the mix of `agent_driver.MIX`, thinking 0.5 to 1.5 times `--think` after each answer
3. *saturated*: the same mix without thinking (a quarter)
4. *together*: all agents, questions only, no pause (a quarter)

10,000 questions, all different, a third Chinese. Beside it, on the same texts and questions, alone and
together: `search_nodes` of the MCP reference memory server from npm, one process of it for all clients, and
plain `sqlite3` FTS5 in this process, a thread for each client. The reference server finds only texts that
contain the whole question, so it is asked for one word of each as well. Then two processes of it write to one
file, and what is lost of what they acknowledged is counted, as it is of what memvault's agents proposed. Of
their proposals the write gate refuses some, as it would of real ones.

`--keep DIR` keeps the filled vault, the vectors and the npm packages for the next run, which works on a copy.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import re
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import cycle
from pathlib import Path
from typing import Any

import reference_memory
from agent_driver import MIX, QUESTIONS_ONLY, Agent, Connection, phase
from agents_report import Found, figure, show
from embedded import CachedEmbedder
from reference_memory import Asked

import recall
from compile import PROJECT, fill
from memvault import agent_tokens
from memvault.client import Client
from memvault.paths import HomeLayout
from memvault.store import schema
from recall import PASSPHRASE, TOP, await_model, material, rss_mb

QUESTIONS = 10_000
WRITES = 20
"""Of each of the two processes that share the reference server's file."""
PAGE = 500


def distinct(questions: Sequence[str]) -> list[str]:
    """The questions, each about a release of its own, so that no two are equal."""
    return [
        f"{question} since release {number}" if question.isascii() else f"{question}，从版本{number}起"
        for number, question in enumerate(questions)
    ]


def prepared(
    memories: int, embedder: CachedEmbedder, home: Path, keep: Path | None
) -> tuple[list[str], list[str]]:
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


async def drive(
    person: Client, names: list[str], questions: Iterator[str], chosen: Any, found: Found
) -> None:
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


async def drive_reference(
    folder: Path, npm: Path, texts: list[str], questions: list[str], chosen: Any, found: Found
) -> None:
    """The reference server on the same texts and questions; `missing` says why it could not be run."""
    try:
        command = reference_memory.installed(npm)
    except reference_memory.NotThere as error:
        found.missing = str(error)
        return
    file = folder / "memory.jsonl"
    reference_memory.write_file(file, texts)
    try:
        await _search_reference(command, file, questions, chosen, found)
        found.reference_writes = await reference_memory.lost_writes(command, file, WRITES)
    except reference_memory.Died as death:
        found.missing = str(death)


async def _search_reference(
    command: list[str], file: Path, questions: list[str], chosen: Any, found: Found
) -> None:
    """Ask until one way of asking ends the server. Raises Died when it does not even start."""
    async with reference_memory.serving(command, file) as server:
        for name, clients, asked in (
            ("alone", 1, cycle(questions)),
            ("one_word", 1, reference_memory.longest_words(cycle(questions))),
            ("together", chosen.agents, cycle(questions)),
        ):
            found.reference[name] = await reference_memory.search(server, asked, clients, chosen.seconds / 4)
            if found.reference[name].died:
                return
            found.reference_rss_mb = peak_mb(server.process.pid)


def drive_fts5(folder: Path, texts: list[str], questions: list[str], chosen: Any) -> dict[str, Asked]:
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


def peak_mb(pid: int) -> float:
    """The most resident memory of a process so far, MB of 10^6 bytes."""
    facts = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in facts if line.startswith("VmHWM")) * 1_024 / 1e6


def _ask_fts5(path: Path, questions: list[str], clients: int, seconds: float) -> Asked:
    sql = "SELECT rowid, content, bm25(plain) FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?"
    asked, coming, turn = Asked(), cycle(questions), threading.Lock()
    ends = time.monotonic() + seconds

    def client() -> None:
        with closing(sqlite3.connect(path)) as db:
            while time.monotonic() < ends:
                with turn:
                    question = next(coming)
                expression = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
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


def run(chosen: Any, folder: Path, embedder: CachedEmbedder) -> Found:
    """Every figure, with nothing of ours left running."""
    found, home = Found(), folder / "h"
    texts, questions = prepared(chosen.memories, embedder, home, chosen.keep)
    os.chdir(repository(folder))
    person = Client(home, name="bench")
    try:
        person.call("vault.unlock", {"passphrase": PASSPHRASE})
        await_model(person)
        names = [f"agent-{number:02}" for number in range(chosen.agents)]
        let_in(person, names)
        asyncio.run(drive(person, names, cycle(questions), chosen, found))
    finally:
        recall.end(person)
    npm = (chosen.keep or Path(tempfile.gettempdir()) / "memvault-bench") / "npm"
    asyncio.run(drive_reference(folder, npm, texts, questions, chosen, found))
    found.fts5 = drive_fts5(folder, texts, questions, chosen)
    return found


def main() -> None:
    """Parse, measure, print. Exit status 1 after an error, a call refused for its rate or a lost proposal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--agents", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0, help="of the paced phase")
    parser.add_argument("--think", type=float, default=1.0, help="mean seconds between an answer and a call")
    parser.add_argument("--keep", type=Path, help="folder for the filled vault, vectors and npm packages")
    chosen = parser.parse_args()
    if chosen.keep is not None:
        chosen.keep = chosen.keep.resolve()
    os.environ.pop("MEMVAULT_EMBEDDER", None)
    folder, here = Path(tempfile.mkdtemp(prefix="mvb", dir="/tmp")), Path.cwd()
    figure("load_before", os.getloadavg()[0])
    try:
        found = run(chosen, folder, CachedEmbedder(folder=chosen.keep))
    finally:
        os.chdir(here)
        shutil.rmtree(folder, ignore_errors=True)
    figure("load_after", os.getloadavg()[0])
    show(found, chosen.memories, chosen.agents, chosen.think)
    raise SystemExit(not found.sound)


if __name__ == "__main__":
    main()
