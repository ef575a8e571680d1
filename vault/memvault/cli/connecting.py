"""connect: let an agent host use this vault, or stop it; shows every change before it is made."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memvault.cli import passphrase
from memvault.cli.answers import rows
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import choice, command
from memvault.cli.output import bold, coloured, dim
from memvault.errors import Illegal, MemvaultError, NotFound, Usage

if TYPE_CHECKING:
    from memvault.connect.hosts import Host, Launch
    from memvault.connect.plan import FileChange

NAMES = ("claude-code", "claude-desktop", "codex", "cursor", "gemini", "opencode", "vscode")
"""The names of `memvault.connect.hosts`, so that help and completion need no import; a test compares."""


@command("connect")
@click.argument("host", metavar="[HOST]", required=False, type=choice(NAMES))
@click.option("--agent", metavar="NAME", help="The agent's name in this vault (default: the host's).")
@click.option("--remove", is_flag=True, help="Take memvault out of the host and shut its agent out.")
@click.option("--print", "only_print", is_flag=True, help="Only print what would be written.")
@click.option("--list", "only_list", is_flag=True, help="List the hosts: installed, connected, let in.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@invoked
def connect(
    at: Invocation,
    host: str | None,
    agent: str | None,
    remove: bool,
    only_print: bool,
    only_list: bool,
    yes: bool,
) -> int | None:
    """Connect an agent host to this vault: its server, its hooks and its grant.

    The changes are shown first, what was there is kept beside it, comments and order stay.
    What the agent recalls may go to its model's provider: `memvault agents set` limits it.
    """
    if only_list or host is None:
        if host is None and not only_list:
            raise Usage("which host?", f"Choose {', '.join(NAMES)}, or --list.")
        return _list(at)
    from memvault.connect import plan
    from memvault.connect.hosts import HOSTS

    chosen = HOSTS[host]
    name = agent or host
    changes = plan.planned(chosen.entries(_launch(at, name)), remove=remove)
    if only_print:
        return _print(at, changes)
    _agree(at, chosen, changes, remove=remove, yes=yes)
    return _remove(at, chosen, name, changes) if remove else _connect(at, chosen, name, changes)


def _launch(at: Invocation, name: str) -> Launch:
    from memvault import hook, mcp_pipe
    from memvault.connect.hosts import Launch
    from memvault.paths import default_home

    if not mcp_pipe.is_name(name):
        raise Usage("an agent's name has 1 to 40 of a-z, 0-9, dot, dash and underscore")
    home = None if at.home == default_home() else str(at.home)
    return Launch(mcp_pipe.command(name, home), lambda event: hook.command(event, name, home))


def _print(at: Invocation, changes: list[FileChange]) -> None:
    if at.out.as_json:
        at.out.document({"files": [{"path": str(one.path), "diff": one.diff()} for one in changes]})
        return
    _show(at, changes)


def _show(at: Invocation, changes: list[FileChange]) -> None:
    styles = {"+": "green", "-": "red"}
    for change in changes:
        for line in change.diff().splitlines():
            at.out.line(coloured(line, styles[line[0]]) if line[:1] in styles else line)
    if not any(change.changes for change in changes):
        at.out.note("Nothing to change: everything is written there already.")


def _agree(at: Invocation, host: Host, changes: list[FileChange], *, remove: bool, yes: bool) -> None:
    """Show what will be written and have it agreed to. Raises Usage without a terminal, Abort for a no."""
    if not at.out.as_json:
        _show(at, changes)
    if yes or not any(change.changes for change in changes):
        return
    if not passphrase.terminal_at_hand():
        raise Usage("writing to a host's files needs a yes", "Repeat with --yes; nothing was changed.")
    what = "Take memvault out of" if remove else "Connect"
    if passphrase.ask(f"{what} {host.title}? Type yes: ").casefold() != "yes":
        raise click.Abort


def _write(at: Invocation, changes: list[FileChange]) -> list[dict[str, Any]]:
    from memvault.clock import SystemClock
    from memvault.connect import plan

    done: list[dict[str, Any]] = []
    for change in changes:
        if change.changes:
            kept = plan.write(change, SystemClock().now())
            done.append({"path": str(change.path), "backup": None if kept is None else str(kept)})
    return done


def _connect(at: Invocation, host: Host, name: str, changes: list[FileChange]) -> int | None:
    from memvault.connect import probe

    granted = _let_in(at, host, name)
    written = _write(at, changes)
    found = probe.start_and_greet(_launch(at, name).server, Path.home())
    answer = {
        "host": host.name,
        "agent": name,
        "granted": granted,
        "files": written,
        "check": {"ok": found.ok, "took_ms": round(found.took_ms, 1), "reason": found.reason},
    }
    if at.out.as_json:
        at.out.document(answer)
    elif found.ok:
        at.out.line(f"{host.title} is connected as {name}; its server answered in {found.took_ms:.0f} ms")
        at.out.tip(host.advice)
        at.out.tip("What it recalls may go to its model's provider: `memvault agents set` limits it.")
        at.out.tip(
            "What its sessions get unasked: `[hooks] recall` in config.toml (off, start, auto, always)."
        )
    else:
        at.out.warn(f"written, but the check failed: {found.reason}")
    if not shutil.which(host.programs[0]) if host.programs else False:
        at.out.note(f"{host.title} was not found on this machine; it will find memvault when it comes.")
    return None if found.ok else 1


def _let_in(at: Invocation, host: Host, name: str) -> bool:
    """Give the default grant, unless the agent has one and its token is here. Whether it is new."""
    from memvault import agent_tokens
    from memvault.paths import HomeLayout

    layout = HomeLayout(at.home)
    known = next((row for row in rows(at.call("agents.list"), "items") if row["name"] == name), None)
    if known is not None and known["state"] == "active" and agent_tokens.read(layout, name) is not None:
        return False
    answer = at.call("agents.add", {"name": name, "host": host.grant})
    if answer.get("token") is None:
        raise Illegal("only a person lets an agent in", "Run it in your own terminal; nothing was changed.")
    agent_tokens.keep(layout, name, answer["token"])
    return True


def _remove(at: Invocation, host: Host, name: str, changes: list[FileChange]) -> None:
    from memvault import agent_tokens
    from memvault.paths import HomeLayout

    try:
        at.call("agents.revoke", {"name": name})
        revoked = True
    except NotFound:
        revoked = False
    agent_tokens.drop(HomeLayout(at.home), name)
    written = _write(at, changes)
    if at.out.as_json:
        at.out.document({"host": host.name, "agent": name, "revoked": revoked, "files": written})
    else:
        at.out.line(f"{host.title} no longer uses memvault" + (f"; {name} is shut out" if revoked else ""))


def _list(at: Invocation) -> None:
    from memvault.connect import plan
    from memvault.connect.hosts import HOSTS

    try:
        granted = {row["name"]: row["state"] for row in rows(at.call("agents.list"), "items")}
    except MemvaultError as error:
        granted = dict[str, str]()
        at.out.note(f"Grants are not known: {error.message}.")
    items: list[dict[str, Any]] = []
    for host in HOSTS.values():
        entries = host.entries(_launch(at, host.name))
        try:
            state = "connected" if plan.present(entries) else "other" if plan.mentioned(entries) else "no"
        except MemvaultError:
            state = "unreadable"
        items.append(
            {
                "host": host.name,
                "installed": host.installed,
                "connected": state,
                "grant": granted.get(host.name),
            }
        )
    if at.out.as_json:
        at.out.document({"items": items, "total": len(items)})
        return
    said = {
        "connected": coloured("connected", "green"),
        "other": coloured("connected in part, or to another installation", "yellow"),
        "no": dim("not connected"),
        "unreadable": coloured("its configuration cannot be read", "red"),
    }
    for item in items:
        there = "installed" if item["installed"] else "not found"
        grant = f"  grant: {item['grant']}" if item["grant"] else ""
        at.out.line(bold(f"{item['host']:<15}"), f" {there:<10} ", said[item["connected"]], dim(grant))
