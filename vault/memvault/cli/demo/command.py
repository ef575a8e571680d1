"""The demo command: runs the tour, prints it, and offers a look around where a person sits at a terminal."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from memvault.cli import passphrase
from memvault.cli.demo import material
from memvault.cli.demo.house import throwaway_home
from memvault.cli.demo.tour import Step, Tour
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.layout import cut
from memvault.cli.models import default_id, make_ready
from memvault.cli.options import command
from memvault.cli.output import bold, coloured, dim
from memvault.cli.progress import Meter

_TITLES = {
    "recall": "Ten questions, in other words and another language",
    "correct": "Changing and deleting",
    "traces": "What is left in the files",
}
"""Printed above the first step of that name."""


@command("demo")
@click.option("--no-tui", is_flag=True, help="Do not offer the terminal interface at the end.")
@invoked
def demo(at: Invocation, no_tui: bool) -> int:
    """Show everything on a throwaway vault: import, recall, correct, delete, and what the files give away.

    Nothing of yours is touched; the vault is removed at the end. Exits 1 when something did not come out as
    it should.
    """
    began_s = time.perf_counter()
    if not os.environ.get("MEMVAULT_EMBEDDER"):
        make_ready(at, default_id())
    with throwaway_home() as home:
        if not at.out.as_json:
            at.out.line(bold("A throwaway vault"), f" in {home}")
        with Meter("embedding", "memories", at.out.quiet or at.out.as_json, at.settings.no_color) as meter:
            tour = Tour(home, material.load(), meter.update)
            try:
                steps = _run(at, tour)
                _report(at, home, steps, time.perf_counter() - began_s)
                if not no_tui:
                    _offer_a_look(at, tour)
            finally:
                tour.close()
    return 0 if all(step.ok for step in steps) else 1


def _run(at: Invocation, tour: Tour) -> list[Step]:
    done: list[Step] = []
    for step in tour.steps():
        if not at.out.as_json:
            if step.name in _TITLES and all(step.name != earlier.name for earlier in done):
                at.out.line()
                at.out.line(bold(_TITLES[step.name]))
            _show(at, step)
        done.append(step)
    return done


def _show(at: Invocation, step: Step) -> None:
    mark = coloured("ok   ", "green") if step.ok else coloured("WRONG", "red")
    took = f"{step.took_ms:8.1f} ms"
    if step.name != "recall":
        at.out.line(mark, dim(took), f"  {step.name}: ", cut(step.detail, at.out.width - 21 - len(step.name)))
        return
    query, kind = str(step.facts["query"]), str(step.facts["kind"])
    at.out.line(mark, dim(took), "  ", cut(query, at.out.width - 23 - len(kind)), dim(f"  ({kind})"))
    at.out.line(" " * 19, dim(cut(step.detail, at.out.width - 19)))


def _report(at: Invocation, home: Path, steps: list[Step], took_s: float) -> None:
    found = [step for step in steps if step.name == "recall"]
    right = sum(step.ok for step in found)
    wrong = list(dict.fromkeys(step.name for step in steps if not step.ok))
    if at.out.as_json:
        at.out.document({
            "ok": not wrong,
            "home": str(home),
            "took_ms": round(took_s * 1000, 1),
            "recalled": right,
            "questions": len(found),
            "steps": [_plain(step) for step in steps],
        })  # fmt: skip
        return
    at.out.line()
    verdict = bold("Everything held") if not wrong else coloured(f"Wrong: {', '.join(wrong)}", "red")
    at.out.line(verdict, f", {right} of {len(found)} questions answered, {took_s:.1f} s in all.")


def _plain(step: Step) -> dict[str, Any]:
    return {
        "name": step.name, "ok": step.ok, "took_ms": round(step.took_ms, 2), "detail": step.detail,
        **step.facts,
    }  # fmt: skip


def _offer_a_look(at: Invocation, tour: Tour) -> None:
    """Ask whether to open the interface on this vault; only a person at a terminal is asked."""
    person = sys.stdin.isatty() and at.out.to_person and passphrase.terminal_at_hand()
    if at.out.as_json or not person:
        return
    at.out.line()
    if passphrase.ask("Look around in the terminal interface? [y/N] ").casefold() not in ("y", "yes"):
        return
    tour.reopen()
    from memvault_tui.app import main

    main(tour.home)
