"""verify, disable and enable: what can be said of a memory without changing its claim."""

from __future__ import annotations

from typing import Any

import click

from memvault.cli.answers import rows
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.layout import pad
from memvault.cli.options import command
from memvault.cli.output import coloured, dim
from memvault.cli.views import words
from memvault.cli.write import memory_id, show_changed
from memvault.errors import WaitsForPerson

_STATE_STYLE = {"ok": "green", "changed": "yellow", "missing": "red"}


@command("verify")
@click.argument("ident", metavar="ID")
@click.option("--yes", "sure", is_flag=True, help="It holds, whatever the checks say.")
@click.option("--expire", is_flag=True, help="Where a check fails, expire it.")
@invoked
def verify(at: Invocation, ident: str, sure: bool, expire: bool) -> int:
    """Check a memory against the files it cites and the names it mentions; what passes is verified today.

    What cannot be looked at is taken on your word. Exits 5 when a check failed and you have not decided.
    """
    found = at.call("memory.verify", {"id": memory_id(ident), "sure": sure, "expire": expire})
    decided = bool(found.get("verified")) or expire
    if at.out.as_json:
        at.out.document(found)
    else:
        _show_verified(at, found, decided)
    return 0 if decided else WaitsForPerson.exit_status


def _show_verified(at: Invocation, found: dict[str, Any], decided: bool) -> None:
    show_changed(at, found)
    for check in rows(found, "checks"):
        state = words(check.get("state"))
        detail = f" ({check['detail']})" if check.get("detail") else ""
        line = coloured(pad(state, 8), _STATE_STYLE.get(state, "dim"))
        at.out.note(line, " ", words(check.get("what")), dim(detail))
    if not decided:
        at.out.warn("a check failed, so it does not count as verified")
        ident = found.get("id")
        offer = f", `memvault verify {ident} --expire` if it is over" if found.get("may_expire") else ""
        at.out.tip(f"Next: `memvault verify {ident} --yes` if it holds all the same{offer}.")


@command("disable")
@click.argument("ident", metavar="ID")
@invoked
def disable(at: Invocation, ident: str) -> None:
    """Switch a memory off: it stays, and is not recalled."""
    show_changed(at, at.call("memory.disable", {"id": memory_id(ident)}))


@command("enable")
@click.argument("ident", metavar="ID")
@invoked
def enable(at: Invocation, ident: str) -> None:
    """Switch a disabled memory on again."""
    show_changed(at, at.call("memory.enable", {"id": memory_id(ident)}))
