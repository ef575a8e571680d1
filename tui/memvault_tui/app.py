"""The program: connects after the first paint, routes between screens, and empties them on lock.

Owns which screen is shown, themes, and the common ways of telling things. Screens decide what keys
do; only the gateway talks to the daemon.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textual import events
from textual.app import App
from textual.screen import ModalScreen, Screen

from memvault.errors import DaemonDown, MemvaultError, PresenceRequired, WrongKey
from memvault.text import visible
from memvault_tui.actions import EVERYWHERE, actions_of, bindings_of
from memvault_tui.gateway import Gateway
from memvault_tui.i18n import _, n_, use_language
from memvault_tui.news import AgentsChanged, Connected, MemoriesChanged, StateChanged, Unreachable
from memvault_tui.screens.base import Declined, VaultScreen
from memvault_tui.screens.opening import OpeningScreen
from memvault_tui.themes import DARK, LIGHT, THEMES, wanted_theme

if TYPE_CHECKING:
    from memvault_tui.answers import Status

Answer = TypeVar("Answer")

ASK_AGAIN_S = 60.0
"""While the person is active the state is asked for this often, which also keeps the vault open."""
AWAY_AFTER_S = 120.0
"""Without a key for this long, news from agents wait: they must not keep the vault open."""


class MemvaultApp(App[int]):
    """`home` None means MEMVAULT_HOME or the platform's folder."""

    CSS_PATH = "styles.tcss"
    AUTO_FOCUS = None
    ENABLE_COMMAND_PALETTE = False
    TITLE = "memvault"
    BINDINGS = [*bindings_of(EVERYWHERE)]  # noqa: RUF012 (Textual reads it)

    def __init__(self, home: Path | None = None) -> None:
        super().__init__()
        self.gateway = Gateway(home, self.post_message)
        self.connected = False
        self.status: Status | None = None
        self._status_at_s = 0.0
        self._active_at_s = time.monotonic()
        self._held_news: set[str] | None = None
        self.asking: tuple[str, ...] = ()
        """Names of the agents that wait to be let in."""
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = wanted_theme(os.environ)

    def get_default_screen(self) -> Screen[None]:
        return OpeningScreen()

    def on_mount(self) -> None:
        self.call_after_refresh(self._connect)

    def _connect(self) -> None:
        self.run_worker(self.gateway.run, group="gateway")
        self.call_later(self._make_ready)

    def _make_ready(self) -> None:
        """Load the screen that comes next while the connection is being made."""
        import_module("memvault_tui.screens.browse")

    # news

    def on_connected(self, message: Connected) -> None:
        self.connected = True
        self._route(message.state)

    def on_connection_lost(self) -> None:
        self.connected = False
        self._tell_screens_of_connection()

    def on_unreachable(self, message: Unreachable) -> None:
        if isinstance(self.screen, OpeningScreen):
            self.screen.show_trouble(message.reason, message.hint)

    def on_state_changed(self, message: StateChanged) -> None:
        self._route(message.state)

    def on_memories_changed(self, message: MemoriesChanged) -> None:
        if time.monotonic() - self._active_at_s > AWAY_AFTER_S:
            self._held_news = set(message.ids) | (self._held_news or set())
            return
        self._spread(message.ids)

    def on_agents_changed(self, _message: AgentsChanged) -> None:
        if time.monotonic() - self._active_at_s > AWAY_AFTER_S:
            self._held_news = self._held_news or set()
            return
        self.refresh_status()
        for screen in self.screen_stack:
            if isinstance(screen, VaultScreen) and screen.standing:
                screen.agents_changed()

    def _spread(self, ids: frozenset[str]) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, VaultScreen) and screen.standing:
                screen.memories_changed(ids)

    def _tell_screens_of_connection(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, VaultScreen) and screen.standing:
                screen.connection_changed()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.MouseDown | events.MouseScrollDown | events.MouseScrollUp):
            self._person_is_here()
        await super().on_event(event)

    def _person_is_here(self) -> None:
        now_s = time.monotonic()
        self._active_at_s = now_s
        if self._held_news is not None:
            held, self._held_news = self._held_news, None
            self._spread(frozenset(held))
        if self.status is not None and self.connected and now_s - self._status_at_s > ASK_AGAIN_S:
            self._status_at_s = now_s
            self.refresh_status()

    # state

    @property
    def locks_in_s(self) -> float | None:
        """Seconds until the vault locks itself, as far as this program knows."""
        if self.status is None or self.status.locks_in_s is None:
            return None
        return max(0.0, self.status.locks_in_s - (time.monotonic() - self._status_at_s))

    def take_status(self, status: Status) -> None:
        self.status, self._status_at_s = status, time.monotonic()
        self._tell_screens_of_connection()

    def refresh_status(self) -> None:
        self.run_worker(self._ask_status, group="status", exclusive=True)

    async def _ask_status(self) -> None:
        try:
            self.take_status(await self.gateway.status())
            if self.status is not None and self.status.state == "unlocked":
                self._take_asking(
                    tuple(a.name for a in await self.gateway.agents() if a.standing == "pending")
                )
        except MemvaultError as error:
            self.log(error.code)

    def _take_asking(self, names: tuple[str, ...]) -> None:
        """Announce agents that were not asking before, once each."""
        fresh = [name for name in names if name not in self.asking]
        self.asking = names
        self._tell_screens_of_connection()
        if fresh and getattr(self.screen, "PLACE", "") != "agents":
            listed = ", ".join(fresh)
            words = n_(
                "{names} asks to be let in: 8 shows what may be done.",
                "{names} ask to be let in: 8 shows what may be done.",
                len(fresh),
            )
            self.say(words.format(names=listed))

    def _route(self, state: str) -> None:
        """Show what the vault's state asks for; leave a screen alone that already fits."""
        if state == "locked":
            self.show_locked()
        elif state == "absent":
            self.run_worker(self._first_run, group="route", exclusive=True)
        elif state == "unlocked":
            if self._shows("browse", "first_run"):
                self._tell_screens_of_connection()
                self._spread(frozenset())
                self.refresh_status()
            else:
                self.show_browse()

    def opened(self, status: Status) -> None:
        """The vault was unlocked from here; the daemon's news of it may have come first."""
        self.take_status(status)
        if not self._shows("browse"):
            self.show_browse()

    def _shows(self, *places: str) -> bool:
        return any(getattr(screen, "PLACE", "") in places for screen in self.screen_stack)

    def show_browse(self) -> None:
        from memvault_tui.screens.browse import BrowseScreen

        self._show_only(BrowseScreen())
        self.refresh_status()

    def go(self, place: str) -> None:
        """Close what stands over the list of memories, then show the screen of `place` over it."""
        while len(self.screen_stack) > 2:
            self.pop_screen()
        if place == "inbox":
            from memvault_tui.screens.inbox import InboxScreen

            self.push_screen(InboxScreen())
        elif place == "agents":
            from memvault_tui.screens.agents import AgentsScreen

            self.clear_notifications()  # what announced them is seen now
            self.push_screen(AgentsScreen())

    def show_locked(self) -> None:
        """Drop every screen with content now, then ask for a key."""
        from memvault_tui.screens.locked import LockedScreen

        self.status = None
        self.asking = ()
        self._held_news = None
        self.clear_notifications()
        if not isinstance(self.screen, LockedScreen):
            self._show_only(LockedScreen())
        _forget_measured_text()

    def _show_only(self, screen: Screen[Any]) -> None:
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.push_screen(screen)

    async def _first_run(self) -> None:
        from memvault_tui.screens.first_run import HowItOpens, OfferImport, RecoveryCode

        created = await self.push_screen_wait(HowItOpens())
        if created is None:
            self.exit(0)
            return
        await self.push_screen_wait(RecoveryCode(created.recovery_code, created.warnings))
        del created
        await self.push_screen_wait(OfferImport())
        self.show_browse()

    # telling

    def say(self, words: str) -> None:
        self.notify(words, markup=False, timeout=4)

    def say_error(self, error: MemvaultError) -> None:
        words, hint = self.words_for(error)
        self.notify(f"{words}\n{hint}" if hint else words, severity="error", markup=False, timeout=8)

    def words_for(self, error: MemvaultError) -> tuple[str, str]:
        """What happened and what to do next, safe to draw."""
        if isinstance(error, WrongKey):
            return _("That does not open this vault."), _("Nothing was changed.")
        if isinstance(error, DaemonDown):
            return (
                _("The connection broke before an answer came."),
                _("Your memories are unharmed. Look whether the change is there before you repeat it."),
            )
        return visible(error.message), visible(error.hint)

    async def as_person(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Make a person-only call; when proof is wanted, ask for it and repeat the call once.

        Raises Declined when the person does not give it. Must run in a worker.
        """
        try:
            return await call()
        except PresenceRequired:
            from memvault_tui.screens.dialogs import Presence

            keychain = self.status is not None and self.status.keychain
            if not await self.push_screen_wait(Presence(keychain)):
                raise Declined from None
        return await call()

    async def copy_text(self, text: str) -> None:
        from memvault_tui import clipboard

        tool = await clipboard.copy(text)
        if tool is None:
            self.copy_to_clipboard(text)
            self.say(_("Sent to the terminal's clipboard; not every terminal takes it."))
        else:
            self.say(_("Copied with {tool}.").format(tool=tool))

    # actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("help", "palette"):
            return not isinstance(self.screen, ModalScreen)
        if action == "lock":
            return self.connected and getattr(self.screen, "PLACE", "") not in ("locked", "first_run", "")
        return True

    def places(self) -> tuple[str, ...]:
        """The places whose actions work on the screen that is shown."""
        place = getattr(self.screen, "PLACE", "")
        moving = (
            ("list",)
            if place in ("browse", "inbox", "agents", "written")
            else ("sheet",)
            if place == "memory"
            else ()
        )
        return (place, *moving, EVERYWHERE)

    def action_help(self) -> None:
        self._offer_actions(_("Keys that work here"), with_moves=True)

    def action_palette(self) -> None:
        self._offer_actions(_("Actions"), with_moves=False)

    def _offer_actions(self, title: str, with_moves: bool) -> None:
        from memvault_tui.screens.dialogs import Choice, Offer

        places = [place for place in self.places() if with_moves or place not in ("list", "sheet")]
        rows = [
            action for action in actions_of(*places) if action.id not in ("help", "palette") or with_moves
        ]
        offers = [Offer(row.id, _(row.label), _(row.explains), row.shown) for row in rows]
        if with_moves:
            offers += [Offer(f"legend-{name}", words, note, key) for name, words, note, key in self._legend()]
        self.push_screen(Choice(title, offers), self._run_chosen)

    def _legend(self) -> list[tuple[str, str, str, str]]:
        """(id, word, note, letter) for what stands in the columns of a list."""
        if getattr(self.screen, "PLACE", "") not in ("browse", "inbox", "written"):
            return []
        from memvault_tui.words import KIND_WORDS, STATUS_WORDS, kind_letter, status_letter, word

        kinds = [
            (name, word(KIND_WORDS, name), _("letter of a kind"), kind_letter(name)) for name in KIND_WORDS
        ]
        states = [
            (name, word(STATUS_WORDS, name), _("letter of a status"), status_letter(name))
            for name in STATUS_WORDS
        ]
        return [
            *kinds,
            *states,
            ("sources", _("must be checked"), _("three sources; check before use"), "3!"),
            ("news", _("news"), _("new or changed since you looked"), "•"),
        ]

    def _run_chosen(self, chosen: str | None) -> None:
        if chosen is None or chosen.startswith("legend-"):
            return
        row = next(row for row in actions_of(*self.places()) if row.id == chosen)
        owner = self if EVERYWHERE in row.places else self.screen
        if row.places & {"list", "sheet"} and self.screen.focused is not None:
            owner = self.screen.focused
        self.call_later(self.run_action, chosen, owner)

    def action_theme(self) -> None:
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def action_lock(self) -> None:
        self.show_locked()
        self.run_worker(self._lock, group="lock")

    async def _lock(self) -> None:
        try:
            await self.gateway.lock()
        except MemvaultError as error:
            self.say_error(error)

    async def action_quit(self) -> None:
        if getattr(self.screen, "unsaved", False):
            from memvault_tui.screens.dialogs import YesNo

            question = _("You wrote something that is not saved. Leave anyway?")
            self.push_screen(YesNo(question, _("Leave"), _("Stay")), self._leave_if)
            return
        self.exit(0)

    def _leave_if(self, leave: bool | None) -> None:
        if leave:
            self.exit(0)


def _forget_measured_text() -> None:
    """Empty the caches in which the drawing library keeps lines it measured."""
    from rich import cells

    cells.cached_cell_len.cache_clear()


def main(home: Path | None = None) -> int:
    """Run the interface until the person leaves; the exit status."""
    use_language()
    return MemvaultApp(home).run() or 0
