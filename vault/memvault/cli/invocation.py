"""One run of a command: its settings, its output, its connection, and the proof that a person is there.

Owns when a proof of presence is given (SECURITY, SPEC 12): before a script's first write when a passphrase
file was named, and whenever the daemon asks for it. Knows no command.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import click

from memvault.cli import passphrase
from memvault.cli.options import Settings
from memvault.cli.output import Output
from memvault.errors import PresenceRequired, WrongKey

if TYPE_CHECKING:
    from pathlib import Path

    from memvault.client import Client

Progress = Callable[[dict[str, Any]], None]
Args = ParamSpec("Args")

RECOVERY_CODE = re.compile(r"([0-9A-Za-z]{5}[\s-]*){8}")

TRIES = 3
"""How often a person may mistype a passphrase in one command."""

_FREE = ("status", "doctor", "models.use", "shutdown", "import.found", "backup.list", "backup.restore")
_FREE_PREFIXES = ("vault.", "presence.")
"""Methods that neither read nor change a memory: no proof is offered for them."""

_ADDING = ("memory.add", "task.close")
"""Methods whose outcome depends on who writes: a script's claims only wait."""


class Invocation:
    """Settings, output and connection of the command that runs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.out = Output(settings)
        self._client: Client | None = None
        self._offered = False

    @property
    def home(self) -> Path:
        from memvault.paths import home_dir

        return home_dir(self.settings.home)

    @property
    def client(self) -> Client:
        """The connection, made at the first use; the daemon is started when none runs."""
        if self._client is None:
            from memvault.client import Client

            client = Client(self.home, name="cli")
            client.connect()
            self._client = client
        return self._client

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def call(
        self, method: str, params: dict[str, Any] | None = None, on_progress: Progress | None = None
    ) -> Any:
        """Call the daemon; None values in `params` are left out. Proves presence when that is asked for.

        Raises what the daemon raised; PresenceRequired when nobody can be asked.
        """
        given = {name: value for name, value in (params or {}).items() if value is not None}
        client = self.client
        self._offer_proof(method)
        try:
            return client.call(method, given, on_progress=on_progress)
        except PresenceRequired as refusal:
            self._prove(refusal)
        return client.call(method, given, on_progress=on_progress)

    def _offer_proof(self, method: str) -> None:
        """Show that a script is a person's: at once below an agent host, else before it adds."""
        if self._offered or method in _FREE or method.startswith(_FREE_PREFIXES):
            return
        hello = self.client.hello
        principal: dict[str, Any] = hello.get("principal") or {}
        as_person = principal.get("kind") == "person" and (
            principal.get("interactive") or method not in _ADDING
        )
        if as_person or hello.get("presence_s"):
            return
        source = passphrase.source(self.settings.passphrase_file)
        if source is not None:
            self._offered = True
            self.client.call("presence.prove", {"passphrase": passphrase.read(source.path, self.out)})

    def _prove(self, refusal: PresenceRequired) -> None:
        source = passphrase.source(self.settings.passphrase_file)
        if source is not None:
            self.client.call("presence.prove", {"passphrase": passphrase.read(source.path, self.out)})
            return
        if not passphrase.terminal_at_hand():
            raise refusal
        self.out.note(
            "Only you may do this: show that it is you (remembered for five minutes in this terminal)."
        )
        self.try_secrets("presence.prove")

    def try_secrets(self, method: str) -> Any:
        """Ask for the passphrase, at most TRIES times, and call `method` with it.

        Raises WrongKey after the last try, click.Abort when nothing was typed.
        """
        for left in reversed(range(TRIES)):
            secret = passphrase.ask_secret("Passphrase: ")
            if not secret:
                raise click.Abort
            try:
                return self._try_secret(method, secret)
            except WrongKey:
                if not left:
                    raise
                self.out.note("That does not fit; try again.")
        raise AssertionError("unreachable")

    def _try_secret(self, method: str, secret: str) -> Any:
        """Call `method` with a passphrase, and with it as recovery code when it looks like one."""
        try:
            return self.client.call(method, {"passphrase": secret})
        except WrongKey:
            if not RECOVERY_CODE.fullmatch(secret.strip()):
                raise
        return self.client.call(method, {"recovery_code": secret.strip()})


def invoked(function: Callable[Concatenate[Invocation, Args], int | None]) -> Callable[Args, int | None]:
    """Give a command its Invocation as first argument, and close the connection afterwards."""

    def wrapper(*args: Args.args, **how: Args.kwargs) -> int | None:
        invocation = Invocation(Settings.of(click.get_current_context()))
        try:
            return function(invocation, *args, **how)
        finally:
            invocation.close()

    return update_wrapper(wrapper, function)
