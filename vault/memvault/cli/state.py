"""verify, disable and enable: what can be said of a memory without changing its claim."""

from __future__ import annotations

import click

from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import command
from memvault.cli.write import memory_id, show_changed


@command("verify")
@click.argument("ident", metavar="ID")
@invoked
def verify(at: Invocation, ident: str) -> None:
    """Mark a memory as checked today and found right."""
    show_changed(at, at.call("memory.verify", {"id": memory_id(ident)}))


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
