"""What a hook costs an agent host at every prompt. One JSON line per figure.

    python bench/hook.py [--rounds 60] [--memories 2000]

A real daemon (with the deterministic embedder, unless MEMVAULT_EMBEDDER is set otherwise) and the real file
as hosts run it. Round by round, one after the other: `python -I -S -c pass`, the hook with a prompt that
recalls something, with one that needs nothing, at a session's start, with the daemon stopped by SIGSTOP, and
without a vault. `ratio` is a median over that of `pass`; at most 6 is the aim. Beside it the console script
`memvault hook`, whose start is the interpreter's with its site packages.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("MEMVAULT_EMBEDDER", "fake")

from memvault import agent_tokens, hook
from memvault.client import Client
from memvault.keys import ring
from memvault.keys.kdf import KdfProfile
from memvault.paths import HomeLayout
from memvault.services.vault import create_database

PASSPHRASE = "a passphrase for benchmarks only"  # noqa: S105
AGENT = "bench"
ASKED = "Which port does the staging database of service 7 listen on?"


def said(command: Sequence[str], given: dict[str, Any]) -> tuple[float, bool]:
    """(milliseconds, whether something was printed)."""
    raw = json.dumps(given).encode()
    started = time.perf_counter()
    done = subprocess.run(command, input=raw, capture_output=True, check=True)
    return (time.perf_counter() - started) * 1_000, bool(done.stdout)


class House:
    """A vault with memories, its daemon, and an agent that was let in."""

    def __init__(self, memories: int) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="mvh"))
        self.layout = HomeLayout(self.root)
        made = ring.create(self.root, passphrase=PASSPHRASE, use_keychain=False, profile=KdfProfile.test())
        create_database(self.layout, made.key)
        self.client = Client(self.root)
        self.client.call("vault.unlock", {"passphrase": PASSPHRASE})
        token = self.client.call("agents.add", {"name": AGENT})["token"]
        agent_tokens.keep(self.layout, AGENT, token)
        for number in range(memories):
            content = f"The staging database of service {number} listens on port {5000 + number}."
            source = {"type": "user", "ref": "bench"}
            claim = {"content": content, "kind": "fact", "scope": "private", "source": source}
            self.client.call("memory.add", claim)
        self.client.call("recall", {"query": ASKED})
        while self.client.call("status")["model"]["pending"]:
            time.sleep(0.1)

    def close(self) -> None:
        self.client.call("shutdown")
        self.client.close()
        shutil.rmtree(self.root, ignore_errors=True)


def measured(house: House, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every kind of call, taken in turn."""
    times: dict[str, list[float]] = {}
    answered = 0
    nowhere = str(house.root / "nowhere")
    script = shutil.which("memvault", path=str(Path(sys.executable).parent)) or "memvault"
    home = str(house.root)
    pid = int(house.client.hello["pid"])

    def take(name: str, command: Sequence[str], told: dict[str, Any]) -> bool:
        took_ms, printed = said(command, told)
        times.setdefault(name, []).append(took_ms)
        return printed

    for number in range(rounds):
        prompt = {"session_id": f"s{number}", "prompt": ASKED, "cwd": "/"}
        idle = {**prompt, "prompt": "ok, continue"}
        submit = hook.command("UserPromptSubmit", AGENT, home)
        take("pass", [sys.executable, "-I", "-S", "-c", "pass"], {})
        answered += take("prompt", submit, prompt)
        take("idle prompt", submit, idle)
        take("session start", hook.command("SessionStart", AGENT, home), prompt)
        take("stop", hook.command("Stop", AGENT, home), {"last_assistant_message": "x " * 4_000})
        take("no vault", hook.command("Stop", AGENT, nowhere), prompt)
        take("console script", [script, "hook", *submit[4:]], {**prompt, "session_id": "c"})
        if number < rounds // 4:
            os.kill(pid, signal.SIGSTOP)
            take("daemon hangs", submit, prompt)
            os.kill(pid, signal.SIGCONT)
            house.client.call("status")
    print(json.dumps({"figure": "prompts answered", "share": round(answered / rounds, 3)}))
    return times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--memories", type=int, default=2_000)
    given = parser.parse_args()
    house = House(given.memories)
    try:
        times = measured(house, given.rounds)
    finally:
        house.close()
    base = statistics.median(times["pass"])
    for name, taken in times.items():
        ordered = sorted(taken)
        figure = {
            "figure": name,
            "p50_ms": round(statistics.median(taken), 1),
            "p95_ms": round(ordered[int(len(ordered) * 0.95)], 1),
            "ratio": round(statistics.median(taken) / base, 2),
        }
        print(json.dumps(figure))


if __name__ == "__main__":
    main()
