"""Write the shell completion files beside this script, from the templates of the installed click.

Run by `make completion`, after an upgrade of click. The scripts hold no command names: they ask `memvault`
itself while the person types.
"""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

PROGRAM = "memvault"
VARIABLE = "_MEMVAULT_COMPLETE"
FILES = {"bash": "memvault.bash", "zsh": "_memvault", "fish": "memvault.fish"}


def script(shell: str) -> str:
    """The completion script of one shell."""
    writer = get_completion_class(shell)
    if writer is None:
        raise LookupError(f"click knows no completion for {shell}")
    # The templates need no command tree, only the names of program and variable.
    return writer(click.Command(PROGRAM), {}, PROGRAM, VARIABLE).source().strip() + "\n"


def main() -> None:
    """Write every file."""
    for shell, name in FILES.items():
        Path(__file__).with_name(name).write_text(script(shell), encoding="utf-8")


if __name__ == "__main__":
    main()
