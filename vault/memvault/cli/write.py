"""add and edit: what a person writes into the vault."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from memvault import text
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import KINDS, SCOPES, SENSITIVITIES, choice, command
from memvault.cli.output import bold, dim
from memvault.cli.views import show_record, status_piece
from memvault.errors import Illegal, NotFound, Refused, TextUnusable, Usage, WaitsForPerson
from memvault.ids import is_id

SOURCE_TYPES = ("user", "conversation", "file", "tool", "import", "team")
FAILURE_PARTS = ("symptom", "cause", "fix", "verification", "stop_rule")
_READ_BYTES = 4 * text.MAX_CONTENT_BYTES
"""Read at most this and one byte more: line ends and composed letters may shrink to the limit."""
_STATUS_OF_OUTCOME = {
    "candidate": WaitsForPerson.exit_status,
    "refused": Refused.exit_status,
    "conflict": Illegal.exit_status,
}
"""Outcomes that do not exit 0; the outcome document is printed all the same."""

_CLAIM_OPTIONS = [
    click.option("--project", metavar="P", help="The project it belongs to; without one, all of yours."),
    click.option("--subject", metavar="S", help="What the claim is about, such as project:billing."),
    click.option("--attribute", metavar="A", help="Which property of the subject."),
    click.option("--value", metavar="V", help="The value of that property."),
    click.option("--why", metavar="T", help="The reason."),
    click.option("--how", "how_to_apply", metavar="T", help="How to apply it."),
    click.option(
        "--condition", "conditions", metavar="T", help="When it applies, such as 'production only'."
    ),
    click.option("--context", metavar="T", help="In what setting it was learned."),
    click.option("--about", metavar="T", help="Who or what is involved."),
    click.option(
        "--sensitivity", type=choice(SENSITIVITIES), help="Default: internal, personal for relationships."
    ),
    click.option("--expires", "expires_at", metavar="DATE", help="After this day it is no longer used."),
]


def _claim_options(function: Any) -> Any:
    for option in reversed(_CLAIM_OPTIONS):
        function = option(function)
    return function


def memory_id(value: str) -> str:
    """A full id as `list` shows it. Raises NotFound for anything else."""
    ident = value.strip().lower()
    if not is_id(ident):
        raise NotFound("no memory has that id", "Ids have 36 characters; `memvault list` shows them.")
    return ident


class _SourceParam(click.ParamType[dict[str, Any]]):
    """TYPE:REF."""

    name = "TYPE:REF"

    def convert(
        self, value: str | dict[str, Any], param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        kind, colon, ref = value.partition(":")
        if kind not in SOURCE_TYPES:
            self.fail(f"write TYPE:REF with one of the types {', '.join(SOURCE_TYPES)}", param, ctx)
        if not (colon and ref.strip()):
            self.fail(
                f"after {kind!r} comes a colon and what can be followed, such as {kind}:REF", param, ctx
            )
        return {"type": kind, "ref": ref}


def read_text(value: str, what: str) -> str:
    """The text itself, or standard input for `-`. Raises TextUnusable."""
    if value != "-":
        return text.accept(value, what)
    return _decoded(sys.stdin.buffer.read(_READ_BYTES + 1), what)


def _decoded(data: bytes, what: str) -> str:
    if len(data) > _READ_BYTES:
        raise TextUnusable(
            f"the {what} is longer than the limit of {text.MAX_CONTENT_BYTES:,} bytes",
            "One memory is one claim: keep the conclusion and name the document as its source.",
        )
    try:
        return text.accept(data.decode("utf-8"), what)
    except UnicodeDecodeError as error:
        raise TextUnusable(f"the {what} is not UTF-8 text") from error


def _evidence(given: str | None, file: str | None) -> str | None:
    if given is not None and file is not None:
        raise Usage("give --evidence or --evidence-file, not both")
    if given is not None:
        return text.accept(given, "evidence")
    if file is None:
        return None
    if file == "-":
        return read_text("-", "evidence")
    try:
        with Path(file).expanduser().open("rb") as opened:
            return _decoded(opened.read(_READ_BYTES + 1), "evidence")
    except OSError as error:
        raise Usage(f"the evidence file cannot be read: {file}: {error.strerror}") from error


def file_source(source: dict[str, Any]) -> dict[str, Any]:
    """Make a file's path absolute: the daemon, which checks the file, has another working directory."""
    if source["type"] == "file":
        return {**source, "ref": str(Path(source["ref"]).expanduser().absolute())}
    return source


@command("add")
@click.argument("content", metavar="TEXT|-")
@click.option("--kind", type=choice(KINDS), required=True, help="What sort of memory it is.")
@click.option("--scope", type=choice(SCOPES), required=True, help="Who it is for; never guessed.")
@click.option("--source", type=_SourceParam(), required=True, help="Where it comes from, such as user:me.")
@_claim_options
@click.option("--evidence", metavar="T", help="A verbatim excerpt of the source.")
@click.option("--evidence-file", metavar="FILE", help="Read the excerpt from FILE, - for standard input.")
@click.option("--task", metavar="ID", help="The task or session of the source.")
@click.option("--message-index", type=click.IntRange(0), help="Which message of that task.")
@click.option("--symptom", metavar="T", help="For a reflection on a failure: what was seen.")
@click.option("--cause", metavar="T", help="... why it happened.")
@click.option("--fix", metavar="T", help="... what mended it.")
@click.option("--verification", metavar="T", help="... how that was checked.")
@click.option("--stop-rule", metavar="T", help="... when to stop trying.")
@click.option(
    "--correct", is_flag=True, help="This corrects what is remembered: the older value is replaced."
)
@invoked
def add(at: Invocation, content: str, **given: Any) -> int:
    """Remember TEXT; - reads it from standard input, which keeps it out of the shell's history.

    Exits 5 when it waits for you in the inbox, 6 when it is refused, 7 when it contradicts another memory.
    """
    source = {
        **file_source(given.pop("source")),
        "evidence": _evidence(given.pop("evidence"), given.pop("evidence_file")),
        "task": given.pop("task"),
        "message_index": given.pop("message_index"),
    }
    failure = {part: given.pop(part) for part in FAILURE_PARTS}
    params = {
        **given,
        "content": read_text(content, "text"),
        "source": {name: value for name, value in source.items() if value is not None},
        "failure": {part: said for part, said in failure.items() if said is not None} or None,
        "correct": given["correct"] or None,
    }
    result = _outcome(at, params)
    outcome = str(result.get("outcome"))
    if at.out.as_json:
        at.out.document(result)
    else:
        _show_outcome(at, outcome, result)
    return _STATUS_OF_OUTCOME.get(outcome, 0)


def _outcome(at: Invocation, params: dict[str, Any]) -> dict[str, Any]:
    """The daemon's outcome; a refusal it raises is an outcome too."""
    try:
        return at.call("memory.add", params)
    except Refused as refusal:
        return {"outcome": "refused", "id": None, "version": None, "reason": refusal.message, "run": None}


def _show_outcome(at: Invocation, outcome: str, result: dict[str, Any]) -> None:
    ident = result.get("id")
    if at.out.quiet and ident:
        at.out.line(str(ident))
        return
    at.out.line(status_piece(outcome), " ", bold(str(ident or "")))
    if result.get("reason"):
        at.out.line(dim(str(result["reason"])))
    at.out.tip({
        "candidate": f"Next: `memvault confirm {ident}` accepts it.",
        "conflict": f"Next: `memvault conflicts` shows both sides, `memvault resolve {ident}` decides.",
        "active": f"Next: `memvault recall ...` finds it, `memvault edit {ident}` corrects it.",
    }.get(outcome, ""))  # fmt: skip


CLEARABLE = (
    "project", "subject", "attribute", "value", "why", "how_to_apply", "conditions", "context", "about",
    "expires_at", "valid_from", "valid_to",
)  # fmt: skip


@command("edit")
@click.argument("ident", metavar="ID")
@click.option("--content", metavar="T|-", help="The claim in a sentence; - reads standard input.")
@click.option("--kind", type=choice(KINDS), help="What sort of memory it is.")
@click.option("--scope", type=choice(SCOPES), help="Who it is for.")
@_claim_options
@click.option(
    "--clear", "cleared", type=choice(CLEARABLE), multiple=True, help="Empty this field; may be repeated."
)
@click.option("--version", "expected", type=click.IntRange(1), help="Only if it is still at this version.")
@click.option("--reason", metavar="T", help="Why it is changed; kept in its history.")
@invoked
def edit(at: Invocation, ident: str, cleared: tuple[str, ...], **given: Any) -> None:
    """Correct a memory: a new version is made, the old one is kept in its history."""
    expected, reason = given.pop("expected"), given.pop("reason")
    changes = {name: value for name, value in given.items() if value is not None}
    both = sorted(set(changes) & set(cleared))
    if both:
        raise Usage(f"{', '.join(both)}: set or cleared, not both")
    if "content" in changes:
        changes["content"] = read_text(changes["content"], "content")
    changes |= dict.fromkeys(cleared)
    if not changes:
        raise Usage("nothing to change", "Say what, such as --content TEXT; `memvault edit --help` lists it.")
    params = {"id": memory_id(ident), "changes": changes, "version": expected, "reason": reason}
    show_changed(at, at.call("memory.edit", params))


def show_changed(at: Invocation, record: dict[str, Any]) -> None:
    """Print a memory after a change."""
    if at.out.as_json:
        at.out.document(record)
    elif at.out.quiet:
        at.out.line(str(record.get("id")))
    else:
        show_record(at.out, record)
        at.out.tip(
            f"Next: `memvault history {record.get('id')}` shows every version, `memvault undo` takes it back."
        )
