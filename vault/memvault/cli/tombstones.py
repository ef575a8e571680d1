"""tombstones: what keeps deleted memories from coming back, and lifting one."""

from __future__ import annotations

from typing import Any

import click

from memvault.cli.answers import texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import Command, Group, paging
from memvault.cli.output import bold, dim
from memvault.cli.read import gather
from memvault.cli.times import when
from memvault.cli.views import show_count, words
from memvault.errors import NotFound
from memvault.ids import is_id


@click.group("tombstones", cls=Group)
def tombstones() -> None:
    """Look at what keeps deleted memories from coming back; none of it can be read."""


@tombstones.command("list", cls=Command)
@paging(50)
@invoked
def list_(at: Invocation, limit: int, offset: int) -> None:
    """List tombstones, newest first: when, by which run, of which memory."""
    items, total = gather(at, "tombstones.list", {}, limit, offset)
    if at.out.as_json:
        at.out.document({"items": items, "total": total})
        return
    for item in items:
        at.out.line(bold(words(item.get("id"))), "  ", dim(when(item.get("at"))))
        at.out.line("  ", _stands_for(item), "  ", dim(f"run {words(item.get('run'))}"))
    show_count(at.out, len(items), total, offset, "tombstones")
    if items:
        at.out.tip("Next: `memvault tombstones lift ID` allows what it refuses to be written again.")
    else:
        at.out.note("Nothing was deleted for good.")


def _stands_for(item: dict[str, Any]) -> str:
    if item.get("memory") is None:
        return "a source or session, or its part in a project or subject: nothing from there is taken"
    by = ", deleted by its source" if item.get("by_source") else ""
    return f"memory {words(item['memory'])}{by}"


@tombstones.command("lift", cls=Command)
@click.argument("ident", metavar="ID")
@invoked
def lift(at: Invocation, ident: str) -> None:
    """Allow again what a tombstone refuses; nothing that was deleted comes back by it.

    Tombstones of the very same text or source go with it. No rollback undoes this.
    """
    chosen = ident.strip().lower()
    if not is_id(chosen):
        raise NotFound("no tombstone has that id", "`memvault tombstones list` shows them.")
    answer = at.call("tombstones.lift", {"id": chosen})
    if at.out.as_json:
        at.out.document(answer)
        return
    for one in texts(answer, "lifted"):
        at.out.line(f"lifted {one}")
