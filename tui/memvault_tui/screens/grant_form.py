"""What one agent may read and do: chosen when it is let in, or changed afterwards."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input, Label, Select

from memvault.errors import MemvaultError
from memvault.model import Sensitivity
from memvault.text import accept
from memvault_tui.actions import bindings_of
from memvault_tui.agent_lines import CLOUD, told
from memvault_tui.grants import ALL, CURRENT, Agent
from memvault_tui.i18n import N_, _
from memvault_tui.lines import Row
from memvault_tui.screens.base import VaultScreen
from memvault_tui.screens.form import chosen
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.fields import Field
from memvault_tui.widgets.sheet import Sheet
from memvault_tui.words import SENSITIVITY_WORDS, word

NAMED = "named"

VERBS = {
    "read propose": N_("read, and propose"),
    "read": N_("read only"),
    "propose": N_("propose only"),
    "propose read write": N_("read, propose, and write unasked"),
    "propose write": N_("propose and write, not read"),
}
SCOPES = {
    "private team": N_("private and team"),
    "private": N_("private only"),
    "team": N_("team only"),
}
PROJECTS = {
    CURRENT: N_("the project it works in"),
    ALL: N_("every project"),
    NAMED: N_("these, by name:"),
}


def _sorted(values: tuple[str, ...], among: dict[str, str]) -> str:
    """The choice that holds exactly these values."""
    return next((key for key in among if sorted(key.split()) == sorted(values)), next(iter(among)))


class GrantForm(VaultScreen[bool | None]):
    """Choose an agent's rights; ctrl+s gives them, escape leaves everything as it is. True when given."""

    PLACE = "form"
    BINDINGS = [*bindings_of("form")]  # noqa: RUF012 (Textual reads it)

    def __init__(self, agent: Agent) -> None:
        super().__init__()
        self._agent = agent
        named = () if isinstance(agent.projects, str) else agent.projects
        self._start = {
            "verbs": _sorted(agent.verbs, VERBS),
            "scopes": _sorted(agent.scopes, SCOPES),
            "ceiling": agent.ceiling or Sensitivity.INTERNAL.value,
            "projects": NAMED if named else str(agent.projects),
            "names": ", ".join(named),
        }

    def compose(self) -> ComposeResult:
        yield Bar(
            self.title_cells(_("Rights") if self._agent.let_in else _("Let in"), self._agent.name), id="head"
        )
        with VerticalScroll(id="form", can_focus=False):
            yield Sheet(self._told, id="given")
            yield from self._choice("verbs", _("may"), {key: _(words) for key, words in VERBS.items()})
            yield from self._choice("scopes", _("scope"), {key: _(words) for key, words in SCOPES.items()})
            levels = {level.value: word(SENSITIVITY_WORDS, level) for level in Sensitivity}
            yield from self._choice("ceiling", _("up to"), levels)
            yield from self._choice(
                "projects", _("where"), {key: _(words) for key, words in PROJECTS.items()}
            )
            with Horizontal(classes="field"):
                yield Label(_("projects"), markup=False)
                yield Field(
                    self._start["names"],
                    placeholder=_("names, with commas between"),
                    id="names",
                    compact=True,
                )
        yield Bar(id="problem")
        yield self.key_bar()

    def _choice(self, name: str, label: str, options: dict[str, str]) -> ComposeResult:
        with Horizontal(classes="field"):
            yield Label(label, markup=False)
            yield Select(
                [(words, key) for key, words in options.items()],
                value=self._start[name],
                allow_blank=False,
                id=name,
                compact=True,
            )

    def _told(self, cells: int) -> list[Row]:
        write = _("Write unasked lets it add and change memories that nobody looked at first.")
        save = (
            _("ctrl+s lets it in.")
            if not self._agent.let_in
            else _("ctrl+s saves; it holds at its next call.")
        )
        return [*told(_(CLOUD), cells, "warn"), *told(write, cells, "dim"), *told(save, cells, "dim")]

    def begin(self) -> None:
        self.query_one("#verbs").focus()

    def _values(self) -> dict[str, str]:
        picked = {name: chosen(self, name) or "" for name in ("verbs", "scopes", "ceiling", "projects")}
        return {**picked, "names": self.query_one("#names", Field).value.strip()}

    @property
    def unsaved(self) -> bool:
        return self._values() != self._start

    @on(Input.Changed)
    @on(Select.Changed)
    def _mended(self) -> None:
        self.query_one("#problem", Bar).show(())

    def _complain(self, words: str, hint: str = "") -> None:
        self.query_one("#problem", Bar).show(((" " + words, "bad"), ("  " + hint if hint else "", "dim")))

    def failed(self, error: MemvaultError) -> None:
        self._complain(*self.memvault.words_for(error))

    def _rights(self, values: dict[str, str]) -> dict[str, Any]:
        """What differs from the grant as it stands, or everything for one that is given now.

        Raises MemvaultError for a project's name that cannot be one.
        """
        rights: dict[str, Any] = {
            "verbs": values["verbs"].split(),
            "scopes": values["scopes"].split(),
            "ceiling": values["ceiling"],
            "projects": values["projects"],
        }
        if values["projects"] == NAMED:
            names = [name.strip() for name in values["names"].replace("，", ",").split(",")]
            rights["projects"] = [accept(name, _("project")) for name in names if name]
        if self._agent.let_in:
            same = {name for name in rights if values[name] == self._start[name]}
            if values["names"] != self._start["names"]:
                same.discard("projects")
            rights = {name: value for name, value in rights.items() if name not in same}
        return rights

    def action_save(self) -> None:
        values = self._values()
        if values["projects"] == NAMED and not values["names"].strip("，, "):
            self._complain(_("Name at least one project, or choose another line."))
            self.query_one("#names").focus()
            return
        try:
            rights = self._rights(values)
        except MemvaultError as error:
            self.failed(error)
            return
        if not rights:
            self.dismiss(False)
            return
        self.act(lambda: self._send(rights), "save", exclusive=True)

    async def _send(self, rights: dict[str, Any]) -> None:
        name = self._agent.name
        give = self.gateway.set_rights if self._agent.let_in else self.gateway.let_in
        await self.as_person(lambda: give(name, rights))
        self.dismiss(True)

    def action_cancel(self) -> None:
        self.dismiss(None)
