"""audit verify and gate explain: what the event log proves, and what the gate thinks of a text."""

from __future__ import annotations

import click

from memvault.cli.answers import part, rows, texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import Command, Group
from memvault.cli.output import bold, dim
from memvault.cli.views import words

BROKEN = 8
"""Exit status for a log that does not add up (SPEC 14: vault damaged)."""


@click.group("audit", cls=Group)
def audit() -> None:
    """Check the log of everything that changed."""


@audit.command("verify", cls=Command)
@invoked
def verify(at: Invocation) -> None:
    """Prove that no event was edited, removed or reordered."""
    answer = at.call("audit.verify", {})
    if at.out.as_json:
        at.out.document(answer)
    elif answer.get("ok"):
        at.out.line(f"{words(answer.get('events'))} events, the chain is whole")
    else:
        at.out.line(words(answer.get("detail")))
    if not answer.get("ok"):
        raise SystemExit(BROKEN)


@click.group("gate", cls=Group)
def gate() -> None:
    """Look at the gate that decides what may be remembered."""


@gate.command("explain", cls=Command)
@click.argument("text")
@click.option("--kind", default="fact", show_default=True, help="The kind it would be written as.")
@invoked
def explain(at: Invocation, text: str, kind: str) -> None:
    """Show the four scores of a text and which signals fired, as if an agent proposed it."""
    answer = at.call("gate.explain", {"content": text, "kind": kind})
    if at.out.as_json:
        at.out.document(answer)
        return
    scores = part(answer, "scores")
    shown = "  ".join(
        f"{name} {words(scores.get(name))}" for name in ("stable", "reusable", "sourced", "authorised")
    )
    at.out.line(bold(words(answer.get("verdict"))), "  ", shown)
    at.out.line(words(answer.get("reason")))
    if answer.get("question"):
        at.out.line(words(answer.get("question")))
    for signal in rows(answer, "signals"):
        moves = f"stable {words(signal.get('stable'))}  reusable {words(signal.get('reusable'))}"
        at.out.line(f"  {words(signal.get('code'))}  ", dim(moves))
    if left := texts(answer, "exclusions"):
        at.out.line("  excluded as: ", ", ".join(left))
