"""`memvault`: finds the command, loads only its module, turns every failure into an exit status.

Owns the list of commands, their order in the help, and the boundary where exceptions end. Kept cheap: what
a command needs is imported by that command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from memvault import __version__
from memvault.cli.options import Group

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Vault": {
        "init": ("vault:init", "Make a vault and print its recovery code once."),
        "unlock": ("vault:unlock", "Open the vault."),
        "lock": ("vault:lock", "Close the vault now."),
        "status": ("vault:status", "Show the state of vault, daemon and model."),
        "keys": ("keys:keys", "See and change what opens the vault."),
        "stats": ("insight:stats", "Show growth, refusals, sources and recalls in numbers."),
        "doctor": ("health:doctor", "Check everything and say how to mend it."),
        "check": ("damage:check", "Read the whole vault and prove that nothing is damaged."),
        "recover": ("damage:recover", "Mend a damaged vault, step by step."),
    },
    "Memories": {
        "add": ("write:add", "Remember something."),
        "recall": ("read:recall", "Ask by meaning, in any wording or language."),
        "compile": ("contexts:compile_", "Print what memory gives to a task, within a budget."),
        "compare": ("contexts:compare", "Judge blindly what memory adds to a task."),
        "why": ("insight:why", "Say why a memory answers a question, or does not."),
        "about": ("insight:about", "List everything that names somebody or something."),
        "get": ("read:get", "Show one memory in full."),
        "list": ("read:list_", "List memories."),
        "edit": ("write:edit", "Correct a memory; the old version is kept."),
        "history": ("read:history", "Show versions and events of a memory."),
        "verify": ("state:verify", "Check a memory and mark it as verified."),
        "disable": ("state:disable", "Switch a memory off without losing it."),
        "enable": ("state:enable", "Switch a disabled memory on again."),
        "delete": ("erase:delete", "Erase memories for good."),
        "task": ("tasks:task", "Keep notes of a running task, apart from memories."),
    },
    "Waiting for you": {
        "inbox": ("review:inbox", "List what waits for a person."),
        "confirm": ("review:confirm", "Accept a proposed memory."),
        "reject": ("review:reject", "Reject a proposed memory for good."),
        "conflicts": ("conflicts:conflicts", "List what contradicts each other."),
        "resolve": ("conflicts:resolve", "Decide a conflict."),
    },
    "Changes": {
        "runs": ("runs:runs", "List runs of changes, newest first."),
        "run": ("runs:run", "Show what one run changed."),
        "rollback": ("runs:rollback", "Take a whole run back."),
        "undo": ("runs:undo", "Take your newest change back."),
        "audit": ("audit:audit", "Prove that the log of changes is whole."),
        "gate": ("gate:gate", "Show what the gate thinks of a text, and set how strict it is."),
        "aliases": ("aliases:aliases", "List and set other names of one thing."),
        "tombstones": ("tombstones:tombstones", "List or lift what keeps deleted memories out."),
    },
    "Agents": {
        "agents": ("agents:agents", "Let agents in, limit them, shut them out."),
        "connect": ("connecting:connect", "Connect an agent host to this vault."),
        "mcp": ("program:mcp", "Speak MCP with an agent host."),
        "hook": ("program:hook", "Tell memvault of one event of an agent's session."),
    },
    "In and out": {
        "import": ("importing:import_", "Bring memories in from another place."),
        "export": ("exporting:export", "Write memories out as readable text."),
        "backup": ("backups:backup", "Write an encrypted copy of the whole vault."),
        "backups": ("backups:backups", "List the copies that were made."),
        "restore": ("backups:restore", "Bring a copy back."),
    },
    "Program": {
        "tui": ("program:tui", "Open the terminal interface (as `memvault` alone does)."),
        "models": ("models:models", "List, fetch, choose and measure models."),
        "demo": ("demo.command:demo", "Show everything on a throwaway vault."),
        "serve": ("program:serve", "Run the daemon in the foreground."),
        "completion": ("program:completion", "Print the completion script of a shell."),
    },
}
"""Section, command, (module:function below memvault.cli, one line of help)."""

COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class LazyGroup(Group):
    """The top level: lists commands from the table and imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry[0].partition(":")
        return getattr(import_module(f"memvault.cli.{module}"), attribute)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(name, COMMANDS, 1)
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {close[0]!r}?" if close else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()], col_max=12)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=line)
            for name, (_, line) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    "memvault",
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
    epilog="Exit status: 0 ok, 1 failure, 2 usage, 3 not found, 4 locked or no daemon, 5 waits for a person, "
    "6 refused, 7 conflict or not a legal change, 8 vault or key damaged.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> int | None:
    """An encrypted memory on this device, for you and the agents that work for you.

    Without a command, the terminal interface opens.
    """
    if ctx.invoked_subcommand is not None:
        return None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo(ctx.get_help(), err=True)
        return 2
    from memvault.cli.program import open_tui

    return open_tui(ctx)


def run(argv: Sequence[str]) -> int:
    """Run one command line and return its exit status; nothing escapes but SystemExit."""
    try:
        status = cli.main(args=list(argv), prog_name="memvault", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader left; what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except Exception as error:  # noqa: BLE001 - the boundary where every failure becomes a status
        from memvault.cli.failures import report

        return report(error, argv)
    return status if isinstance(status, int) else 0


def main() -> NoReturn:
    """The console script."""
    sys.exit(run(sys.argv[1:]))
