"""keys: who can open the vault, and a new key for the vault itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memvault.cli import passphrase
from memvault.cli.answers import Answer, rows, texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import Command, Group
from memvault.cli.output import bold, dim
from memvault.cli.progress import Meter
from memvault.cli.times import when
from memvault.cli.views import words
from memvault.errors import NotFound, PresenceRequired, Usage

_NAMES = {"passphrase": "passphrase", "keychain": "the system's keychain", "recovery": "recovery code"}
_NEW = click.option("--new-passphrase-file", metavar="FILE", help="Read the new passphrase from FILE.")


@click.group("keys", cls=Group)
def keys() -> None:
    """See and change what opens the vault. The vault itself is rewritten by `rotate` only."""


@keys.command("list", cls=Command)
@invoked
def list_(at: Invocation) -> None:
    """List the key slots: passphrases, keychain, recovery code."""
    _show(at, at.call("keys.list"))


@keys.group("add", cls=Group)
def add() -> None:
    """Add a way to open the vault."""


@add.command("passphrase", cls=Command)
@_NEW
@invoked
def add_passphrase(at: Invocation, new_passphrase_file: str | None) -> None:
    """Add one more passphrase, four at most."""
    _show(at, at.call("keys.add_passphrase", {"passphrase": _new(at, new_passphrase_file)}))


@add.command("keychain", cls=Command)
@invoked
def add_keychain(at: Invocation) -> None:
    """Let the system's keychain open the vault, anew after it was reset."""
    _show(at, at.call("keys.add_keychain"))


@keys.command("remove", cls=Command)
@click.argument("slot")
@invoked
def remove(at: Invocation, slot: str) -> None:
    """Take a way of opening away; SLOT is an id of `memvault keys list` or the start of one.

    The last passphrase or recovery code stays: a keychain can be reset.
    """
    _show(at, at.call("keys.remove", {"slot": _full_id(at, slot)}))


def _full_id(at: Invocation, given: str) -> str:
    """Raises NotFound, Usage when several slots start like that."""
    start = given.strip().lower()
    found = [
        str(one["id"]) for one in rows(at.call("keys.list"), "slots") if str(one["id"]).startswith(start)
    ]
    if not start or not found:
        raise NotFound("this vault has no such key slot", "`memvault keys list` shows them.")
    if len(found) > 1:
        raise Usage("several key slots start like that", "Give more of the id.")
    return found[0]


@keys.command("change-passphrase", cls=Command)
@_NEW
@invoked
def change_passphrase(at: Invocation, new_passphrase_file: str | None) -> None:
    """Put a new passphrase in the place of the present one."""
    old = _secret(at, "Present passphrase: ")
    _show(at, at.call("keys.change_passphrase", {"old": old, "new": _new(at, new_passphrase_file)}))


@keys.command("new-recovery-code", cls=Command)
@invoked
def new_recovery_code(at: Invocation) -> None:
    """Make a new recovery code, shown once; the former one opens the vault no longer."""
    done = at.call("keys.new_recovery_code")
    _show(at, done)


@keys.command("rotate", cls=Command)
@click.option("--recovery-file", metavar="FILE", help="Keep the recovery code that FILE holds.")
@click.option("--drop-others", is_flag=True, help="Let go slots whose secret is not given.")
@invoked
def rotate(at: Invocation, recovery_file: str | None, drop_others: bool) -> None:
    """Write the whole vault anew under a new key, in the same slots.

    Needs the passphrase, to keep its slot; without --recovery-file a new recovery code is made. Killed at any
    moment, the vault opens as before. Older backups keep opening with the secrets of their day.
    """
    params: dict[str, Any] = {"drop_others": drop_others}
    if any(slot.get("type") == "passphrase" for slot in rows(at.call("keys.list"), "slots")):
        params["passphrase"] = _secret(at, "Passphrase: ")
    if recovery_file:
        params["recovery_code"] = passphrase.read(Path(recovery_file).expanduser(), at.out)
    quiet = at.out.quiet or at.out.as_json
    with Meter("rotate", "per cent", quiet, at.settings.no_color) as meter:

        def heard(news: Answer) -> None:
            done, total = int(news.get("done") or 0), int(news.get("total") or 0)
            meter.update(100 * done // total if total else 0, 100 if total else 0, words(news.get("stage")))

        answer = at.call("keys.rotate", params, on_progress=heard)
    _show(at, answer)


def _secret(at: Invocation, prompt: str) -> str:
    """The present passphrase. Raises PresenceRequired when there is nobody to ask."""
    if source := passphrase.source(at.settings.passphrase_file):
        return passphrase.read(source.path, at.out)
    if not passphrase.terminal_at_hand():
        raise PresenceRequired(
            "no passphrase was given", "Name a file that holds it: --passphrase-file FILE."
        )
    if secret := passphrase.ask_secret(prompt):
        return secret
    raise click.Abort


def _new(at: Invocation, file: str | None) -> str:
    """The new passphrase, asked for twice. Raises Usage when there is nobody to ask."""
    if file:
        return passphrase.read(Path(file).expanduser(), at.out)
    if not passphrase.terminal_at_hand():
        raise Usage("no new passphrase was given", "Name a file that holds it: --new-passphrase-file FILE.")
    return str(passphrase.ask_new("New passphrase", may_be_empty=False))


def _show(at: Invocation, answer: Answer) -> None:
    for warning in texts(answer, "warnings"):
        at.out.warn(warning)
    if at.out.as_json:
        at.out.document(answer)
        return
    for slot in rows(answer, "slots"):
        kind = str(slot.get("type"))
        made = f"  since {when(slot.get('created_at'))}"
        at.out.line(bold(words(slot.get("id"))), "  ", _NAMES.get(kind, kind), dim(made))
    at.out.line(dim(f"vault key number {words(answer.get('generation'))}"))
    if answer.get("recovery_code"):
        at.out.line()
        at.out.line("Recovery code, shown this once. Write it on paper and keep it away from this computer:")
        at.out.line()
        at.out.line("    ", bold(str(answer["recovery_code"])))
