"""Forms: correct a memory, or write one by hand. Everything is checked before it is sent."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, Label, Select, TextArea

from memvault.clock import parse
from memvault.errors import MemvaultError, Usage
from memvault.model import Kind, Scope, Sensitivity
from memvault.text import accept
from memvault_tui.actions import bindings_of
from memvault_tui.i18n import _
from memvault_tui.records import Memory
from memvault_tui.screens.base import Result, VaultScreen
from memvault_tui.sheets import FIELD_WORDS
from memvault_tui.widgets.area import Area
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.fields import Field
from memvault_tui.words import KIND_WORDS, SCOPE_WORDS, SENSITIVITY_WORDS, word

LINES = ("why", "how_to_apply", "conditions", "subject", "attribute", "value", "project", "expires_at")
"""Fields of one line, in the order of the form."""


def problem_of(values: Mapping[str, str]) -> tuple[str, str] | None:
    """What is wrong with the values, as (field, words); None when they can be sent."""
    for name, text in values.items():
        if not text and name != "content":
            continue
        try:
            accept(text, _(FIELD_WORDS.get(name, name)))
        except MemvaultError as error:
            words = _("The claim is empty.") if name == "content" and not text.strip() else error.message
            return name, words
    if bool(values.get("subject")) != bool(values.get("attribute")):
        missing = "attribute" if values.get("subject") else "subject"
        return missing, _("Subject and attribute go together, or neither is given.")
    if values.get("value") and not values.get("subject"):
        return "subject", _("A value needs a subject and an attribute.")
    if expires := values.get("expires_at"):
        try:
            parse(expires)
        except Usage:
            return "expires_at", _("Not a date: write it as 2027-03-01.")
    return None


def chosen(form: Screen[Any], name: str) -> str | None:
    """The value picked in the form's Select of this name; None when nothing is."""
    value: Any = form.query_one(f"#{name}", Select).value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return value if isinstance(value, str) else None


class MemoryForm(VaultScreen[Result]):
    """The fields both forms share. Tab and shift+tab move, ctrl+s saves, escape leaves."""

    PLACE = "form"
    TITLE_WORDS = ""

    def __init__(self, start: Mapping[str, str]) -> None:
        super().__init__()
        self._start = dict(start)

    def compose(self) -> ComposeResult:
        yield Bar(self.title_cells(self.form_title()), id="head")
        with VerticalScroll(id="form", can_focus=False):
            yield from self.compose_choices()
            with Horizontal(classes="field tall"):
                yield Label(_(FIELD_WORDS["content"]), markup=False)
                yield Area(self._start.get("content", ""), id="content")
            for name in LINES:
                with Horizontal(classes="field"):
                    yield Label(_(FIELD_WORDS[name]), markup=False)
                    hint = _("a date, as 2027-03-01") if name == "expires_at" else ""
                    yield Field(self._start.get(name, ""), placeholder=hint, id=name, compact=True)
        yield Bar(id="note")
        yield Bar(id="problem")
        yield self.key_bar()

    def compose_choices(self) -> ComposeResult:
        yield from ()

    @abstractmethod
    def form_title(self) -> str: ...

    def begin(self) -> None:
        self.query_one("#note").display = False
        area = self.query_one("#content", Area)
        area.focus()
        area.move_cursor(area.document.end)

    def values(self) -> dict[str, str]:
        texts = {name: self.query_one(f"#{name}", Field).value.strip() for name in LINES}
        return {"content": self.query_one("#content", Area).text.strip(), **texts}

    @property
    def unsaved(self) -> bool:
        return any(text != self._start.get(name, "").strip() for name, text in self.values().items())

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _mended(self) -> None:
        self.query_one("#problem", Bar).show(())

    def complain(self, name: str, words: str) -> None:
        self.query_one("#problem", Bar).show(((" " + words, "bad"),))
        self.query_one(f"#{name}").focus()

    def failed(self, error: MemvaultError) -> None:
        words, hint = self.memvault.words_for(error)
        self.query_one("#problem", Bar).show(((" " + words, "bad"), ("  " + hint if hint else "", "dim")))

    def action_save(self) -> None:
        problem = problem_of(self.values())
        if problem is not None:
            self.complain(*problem)
        else:
            self.save()

    @abstractmethod
    def save(self) -> None: ...

    def action_cancel(self) -> None:
        if not self.unsaved:
            self.dismiss(None)
            return
        from memvault_tui.screens.dialogs import YesNo

        question = _("You wrote something that is not saved. Leave anyway?")
        self.memvault.push_screen(YesNo(question, _("Leave"), _("Stay")), self._leave_if)

    def _leave_if(self, leave: bool | None) -> None:
        if leave:
            self.dismiss(None)


class EditForm(MemoryForm[Memory | None]):
    """Correct a memory; only the fields that differ are sent."""

    BINDINGS = [*bindings_of("form")]  # noqa: RUF012 (Textual reads it)

    def __init__(self, memory: Memory) -> None:
        names = ("content", *LINES)
        super().__init__({name: getattr(memory, name) or "" for name in names})
        self._memory = memory

    def form_title(self) -> str:
        return _("Correct")

    def begin(self) -> None:
        super().begin()
        if self._memory.hidden:
            note = _(
                "Characters that do not show are written out; a field you change is saved as you see it."
            )
            bar = self.query_one("#note", Bar)
            bar.show(((" " + note, "warn"),))
            bar.display = True

    def save(self) -> None:
        changes = {
            name: text or None
            for name, text in self.values().items()
            if text != self._start.get(name, "").strip()
        }
        if not changes:
            self.dismiss(None)
            return
        self.act(lambda: self._send(changes), "save", exclusive=True)

    async def _send(self, changes: dict[str, str | None]) -> None:
        memory = self._memory
        edited = await self.as_person(lambda: self.gateway.edit(memory.id, changes, memory.version))
        self.dismiss(edited)


class AddForm(MemoryForm[str | None]):
    """Write a memory by hand; kind and scope are chosen, never assumed. Returns the id."""

    BINDINGS = [*bindings_of("form")]  # noqa: RUF012 (Textual reads it)

    def __init__(self, project: str | None) -> None:
        super().__init__({"project": project or ""})

    def form_title(self) -> str:
        return _("Write a memory")

    def compose_choices(self) -> ComposeResult:
        scopes = [(word(SCOPE_WORDS, scope), scope.value) for scope in (Scope.PRIVATE, Scope.TEAM)]
        kinds = [(word(KIND_WORDS, kind), kind.value) for kind in Kind]
        levels = [(word(SENSITIVITY_WORDS, level), level.value) for level in Sensitivity]
        with Horizontal(classes="field"):
            yield Label(_("kind"), markup=False)
            yield Select(kinds, prompt=_("choose"), id="kind", compact=True)
        with Horizontal(classes="field"):
            yield Label(_("scope"), markup=False)
            yield Select(scopes, prompt=_("choose"), id="scope", compact=True)
        with Horizontal(classes="field"):
            yield Label(_("sensitivity"), markup=False)
            yield Select(
                levels, value=Sensitivity.INTERNAL.value, allow_blank=False, id="sensitivity", compact=True
            )

    def save(self) -> None:
        for name, words in (
            ("kind", _("Choose what kind of memory this is.")),
            ("scope", _("Choose its scope.")),
        ):
            if chosen(self, name) is None:
                self.complain(name, words)
                return
        fields: dict[str, Any] = {name: text for name, text in self.values().items() if text}
        fields |= {name: chosen(self, name) for name in ("kind", "scope", "sensitivity")}
        fields["source"] = {"type": "user", "ref": "tui", "evidence": fields["content"]}
        self.act(lambda: self._send(fields), "save", exclusive=True)

    async def _send(self, fields: dict[str, Any]) -> None:
        added = await self.as_person(lambda: self.gateway.add(fields))
        if added.outcome == "refused":
            self.query_one("#problem", Bar).show(((" " + (added.reason or _("Refused.")), "bad"),))
            return
        words = {
            "active": _("Remembered."),
            "candidate": _("Kept as a candidate; it waits in the inbox."),
            "merged": _("You had this already; it is seen once more."),
            "superseded": _("Remembered; it replaces an older memory."),
            "conflict": _("Remembered, but it contradicts another memory."),
        }
        said = words.get(added.outcome, added.outcome)
        self.memvault.say(f"{said} {added.reason}".strip())
        self.dismiss(added.id)
