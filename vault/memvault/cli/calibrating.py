"""models calibrate: what counts as an answer in this vault, measured and set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memvault.cli.answers import part, rows
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import Command
from memvault.cli.output import bold, dim
from memvault.cli.progress import Meter
from memvault.cli.views import words
from memvault.errors import MemvaultError, Usage

_SHOWN_EVERY = 5
"""Of the shifts, which lie a hundredth apart."""


@click.command("calibrate", cls=Command)
@click.argument(
    "labels", metavar="[LABELS.jsonl]", required=False, type=click.Path(exists=True, dir_okay=False)
)
@click.option("--set", "keep_it", is_flag=True, help="Use the suggested shift in this vault from now on.")
@click.option("--reset", is_flag=True, help="Forget what was set: as shipped.")
@invoked
def calibrate(at: Invocation, labels: str | None, keep_it: bool, reset: bool) -> None:
    """Show how many questions get an answer, rightly and wrongly, and where the line should lie.

    \b
    LABELS.jsonl holds one JSON object a line; no ids: the vault holds no answer.
      {"query": "...", "expects": ["memory id", ...]}
    Without it your memories are asked about themselves, and questions about nothing in particular stand for
    those that have no answer here. Labels of your own tell more.
    """
    if reset:
        if labels or keep_it:
            raise Usage("--reset stands alone: it measures nothing")
        _show_set(at, at.call("models.set_shift", {}))
        return
    answer = _calibrated(at, labels)
    suggested = part(answer, "suggested")
    if keep_it:
        check_worth(answer, suggested)
        answer["set"] = at.call("models.set_shift", part(suggested, "shifts"))
    if at.out.as_json:
        at.out.document(answer)
        return
    _show(at, answer)


def check_worth(answer: dict[str, Any], suggested: dict[str, Any]) -> None:
    """Raises MemvaultError when nothing is suggested, or what moves the line is dear by stand-ins alone."""
    if not suggested:
        raise MemvaultError(
            "no shift can be suggested: within the bounds too many questions without an answer get one",
            "`memvault why QUERY` shows what they find.",
        )
    if suggested.get("dear") and _single(suggested) != 0.0 and not answer.get("labelled"):
        raise MemvaultError(
            "set nothing: by questions that stand for yours, the suggestion would keep back "
            f"{_percent(suggested.get('cost'))} of those that have an answer",
            "Labels of your own, ten questions of each kind, tell whether that is worth it.",
        )


def _calibrated(at: Invocation, labels: str | None) -> dict[str, Any]:
    path = None if labels is None else str(Path(labels).absolute())
    quiet = at.out.quiet or at.out.as_json
    with Meter("calibrate", "questions", quiet, at.settings.no_color) as meter:

        def heard(news: dict[str, Any]) -> None:
            meter.update(int(news.get("done") or 0), int(news.get("total") or 0), words(news.get("stage")))

        return at.call("models.calibrate", {"path": path}, on_progress=heard)


def _show(at: Invocation, answer: dict[str, Any]) -> None:
    out, current, suggested = at.out, part(answer, "current"), part(answer, "suggested")
    own, strange = words(answer.get("answerable")), words(answer.get("unanswerable"))
    kind = "of yours" if answer.get("labelled") else "that stand for yours"
    out.line(f"{own} questions with an answer and {strange} without, {kind}")
    out.line(bold("shift  answer in first five  answered without one"))
    used, wanted = _single(current), _single(suggested)
    for number, row in enumerate(rows(answer, "rows")):
        marks = [("suggested", wanted), ("in use", used)]
        note = ", ".join(name for name, shift in marks if shift is not None and shift == row.get("shift"))
        if note or number % _SHOWN_EVERY == 0:
            out.line(_row(row), "  ", bold(note))
    out.line(f"In use: {_shifts(current)}; {_rates(current)}")
    if suggested:
        out.line(f"Suggested: {_shifts(suggested)}; {_rates(suggested)}")
        out.line(f"It keeps back {_percent(suggested.get('cost'))} of the questions that have an answer.")
    else:
        out.line("No suggestion: within the bounds too many questions without an answer get one.")
    out.line(dim(f"Rule: {words(answer.get('rule'))}."))
    for row in rows(answer, "languages"):
        asked = f"{words(row.get('answerable'))} with and {words(row.get('unanswerable'))} without an answer"
        out.line(f"  questions in {words(row.get('language'))}: {asked}; {_rates(row)}")
    if suggested.get("dear"):
        out.warn("More than 2 % of the questions that have an answer would find nothing.")
    if answer.get("set"):
        _show_set(at, part(answer, "set"))
    elif suggested and suggested.get("shifts") != current.get("shifts"):
        out.tip("Next: repeat with --set to use the suggested one.")


def _show_set(at: Invocation, answer: dict[str, Any]) -> None:
    if at.out.as_json:
        at.out.document(answer)
    else:
        at.out.line(bold(f"In use from now on, with {words(answer.get('model'))}: {_shifts(answer)}"))


def _single(point: dict[str, Any]) -> float | None:
    """The shift of all languages; None when they differ."""
    values = set(part(point, "shifts").values())
    return float(values.pop()) if len(values) == 1 else None


def _shifts(point: dict[str, Any]) -> str:
    single = _single(point)
    if single is not None:
        return f"shift {single:+.2f}" if single else "shift 0, as shipped"
    return "shift " + ", ".join(f"{name} {value:+.2f}" for name, value in part(point, "shifts").items())


def _row(row: dict[str, Any]) -> str:
    return f"{row['shift']:>+5.2f}  {_percent(row['found']):>20}  {_percent(row['answered']):>20}"


def _rates(point: dict[str, Any]) -> str:
    found, answered = _percent(point.get("found")), _percent(point.get("answered"))
    return f"{found} find their answer, {answered} of those without one get something"


def _percent(share: Any) -> str:
    return "-" if share is None else f"{100 * float(share):.1f} %"
