"""What every screen shares: its place in the action table, its gateway, and how failures are told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual.css.query import NoMatches
from textual.screen import ModalScreen, Screen

from memvault.errors import Locked, MemvaultError
from memvault_tui.actions import EVERYWHERE, footer_of
from memvault_tui.i18n import _, n_
from memvault_tui.lines import Cell, Row
from memvault_tui.widgets.bars import KeyBar
from memvault_tui.words import span

if TYPE_CHECKING:
    from memvault_tui.app import MemvaultApp
    from memvault_tui.gateway import Gateway

TYPING_PLACES = ("form", "locked", "why")
"""Places where letters go into a field, so that keys without ctrl do not act."""

Work = Callable[[], Coroutine[Any, Any, None]]
"""What an action does, not begun yet: a worker that is cancelled before its turn leaves nothing behind."""

Answer = TypeVar("Answer")
Result = TypeVar("Result")


class Declined(Exception):
    """The person was asked to show presence and said no; nothing was done."""


class Working:
    """Running work for a screen: failures are shown, a locked vault leads to the locked screen."""

    @property
    def memvault(self) -> MemvaultApp:
        return cast("MemvaultApp", cast(Any, self).app)

    @property
    def gateway(self) -> Gateway:
        return self.memvault.gateway

    _composed = False

    @property
    def standing(self) -> bool:
        """Whether the screen has its widgets: not before it is composed, no more while it is taken away."""
        screen = cast(Screen[Any], self)
        # Textual shows nothing (`display`) of what it is taking away.
        return self._composed and screen.display and screen in self.memvault.screen_stack

    def on_mount(self) -> None:
        """Begin, unless the screen was taken away (a lock, the end) before it had its widgets."""
        self._composed = True  # Textual mounts a screen once all it composed stands.
        if self.standing:
            self.begin()

    def begin(self) -> None:
        """The widgets stand: focus one, ask for what is shown."""

    def act(self, work: Work, group: str = "act", exclusive: bool = False) -> None:
        """Run `work` in the background; `exclusive` cancels what the group was doing."""
        cast(Screen[Any], self).run_worker(partial(self._guard, work), group=group, exclusive=exclusive)

    async def _guard(self, work: Work) -> None:
        try:
            await work()
        except NoMatches:
            if self.standing:
                raise
        except Declined:
            self.memvault.say(_("Nothing was done."))
        except Locked:
            self.memvault.show_locked()
        except MemvaultError as error:
            self.failed(error)

    def failed(self, error: MemvaultError) -> None:
        """Tell a failure; screens with a place of their own for it override this."""
        self.memvault.say_error(error)

    async def as_person(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Make a person-only call, asking for proof and repeating it when the daemon wants that."""
        return await self.memvault.as_person(call)


class VaultScreen(Working, Screen[Result]):
    """A full screen with a title line and a line of keys."""

    AUTO_FOCUS = ""
    PLACE: ClassVar[str] = ""

    @property
    def unsaved(self) -> bool:
        """Whether leaving would lose something the person wrote."""
        return False

    def key_bar(self) -> KeyBar:
        typing = self.PLACE in TYPING_PLACES
        return KeyBar(footer_of([self.PLACE] if typing else [self.PLACE, EVERYWHERE]), id="keys")

    def title_cells(self, name: str, note: str = "") -> Row:
        cells: list[Cell] = [(" " + name, "strong")]
        if note:
            cells.append(("  " + note, "dim"))
        return tuple(cells)

    def memories_changed(self, ids: frozenset[str]) -> None:
        """News from the daemon; an empty set means many."""

    def agents_changed(self) -> None:
        """A grant is different."""

    def connection_changed(self) -> None:
        """The connection was lost or stands again, or another agent asks."""


class Dialog(Working, ModalScreen[Result]):
    """A question over a screen; escape answers no."""

    AUTO_FOCUS = ""
    PLACE: ClassVar[str] = "dialog"


def state_cells(app: MemvaultApp, asking: bool = True) -> Row:
    """Connection, lock and model state, and who asks to be let in, for the right end of a title line."""
    if not app.connected:
        return ((_("connecting again…") + " ", "warn"),)
    cells: list[Cell] = []
    status = app.status
    if asking and app.asking:
        asks = n_("{n} agent asks (8)", "{n} agents ask (8)", len(app.asking))
        cells.append((asks + "  ", "warn"))
    if status is not None and status.pending:
        cells.append((_("learning {n}").format(n=f"{status.pending:,}") + "  ", "dim"))
    left = app.locks_in_s
    if left is not None:
        cells.append((_("unlocked {time}").format(time=span(left)) + " ", "dim"))
    else:
        cells.append((_("unlocked") + " ", "dim"))
    return tuple(cells)
