"""audit verify: what the event log proves."""

from __future__ import annotations

import click

from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import Command, Group
from memvault.cli.views import words

BROKEN = 8
"""Exit status for a log that does not add up (SPEC 14: vault damaged)."""


@click.group("audit", cls=Group)
def audit() -> None:
    """Check the log of everything that changed."""


@audit.command("verify", cls=Command)
@invoked
def verify(at: Invocation) -> None:
    """Prove that no event was edited, removed or reordered."""
    answer = at.call("audit.verify", {})
    if at.out.as_json:
        at.out.document(answer)
    elif answer.get("ok"):
        at.out.line(f"{words(answer.get('events'))} events, the chain is whole")
    else:
        at.out.line(words(answer.get("detail")))
    if not answer.get("ok"):
        raise SystemExit(BROKEN)
