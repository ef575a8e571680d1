"""gate explain and gate calibrate: what the gate thinks of a text, and how strict it should be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from memvault.cli.answers import part, rows, texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import KINDS, Command, Group, choice
from memvault.cli.output import bold, dim
from memvault.cli.progress import Meter
from memvault.cli.views import words
from memvault.errors import MemvaultError

AXES = ("stable", "reusable", "sourced", "authorised")


@click.group("gate", cls=Group)
def gate() -> None:
    """Look at the gate that decides what may be remembered."""


@gate.command("explain", cls=Command)
@click.argument("text")
@click.option("--kind", type=choice(KINDS), default="fact", show_default=True, help="What it would be.")
@click.option(
    "--estimate", type=(click.FloatRange(0, 1), click.FloatRange(0, 1)), metavar="STABLE REUSABLE",
    help="As if the agent had given its own estimate, two numbers from 0 to 1.",
)  # fmt: skip
@invoked
def explain(at: Invocation, text: str, kind: str, estimate: tuple[float, float] | None) -> None:
    """Show the four scores of a text and which signals fired, as if an agent proposed it."""
    given = None if estimate is None else {"stable": estimate[0], "reusable": estimate[1]}
    answer = at.call("gate.explain", {"content": text, "kind": kind, "estimate": given})
    if at.out.as_json:
        at.out.document(answer)
        return
    at.out.line(bold(words(answer.get("verdict"))), "  ", _scores(part(answer, "scores"), AXES))
    at.out.line(words(answer.get("reason")))
    if answer.get("question"):
        at.out.line(words(answer.get("question")))
    for signal in rows(answer, "signals"):
        moves = f"stable {words(signal.get('stable'))}  reusable {words(signal.get('reusable'))}"
        at.out.line(f"  {words(signal.get('code'))}  ", dim(moves))
    if left := texts(answer, "exclusions"):
        at.out.line("  excluded as: ", ", ".join(left))
    _show_opinions(at, answer)


def _show_opinions(at: Invocation, answer: dict[str, Any]) -> None:
    """Who else was heard, and what the rules alone had said."""
    model, asked = answer.get("chat_model"), part(answer, "chat")
    if asked:
        at.out.line("  the chat model's estimate  ", dim(_scores(asked, AXES[:2])))
    elif model not in (None, "off"):
        at.out.line("  the chat model gave no estimate  ", dim(f"it is {words(model)}"))
    if own := part(answer, "estimate"):
        at.out.line("  the proposer's estimate  ", dim(_scores(own, AXES[:2])))
    if asked or own:
        at.out.line("  by the rules alone  ", dim(_scores(part(answer, "rules"), AXES[:2])))


def _scores(found: dict[str, Any], names: Sequence[str]) -> str:
    return "  ".join(f"{name} {words(found.get(name))}" for name in names)


@gate.command("calibrate", cls=Command)
@click.argument("labels", metavar="LABELS.jsonl", type=click.Path(exists=True, dir_okay=False))
@click.option("--set", "keep_it", is_flag=True, help="Use the suggested theta from now on (config.toml).")
@invoked
def calibrate(at: Invocation, labels: str, keep_it: bool) -> None:
    """Show precision and recall over theta on claims that you have judged, and suggest a theta.

    \b
    LABELS.jsonl holds one JSON object a line:
      {"text": "...", "keep": true, "kind": "fact", "source": "conversation"}
    kind and source may be left out.
    """
    answer = _calibrated(at, str(Path(labels).absolute()))
    suggested = part(answer, "suggested")
    if keep_it:
        if not suggested:
            raise MemvaultError(
                "no theta can be suggested: nothing that is worth keeping passes at any",
                "`memvault gate explain TEXT` shows why a claim is refused.",
            )
        answer["set"] = at.call("gate.set_theta", {"theta": suggested["theta"]})
    if at.out.as_json:
        at.out.document(answer)
        return
    _show(at, answer)


def _calibrated(at: Invocation, path: str) -> dict[str, Any]:
    quiet = at.out.quiet or at.out.as_json
    with Meter("calibrate", "claims", quiet, at.settings.no_color) as meter:

        def heard(news: dict[str, Any]) -> None:
            meter.update(int(news.get("done") or 0), int(news.get("total") or 0), words(news.get("stage")))

        return at.call("gate.calibrate", {"path": path}, on_progress=heard)


def _show(at: Invocation, answer: dict[str, Any]) -> None:
    suggested, current = part(answer, "suggested"), part(answer, "current")
    at.out.line(f"{words(answer.get('labels'))} claims, {words(answer.get('keep'))} of them to keep")
    at.out.line(bold("theta  precision  recall  kept"))
    for row in rows(answer, "rows"):
        marks = [("suggested", suggested), ("in use", current)]
        note = ", ".join(name for name, chosen in marks if chosen and chosen.get("theta") == row.get("theta"))
        at.out.line(_row(row), "  ", bold(note))
    at.out.line(f"In use: theta {words(answer.get('theta'))}; {_rates(current)}")
    if suggested:
        at.out.line(f"Suggested: theta {words(suggested.get('theta'))}; {_rates(suggested)}")
    else:
        at.out.line("No suggestion: nothing that is worth keeping passes at any theta.")
    at.out.line(dim(f"Rule: {words(answer.get('rule'))}."))
    if answer.get("set"):
        at.out.line(bold(f"Theta is {words(part(answer, 'set').get('theta'))} from now on."))
    elif suggested and suggested.get("theta") != answer.get("theta"):
        at.out.tip("Next: repeat with --set to use the suggested one.")


def _row(row: dict[str, Any]) -> str:
    precision = f"{row['precision']:.3f}" if row.get("kept") else "-"
    return f"{row['theta']:>5.2f}  {precision:>9}  {row['recall']:>6.3f}  {row['kept']:>4}"


def _rates(point: dict[str, Any]) -> str:
    return f"precision {point['precision']:.3f}, recall {point['recall']:.3f}"
