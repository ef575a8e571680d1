"""First run in three short steps: how the vault opens, the recovery code, what to bring in.

Every step can be skipped, and says what skipping means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, RadioSet

from memvault.errors import MemvaultError
from memvault_tui.answers import Created, Found, Probe
from memvault_tui.i18n import _
from memvault_tui.lines import Row, wrap
from memvault_tui.screens.base import Result, VaultScreen
from memvault_tui.screens.importing import ImportScreen, found_words
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.fields import Field
from memvault_tui.widgets.radio import Radio
from memvault_tui.widgets.sheet import Sheet

SHORT_PASSPHRASE = 12
"""Characters below which a passphrase is called short; it is still taken."""


def paragraphs(cells: int, *texts: tuple[str, str]) -> list[Row]:
    """Wrapped paragraphs of (text, role), with an empty line after each."""
    rows: list[Row] = []
    for text, role in texts:
        if text:
            rows += [((line, role),) for line in wrap(text, cells)]
            rows.append(())
    return rows


class Step(VaultScreen[Result]):
    """A step: a heading, words, fields, and two answers."""

    PLACE = "first_run"

    def say(self, words: str, role: str = "bad") -> None:
        self.query_one("#answer", Bar).show(((" " + words, role),) if words else ())

    def failed(self, error: MemvaultError) -> None:
        words, hint = self.memvault.words_for(error)
        self.query_one("#answer", Bar).show(((" " + words, "bad"), ("  " + hint if hint else "", "dim")))


class HowItOpens(Step[Created | None]):
    """Step 1: keychain, passphrase or both. Returns what was made, or None when skipped."""

    WAYS = ("both", "passphrase", "keychain")

    def __init__(self) -> None:
        super().__init__()
        self._probe: Probe | None = None

    def compose(self) -> ComposeResult:
        yield Bar(self.title_cells(_("A vault for your memories"), _("step 1 of 3")), id="head")
        with Vertical(classes="step"):
            yield Sheet(self._told, id="told")
            with RadioSet(id="ways", compact=True):
                yield Radio(_("passphrase and system keychain"), id="both", compact=True, disabled=True)
                yield Radio(_("passphrase only"), id="passphrase", compact=True, value=True)
                yield Radio(_("system keychain only"), id="keychain", compact=True, disabled=True)
            yield Field(placeholder=_("passphrase"), password=True, id="first", compact=True)
            yield Field(placeholder=_("the same passphrase again"), password=True, id="again", compact=True)
            yield Bar(id="answer")
            with Horizontal(classes="buttons"):
                yield Button(_("Make the vault"), id="make", compact=True)
                yield Button(_("Not now"), id="skip", compact=True)
            yield Sheet(
                lambda cells: paragraphs(cells, (_("Not now: memvault ends, and nothing is made."), "dim"))
            )
        yield Bar(
            (
                (" tab", "strong"),
                (" " + _("next") + "  ", "dim"),
                ("enter", "strong"),
                (" " + _("choose"), "dim"),
            )
        )

    def begin(self) -> None:
        self.query_one("#first").focus()
        self.act(self._look, "probe")

    def _told(self, cells: int) -> list[Row]:
        if self._probe is None:
            keychain = _("Looking for a system keychain…")
        elif self._probe.usable:
            keychain = _("System keychain found: {name}.").format(name=self._probe.backend)
        else:
            keychain = _("No usable system keychain: {reason}").format(reason=self._probe.reason)
        opening = _("Everything you keep is encrypted on this machine. How shall it open?")
        return paragraphs(cells, (opening, "plain"), (keychain, "dim"))[:-1]

    async def _look(self) -> None:
        self._probe = await self.gateway.keychain_probe()
        self.query_one("#told", Sheet).show(self._told)
        if self._probe.usable:
            for name in ("both", "keychain"):
                self.query_one(f"#{name}", Radio).disabled = False
            self.query_one("#both", Radio).value = True

    @property
    def _way(self) -> str:
        pressed = self.query_one("#ways", RadioSet).pressed_button
        return (pressed.id if pressed is not None else None) or "passphrase"

    @on(RadioSet.Changed)
    def _way_chosen(self) -> None:
        for name in ("first", "again"):
            self.query_one(f"#{name}").display = self._way != "keychain"

    @on(Input.Changed)
    def _typing(self) -> None:
        first, again = (self.query_one(f"#{name}", Field).value for name in ("first", "again"))
        if first and again and first != again:
            self.say(_("The two differ."), "warn")
        elif first and len(first) < SHORT_PASSPHRASE:
            self.say(
                _("Short: whoever copies the file can guess it. Four unrelated words are better."), "warn"
            )
        else:
            self.say("")

    @on(Input.Submitted, "#first")
    def _to_again(self) -> None:
        self.query_one("#again").focus()

    @on(Input.Submitted, "#again")
    def _entered(self) -> None:
        self._make()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "skip":
            self.dismiss(None)
        else:
            self._make()

    def _make(self) -> None:
        way = self._way
        first, again = (self.query_one(f"#{name}", Field).value for name in ("first", "again"))
        if way == "keychain":
            self.act(lambda: self._create(None, True), "create", exclusive=True)
        elif not first:
            self.say(_("Type a passphrase first."))
            self.query_one("#first").focus()
        elif first != again:
            self.say(_("The two differ."))
            self.query_one("#again").focus()
        else:
            self.act(lambda: self._create(first, way == "both"), "create", exclusive=True)

    async def _create(self, passphrase: str | None, keychain: bool) -> None:
        self.say(_("making the vault…"), "dim")
        created = await self.gateway.create(passphrase, keychain)
        for name in ("first", "again"):
            self.query_one(f"#{name}", Field).clear()
        self.dismiss(created)


class RecoveryCode(Step[bool]):
    """Step 2: the code, shown once, and its end typed back."""

    def __init__(self, code: str, warnings: Sequence[str]) -> None:
        super().__init__()
        self._code = code
        self._warnings = list(warnings)
        groups = [group for group in re.split(r"[\s-]+", code) if group]
        self._wanted = groups[-1] if len(groups) > 1 else code[-6:]

    def compose(self) -> ComposeResult:
        yield Bar(self.title_cells(_("Your recovery code"), _("step 2 of 3")), id="head")
        with Vertical(classes="step"):
            yield Sheet(self._told, id="told")
            length = len(self._wanted)
            hint = _("type its last {n} characters").format(n=length)
            yield Field(placeholder=hint, id="back", compact=True)
            yield Bar(id="answer")
            with Horizontal(classes="buttons"):
                yield Button(_("I have written it down"), id="done", compact=True, disabled=True)
                yield Button(_("Skip"), id="skip", compact=True)
            skipping = _("Skip: if passphrase and keychain are lost, nothing opens this vault again.")
            yield Sheet(lambda cells: paragraphs(cells, (skipping, "dim")))
        yield Bar(
            (
                (" tab", "strong"),
                (" " + _("next") + "  ", "dim"),
                ("enter", "strong"),
                (" " + _("choose"), "dim"),
            )
        )

    def begin(self) -> None:
        self.query_one("#back").focus()

    def _told(self, cells: int) -> list[Row]:
        told = _(
            "It opens the vault when passphrase or keychain are lost. Write it down; it is not shown again."
        )
        return paragraphs(
            cells, (told, "plain"), (self._code, "accent"), *((warning, "warn") for warning in self._warnings)
        )[:-1]

    def _matches(self) -> bool:
        typed = re.sub(r"[\s-]+", "", self.query_one("#back", Field).value).casefold()
        whole = re.sub(r"[\s-]+", "", self._code).casefold()
        return typed in (self._wanted.casefold(), whole)

    @on(Input.Changed, "#back")
    def _typed(self) -> None:
        self.query_one("#done", Button).disabled = not self._matches()

    @on(Input.Submitted, "#back")
    def _entered(self) -> None:
        if self._matches():
            self._leave(True)
        else:
            self.say(_("That is not how it ends; look again."), "warn")

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self._leave(event.button.id == "done")

    def _leave(self, written: bool) -> None:
        self._code = self._wanted = ""
        self.query_one("#told", Sheet).show(None)
        self.query_one("#back", Field).clear()
        self.dismiss(written)


class OfferImport(Step[bool]):
    """Step 3: what other programs remember on this machine, looked at first, then imported."""

    def __init__(self) -> None:
        super().__init__()
        self._found: tuple[Found, ...] | None = None

    def compose(self) -> ComposeResult:
        yield Bar(self.title_cells(_("Bring in what is there"), _("step 3 of 3")), id="head")
        with Vertical(classes="step"):
            yield Sheet(self._told, id="told")
            yield Bar(id="answer")
            with Horizontal(classes="buttons"):
                yield Button(_("Look at them first"), id="look", compact=True)
                yield Button(_("Skip"), id="skip", compact=True)
            skipping = _("Skip: you start with an empty vault; i in Browse imports later.")
            yield Sheet(lambda cells: paragraphs(cells, (skipping, "dim")))
        yield Bar(
            (
                (" tab", "strong"),
                (" " + _("next") + "  ", "dim"),
                ("enter", "strong"),
                (" " + _("choose"), "dim"),
            )
        )

    def begin(self) -> None:
        self.query_one("#skip").focus()
        self.act(self._look, "found")

    def _told(self, cells: int) -> list[Row]:
        if self._found is None:
            return paragraphs(cells, (_("Looking for memories of other programs…"), "dim"))
        if not self._found:
            nothing = _(
                "No memory of other programs was found in the usual places. You can name a folder yourself."
            )
            return paragraphs(cells, (nothing, "plain"))
        head: list[Row] = [((_("Found on this machine (nothing is changed there):"), "plain"),)]
        for item in self._found:
            head += [(("  " + line, "accent"),) for line in wrap(found_words(item), cells - 2)]
        return [*head, ()]

    async def _look(self) -> None:
        self._found = await self.gateway.importable()
        self.query_one("#told", Sheet).show(self._told)
        button = self.query_one("#look", Button)
        if self._found:
            button.focus()
        else:
            button.label = _("Name a folder")

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "look":
            self.memvault.push_screen(ImportScreen(self._found), self._imported)
        else:
            self.dismiss(False)

    def _imported(self, done: bool | None) -> None:
        if done:
            self.dismiss(True)
