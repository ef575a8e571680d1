"""compile, compare: the context memory gives to one task, and whether it was worth it.

`compare --pick` is the second half of a comparison that another call began; on a terminal both are one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from memvault import text
from memvault.cli import passphrase
from memvault.cli.answers import part, rows
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.options import SENSITIVITIES, choice, command
from memvault.cli.output import bold, dim
from memvault.cli.views import words
from memvault.cli.write import memory_id, read_text
from memvault.errors import Usage

MODES = ("M0", "M1", "M2", "M3", "M4")
LEVELS = ("low", "normal", "high")
PICKS = ("A", "B", "neither")
_REFERRED = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b")

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _for_a_task(function: Decorated) -> Decorated:
    """The options that say what the task is."""
    options = (
        click.option("--objective", metavar="T", help="What the task is, in words; - reads standard input."),
        click.option("--project", metavar="P", help="Memories of this project and those of no project."),
        click.option("--session", metavar="S", help="Keep the stable part steady over this session's calls."),
        click.option("--budget", type=click.IntRange(0, 8_000), help="Tokens at most (default 1000)."),
        click.option("--risk", type=choice(LEVELS), help="High: only what was verified."),
        click.option("--continuity", type=choice(LEVELS), help="High: earlier work matters (M2)."),
        click.option("--novelty", type=choice(LEVELS), help="High: without earlier work (M0)."),
        click.option("--sensitivity", type=choice(SENSITIVITIES), help="Nothing more sensitive than this."),
        click.option("--time-sensitivity", type=choice(LEVELS), help="High: nothing that needs a new check."),
    )
    for add in reversed(options):
        function = add(function)
    return function


def _given(how: dict[str, Any]) -> dict[str, Any]:
    """The task's parameters, its objective read. Raises Usage, TextUnusable."""
    objective = how.pop("objective")
    if objective is None:
        raise Usage("say what the task is: --objective TEXT, or --objective - for standard input")
    return {"objective": read_text(objective, "objective"), **how}


@command("compile")
@_for_a_task
@click.option("--mode", type=choice(MODES), help="What to load; without it memvault chooses M0, M1 or M2.")
@click.option("--index", is_flag=True, help="Print the index of what is remembered instead.")
@invoked
def compile_(at: Invocation, index: bool, **how: Any) -> None:
    """Print the context for a task: policies, preferences, what fits the objective, and an index."""
    if index:
        _index(at, how["project"])
        return
    answer = at.call("context.compile", _given(how))
    if at.out.as_json:
        at.out.document(answer)
        return
    without = part(answer, "without")
    if without:
        at.out.line(bold("With memory"))
    _print(at, answer)
    if without:
        at.out.line()
        at.out.line(bold("Without memory"))
        _print(at, without)


def _print(at: Invocation, answer: dict[str, Any]) -> None:
    for line in words(answer.get("text")).splitlines():
        at.out.line(line)
    project = answer.get("project")
    used = f"{answer.get('tokens')} of {answer.get('budget')} tokens"
    at.out.note(dim(f"{words(answer.get('mode'))}, {words(project) if project else 'no project'}: {used}"))
    _tell_left_out(at, answer)
    for change in rows(answer, "drift"):
        at.out.note(
            dim(f"changed since this session's last call: {change.get('id')}, {change.get('reason')}")
        )
    if not answer.get("text"):
        at.out.note(_WHY_NOTHING[bool(answer.get("left_out_total"))])


_WHY_NOTHING = {
    False: "Nothing that this task needs is remembered.",
    True: "Nothing is shown: what is remembered was left out.",
}
MOST_REASONS = 5


def _tell_left_out(at: Invocation, answer: dict[str, Any]) -> None:
    """How many for which reason; which ones they are, `--json` names."""
    total, unnamed = int(answer.get("left_out_total", 0)), int(part(answer, "index").get("left_out", 0))
    counts = Counter(_REFERRED.sub("another", words(row.get("reason"))) for row in rows(answer, "left_out"))
    if total:
        said = "; ".join(f"{number} {reason}" for reason, number in counts.most_common(MOST_REASONS))
        at.out.note(dim(f"left out: {said}{'; others' if len(counts) > MOST_REASONS else ''}"))
    if unnamed:
        at.out.note(dim(f"{unnamed} more names had no room in the index"))


def _index(at: Invocation, project: str | None) -> None:
    answer = at.call("context.index", {"project": project})
    if at.out.as_json:
        at.out.document(answer)
        return
    for line in words(answer.get("text")).splitlines():
        at.out.line(line)
    for gone in rows(answer, "left_out"):
        at.out.note(dim(f"left out: {gone.get('id')}, {gone.get('reason')}"))
    for topic in rows(answer, "large_topics"):
        at.out.warn(f"{words(topic.get('subject'))} has {topic.get('chars'):,} characters: split it")


def _answer_file(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        return text.accept(Path(name).read_text("utf-8"), "answer")
    except UnicodeDecodeError as error:
        raise Usage(f"the answer is not UTF-8 text: {name}") from error
    except OSError as error:
        raise Usage(f"the answer cannot be read: {name}: {error.strerror}") from error


@command("compare")
@_for_a_task
@click.option("--with-answer", metavar="FILE", help="What was made with memory, to be judged instead.")
@click.option("--without-answer", metavar="FILE", help="What was made without memory.")
@click.option("--seed", type=click.IntRange(0), help="Fixes which one is A.")
@click.option("--comparison", metavar="ID", help="Give the verdict on a comparison that was begun.")
@click.option("--pick", type=choice(PICKS), help="The better one.")
@invoked
def compare(
    at: Invocation, with_answer: str | None, without_answer: str | None, comparison: str | None,
    pick: str | None, **how: Any,
) -> None:  # fmt: skip
    """Compare blindly, as A and B, what memory adds to a task, and record which one is better."""
    if comparison is not None:
        if pick is None:
            raise Usage("say which one is better: --pick A, B or neither")
        _verdict(at, memory_id(comparison), pick)
        return
    if pick is not None:
        raise Usage("--pick needs --comparison ID", "The first call shows A and B and names the comparison.")
    answers = {"with_memory": _answer_file(with_answer), "without_memory": _answer_file(without_answer)}
    shown = at.call("context.compare", {**_given(how), **answers})
    asks = passphrase.terminal_at_hand() and not at.out.as_json
    if at.out.as_json:
        at.out.document(shown)
        return
    for name in ("A", "B"):
        at.out.line(bold(name))
        for line in words(shown.get(name)).splitlines() or ["(nothing)"]:
            at.out.line(line)
        at.out.line()
    if not asks:
        ident = shown.get("comparison")
        at.out.note(f"Next: `memvault compare --comparison {ident} --pick A`, B or neither.")
        return
    _verdict(at, words(shown.get("comparison")), _asked())


def _asked() -> str:
    said = passphrase.ask("Which one is better? A, B or neither: ").strip().casefold()
    found = next((pick for pick in PICKS if pick.casefold() == said), None)
    if found is None:
        raise click.Abort
    return found


def _verdict(at: Invocation, comparison: str, pick: str) -> None:
    answer = at.call("context.prefer", {"comparison": comparison, "picked": pick})
    if at.out.as_json:
        at.out.document(answer)
        return
    behind = {"with": "with memory", "without": "without memory", "neither": "neither"}
    at.out.line(f"picked: {behind.get(words(answer.get('picked')), '?')}")
    so_far = part(answer, "so_far")
    at.out.line(dim(", ".join(f"{label} {so_far.get(name, 0)}" for name, label in behind.items())))
