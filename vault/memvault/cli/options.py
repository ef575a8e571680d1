"""The options every command takes, before or after its name, and the click classes that carry them.

Owns where the common options are kept while a command line is parsed. Knows nothing of the daemon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

KINDS = ("policy", "preference", "fact", "relationship", "episode", "procedure", "reflection")
SCOPES = ("task", "private", "team")
STATUSES = ("candidate", "active", "conflict", "superseded", "expired", "archived", "disabled")
SENSITIVITIES = ("public", "internal", "personal", "restricted")
"""The words of `memvault.model`, so that help and completion need no further import; a test compares."""

_META = "memvault.cli."

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Settings:
    """What the common options said; None and False where nothing was said."""

    home: str | None
    as_json: bool
    quiet: bool
    no_color: bool
    passphrase_file: str | None

    @classmethod
    def of(cls, ctx: click.Context) -> Settings:
        """The options given so far, wherever on the line they stood; the later place wins."""
        said = {name: ctx.meta.get(_META + name) for name in cls.__dataclass_fields__}
        return cls(
            home=said["home"],
            as_json=bool(said["as_json"]),
            quiet=bool(said["quiet"]),
            no_color=bool(said["no_color"]),
            passphrase_file=said["passphrase_file"],
        )


def _keep(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value is None or value is False:
        return
    if value == "":
        raise click.BadParameter("must not be empty", ctx=ctx, param=param)
    ctx.meta[f"{_META}{param.name}"] = value


def _common() -> list[click.Parameter]:
    def option(*names: str, **how: Any) -> click.Option:
        return click.Option(names, expose_value=False, callback=_keep, **how)

    return [
        option("--json", "as_json", is_flag=True, help="Print one JSON document; errors are JSON on stderr."),
        option("--home", "home", metavar="DIR", help="The vault's home (default: MEMVAULT_HOME)."),
        option("--quiet", "-q", "quiet", is_flag=True, help="No tips, no progress."),
        option("--no-color", "no_color", is_flag=True, help="No colours; so does the variable NO_COLOR."),
        option(
            "--passphrase-file", "passphrase_file", metavar="FILE",
            help="Read the passphrase from FILE's first line (default: MEMVAULT_PASSPHRASE_FILE).",
        ),
    ]  # fmt: skip


class Command(click.Command):
    """A command with the common options behind its own."""

    def __init__(self, *args: Any, params: Sequence[click.Parameter] | None = None, **how: Any) -> None:
        super().__init__(*args, params=[*(params or ()), *_common()], **how)


class Group(click.Group):
    """A group of commands, itself with the common options."""

    command_class = Command

    def __init__(self, *args: Any, params: Sequence[click.Parameter] | None = None, **how: Any) -> None:
        super().__init__(*args, params=[*(params or ()), *_common()], **how)


def command(name: str, **how: Any) -> Callable[[Callable[..., int | None]], Command]:
    """Declare a command. Its function returns the exit status, None for 0."""

    def declare(function: Callable[..., int | None]) -> Command:
        return click.command(name, cls=Command, **how)(function)

    return declare


def choice(words: Sequence[str]) -> click.Choice[str]:
    return click.Choice(list(words))


def paging(default: int) -> Callable[[Decorated], Decorated]:
    """--limit and --offset."""

    def add(function: Decorated) -> Decorated:
        function = click.option("--offset", type=click.IntRange(0), default=0, help="Skip this many.")(
            function
        )
        return click.option(
            "--limit",
            type=click.IntRange(1),
            default=default,
            show_default=True,
            help="Show at most this many.",
        )(function)

    return add
