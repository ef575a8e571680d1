"""delete: erase memories for good, one by one or by where they came from."""

from __future__ import annotations

from typing import Any

import click

from memvault.cli.answers import texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import command
from memvault.cli.output import bold, dim
from memvault.cli.views import show_list
from memvault.cli.write import memory_id
from memvault.errors import Usage

_SHOWN = 10


@command("delete")
@click.argument("idents", metavar="[ID]...", nargs=-1)
@click.option(
    "--source", metavar="REF", help="Everything that came from this source; a file with all its parts."
)
@click.option("--session", metavar="S", help="Everything of this task or session.")
@click.option("--project", metavar="P", help="Everything of this project.")
@click.option("--subject", metavar="S", help="Everything about this subject.")
@click.option("--why", metavar="T", help="The reason, kept with the event.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@invoked
def delete(at: Invocation, idents: tuple[str, ...], yes: bool, why: str | None, **selection: Any) -> None:
    """Erase memories for good: text, versions, sources, vectors and index entries.

    What remains cannot be turned back into the text; it keeps the same claim from coming in again. Ids name
    single memories; the options name everything from one origin, and several of them must all fit.
    """
    chosen = {name: value for name, value in selection.items() if value is not None}
    if any(not value.strip() for value in chosen.values()):
        raise Usage("an empty selection would mean everything", "Name a source, session, project or subject.")
    if idents:
        chosen["ids"] = list(dict.fromkeys(map(memory_id, idents)))
    if not chosen:
        raise Usage(
            "nothing to delete was named", "Give ids, or --source, --session, --project or --subject."
        )
    if not yes:
        _ask(at, chosen)
    gone = at.call("memory.delete", {**chosen, "why": why})
    if at.out.as_json:
        at.out.document(gone)
        return
    _show(at, gone)


def _ask(at: Invocation, chosen: dict[str, Any]) -> None:
    """Show what would go and let the person type the number. Raises Usage without a terminal."""
    from memvault.cli import passphrase

    if not passphrase.terminal_at_hand():
        raise Usage("deleting needs a yes", "Repeat with --yes; nothing was deleted.")
    preview = at.call("memory.delete_preview", chosen)
    total = preview["total"]
    if not total:
        return
    if not at.out.as_json:
        shown = at.call("memory.list", {"ids": preview["ids"][:_SHOWN], "limit": _SHOWN, "offset": 0})
        show_list(at.out, shown["items"])
        if total > _SHOWN:
            at.out.line(dim(f"... and {total - _SHOWN:,} more"))
    _warn_of_backups(at, preview)
    what = "this memory" if total == 1 else f"these {total:,} memories"
    at.out.note(bold(f"This erases {what} for good; `undo` does not bring anything back."))
    if passphrase.ask(f"Type {total} to delete, anything else keeps everything: ") != str(total):
        raise click.Abort


def _show(at: Invocation, gone: dict[str, Any]) -> None:
    deleted = texts(gone, "deleted")
    count = len(deleted)
    at.out.line(f"{count:,} {'memory' if count == 1 else 'memories'} deleted for good")
    for ident in deleted:
        at.out.line(dim(ident))
    if not count:
        at.out.note("Nothing fits the selection.")
    _warn_of_backups(at, gone)


def _warn_of_backups(at: Invocation, answer: dict[str, Any]) -> None:
    backups = texts(answer, "older_backups")
    if backups:
        at.out.warn(f"{len(backups)} older backups still hold it: {', '.join(backups)}")
