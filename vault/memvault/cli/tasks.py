"""task open, note, done, reopen, show, list, close: notes of a running task, apart from all memories."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast

import click

from memvault.cli.answers import rows
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.layout import cut, wrap
from memvault.cli.options import Command, Group, choice, paging
from memvault.cli.output import Piece, bold, coloured, dim
from memvault.cli.read import gather
from memvault.cli.times import age, when
from memvault.cli.views import show_count, status_piece, words
from memvault.cli.write import file_source, read_text
from memvault.errors import Usage

NOTE_KINDS = ("plan", "question", "todo", "finding", "decision")
"""The words of `memvault.model`; a test compares."""

_KEEP_BYTES = 262_144
_MARKS = {"open": "[ ]", "reopened": "[ ]", "done": "[x]", "noted": " - "}
_SAID = {
    "noted": "noted",
    "known": "noted already",
    "done": "done",
    "done_already": "done already",
    "reopened": "reopened",
}


@click.group("task", cls=Group)
def task() -> None:
    """Keep notes of a running task: encrypted, never recalled, gone when it closes or after 7 days."""


@task.command("open", cls=Command)
@click.argument("title")
@click.option("--task", "own", metavar="ID", help="Your own id for it; opening it again goes on with it.")
@invoked
def open_(at: Invocation, title: str, own: str | None) -> None:
    """Open a task, or go on with the one that has this id."""
    answer = at.call("task.open", {"title": title, "task": own})
    if at.out.as_json:
        at.out.document(answer)
        return
    at.out.line(words(answer.get("id")))
    if answer.get("resumed"):
        at.out.note(f"It was open already, with {len(rows(answer, 'notes'))} notes.")
    at.out.tip(f"Next: `memvault task note {words(answer.get('id'))} TEXT --kind todo`.")


@task.command("note", cls=Command)
@click.argument("name", metavar="TASK")
@click.argument("content", metavar="TEXT|-")
@click.option("--kind", type=choice(NOTE_KINDS), required=True, help="Plans, questions and to-dos get done.")
@invoked
def note(at: Invocation, name: str, content: str, kind: str) -> None:
    """Note TEXT; - reads standard input. What is noted already, or done already, is not noted twice."""
    _show_step(at, at.call("task.note", {"task": name, "kind": kind, "text": read_text(content, "note")}))


@task.command("done", cls=Command)
@click.argument("name", metavar="TASK")
@click.argument("number", metavar="NOTE", type=click.IntRange(1))
@invoked
def done(at: Invocation, name: str, number: int) -> None:
    """Mark an item as done."""
    _show_step(at, at.call("task.done", {"task": name, "note": number}))


@task.command("reopen", cls=Command)
@click.argument("name", metavar="TASK")
@click.argument("number", metavar="NOTE", type=click.IntRange(1))
@click.option("--why", metavar="T", required=True, help="The reason; it stays beside the item.")
@invoked
def reopen(at: Invocation, name: str, number: int, why: str) -> None:
    """Take up a done item again."""
    _show_step(at, at.call("task.reopen", {"task": name, "note": number, "why": why}))


def _show_step(at: Invocation, answer: dict[str, Any]) -> None:
    if at.out.as_json:
        at.out.document(answer)
        return
    outcome = words(answer.get("outcome"))
    at.out.line(f"{words(answer.get('note'))}  {_SAID.get(outcome, outcome)}")


@task.command("show", cls=Command)
@click.argument("name", metavar="TASK")
@invoked
def show(at: Invocation, name: str) -> None:
    """Show a task with its notes."""
    answer = at.call("task.get", {"task": name})
    if at.out.as_json:
        at.out.document(answer)
        return
    at.out.line(bold(words(answer.get("title"))))
    at.out.line(dim(_whereabouts(answer)))
    at.out.line(dim(f"opened {when(answer.get('opened_at'))}, erased {when(answer.get('lapses_at'))}"))
    for item in rows(answer, "notes"):
        _show_note(at, item)
    at.out.tip(f"Next: `memvault task done {words(answer.get('id'))} NOTE`, `memvault task close`.")


def _whereabouts(answer: dict[str, Any]) -> str:
    parts = (answer.get("id"), answer.get("task"), answer.get("owner"), answer.get("project"))
    return " · ".join(filter(None, map(words, parts)))


def _show_note(at: Invocation, item: dict[str, Any]) -> None:
    state = words(item.get("state"))
    lead = f"{words(item.get('note')):>3} {_MARKS.get(state, '')} {words(item.get('kind')):<8} "
    first, *rest = wrap(words(item.get("text")), at.out.width - len(lead)) or [""]
    text: Piece = coloured(first, "dim") if state == "done" else first
    at.out.line(dim(lead), text)
    for line in rest:
        at.out.line(" " * len(lead), line)
    for step in rows(item, "steps"):
        why = f": {words(step.get('why'))}" if step.get("why") else ""
        at.out.line(
            " " * len(lead),
            dim(f"{words(step.get('to'))} {when(step.get('at'))} by {words(step.get('by'))}{why}"),
        )


@task.command("list", cls=Command)
@paging(50)
@invoked
def list_(at: Invocation, limit: int, offset: int) -> None:
    """List open tasks, last changed first."""
    items, total = gather(at, "task.list", {}, limit, offset)
    if at.out.as_json:
        at.out.document({"items": items, "total": total})
        return
    for item in items:
        at.out.line(bold(cut(words(item.get("title")), at.out.width)))
        counts = f"{item.get('notes') or 0} notes, {item.get('open') or 0} open"
        at.out.line("  ", f"{counts}, changed {age(item.get('changed_at'))}  ", dim(_whereabouts(item)))
    show_count(at.out, len(items), total, offset, "tasks")
    if items:
        at.out.tip("Next: `memvault task show TASK`, `memvault task close TASK`.")
    else:
        at.out.note("No task is open.")


@task.command("close", cls=Command)
@click.argument("name", metavar="TASK")
@click.option(
    "--keep", "keep", metavar="FILE",
    help="Propose these conclusions first: a JSON list, each as for memory.add; - reads standard input.",
)  # fmt: skip
@invoked
def close(at: Invocation, name: str, keep: str | None) -> None:
    """Close a task: what is worth keeping is proposed, then its notes are erased for good."""
    answer = at.call("task.close", {"task": name, "keep": None if keep is None else _conclusions(keep)})
    if at.out.as_json:
        at.out.document(answer)
        return
    for one in rows(answer, "kept"):
        at.out.line(status_piece(words(one.get("outcome"))), " ", bold(words(one.get("id"))))
        if one.get("reason"):
            at.out.line(dim(words(one["reason"])))
    at.out.line(f"closed, {answer.get('erased') or 0} notes erased")
    if answer.get("overwritten") is False:
        at.out.warn(
            "what they held is overwritten on the disk with the next deletion or when the vault locks"
        )


def _conclusions(file: str) -> list[dict[str, Any]]:
    """The list in a file, paths of file sources made absolute. Raises Usage."""
    try:
        if file == "-":
            raw = sys.stdin.buffer.read(_KEEP_BYTES + 1)
        else:
            with Path(file).expanduser().open("rb") as opened:
                raw = opened.read(_KEEP_BYTES + 1)
    except OSError as error:
        raise Usage(f"the conclusions cannot be read: {file}: {error.strerror}") from error
    if len(raw) > _KEEP_BYTES:
        raise Usage(f"the conclusions are longer than the limit of {_KEEP_BYTES:,} bytes")
    try:
        found: object = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Usage("the conclusions are not JSON") from error
    items = cast("list[object]", found) if isinstance(found, list) else [None]
    if not all(isinstance(item, dict) for item in items):
        raise Usage("the conclusions are no list of objects", "Each has content, kind, scope and source.")
    return [_with_file(cast("dict[str, Any]", item)) for item in items]


def _with_file(item: dict[str, Any]) -> dict[str, Any]:
    source: object = item.get("source")
    if not isinstance(source, dict):
        return item
    given = cast("dict[str, Any]", source)
    whole = isinstance(given.get("type"), str) and isinstance(given.get("ref"), str)
    return {**item, "source": file_source(given)} if whole else item
