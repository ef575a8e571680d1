"""check and recover: prove that the vault is whole, and mend it, step by step, when it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memvault.cli import passphrase
from memvault.cli.answers import Answer, rows, texts
from memvault.cli.invocation import RECOVERY_CODE, Invocation, invoked
from memvault.cli.options import command
from memvault.cli.output import bold, coloured, dim
from memvault.cli.progress import Meter
from memvault.cli.views import words
from memvault.errors import PresenceRequired

DAMAGED = 8
"""Exit status while something is wrong (SPEC 14: vault or key damaged)."""
_ORDER = ("header", "pages", "mark")
"""What is mended first: without a header nothing opens, and salvaging renews the mark."""
_QUESTIONS = {
    "header": "Put the copy of the header back?",
    "pages": "Salvage what can be read into a new file, and keep the damaged one?",
    "mark": "Accept that these changes are lost, and go on without them?",
}


@command("check")
@invoked
def check(at: Invocation) -> int:
    """Read the whole vault: pages, references, events, vectors, header. Exits 8 when something is wrong.

    `memvault doctor` looks at everything around it as well, but less deeply.
    """
    answer = _watched(at, "check", "vault.check", {})
    if at.out.as_json:
        at.out.document(answer)
    else:
        for one in rows(answer, "checks"):
            mark = coloured("ok   ", "green") if one.get("ok") else coloured("wrong", "red")
            at.out.line(mark, " ", bold(words(one.get("name"))), "  ", words(one.get("detail")))
            if one.get("fix"):
                at.out.line("      ", dim(f"-> {words(one['fix'])}"))
    return 0 if answer.get("ok") else DAMAGED


@command("recover")
@click.option("--yes", is_flag=True, help="Mend everything that can be mended without asking.")
@click.option("--recovery-file", metavar="FILE", help="Read the recovery code from FILE's first line.")
@invoked
def recover(at: Invocation, yes: bool, recovery_file: str | None) -> int:
    """Look for damage and mend it, each step after a question; what was there is always kept.

    A damaged header is put back from its copy; readable memories are salvaged from a file with damaged pages;
    changes that are gone can be accepted as lost. A missing database is never made anew: `memvault restore`
    brings a backup back. Exits 8 while something is left that is wrong.
    """
    secret = _secret(at, recovery_file)
    first = answer = at.call("vault.recover", secret)
    if not at.out.as_json:
        _show(at, answer)
    done: list[Answer] = []
    for what in _ORDER:
        finding = next((one for one in rows(answer, "found") if one.get("what") == what), None)
        if finding is None or not finding.get("mend") or not (yes or _agreed(at, what)):
            continue
        answer = _watched(
            at, "recover", "vault.recover", {**secret, "mend": what, "missing": finding.get("missing")}
        )
        done.append({"mended": what, **answer["done"]})
        if not at.out.as_json:
            _show_done(at, done[-1])
    if at.out.as_json:
        at.out.document({**answer, "found": first["found"], "left": answer["found"], "done": done})
    elif not answer["found"]:
        at.out.line(bold("Nothing is wrong." if not done else "Nothing is wrong any more."))
    return DAMAGED if answer["found"] else 0


def _secret(at: Invocation, recovery_file: str | None) -> dict[str, Any]:
    """What opens a closed vault. Raises PresenceRequired when nobody can be asked for it."""
    if recovery_file:
        return {"recovery_code": passphrase.read(Path(recovery_file).expanduser(), at.out)}
    if source := passphrase.source(at.settings.passphrase_file):
        return {"passphrase": passphrase.read(source.path, at.out)}
    if at.call("status").get("state") != "locked":
        return {}
    if not passphrase.terminal_at_hand():
        raise PresenceRequired(
            "no passphrase was given", "Name a file that holds it: --passphrase-file FILE."
        )
    secret = passphrase.ask_secret("Passphrase or recovery code: ")
    if not secret:
        raise click.Abort
    return {"recovery_code" if RECOVERY_CODE.fullmatch(secret.strip()) else "passphrase": secret}


def _agreed(at: Invocation, what: str) -> bool:
    """Whether a person at the terminal says yes; without one nothing is mended."""
    if at.out.as_json or not passphrase.terminal_at_hand():
        at.out.note(f"Not mended without a terminal or --yes: {what}.")
        return False
    return passphrase.ask(f"{_QUESTIONS[what]} [y/N] ").lower() in ("y", "yes")


def _watched(at: Invocation, title: str, method: str, params: dict[str, Any]) -> Any:
    quiet = at.out.quiet or at.out.as_json
    with Meter(title, "steps", quiet, at.settings.no_color) as meter:

        def heard(news: Answer) -> None:
            meter.update(int(news.get("done") or 0), int(news.get("total") or 0), words(news.get("stage")))

        return at.call(method, params, on_progress=heard)


def _show(at: Invocation, answer: Answer) -> None:
    for one in rows(answer, "found"):
        at.out.line(coloured("wrong ", "red"), bold(words(one.get("what"))), "  ", words(one.get("detail")))
        at.out.line("      ", dim(f"-> {words(one.get('fix'))}"))
    backups = rows(answer, "backups")
    if answer["found"] and backups:
        newest = backups[0]
        at.out.line(
            "The newest whole backup: ", bold(words(newest.get("path"))), f" of {newest['created_at']}"
        )
    elif answer["found"]:
        at.out.line("There is no whole backup in the vault's own folder.")


def _show_done(at: Invocation, done: Answer) -> None:
    for warning in texts(done, "warnings"):
        at.out.warn(warning)
    if done.get("mended") == "pages":
        at.out.line(bold(f"Salvaged {int(done['memories']):,} memories"), f", {done['lost_total']:,} lost")
        for memory in texts(done, "lost"):
            at.out.line("  lost  ", memory)
        at.out.line(f"The damaged files are kept: {words(done.get('kept_copy'))}")
    else:
        at.out.line(bold(f"Mended: {words(done.get('mended'))}"))
