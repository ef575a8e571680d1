"""runs, run show, rollback and undo: changes that belong together, and taking them back."""

from __future__ import annotations

from typing import Any

import click

from memvault.cli.answers import part, rows, texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import Command, Group, command, paging
from memvault.cli.output import bold, dim
from memvault.cli.read import gather
from memvault.cli.times import when
from memvault.cli.views import show_count, words


@command("runs")
@paging(20)
@invoked
def runs(at: Invocation, limit: int, offset: int) -> None:
    """List runs of changes, newest first: imports, edits, deletions, rollbacks."""
    items, total = gather(at, "runs.list", {}, limit, offset)
    if at.out.as_json:
        at.out.document({"items": items, "total": total})
        return
    for item in items:
        at.out.line(_run_line(item), "  ", dim(when(item.get("started_at"))))
        at.out.line("  ", dim(words(item.get("run"))), "  ", words(item.get("summary")))
    show_count(at.out, len(items), total, offset, "runs")
    if items:
        at.out.tip("Next: `memvault run show RUN`, `memvault rollback RUN`.")
    else:
        at.out.note("Nothing was changed yet.")


def _run_line(item: dict[str, Any]) -> str:
    return f"{words(item.get('kind'))} by {words(item.get('actor'))}, {words(item.get('status'))}"


@click.group("run", cls=Group)
def run() -> None:
    """Look at one run of changes."""


@run.command("show", cls=Command)
@click.argument("run_id", metavar="RUN")
@invoked
def show(at: Invocation, run_id: str) -> None:
    """Show what one run changed."""
    answer = at.call("runs.show", {"run": run_id.strip()})
    if at.out.as_json:
        at.out.document(answer)
        return
    if head := part(answer, "run"):
        at.out.line(bold(_run_line(head)), "  ", dim(when(head.get("started_at"))))
    for change in rows(answer, "changes"):
        states = f"{change.get('from') or 'new'} -> {change.get('to') or 'gone'}"
        versions = f"version {change.get('before_version') or '-'} -> {change.get('after_version') or '-'}"
        at.out.line(dim(words(change.get("id"))), f"  {words(change.get('type'))}  {states}  ", dim(versions))


@command("rollback")
@click.argument("run_id", metavar="RUN")
@click.option("--with-dependents", is_flag=True, help="Also take back later changes that build on it.")
@invoked
def rollback(at: Invocation, run_id: str, with_dependents: bool) -> None:
    """Take a whole run back: claims and states are as before, what it made is removed.

    Deletions never come back.
    """
    _show_restored(
        at, at.call("runs.rollback", {"run": run_id.strip(), "with_dependents": with_dependents or None})
    )


@command("undo")
@invoked
def undo(at: Invocation) -> None:
    """Take your newest change back, if it can be."""
    _show_restored(at, at.call("undo"))


def _show_restored(at: Invocation, answer: dict[str, Any]) -> None:
    if at.out.as_json:
        at.out.document(answer)
        return
    restored, removed = texts(answer, "restored"), texts(answer, "removed")
    at.out.line(f"{len(restored):,} restored, {len(removed):,} removed")
    for word, ids in (("restored", restored), ("removed", removed)):
        for ident in ids:
            at.out.line(dim(f"{word}  {ident}"))
