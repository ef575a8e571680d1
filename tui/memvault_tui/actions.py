"""The one table of what can be done: keys, footer, help and palette are all drawn from it.

Owns names, keys, words and places. A screen of place P implements `action_<id>` for every row of P.
Keys of screens that do not exist are not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding

from memvault_tui.i18n import N_, _

EVERYWHERE = "everywhere"
"""The place of actions that the app itself implements."""


@dataclass(frozen=True, slots=True)
class Action:
    """`keys` are Textual key names, `shown` is what a person reads; `footer` ranks it there, 0 hides."""

    id: str
    keys: tuple[str, ...]
    shown: str
    label: str
    explains: str
    places: frozenset[str]
    footer: int = 0


def _row(keys: str, shown: str, name: str, label: str, explains: str, places: str, footer: int = 0) -> Action:
    return Action(name, tuple(keys.split()), shown, label, explains, frozenset(places.split()), footer)


ACTIONS: tuple[Action, ...] = (
    _row("enter l right", "enter", "open", N_("open"),
         N_("Open the memory under the cursor"), "browse inbox written", 1),
    _row("enter l right", "enter", "written", N_("what it wrote"),
         N_("The memories that rest on this agent"), "agents", 1),
    _row("escape h left", "esc", "back", N_("back"),
         N_("Go back; the cursor stays where it was"), "memory why inbox agents written", 1),
    _row("escape", "esc", "unfilter", N_("show all"),
         N_("Clear search and filters, back to where you were"), "browse"),
    _row("tab", "tab", "next_part", N_("next part"),
         N_("Show the next part: text, sources, versions, events"),
         "memory", 2),
    _row("tab", "tab", "other_half", N_("list or detail"), N_("Move between the list and its detail"),
         "browse inbox agents written"),
    _row("a", "a", "approve", N_("let in"),
         N_("Let this agent in, with the rights you choose"), "agents", 2),
    _row("e", "e", "rights", N_("rights"), N_("Change what it may read and do"), "agents", 3),
    _row("x", "x", "quarantine", N_("quarantine"),
         N_("Take nothing more from it, or end that"), "agents", 4),
    _row("r", "r", "revoke", N_("shut out"),
         N_("Shut it out at once; its memories stay"), "agents", 5),
    _row("t", "t", "rotate", N_("new token"),
         N_("Give it a new token; the old one opens nothing any more"), "agents", 7),
    _row("d", "d", "forget", N_("forget"),
         N_("Take it off this list; what it wrote stays"), "agents", 8),
    _row("D", "D", "purge", N_("erase"),
         N_("Erase for good what rests on it; you type its name to confirm"), "agents", 6),
    _row("e", "e", "edit", N_("correct"),
         N_("Correct this memory; it becomes a new version"), "browse memory inbox", 3),
    _row("v", "v", "verify", N_("verify"), N_("Check it against what it cites and names"),
         "browse memory inbox", 4),
    _row("c", "c", "confirm", N_("confirm"), N_("Accept this candidate as a memory"), "inbox", 2),
    _row("r", "r", "reject", N_("reject"),
         N_("Turn this candidate down; it will not be proposed again"), "inbox", 3),
    _row("s", "s", "skip", N_("skip"), N_("Leave it for later and go on to the next"), "inbox", 5),
    _row("w", "w", "why", N_("why"),
         N_("Ask a question and see what is recalled, and why"), "browse memory", 5),
    _row("x", "x", "switch", N_("disable"),
         N_("Switch off without losing it, or on again"), "browse memory", 6),
    _row("D", "D", "delete", N_("delete"),
         N_("Delete for good; you type a word to confirm"), "browse memory", 7),
    _row("y", "y", "copy", N_("copy"), N_("Copy the text"), "browse memory inbox"),
    _row("u", "u", "undo", N_("undo"), N_("Take back your last change"), "browse memory inbox"),
    _row("slash", "/", "search", N_("filter"),
         N_("Search as you type, by meaning and by letters"), "browse", 8),
    _row("f", "f", "facets", N_("narrow"), N_("Narrow by kind, project, status or scope"), "browse"),
    _row("s", "s", "sort", N_("sort"), N_("Order the list by another property"), "browse"),
    _row("space", "space", "mark", N_("mark"), N_("Mark this memory, to act on several at once"), "browse"),
    _row("V", "V", "mark_range", N_("mark range"), N_("Mark from the last mark to the cursor"), "browse"),
    _row("a", "a", "add", N_("add"), N_("Write a memory by hand"), "browse"),
    _row("i", "i", "import", N_("import"), N_("Bring in memories from another program or folder"), "browse"),
    _row("R", "R", "reload", N_("reload"), N_("Read the list again from the vault"), "browse agents"),
    _row("2", "2", "browse", N_("Browse"), N_("All memories"), "inbox agents"),
    _row("3", "3", "inbox", N_("Inbox"), N_("What waits for you, and why"), "browse agents"),
    _row("8", "8", "agents", N_("Agents"), N_("Who may read and propose, and what they wrote"),
         "browse inbox"),
    _row("j down", "j ↓", "cursor_down", N_("down"), N_("Next line"), "list sheet"),
    _row("k up", "k ↑", "cursor_up", N_("up"), N_("Line before"), "list sheet"),
    _row("pagedown ctrl+f", "PgDn", "page_down", N_("page down"), N_("One page on"), "list sheet"),
    _row("pageup ctrl+b", "PgUp", "page_up", N_("page up"), N_("One page back"), "list sheet"),
    _row("g home", "g", "first", N_("first"), N_("To the beginning"), "list sheet"),
    _row("G end", "G", "last", N_("last"), N_("To the end"), "list sheet"),
    _row("ctrl+k", "ctrl+k", "keychain", N_("keychain"), N_("Open with the system keychain"), "locked", 1),
    _row("ctrl+r", "ctrl+r", "recovery", N_("recovery code"),
         N_("Open with the recovery code instead"), "locked", 2),
    _row("ctrl+s", "ctrl+s", "save", N_("save"), N_("Save what you wrote"), "form", 1),
    _row("escape", "esc", "cancel", N_("cancel"), N_("Leave without doing anything"), "form dialog", 2),
    _row("question_mark f1", "?", "help", N_("help"), N_("The keys that work here"), EVERYWHERE, 9),
    _row("colon ctrl+p", ":", "palette", N_("actions"), N_("Find an action by name"), EVERYWHERE),
    _row("ctrl+t", "ctrl+t", "theme", N_("light or dark"),
         N_("Switch between the light and the dark theme"), EVERYWHERE),
    _row("L ctrl+l", "L", "lock", N_("lock"), N_("Lock the vault now and clear the screen"), EVERYWHERE),
    _row("q ctrl+q", "q", "quit", N_("quit"), N_("Leave; the vault stays with its daemon"), EVERYWHERE),
)  # fmt: skip


def actions_of(*places: str) -> list[Action]:
    """The rows of these places, in the order of the table."""
    return [action for action in ACTIONS if not action.places.isdisjoint(places)]


def bindings_of(*places: str) -> list[Binding]:
    """Key bindings for a class of these places; ids make them remappable."""
    return [
        Binding(",".join(action.keys), action.id, show=False, id=f"{'-'.join(places)}.{action.id}")
        for action in actions_of(*places)
    ]


def footer_of(places: Iterable[str]) -> list[tuple[str, str]]:
    """(key, words) for the bottom line, the most useful first."""
    shown = [action for action in actions_of(*places) if action.footer]
    return [(action.shown, _(action.label)) for action in sorted(shown, key=lambda action: action.footer)]
