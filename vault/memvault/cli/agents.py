"""agents: who may ask and propose, what each may read, and taking it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from memvault.cli import passphrase
from memvault.cli.answers import part, rows, texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import SENSITIVITIES, Command, Decorated, Group, choice
from memvault.cli.output import bold, coloured, dim
from memvault.cli.times import when
from memvault.cli.views import words
from memvault.errors import Usage

_CLOUD = "What an agent recalls may go to its model's provider: the ceiling is there for that."


@click.group("agents", cls=Group, invoke_without_command=True)
@click.pass_context
def agents(ctx: click.Context) -> int | None:
    """List the agents that were let in, or that wait for you; let in, limit, shut out."""
    return None if ctx.invoked_subcommand else ctx.invoke(list_)


def _rights(function: Decorated) -> Decorated:
    """The options that say what a grant allows."""
    for option in (
        click.option(
            "--scope", "scopes", multiple=True, type=choice(("private", "team")), help="May read these.",
        ),
        click.option(
            "--project", "projects", multiple=True, metavar="NAME",
            help="current (default): where it works; all; or names of projects.",
        ),
        click.option(
            "--ceiling", type=choice(SENSITIVITIES), help="Most sensitive it may read (default: internal).",
        ),
        click.option(
            "--verb", "verbs", multiple=True, type=choice(("read", "propose", "write")),
            help="May do these (default: read, propose).",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


def _given(
    scopes: tuple[str, ...], projects: tuple[str, ...], ceiling: str | None, verbs: tuple[str, ...]
) -> dict[str, Any]:
    named: Any = list(projects) or None
    if projects in (("current",), ("all",)):
        (named,) = projects
    return {
        "scopes": list(scopes) or None,
        "projects": named,
        "ceiling": ceiling,
        "verbs": list(verbs) or None,
    }


@agents.command("list", cls=Command)
@invoked
def list_(at: Invocation) -> None:
    """List agents with what each may do and when it last called."""
    answer = at.call("agents.list")
    if at.out.as_json:
        at.out.document(answer)
        return
    found = rows(answer, "items")
    for item in found:
        state = words(item.get("state"))
        if state == "active" and item.get("quarantined"):
            state = "quarantined"
        style = "green" if state == "active" else "yellow"
        at.out.line(bold(words(item.get("name"))), "  ", coloured(state, style), "  ", dim(_seen(item)))
        at.out.line("  ", _allowed(item))
    if not found:
        at.out.note("No agent was let in yet.")
    at.out.tip("Next: `memvault agents add NAME`, `memvault agents approve NAME`.")


def _seen(item: dict[str, Any]) -> str:
    return f"last seen {when(item['seen_at'])}" if item.get("seen_at") else "never seen"


def _allowed(item: dict[str, Any]) -> str:
    projects = item.get("projects")
    where = projects if isinstance(projects, str) else ", ".join(texts(item, "projects"))
    verbs, scopes = ", ".join(texts(item, "verbs")), ", ".join(texts(item, "scopes"))
    return f"{verbs}; {scopes}; projects: {where}; up to {words(item['ceiling'])}"


@agents.command("add", cls=Command)
@click.argument("name")
@click.option("--host", metavar="HOST", help="Known host whose processes get this grant without a token.")
@_rights
@invoked
def add(at: Invocation, name: str, host: str | None, **rights: Any) -> int | None:
    """Let an agent in: it may read what is granted and propose; approving stays with you.

    An agent that runs this only asks: you decide with `memvault agents approve`.
    """
    answer = at.call("agents.add", {"name": name, "host": host, **_given(**rights)})
    return _taken_in(at, answer)


def _taken_in(at: Invocation, answer: dict[str, Any]) -> int | None:
    """Keep the token where its agent finds it; say what happened. 5 when it waits for a person."""
    token = answer.pop("token", None)
    name = answer["name"]
    if token is not None:
        from memvault import agent_tokens
        from memvault.paths import HomeLayout

        answer["token_file"] = str(agent_tokens.keep(HomeLayout(at.home), name, token))
    if at.out.as_json:
        at.out.document(answer)
    elif answer["state"] == "active":
        at.out.line(f"{name} is let in")
        at.out.tip(_CLOUD)
    else:
        at.out.line(f"{name} waits for a person")
        at.out.tip(f"Next: `memvault agents approve {name}`.")
    return 5 if answer["state"] == "pending" else None


@agents.command("approve", cls=Command)
@click.argument("name")
@_rights
@invoked
def approve(at: Invocation, name: str, **rights: Any) -> int | None:
    """Let in an agent that asked, or one whose grant was revoked; it gets a new token."""
    return _taken_in(at, at.call("agents.approve", {"name": name, **_given(**rights)}))


@agents.command("set", cls=Command)
@click.argument("name")
@_rights
@invoked
def set_(at: Invocation, name: str, **rights: Any) -> None:
    """Change what an agent may read or do; it holds at its next call."""
    answer = at.call("agents.set", {"name": name, **_given(**rights)})
    if at.out.as_json:
        at.out.document(answer)
    else:
        at.out.line(bold(name), "  ", _allowed(answer))


@agents.command("rotate", cls=Command)
@click.argument("name")
@invoked
def rotate(at: Invocation, name: str) -> int | None:
    """Give an agent a new token; the old one opens nothing any more."""
    return _taken_in(at, at.call("agents.rotate", {"name": name}))


def _simple(name: str, method: str, said: str, doc: str) -> Callable[..., Any]:
    @agents.command(name, cls=Command, help=doc)
    @click.argument("name")
    @invoked
    def run(at: Invocation, name: str) -> None:
        answer = at.call(method, {"name": name})
        if method in ("agents.revoke", "agents.remove"):
            from memvault import agent_tokens
            from memvault.paths import HomeLayout

            agent_tokens.drop(HomeLayout(at.home), name)
        if at.out.as_json:
            at.out.document(answer)
        else:
            at.out.line(f"{name} {said}")

    return run


revoke = _simple("revoke", "agents.revoke", "is shut out", "Shut an agent out at once; its memories stay.")
remove = _simple("remove", "agents.remove", "is forgotten", "Forget an agent; what it proposed stays.")


@agents.command("quarantine", cls=Command)
@click.argument("name")
@click.option("--off", is_flag=True, help="End the quarantine.")
@invoked
def quarantine(at: Invocation, name: str, off: bool) -> None:
    """Take nothing more from an agent; it may still read what it was granted."""
    answer = at.call("agents.quarantine", {"name": name, "on": not off})
    if at.out.as_json:
        at.out.document(answer)
    else:
        at.out.line(f"{name} is {'no longer ' if off else ''}quarantined")


@agents.command("report", cls=Command)
@click.argument("name")
@invoked
def report(at: Invocation, name: str) -> None:
    """Show how much an agent brought in and how it was judged."""
    answer = at.call("agents.report", {"name": name})
    if at.out.as_json:
        at.out.document(answer)
        return
    at.out.line(bold(name), f"  brought in {words(answer['brought_in'])}, refused {words(answer['refused'])}")
    judged = [f"{word} {count}" for word, count in part(answer, "judged").items() if count]
    at.out.line("  judged: ", ", ".join(judged) or "not yet")
    rests = [f"{answer[word]} {word}" for word in ("waiting", "unreviewed", "confirmed", "shared")]
    at.out.line("  rests on it: ", ", ".join(rests))
    at.out.tip(f"Next: `memvault agents written {name}`, `memvault agents purge {name}`.")


@agents.command("written", cls=Command)
@click.argument("name")
@invoked
def written(at: Invocation, name: str) -> None:
    """List what rests on an agent: waiting, unreviewed, confirmed by you, or said by others too."""
    answer = at.call("agents.written", {"name": name})
    if at.out.as_json:
        at.out.document(answer)
        return
    for word in ("waiting", "unreviewed", "confirmed", "shared"):
        for ident in texts(answer, word):
            at.out.line(ident, "  ", dim(word))


@agents.command("purge", cls=Command)
@click.argument("name")
@click.option("--confirmed", is_flag=True, help="Also what you confirmed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@invoked
def purge(at: Invocation, name: str, confirmed: bool, yes: bool) -> None:
    """Erase for good, in one run, what rests on an agent alone; it cannot come in again.

    From what others said as well, only the agent's sources are taken out.
    """
    if not yes:
        found = at.call("agents.written", {"name": name})
        parts = ("waiting", "unreviewed", "confirmed") if confirmed else ("waiting", "unreviewed")
        count = sum(len(texts(found, word)) for word in parts)
        if not passphrase.terminal_at_hand():
            raise Usage(
                "erasing needs a yes", f"It would erase {count}. Repeat with --yes; nothing was changed."
            )
        if passphrase.ask(f"Erase {count} memories for good? Type {count} to do it: ") != str(count):
            raise click.Abort
    answer = at.call("agents.purge", {"name": name, "confirmed": confirmed})
    if at.out.as_json:
        at.out.document(answer)
        return
    at.out.line(f"erased {len(texts(answer, 'deleted'))} memories that rested on {name}")
    if answer["older_backups"]:
        at.out.warn("Older backups still hold them: " + ", ".join(texts(answer, "older_backups")))
