"""init, unlock, lock and status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memvault.cli import passphrase
from memvault.cli.answers import part, rows, texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.layout import table
from memvault.cli.options import command
from memvault.cli.output import bold, dim
from memvault.cli.times import duration
from memvault.errors import KeychainTrouble, PresenceRequired, Usage, VaultAbsent


@command("init")
@click.option("--no-keychain", is_flag=True, help="Do not keep a copy of the key in the system's keychain.")
@invoked
def init(at: Invocation, no_keychain: bool) -> None:
    """Make a vault and print its recovery code once.

    The passphrase is asked for twice, or read from --passphrase-file.
    """
    _nothing_there(at)
    keychain = False
    if not no_keychain:
        probe = at.call("vault.keychain_probe")
        keychain = bool(probe.get("usable"))
        if not keychain:
            at.out.note(dim(f"Without a keychain: {probe.get('reason') or 'none is usable here'}."))
    made = at.call("vault.init", {"passphrase": _new_passphrase(at, keychain), "keychain": keychain})
    for warning in texts(made, "warnings"):
        at.out.warn(warning)
    if at.out.as_json:
        at.out.document(made)
        return
    _show_new_vault(at, made)


def _nothing_there(at: Invocation) -> None:
    """Refuse before a passphrase is asked for; the daemon refuses as well."""
    state = at.call("status").get("state")
    if state != "absent":
        raise Usage(
            f"there is a vault in {at.home} already",
            "`memvault status` shows it; --home DIR chooses another place.",
        )


def _new_passphrase(at: Invocation, keychain: bool) -> str | None:
    source = passphrase.source(at.settings.passphrase_file)
    if source is not None:
        return passphrase.read(source.path, at.out)
    if not passphrase.terminal_at_hand():
        raise Usage("no passphrase was given", "Name a file that holds it: --passphrase-file FILE.")
    if keychain:
        at.out.note("Leave the passphrase empty to rely on the keychain and the recovery code alone.")
    return passphrase.ask_new("New passphrase", may_be_empty=keychain)


def _show_new_vault(at: Invocation, made: dict[str, Any]) -> None:
    slots = ", ".join(str(slot.get("type")) for slot in rows(made, "slots"))
    at.out.line(bold("A new vault is ready and open"), f" in {at.home}")
    at.out.line(f"Opened by: {slots}")
    at.out.line()
    at.out.line("Recovery code, shown this once. Write it on paper and keep it away from this computer:")
    at.out.line()
    at.out.line("    ", bold(str(made.get("recovery_code"))))
    at.out.line()
    at.out.line("It opens the vault when everything else is lost. Nobody can show it again.")
    at.out.tip("Next: `memvault import` shows what can be brought in, `memvault add` remembers something.")


@command("unlock")
@click.option("--recovery", is_flag=True, help="Open with the recovery code instead of the passphrase.")
@click.option("--recovery-file", metavar="FILE", help="Read the recovery code from FILE's first line.")
@invoked
def unlock(at: Invocation, recovery: bool, recovery_file: str | None) -> None:
    """Open the vault.

    Uses --passphrase-file, else the keychain when it holds the key, else MEMVAULT_PASSPHRASE_FILE, else
    asks.
    """
    if recovery or recovery_file:
        _show(at, at.call("vault.unlock", {"recovery_code": recovery_code(at, recovery_file)}))
        return
    source = passphrase.source(at.settings.passphrase_file)
    if source is not None and source.explicit:
        _show(at, at.call("vault.unlock", {"passphrase": passphrase.read(source.path, at.out)}))
        return
    status = at.call("status")
    if status.get("state") == "unlocked":
        _show(at, status)
        return
    opened = _by_keychain(at) if status.get("keychain") else None
    if opened is None and source is not None:
        opened = at.call("vault.unlock", {"passphrase": passphrase.read(source.path, at.out)})
    elif opened is None and status.get("state") == "absent":
        raise VaultAbsent(f"there is no vault in {at.home}")
    elif opened is None:
        if not passphrase.terminal_at_hand():
            raise PresenceRequired(
                "no passphrase was given", "Name a file that holds it: --passphrase-file FILE."
            )
        opened = at.try_secrets("vault.unlock")
    _show(at, opened)


def _by_keychain(at: Invocation) -> dict[str, Any] | None:
    try:
        return at.call("vault.unlock", {"keychain": True})
    except KeychainTrouble as trouble:
        at.out.note(f"The keychain did not open it: {trouble.message}.")
        return None


def recovery_code(at: Invocation, recovery_file: str | None) -> str:
    if recovery_file:
        return passphrase.read(Path(recovery_file).expanduser(), at.out)
    if not passphrase.terminal_at_hand():
        raise PresenceRequired(
            "no recovery code was given", "Name a file that holds it: --recovery-file FILE."
        )
    code = passphrase.ask_secret("Recovery code: ").strip()
    if not code:
        raise click.Abort
    return code


@command("lock")
@invoked
def lock(at: Invocation) -> None:
    """Close the vault now; only `memvault unlock` opens it again."""
    _show(at, at.call("vault.lock"))


@command("status")
@invoked
def status(at: Invocation) -> None:
    """Show the state of vault, daemon and model; starts the daemon when none runs."""
    _show(at, at.call("status"))


def _show(at: Invocation, status: dict[str, Any]) -> None:
    if at.out.as_json:
        at.out.document(status)
        return
    state = str(status.get("state"))
    for label, text in table([
        ("vault", _vault_line(status)),
        ("home", str(at.home)),
        ("daemon", _daemon_line(part(status, "daemon"))),
        ("model", _model_line(part(status, "model")) if status.get("model") else ""),
    ]):  # fmt: skip
        at.out.line(dim(label), "  ", bold(text) if label.strip() == "vault" else text)
    for warning in texts(status, "warnings"):
        at.out.warn(warning)
    at.out.tip(
        {"absent": "Next: `memvault init` makes a vault.", "locked": "Next: `memvault unlock`."}.get(
            state, ""
        )
    )


def _vault_line(status: dict[str, Any]) -> str:
    state = str(status.get("state"))
    if state != "unlocked":
        return {"absent": "there is none yet", "locked": "locked"}.get(state, state)
    count = status.get("memories") or 0
    line = f"unlocked{', read-only' if status.get('read_only') else ''}"
    line += f", {count:,} {'memory' if count == 1 else 'memories'}"
    left_s = status.get("locks_in_s")
    return f"{line}, locks in {duration(float(left_s))}" if isinstance(left_s, int | float) else line


def _daemon_line(daemon: dict[str, Any]) -> str:
    return f"process {daemon.get('pid')}, version {daemon.get('version')}, protocol {daemon.get('protocol')}"


def _model_line(model: dict[str, Any]) -> str:
    state = model.get("state")
    if state == "absent":
        return f"{model.get('id') or 'none'}, absent: recall goes by keywords only (`memvault models pull`)"
    pending = model.get("pending") or 0
    line = f"{model.get('id') or 'none'}, {state or 'unknown'}"
    return f"{line}, {pending:,} to embed" if pending else line
