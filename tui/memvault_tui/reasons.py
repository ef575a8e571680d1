"""Why a memory stands in a list that a person should go through. Pure.

Owns telling the reasons apart and their words, short for a row and long for its detail. Knows no widget.
"""

from __future__ import annotations

from memvault_tui.i18n import N_, _
from memvault_tui.records import Memory
from memvault_tui.words import day

SAID, RESEMBLES, SOURCE_CHANGED = "said", "resembles_deleted", "source_changed"
"""Flags that the daemon sets."""

_LONG = {
    "proposed": N_("Proposed: it is not recalled before you confirm it."),
    "said": N_("You said so to an agent: it is recalled already, marked unconfirmed."),
    "resembles": N_("It resembles something you deleted for good: it is not recalled before you confirm it."),
    "replaced": N_("It replaced another memory, only because it is newer: c keeps it."),
    "doubted": N_("An agent doubts it: v checks it, enter shows what there is."),
    "file": N_("A file it cites has changed: v checks it against the file."),
    "check": N_("It needs verification before it is used: v checks it."),
}
_SHORT = {
    "said": N_("(you said so)"),
    "resembles": N_("(like deleted)"),
    "replaced": N_("(replaced one)"),
    "doubted": N_("(doubted)"),
    "file": N_("(file changed)"),
    "check": N_("(verify first)"),
    "unreviewed": N_("(not reviewed)"),
    "confirmed": N_("(confirmed)"),
    "shared": N_("(others too)"),
}


def reason_of(memory: Memory) -> str:
    """The reason by name; empty where a list has none."""
    if memory.because and RESEMBLES in memory.flags:
        return "resembles"
    if memory.because == "candidate":
        return "said" if memory.flags == (SAID,) else "proposed"
    if memory.because == "flagged":
        if memory.notes:
            return "doubted"
        return "file" if SOURCE_CHANGED in memory.flags else "check"
    return memory.because


def short_reason(memory: Memory) -> str:
    """In at most 15 cells; empty when the row says it anyway."""
    reason = reason_of(memory)
    if reason == "expiring":
        return _("(until {day})").format(day=day(memory.due_at)[5:])
    words = _SHORT.get(reason)
    return "" if words is None else _(words)


def long_reason(memory: Memory) -> str:
    """One sentence: why it is here and what may be done about it."""
    reason = reason_of(memory)
    if reason == "expiring":
        if day(memory.due_at) in (day(memory.expires_at), day(memory.valid_to)):
            return _("It ends on {day}: e gives it another date.").format(day=day(memory.due_at))
        return _("From {day} on it counts as unverified: v checks it.").format(day=day(memory.due_at))
    words = _LONG.get(reason)
    return "" if words is None else _(words)


def can_be_confirmed(memory: Memory) -> bool:
    return memory.status == "candidate" or reason_of(memory) in ("resembles", "replaced")


def can_be_rejected(memory: Memory) -> bool:
    return memory.status == "candidate" or reason_of(memory) == "resembles"


def actor_words(actor: str) -> str:
    """Who did something, as a person reads it: an agent by its name."""
    if actor.startswith("agent:"):
        return actor.removeprefix("agent:")
    known = {"person": _("you"), "script": _("a script")}
    return known.get(actor, actor)
