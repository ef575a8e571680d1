"""conflicts and resolve: what contradicts each other, and your verdict."""

from __future__ import annotations

from typing import Any

import click

from memvault.cli import passphrase
from memvault.cli.answers import rows, texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.layout import wrap
from memvault.cli.options import command, paging
from memvault.cli.output import bold, dim
from memvault.cli.read import gather
from memvault.cli.times import day, when
from memvault.cli.views import place, show_count, show_list, source_line, words
from memvault.cli.write import memory_id
from memvault.errors import Usage


@command("conflicts")
@paging(50)
@invoked
def conflicts(at: Invocation, limit: int, offset: int) -> None:
    """List what contradicts each other: until you decide, neither side is used as a fact."""
    items, total = gather(at, "conflicts.list", {}, limit, offset)
    if at.out.as_json:
        at.out.document({"items": items, "total": total})
        return
    for item in items:
        _show(at, item)
    show_count(at.out, len(items), total, offset, "conflicts")
    if not total:
        at.out.note("Nothing contradicts.")
    else:
        at.out.tip(
            "Next: `memvault resolve CONFLICT --keep ID`, `--both --condition ID=WHEN ...`, or `--neither`."
        )


def _show(at: Invocation, item: dict[str, Any]) -> None:
    about = f"{words(item.get('subject'))} / {words(item.get('attribute'))}" if item.get("subject") else "?"
    at.out.line(bold(about), f"  {place(item)}  ", dim(f"since {when(item.get('since'))}"))
    at.out.line("  ", dim(f"conflict {words(item.get('id'))}"))
    for side in rows(item, "sides"):
        at.out.line("  ", dim(words(side.get("id"))))
        for line in wrap(words(side.get("content")), at.out.width - 4):
            at.out.line("    ", line)
        trust = (
            f"{words(side.get('authority'))}, {words(side.get('confidence'))}, {day(side.get('updated_at'))}"
        )
        at.out.line("    ", dim(trust))
        for source in rows(side, "sources"):
            for line in wrap(source_line(source), at.out.width - 4):
                at.out.line("    ", dim(line))
    for other in rows(item, "would_change"):
        at.out.line(
            "  ",
            dim(f"{words(other.get('id'))} ({words(other.get('status'))}): {words(other.get('effect'))}"),
        )


def _conditions(given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        ident, equals, text = one.partition("=")
        if not (equals and text.strip()):
            raise Usage("write --condition ID=TEXT", "For example --condition ID='production only'.")
        found[memory_id(ident)] = text
    return found


def _ask_before_erasing() -> None:
    asked = passphrase.terminal_at_hand()
    if asked and passphrase.ask("Erase every side for good? Type yes: ").casefold() != "yes":
        raise click.Abort


@command("resolve")
@click.argument("conflict", metavar="CONFLICT")
@click.option("--keep", metavar="ID", help="This side holds, the others are replaced by it.")
@click.option("--both", is_flag=True, help="Each side holds under a condition of its own.")
@click.option("--neither", is_flag=True, help="All sides are erased for good.")
@click.option("--why", metavar="T", help="The reason; kept in the history.")
@click.option(
    "--condition", "given", metavar="ID=T", multiple=True, help="When a side holds; may be repeated."
)
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
@invoked
def resolve(
    at: Invocation, conflict: str, keep: str | None, both: bool, neither: bool, why: str | None,
    given: tuple[str, ...], yes: bool,
) -> None:  # fmt: skip
    """Decide a conflict. CONFLICT is its id, or the id of any of its sides."""
    if sum((keep is not None, both, neither)) != 1:
        raise Usage("give one of --keep ID, --both and --neither")
    verdict = memory_id(keep) if keep is not None else "both" if both else "neither"
    params = {
        "conflict": memory_id(conflict),
        "keep": verdict,
        "why": why,
        "conditions": _conditions(given) or None,
    }
    if neither and not yes:
        _ask_before_erasing()
    answer = at.call("conflicts.resolve", params)
    if at.out.as_json:
        at.out.document(answer)
        return
    show_list(at.out, rows(answer, "items"))
    for ident in texts(answer, "deleted"):
        at.out.line(f"erased {ident}")
    for name in texts(answer, "older_backups"):
        at.out.note(f"An older backup still holds it: {name}")
    if not neither:
        at.out.tip("Next: `memvault undo` takes the verdict back.")
