"""aliases: other names of the same thing, so that a question for one finds the other."""

from __future__ import annotations

from typing import Any

import click

from memvault.cli.answers import texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import Command, Group, choice, paging
from memvault.cli.output import bold, dim
from memvault.cli.read import gather
from memvault.cli.views import show_count, words

ORIGINS = ("set", "learned", "known")
_project = click.option("--project", metavar="P", help="Only for questions that may see this project.")


@click.group("aliases", cls=Group)
def aliases() -> None:
    """Other names of one thing (k8s, Kubernetes): asking for one finds the other."""


@aliases.command("list", cls=Command)
@click.argument("name", required=False)
@click.option(
    "--origin", type=choice(ORIGINS), help="Only what you set, memories taught, or is known anyway."
)
@paging(100)
@invoked
def list_(at: Invocation, name: str | None, origin: str | None, limit: int, offset: int) -> None:
    """List names of one thing; with NAME only those that hold it."""
    items, total = gather(at, "aliases.list", {"name": name, "origin": origin}, limit, offset)
    if at.out.as_json:
        at.out.document({"items": items, "total": total})
        return
    for item in items:
        at.out.line(bold(words(" = ".join(texts(item, "names")))), "  ", dim(_origin(item)))
    show_count(at.out, len(items), total, offset, "sets of names")
    if not items:
        at.out.note("No such names are known.")
    at.out.tip("Next: `memvault aliases add NAME NAME`, `memvault aliases remove NAME [NAME]`.")


def _origin(item: dict[str, Any]) -> str:
    said = {"set": "set by you", "known": "known anyway"}.get(str(item.get("origin")))
    found = said or f"learned from memory {words(item.get('memory'))}"
    if item.get("project"):
        found += f", project {words(item['project'])}"
    if not item.get("on"):
        return f"{found}, switched off"
    return f"{found}, partly switched off" if item.get("off") else found


@aliases.command("add", cls=Command)
@click.argument("names", nargs=-1, required=True, metavar="NAME NAME...")
@_project
@invoked
def add(at: Invocation, names: tuple[str, ...], project: str | None) -> None:
    """Let these names stand for one thing; what of it was switched off counts again.

    Without --project they hold for every question, those of agents included. `memvault undo` takes it back.
    """
    answer = at.call("aliases.set", {"names": list(names), "project": project})
    if at.out.as_json:
        at.out.document(answer)
    elif answer.get("run") is None:
        at.out.line("known already")
    else:
        at.out.line(words(" = ".join(names)))


@aliases.command("remove", cls=Command)
@click.argument("names", nargs=-1, required=True, metavar="NAME [NAME...]")
@_project
@invoked
def remove(at: Invocation, names: tuple[str, ...], project: str | None) -> None:
    """Let these names stand for one thing no more; with one NAME, for nothing else at all.

    What memories taught or is known anyway is switched off; `add` switches it on again.
    """
    answer = at.call("aliases.remove", {"names": list(names), "project": project})
    if at.out.as_json:
        at.out.document(answer)
        return
    at.out.line(f"{len(texts(answer, 'ids'))} removed, {answer.get('switched', 0)} switched off")
