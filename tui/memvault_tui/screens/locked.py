"""The locked vault: one quiet line and a way in. Nothing of the content exists while this is shown."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from memvault.errors import MemvaultError
from memvault_tui.actions import bindings_of, footer_of
from memvault_tui.i18n import _
from memvault_tui.screens.base import VaultScreen
from memvault_tui.widgets.bars import Bar, KeyBar
from memvault_tui.widgets.fields import Field


class LockedScreen(VaultScreen[None]):
    """Unlocks by passphrase, by the keychain (ctrl+k) or by the recovery code (ctrl+r)."""

    PLACE = "locked"
    BINDINGS = [*bindings_of("locked")]  # noqa: RUF012 (Textual reads it)

    def __init__(self) -> None:
        super().__init__()
        self._proof = "passphrase"
        self._keychain = False

    def compose(self) -> ComposeResult:
        with Vertical(id="door"):
            yield Bar(((_("memvault is locked."), "plain"),), id="said", classes="line")
            yield Field(placeholder=_("passphrase"), password=True, id="secret", compact=True)
            yield Bar(id="answer", classes="line")
        yield KeyBar(self._keys(), id="keys")

    def begin(self) -> None:
        self.query_one("#secret").focus()
        self.act(self._look, "look")

    def _keys(self) -> list[tuple[str, str]]:
        offered = [pair for pair in footer_of([self.PLACE]) if self._keychain or pair[0] != "ctrl+k"]
        return [("enter", _("open")), *offered, ("ctrl+q", _("quit"))]

    async def _look(self) -> None:
        self._keychain = (await self.gateway.status()).keychain
        self.query_one("#keys", KeyBar).show_keys(self._keys())

    @on(Input.Submitted, "#secret")
    def _entered(self, event: Input.Submitted) -> None:
        if event.value:
            self._try({self._proof: event.value})

    def _try(self, proof: dict[str, Any]) -> None:
        self.query_one("#answer", Bar).show(((_("opening…"), "dim"),))
        self.act(lambda: self._open(proof), "open", exclusive=True)

    async def _open(self, proof: dict[str, Any]) -> None:
        status = await self.gateway.unlock(**proof)
        self.query_one("#secret", Field).clear()
        self.memvault.opened(status)

    def failed(self, error: MemvaultError) -> None:
        secret = self.query_one("#secret", Field)
        secret.clear()
        secret.focus()
        words, hint = self.memvault.words_for(error)
        self.query_one("#answer", Bar).show(((words, "bad"), ("  " + hint if hint else "", "dim")))

    def action_keychain(self) -> None:
        if self._keychain:
            self._try({"keychain": True})
        else:
            self.query_one("#answer", Bar).show(
                ((_("This vault has no key in the system keychain."), "warn"),)
            )

    def action_recovery(self) -> None:
        self._proof = "passphrase" if self._proof == "recovery_code" else "recovery_code"
        secret = self.query_one("#secret", Field)
        secret.clear()
        by_code = self._proof == "recovery_code"
        secret.placeholder = _("recovery code") if by_code else _("passphrase")
        secret.password = not by_code
        secret.focus()
