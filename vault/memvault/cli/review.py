"""inbox, confirm and reject: what waits for a person."""

from __future__ import annotations

import click

from memvault.cli import passphrase
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import command, paging
from memvault.cli.output import bold
from memvault.cli.read import gather
from memvault.cli.views import show_count, show_list
from memvault.cli.write import memory_id, show_changed
from memvault.errors import Usage

_REASONS = {
    "candidate": "Proposed",
    "replaced": "Replaced another",
    "flagged": "To be looked at",
    "expiring": "Ends or needs a new check soon",
}
"""Why something is in the inbox, in the order of the groups."""


@command("inbox")
@paging(50)
@invoked
def inbox(at: Invocation, limit: int, offset: int) -> None:
    """List what waits for you: proposals, replacements, doubts, and what ends within two weeks."""
    items, total = gather(at, "inbox", {}, limit, offset)
    if at.out.as_json:
        at.out.document({"items": items, "total": total})
        return
    for because, title in _REASONS.items():
        group = [item for item in items if item.get("because") == because]
        if group:
            at.out.line(bold(title))
            show_list(at.out, group)
    show_count(at.out, len(items), total, offset, "entries")
    if not total:
        at.out.note("Nothing waits for you.")
    else:
        at.out.tip(
            "Next: `memvault get ID`, then `memvault confirm ID` or `memvault reject ID`; "
            "what is in doubt or ends soon: `memvault verify ID`."
        )


@command("confirm")
@click.argument("ident", metavar="ID")
@invoked
def confirm(at: Invocation, ident: str) -> None:
    """Accept a proposed memory: from now on it is recalled."""
    show_changed(at, at.call("review.confirm", {"id": memory_id(ident)}))


@command("reject")
@click.argument("ident", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@invoked
def reject(at: Invocation, ident: str, yes: bool) -> None:
    """Reject a proposed memory for good: it is erased and cannot come in again."""
    chosen = memory_id(ident)
    if not yes:
        if not passphrase.terminal_at_hand():
            raise Usage("rejecting needs a yes", "Repeat with --yes; nothing was changed.")
        if passphrase.ask("Reject it for good? Type yes: ").casefold() != "yes":
            raise click.Abort
    answer = at.call("review.reject", {"id": chosen})
    if at.out.as_json:
        at.out.document(answer)
    else:
        at.out.line(f"rejected {chosen}")
