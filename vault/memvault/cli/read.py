"""get, list, history and recall."""

from __future__ import annotations

from typing import Any

import click

from memvault import text
from memvault.cli.answers import rows
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.layout import cut
from memvault.cli.options import KINDS, SCOPES, STATUSES, choice, command, paging
from memvault.cli.output import bold, dim
from memvault.cli.times import when
from memvault.cli.views import show_count, show_list, show_recall, show_record, words
from memvault.cli.write import memory_id
from memvault.errors import Usage

PAGE = 500
"""Memories the daemon gives at once at most."""

SORTS = ("updated", "created", "used", "confidence", "subject")
INCLUDABLE = ("archived", "expired")


@command("get")
@click.argument("ident", metavar="ID")
@invoked
def get(at: Invocation, ident: str) -> None:
    """Show one memory in full: claim, reason, sources, trust and dates."""
    record = at.call("memory.get", {"id": memory_id(ident)})
    if at.out.as_json:
        at.out.document(record)
        return
    show_record(at.out, record)
    at.out.tip(f"Next: `memvault history {record.get('id')}`, `memvault edit`, `memvault delete`.")


@command("list")
@click.option("--kind", type=choice(KINDS), help="Only of this kind.")
@click.option("--scope", type=choice(SCOPES), help="Only of this scope.")
@click.option("--project", metavar="P", help="Only of this project.")
@click.option("--status", type=choice(STATUSES), help="Only in this state.")
@click.option("--subject", metavar="S", help="Only about this subject.")
@click.option("--source", metavar="REF", help="Only from this source.")
@click.option("--text", metavar="T", help="Only with these characters in the claim, case ignored.")
@click.option("--sort", type=choice(SORTS), help="Order; default: last updated first.")
@paging(50)
@invoked
def list_(at: Invocation, limit: int, offset: int, **filters: Any) -> None:
    """List memories, last updated first."""
    if filters["text"] == "":
        filters["text"] = None
    items, total = gather(at, "memory.list", filters, limit, offset)
    if at.out.as_json:
        at.out.document({"items": items, "total": total})
        return
    show_list(at.out, items)
    show_count(at.out, len(items), total, offset)
    if not total:
        narrowed = any(value is not None for value in filters.values())
        at.out.note("No memory fits." if narrowed else "Nothing is remembered yet.")
    else:
        at.out.tip("Next: `memvault get ID` shows one in full.")


def gather(
    at: Invocation, method: str, params: dict[str, Any], limit: int, offset: int
) -> tuple[list[dict[str, Any]], int]:
    """Collect `limit` items page by page, each once, and the total the daemon named."""
    items: dict[str, dict[str, Any]] = {}
    while True:
        size = min(PAGE, limit - len(items))
        page = at.call(method, {**params, "limit": size, "offset": offset})
        for item in page["items"]:
            items.setdefault(str(item.get("id") or item.get("run")), item)
        offset += len(page["items"])
        if len(items) >= limit or not page["items"] or offset >= page["total"]:
            return list(items.values()), page["total"]


@command("history")
@click.argument("ident", metavar="ID")
@invoked
def history(at: Invocation, ident: str) -> None:
    """Show every version of a memory and every event in its life."""
    past = at.call("memory.history", {"id": memory_id(ident)})
    if at.out.as_json:
        at.out.document(past)
        return
    at.out.line(bold("Versions"))
    for version in rows(past, "versions"):
        claim = cut(words(version.get("content")), at.out.width - 40)
        at.out.line(f"{version.get('version')!s:>3}  ", dim(when(version.get("at"))), "  ", claim)
    at.out.line()
    at.out.line(bold("Events"))
    for event in rows(past, "events"):
        at.out.line(f"{event.get('seq')!s:>3}  ", dim(when(event.get("at"))), "  ", _event_line(event))


def _event_line(event: dict[str, Any]) -> str:
    line = f"{words(event.get('type'))} by {words(event.get('actor'))}"
    if event.get("from") or event.get("to"):
        line += f": {event.get('from') or 'new'} -> {event.get('to') or 'gone'}"
    if event.get("before_version") != event.get("after_version"):
        before, after = event.get("before_version"), event.get("after_version")
        line += ", version " + " -> ".join(str(version) for version in (before, after) if version is not None)
    return f"{line} ({words(event['reason'])})" if event.get("reason") else line


def _included(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    chosen = [part.strip() for part in (value or "").split(",") if part.strip()]
    if unknown := [part for part in chosen if part not in INCLUDABLE]:
        raise click.BadParameter(
            f"{', '.join(unknown)}: choose from {', '.join(INCLUDABLE)}", ctx=ctx, param=param
        )
    return chosen or None


@command("recall")
@click.argument("query")
@click.option("--project", metavar="P", help="Memories of this project and those of no project.")
@click.option("--kind", type=choice(KINDS), help="Only of this kind.")
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="At most this many.")
@click.option(
    "--include", metavar="WORDS", callback=_included, help="Also archived, expired (comma between)."
)
@invoked
def recall(at: Invocation, query: str, **how: Any) -> None:
    """Ask by meaning, in any wording or language. Nothing relevant is an answer too, and exits 0."""
    try:
        question = text.accept(query, "question")
    except Usage as error:
        raise Usage(error.message, "Say what you look for in words.") from error
    answer = at.call("recall", {"query": question, **how})
    if at.out.as_json:
        at.out.document(answer)
        return
    show_recall(at.out, answer)
    found = len(rows(answer, "results"))
    if not found:
        at.out.note("Nothing relevant is remembered.")
    at.out.note(dim(f"{found} found in {words(answer.get('took_ms'))} ms, by {words(answer.get('mode'))}"))
    if found:
        at.out.tip("Next: `memvault get ID` shows one in full. What is remembered may be outdated.")
