"""tui, serve, mcp, hook and completion: the program itself."""

from __future__ import annotations

import sys

import click

from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import Settings, command
from memvault.errors import Usage


def open_tui(ctx: click.Context) -> int:
    """Open the terminal interface on the chosen home; returns its exit status."""
    # Textual takes a third of a second to import; only this command pays for it.
    from memvault.paths import home_dir
    from memvault_tui.app import main

    return main(home_dir(Settings.of(ctx).home)) or 0


@command("tui")
@click.pass_context
def tui(ctx: click.Context) -> int:
    """Open the terminal interface; needs a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Usage(
            "the interface needs a terminal", "`memvault list` and `memvault recall` work without one."
        )
    return open_tui(ctx)


@command("serve")
@invoked
def serve(at: Invocation) -> int:
    """Run the daemon in the foreground, for service managers; other commands start it by themselves."""
    from memvault.daemon.main import main

    return main(["--home", str(at.home)]) or 0


@command("mcp")
@click.option("--agent", metavar="NAME", required=True, help="The name the agent was let in under.")
@invoked
def mcp(at: Invocation, agent: str) -> None:
    """Speak MCP on standard input and output, for an agent host; `memvault connect` writes it for you."""
    from memvault import mcp_pipe

    mcp_pipe.main(["--agent", agent, "--home", str(at.home)])


@command("hook")
@click.argument("event")
@click.option("--agent", metavar="NAME", required=True, help="The name the agent was let in under.")
@invoked
def hook(at: Invocation, event: str, agent: str) -> None:
    """Tell memvault of one event of a session, for an agent host; `memvault connect` writes it for you.

    EVENT is SessionStart, UserPromptSubmit, PreCompact, Stop or SessionEnd, or the host's own name for one of
    these. The host's JSON comes on standard input. Whatever is wrong, it says nothing, and the agent goes on.
    """
    from memvault import hook as events

    events.main([event, "--agent", agent, "--home", str(at.home)])


@command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash  memvault completion bash > ~/.local/share/bash-completion/completions/memvault
    zsh   memvault completion zsh > "${fpath[1]}/_memvault"
    fish  memvault completion fish > ~/.config/fish/completions/memvault.fish
    """
    from click.shell_completion import get_completion_class

    writer = get_completion_class(shell)
    if writer is None:
        raise Usage(f"no completion for {shell}")
    script = writer(ctx.find_root().command, {}, "memvault", "_MEMVAULT_COMPLETE").source()
    if Settings.of(ctx).as_json:
        from memvault.cli.output import Output

        Output(Settings.of(ctx)).document({"shell": shell, "script": script})
    else:
        sys.stdout.write(script + "\n")
