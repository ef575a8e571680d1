"""backup, backups and restore: copies of the whole vault, as encrypted as the vault itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memvault.cli import passphrase
from memvault.cli.answers import Answer, rows, texts
from memvault.cli.invocation import RECOVERY_CODE, TRIES, Invocation, invoked
from memvault.cli.options import command
from memvault.cli.output import bold, coloured, dim
from memvault.cli.progress import Meter
from memvault.cli.times import when
from memvault.cli.vault import recovery_code
from memvault.cli.views import words
from memvault.errors import PresenceRequired, WrongKey

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


@command("backup")
@click.argument("path", type=click.Path(), required=False)
@invoked
def backup(at: Invocation, path: str | None) -> None:
    """Write an encrypted, verified copy of the whole vault while work goes on.

    PATH is a new file or a folder; without it the copy goes into the vault's own folder of backups. It opens
    on any machine with the passphrase or the recovery code of today. Notes of running tasks stay out.
    """
    params = {"path": None if path is None else str(Path(path).absolute())}
    made = _watched(at, "backup.make", params)
    if at.out.as_json:
        at.out.document(made)
        return
    held = int(made["memories"])
    at.out.line(bold(words(made["path"])))
    at.out.line(f"{held:,} {'memory' if held == 1 else 'memories'}, {size(made['size_bytes'])}, verified")
    at.out.line(dim(f"sha256 {made['sha256']}"))
    if path is None:
        at.out.tip("It lies beside the vault: copy it to another disk as well.")


def _watched(at: Invocation, method: str, params: dict[str, Any]) -> Any:
    """Make a call that takes its time, and show in per cent how far it is."""
    title = "restore" if method.endswith("restore") else "backup"
    quiet = at.out.quiet or at.out.as_json
    with Meter(title, "per cent", quiet, at.settings.no_color) as meter:

        def heard(news: dict[str, Any]) -> None:
            done, total = int(news.get("done") or 0), int(news.get("total") or 0)
            meter.update(100 * done // total if total else 0, 100 if total else 0, words(news.get("stage")))

        return at.call(method, params, on_progress=heard)


def size(size_bytes: int) -> str:
    """`3.4 MB`: a size as people read it, in powers of 1,000."""
    left, unit = float(size_bytes), 0
    while left >= 1_000 and unit < len(_UNITS) - 1:
        left, unit = left / 1_000, unit + 1
    return f"{left:.0f} {_UNITS[unit]}" if unit == 0 else f"{left:.1f} {_UNITS[unit]}"


@command("backups")
@invoked
def backups(at: Invocation) -> None:
    """List the copies that were made, newest first, each read to its end.

    With the vault open these are all that it remembers, wherever they were written; else those in its folder.
    """
    answer = at.call("backup.list")
    if at.out.as_json:
        at.out.document(answer)
        return
    items = rows(answer, "items")
    for item in items:
        _show(at, item)
    if not items:
        at.out.note("There is no backup yet.")
        at.out.tip("Next: `memvault backup` makes one.")


def _show(at: Invocation, item: Answer) -> None:
    state = coloured("whole  ", "green") if item.get("whole") else coloured("damaged", "red")
    facts = [when(item.get("created_at"))]
    if item.get("memories") is not None:
        facts.append(f"{item['memories']:,} memories")
    if item.get("size_bytes") is not None:
        facts.append(size(item["size_bytes"]))
    at.out.line(state, "  ", bold(words(item.get("path"))))
    at.out.line("         ", dim(", ".join(fact for fact in facts if fact)))
    if item.get("problem"):
        at.out.line("         ", words(item["problem"]))
    if item.get("before_deletion"):
        at.out.line("         ", "made before a deletion: it still holds what was deleted since")


@command("restore")
@click.argument("path", type=click.Path())
@click.option("--recovery", is_flag=True, help="Open the backup with the recovery code.")
@click.option("--recovery-file", metavar="FILE", help="Read the recovery code from FILE's first line.")
@click.option(
    "--backup-passphrase-file",
    metavar="FILE",
    help="Read the backup's passphrase from FILE, when it is not that of the vault.",
)
@invoked
def restore(
    at: Invocation, path: str, recovery: bool, recovery_file: str | None, backup_passphrase_file: str | None
) -> None:
    """Bring the copy at PATH back: into an empty home, or in the place of the vault that is there.

    What is there is kept as a backup first. What was deleted since the copy was made stays deleted, and the
    vault that is there keeps its passphrases.
    """
    params: dict[str, Any] = {"path": str(Path(path).absolute())}
    if recovery or recovery_file:
        params["recovery_code"] = recovery_code(at, recovery_file)
    elif backup_passphrase_file:
        params["passphrase"] = passphrase.read(Path(backup_passphrase_file).expanduser(), at.out)
    if source := passphrase.source(at.settings.passphrase_file):
        name = "vault_passphrase" if "passphrase" in params or "recovery_code" in params else "passphrase"
        params[name] = passphrase.read(source.path, at.out)
    if "passphrase" in params or "recovery_code" in params:
        _done(at, _watched(at, "backup.restore", params))
        return
    if not passphrase.terminal_at_hand():
        raise PresenceRequired(
            "the backup's passphrase was not given", "Name a file that holds it: --passphrase-file FILE."
        )
    _done(at, _ask_and_restore(at, params))


def _ask_and_restore(at: Invocation, params: dict[str, Any]) -> Any:
    """Ask for the backup's passphrase or recovery code. Raises WrongKey after the last try."""
    for left in reversed(range(TRIES)):
        secret = passphrase.ask_secret("Passphrase of the backup: ")
        if not secret:
            raise click.Abort
        name = "recovery_code" if RECOVERY_CODE.fullmatch(secret.strip()) else "passphrase"
        try:
            return _watched(at, "backup.restore", {**params, name: secret})
        except WrongKey:
            if not left:
                raise
            at.out.note("That does not fit; try again.")
    raise AssertionError("unreachable")


def _done(at: Invocation, done: Any) -> None:
    for warning in texts(done, "warnings"):
        at.out.warn(warning)
    if at.out.as_json:
        at.out.document(done)
        return
    number, removed, held = (int(done[name]) for name in ("memories", "removed_by_tombstones", "held"))
    at.out.line(bold(f"Restored: {number:,} {'memory' if number == 1 else 'memories'}"), f" in {at.home}")
    if removed:
        at.out.line(f"{removed:,} left out: deleted for good since the backup was made")
    if held:
        at.out.line(f"{held:,} wait in the inbox, switched off: they resemble something you deleted since")
    if done.get("kept_copy"):
        at.out.line(f"What was there before is kept: {words(done['kept_copy'])}")
    at.out.tip("The vault is open. `memvault list` shows it.")
