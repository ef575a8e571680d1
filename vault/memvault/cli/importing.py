"""import: bring memories in from files of other tools. The daemon reads and judges; this asks and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from memvault.cli.answers import Answer, part, rows
from memvault.cli.failures import INTERRUPTED
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.layout import table
from memvault.cli.options import choice, command
from memvault.cli.output import bold, dim
from memvault.cli.progress import Meter
from memvault.cli.views import words
from memvault.errors import MemvaultError, Usage

KINDS = ("claude-code", "mcp-memory", "markdown")
_SHOWN = 20


@command("import")
@click.argument("kind", type=choice(KINDS), required=False)
@click.argument("path", type=click.Path(exists=True), required=False)
@click.option("--scope", type=choice(("private", "team")), help="Who the memories are for; never guessed.")
@click.option("--project", metavar="P", help="The project they belong to.")
@click.option("--dry-run", is_flag=True, help="Change nothing; say what would happen.")
@invoked
def import_(
    at: Invocation, kind: str | None, path: str | None, scope: str | None, project: str | None, dry_run: bool
) -> int | None:
    """Bring memories in from PATH. Without KIND and PATH, show what is found on this machine.

    \b
    claude-code  a memory folder of Claude Code (MEMORY.md and topic files)
    mcp-memory   memory.jsonl of the MCP reference server
    markdown     a folder of Markdown notes, front matter optional

    Running it again adds nothing twice. Exits 0 when it ran, refusals included.
    """
    if kind is None:
        _show_found(at)
        return None
    if path is None:
        raise Usage("what to import was not named", f"memvault import {kind} PATH --scope private")
    if scope is None:
        raise Usage(
            "the scope is missing; it is never guessed", "Repeat with --scope private or --scope team."
        )
    params = {
        "kind": kind,
        "path": str(Path(path).absolute()),
        "scope": scope,
        "project": project,
        "dry_run": dry_run,
    }
    try:
        report = _run(at, params)
    except KeyboardInterrupt:
        return _stopped(at)
    if at.out.as_json:
        at.out.document(report)
    else:
        _show(at, report, dry_run)
    return None


def _run(at: Invocation, params: dict[str, Any]) -> dict[str, Any]:
    quiet = at.out.quiet or at.out.as_json
    with Meter("import", "entries", quiet, at.settings.no_color) as meter:

        def heard(news: dict[str, Any]) -> None:
            meter.update(int(news.get("done") or 0), int(news.get("total") or 0), words(news.get("stage")))

        return at.call("import.run", params, on_progress=heard)


def _stopped(at: Invocation) -> int:
    """Say what an interrupted import left behind; what was written by then is kept as a run."""
    at.out.note("Stopped. What was written by now is kept; running it again continues.")
    try:
        newest = rows(at.call("runs.list", {"limit": 1, "offset": 0}), "items")
    except (MemvaultError, KeyboardInterrupt):
        newest = []
    if newest and words(newest[0].get("kind")).startswith("import"):
        run = words(newest[0].get("run"))
        done = words(newest[0].get("summary")) or "nothing new"
        at.out.note(f"Run {run}: {done}. `memvault rollback {run}` takes it back.")
    return INTERRUPTED


_COUNTS = {
    "merged": "merged",
    "candidates": "waiting for you",
    "superseded": "replaced older",
    "conflicts": "contradicting",
    "unchanged": "known already",
}
_LISTED = {"refused": "Refused", "unreadable": "Unreadable", "skipped": "Skipped"}


def _show(at: Invocation, report: dict[str, Any], dry_run: bool) -> None:
    at.out.line(bold("Nothing was changed; this would happen:" if dry_run else "Imported"))
    counts = [("added", int(report.get("added") or 0))]
    counts += [(label, int(report.get(name) or 0)) for name, label in _COUNTS.items()]
    whole = part(report, "counts")
    counts += [(name, int(whole.get(name) or len(rows(report, name)))) for name in _LISTED]
    for label, text in table([(label, f"{count:,}") for label, count in counts if count or label == "added"]):
        at.out.line("  ", dim(label), "  ", text)
    for name, title in _LISTED.items():
        _show_listed(at, title, rows(report, name))
    if report.get("run") and not dry_run:
        at.out.line("  ", dim("run"), f"  {report['run']}")
        at.out.tip(f"Next: `memvault rollback {report['run']}` takes all of it back.")


def _show_listed(at: Invocation, title: str, entries: list[Answer]) -> None:
    if entries:
        at.out.line(bold(title))
    for entry in entries[:_SHOWN]:
        at.out.line("  ", dim(words(entry.get("where"))), "  ", words(entry.get("reason")))
    if len(entries) > _SHOWN:
        at.out.line(dim(f"  ... and {len(entries) - _SHOWN:,} more; --json lists them"))


def _show_found(at: Invocation) -> None:
    found = cast("list[Answer]", at.call("import.found") or [])
    if at.out.as_json:
        at.out.document({"found": found})
        return
    for place in found:
        count = place.get("memories")
        at.out.line(
            bold(words(place.get("kind"))), f"  {words(place.get('path'))}  ", dim(f"{count} memories")
        )
    if found:
        at.out.tip("Next: `memvault import KIND PATH --scope private --dry-run` shows what would come in.")
    else:
        at.out.note("No memories of other tools were found in their usual places.")
