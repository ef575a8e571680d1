"""Small questions: choose one, yes or no, type a word to delete, show that a person is here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, OptionList
from textual.widgets.option_list import Option

from memvault.errors import MemvaultError
from memvault_tui.actions import bindings_of
from memvault_tui.i18n import _, n_
from memvault_tui.lines import Row, fit, width, wrap
from memvault_tui.screens.base import Dialog
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.drawing import content_of
from memvault_tui.widgets.fields import Field
from memvault_tui.widgets.sheet import Sheet

BOX_CELLS = 84
"""Width of a choice where there is room (styles.tcss)."""
FRAME_CELLS = 9
"""What border, padding and scroll bar take of it."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A choice: what is returned, what is shown, a note beside it, a key in front of it."""

    value: str
    label: str
    note: str = ""
    key: str = ""


class Choice(Dialog[str | None]):
    """Pick one of `options`; typing narrows them."""

    BINDINGS = [*bindings_of("dialog")]  # noqa: RUF012 (Textual reads it)

    def __init__(self, title: str, options: Sequence[Offer]) -> None:
        super().__init__()
        self._title = title
        self._options = list(options)

    def compose(self) -> ComposeResult:
        with Vertical(id="choice", classes="box"):
            yield Bar(((self._title, "strong"),), ((_("esc cancel"), "dim"),), classes="line")
            yield Field(placeholder=_("type to narrow"), id="narrow", compact=True)
            yield OptionList(id="options", compact=True)

    def begin(self) -> None:
        self._fill("")
        self.query_one("#narrow").focus()

    def on_resize(self) -> None:
        if not self.standing:
            return
        self._fill(self.query_one("#narrow", Field).value)

    @on(Input.Changed, "#narrow")
    def _narrow(self, event: Input.Changed) -> None:
        self._fill(event.value)

    def _fill(self, typed: str) -> None:
        words = typed.casefold().split()
        listed = self.query_one("#options", OptionList)
        cells = max(20, min(self.size.width * 94 // 100, BOX_CELLS) - FRAME_CELLS)
        keys = max((len(option.key) for option in self._options), default=0)
        longest = max((width(option.label) for option in self._options), default=0)
        noted = any(option.note for option in self._options)
        label_cells = min(longest + 1, cells // 2) if noted else cells - keys - 3
        listed.clear_options()
        shown = [
            option
            for option in self._options
            if all(word in f"{option.key} {option.label} {option.note}".casefold() for word in words)
        ]
        for option in shown:
            row: Row = (
                (fit(option.key, keys) + "  " if keys else "", "accent"),
                (fit(option.label, label_cells) + " ", "plain"),
                (fit(option.note, cells - label_cells - keys - 3).rstrip(), "dim"),
            )
            listed.add_option(Option(content_of(row), id=option.value))
        if shown:
            listed.highlighted = 0

    def on_key(self, event: events.Key) -> None:
        listed = self.query_one("#options", OptionList)
        moves = {
            "down": listed.action_cursor_down,
            "up": listed.action_cursor_up,
            "pagedown": listed.action_page_down,
            "pageup": listed.action_page_up,
        }
        move = moves.get(event.key)
        if move is not None and self.focused is not listed:
            event.stop()
            event.prevent_default()
            move()

    @on(Input.Submitted, "#narrow")
    def _take(self) -> None:
        listed = self.query_one("#options", OptionList)
        if listed.highlighted is not None:
            self.dismiss(listed.get_option_at_index(listed.highlighted).id)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_cancel(self) -> None:
        self.dismiss(None)


class YesNo(Dialog[bool]):
    """A question whose harmless answer is focused."""

    BINDINGS = [*bindings_of("dialog")]  # noqa: RUF012

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__()
        self._question, self._yes, self._no = question, yes, no

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Sheet(
                lambda cells: [((line, "plain"),) for line in wrap(self._question, cells)], id="question"
            )
            with Horizontal(classes="buttons"):
                yield Button(self._no, id="no", compact=True)
                yield Button(self._yes, id="yes", compact=True)

    def begin(self) -> None:
        self.query_one("#no").focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_cancel(self) -> None:
        self.dismiss(False)


class TypedDeletion(Dialog[bool]):
    """Deleting for good: says what goes and what remains, and wants a word typed."""

    BINDINGS = [*bindings_of("dialog")]  # noqa: RUF012

    def __init__(self, claims: Sequence[str], total: int, older_backups: Sequence[str]) -> None:
        super().__init__()
        self.claims = list(claims)[:3]
        self.total = total
        self._backups = list(older_backups)
        self.word = "delete" if total == 1 else f"delete {total}"

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="deletion"):
            yield Sheet(self.told, id="question")
            yield Field(placeholder=self.word, id="word", compact=True)
            with Horizontal(classes="buttons"):
                yield Button(_("Cancel"), id="no", compact=True)
                yield Button(_("Delete for good"), id="yes", disabled=True, compact=True)

    def begin(self) -> None:
        self.query_one("#no").focus()

    def told(self, cells: int) -> list[Row]:
        """What goes, what remains, and the word to type."""
        title = n_("Delete {n} memory for good?", "Delete {n} memories for good?", self.total)
        rows: list[Row] = [((title, "bad"),), ()]
        rows += [((fit(claim, cells), "plain"),) for claim in self.claims]
        if self.total > len(self.claims):
            more = self.total - len(self.claims)
            rows.append(((n_("and {n} more", "and {n} more", more), "dim"),))
        rows.append(())
        remains = _("Gone: text, sources, versions, vectors. It cannot be undone.")
        rows += [((line, "plain"),) for line in wrap(remains, cells)]
        kept = _("Left: a tombstone, which holds no text and keeps it from coming back.")
        rows += [((line, "dim"),) for line in wrap(kept, cells)]
        rows += self.backup_rows(cells)
        rows.append(())
        rows.append(((_("To do it, type: {word}").format(word=self.word), "strong"),))
        return rows

    def backup_rows(self, cells: int) -> list[Row]:
        """The older backups that still hold what goes."""
        if not self._backups:
            return [((_("No older backup holds it."), "dim"),)]
        count = n_("{n} older backup still holds it:", "{n} older backups still hold it:", len(self._backups))
        listed: list[Row] = [(("  " + fit(name, cells - 2), "warn"),) for name in self._backups[:4]]
        return [((count, "warn"),), *listed]

    @property
    def _typed(self) -> bool:
        return self.query_one("#word", Field).value.strip() == self.word

    @on(Input.Changed, "#word")
    def _check(self) -> None:
        self.query_one("#yes", Button).disabled = not self._typed

    @on(Input.Submitted, "#word")
    def _entered(self) -> None:
        if self._typed:
            self.dismiss(True)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes" and self._typed)

    def action_cancel(self) -> None:
        self.dismiss(False)


class Presence(Dialog[bool]):
    """Show that a person is here, by passphrase, recovery code or keychain."""

    BINDINGS = [*bindings_of("dialog"), *bindings_of("locked")]  # noqa: RUF012

    def __init__(self, keychain: bool) -> None:
        super().__init__()
        self._keychain = keychain
        self._proof = "passphrase"

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Sheet(self._told, id="question")
            yield Field(placeholder=_("passphrase"), password=True, id="secret", compact=True)
            yield Bar(id="answer", classes="line")

    def begin(self) -> None:
        self.query_one("#secret").focus()

    def _told(self, cells: int) -> list[Row]:
        why = _("Only you may do this. Programs that run as you must not, so show once that you are here.")
        rows: list[Row] = [((line, "plain"),) for line in wrap(why, cells)]
        ways = [_("ctrl+r recovery code"), _("esc cancel")]
        if self._keychain:
            ways.insert(0, _("ctrl+k keychain"))
        return [*rows, ((fit(" · ".join(ways), cells), "dim"),)]

    @on(Input.Submitted, "#secret")
    def _entered(self, event: Input.Submitted) -> None:
        if event.value:
            self.act(lambda: self._prove({self._proof: event.value}), "prove", exclusive=True)

    async def _prove(self, proof: dict[str, Any]) -> None:
        await self.gateway.prove(**proof)
        self.query_one("#secret", Field).clear()
        self.dismiss(True)

    def failed(self, error: MemvaultError) -> None:
        secret = self.query_one("#secret", Field)
        secret.clear()
        secret.focus()
        self.query_one("#answer", Bar).show(((self.memvault.words_for(error)[0], "bad"),))

    def action_keychain(self) -> None:
        if self._keychain:
            self.act(lambda: self._prove({"keychain": True}), "prove", exclusive=True)

    def action_recovery(self) -> None:
        self._proof = "passphrase" if self._proof == "recovery_code" else "recovery_code"
        secret = self.query_one("#secret", Field)
        secret.clear()
        secret.placeholder = _("passphrase") if self._proof == "passphrase" else _("recovery code")
        secret.focus()

    def action_cancel(self) -> None:
        self.query_one("#secret", Field).clear()
        self.dismiss(False)
