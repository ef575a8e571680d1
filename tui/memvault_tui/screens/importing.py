"""Import: choose what, look at a dry run first, then bring it in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Button, Label, Select

from memvault.errors import MemvaultError
from memvault_tui.actions import bindings_of
from memvault_tui.answers import Found, Report
from memvault_tui.i18n import N_, _, n_
from memvault_tui.lines import Row, fit, wrap
from memvault_tui.screens.base import VaultScreen
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.fields import Field
from memvault_tui.widgets.sheet import Sheet

KINDS = {
    "claude-code": N_("Claude Code memory folder"),
    "mcp-memory": N_("memory.jsonl of the MCP reference server"),
    "markdown": N_("folder of Markdown notes"),
}
MOST_REASONS = 200


def whole_path(typed: str) -> str:
    """An absolute path, as the daemon wants it; `~` is the person's home."""
    return str(Path(typed).expanduser().absolute())


def found_words(found: Found) -> str:
    """What was found, in a sentence."""
    memories = n_("{n} memory", "{n} memories", found.memories)
    projects = n_("in {n} project", "in {n} projects", found.projects)
    kind = _(KINDS[found.kind]) if found.kind in KINDS else found.kind
    return _("{kind}: {memories} {projects}").format(kind=kind, memories=memories, projects=projects)


def report_rows(report: Report, dry_run: bool, cells: int) -> list[Row]:
    """What was done, or would be, and what was not and why."""
    head = _("If you import this:") if dry_run else _("Imported:")
    refused, unreadable = len(report.refused), len(report.unreadable)
    counted = (
        (n_("{n} memory is added", "{n} memories are added", report.added), report.added, "good"),
        (n_("{n} joins one you have", "{n} join those you have", report.merged), report.merged, "plain"),
        (n_("{n} waits for you in the inbox", "{n} wait for you in the inbox", report.candidates),
         report.candidates, "warn"),
        (n_("{n} is there already", "{n} are there already", report.unchanged), report.unchanged, "dim"),
        (n_("{n} is refused", "{n} are refused", refused), refused, "bad"),
        (n_("{n} cannot be read", "{n} cannot be read", unreadable), unreadable, "bad"),
    )  # fmt: skip
    rows: list[Row] = [((head, "strong"),)]
    rows += [(("  " + words, role),) for words, count, role in counted if count]
    if len(rows) == 1:
        rows.append((("  " + _("nothing was found there"), "dim"),))
    for where, reason in (*report.refused, *report.unreadable)[:MOST_REASONS]:
        rows.append((("  " + fit(where, cells - 2).rstrip(), "plain"),))
        rows += [(("    " + line, "dim"),) for line in wrap(reason, cells - 4)]
    return rows


class ImportScreen(VaultScreen[bool]):
    """Returns whether anything was imported. Escape stops a running import and leaves."""

    PLACE = "form"
    BINDINGS = [*(binding for binding in bindings_of("form") if binding.action == "cancel")]  # noqa: RUF012

    def __init__(self, found: Sequence[Found] | None = None) -> None:
        super().__init__()
        self._found = list(found) if found is not None else None
        self._imported = False

    def compose(self) -> ComposeResult:
        yield Bar(self.title_cells(_("Import"), _("nothing is changed where it comes from")), id="head")
        yield Sheet(id="found")
        with Horizontal(classes="field"):
            yield Label(_("from"), markup=False)
            yield Select(
                [(_(words), kind) for kind, words in KINDS.items()],
                prompt=_("choose"),
                id="kind",
                compact=True,
            )
        with Horizontal(classes="field"):
            yield Label(_("path"), markup=False)
            yield Field(placeholder=_("folder or file"), id="path", compact=True)
        with Horizontal(classes="field"):
            yield Label(_("project"), markup=False)
            yield Field(placeholder=_("leave empty to take it from the source"), id="project", compact=True)
        with Horizontal(classes="buttons"):
            yield Button(_("Look first"), id="look", compact=True)
            yield Button(_("Import"), id="import", compact=True)
        yield Bar(id="progress")
        yield Sheet(id="report", focusable=True)
        yield Bar(
            (
                (" tab", "strong"),
                (" " + _("next field") + "  ", "dim"),
                ("esc", "strong"),
                (" " + _("back"), "dim"),
            )
        )

    def begin(self) -> None:
        self.query_one("#path").focus()
        self.act(self._look_around, "found", exclusive=True)

    async def _look_around(self) -> None:
        if self._found is None:
            self._found = list(await self.gateway.importable())
        self.query_one("#found", Sheet).show(self._found_rows)
        if self._found and not self.query_one("#path", Field).value:
            first = self._found[0]
            self.query_one("#path", Field).value = first.path
            if first.kind in KINDS:
                self.query_one("#kind", Select).value = first.kind
            self.query_one("#look").focus()

    def _found_rows(self, cells: int) -> list[Row]:
        if not self._found:
            return [((_("No memory of other programs was found in the usual places."), "dim"),)]
        rows: list[Row] = [((_("Found on this machine:"), "plain"),)]
        rows += [((fit("  " + found_words(item), cells), "accent"),) for item in self._found[:4]]
        return rows

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        kind: Any = self.query_one("#kind", Select).value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        path = self.query_one("#path", Field).value.strip()
        if not isinstance(kind, str):
            self._say(_("Choose what it is."), "bad")
            self.query_one("#kind").focus()
        elif not path:
            self._say(_("Name the folder or file."), "bad")
            self.query_one("#path").focus()
        else:
            self.act(
                lambda: self._run(kind, whole_path(path), event.button.id == "look"), "import", exclusive=True
            )

    async def _run(self, kind: str, path: str, dry_run: bool) -> None:
        project = self.query_one("#project", Field).value.strip() or None
        self._say(_("looking…") if dry_run else _("importing…"), "dim")
        report = await self.as_person(
            lambda: self.gateway.import_run(
                kind, path, project=project, dry_run=dry_run, on_progress=self._progressed
            )
        )
        self._say("", "dim")
        self.query_one("#report", Sheet).show(lambda cells: report_rows(report, dry_run, cells))
        if dry_run:
            self.query_one("#import").focus()
        else:
            self._imported = True
            self.memvault.say(n_("{n} memory imported.", "{n} memories imported.", report.added))
            self.query_one("#report").focus()

    def _progressed(self, progress: dict[str, Any]) -> None:
        done, total = progress.get("done"), progress.get("total")
        if isinstance(done, int) and isinstance(total, int) and total > 0:
            filled = done * 20 // total
            self._say(f"{'█' * filled}{'░' * (20 - filled)}  {done:,} / {total:,}", "accent")

    def _say(self, words: str, role: str) -> None:
        self.query_one("#progress", Bar).show(((" " + words, role),) if words else ())

    def failed(self, error: MemvaultError) -> None:
        words, hint = self.memvault.words_for(error)
        self.query_one("#progress", Bar).show(((" " + words, "bad"), ("  " + hint if hint else "", "dim")))

    def action_cancel(self) -> None:
        self.dismiss(self._imported)
