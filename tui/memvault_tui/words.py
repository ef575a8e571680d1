"""Words and letters for what a memory is: kind, status, scope, trust, age. Pure.

Owns the one-letter and the long form of every enumerated value, in the interface's language. Letters
come before colours: a row must be readable without any.
"""

from __future__ import annotations

from datetime import UTC, datetime

from memvault.clock import parse
from memvault.errors import Usage
from memvault_tui.i18n import N_, _, p_

MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400

KIND_WORDS = {
    "policy": N_("policy"),
    "preference": N_("preference"),
    "fact": N_("fact"),
    "relationship": N_("relationship"),
    "episode": N_("episode"),
    "procedure": N_("procedure"),
    "reflection": N_("reflection"),
}
STATUS_WORDS = {
    "candidate": N_("waiting for you"),
    "active": N_("active"),
    "conflict": N_("contradicts"),
    "superseded": N_("replaced"),
    "expired": N_("expired"),
    "archived": N_("archived"),
    "disabled": N_("switched off"),
    "deleted": N_("deleted"),
}
SCOPE_WORDS = {"private": N_("private"), "team": N_("team"), "task": N_("task")}
SENSITIVITY_WORDS = {
    "public": N_("public"),
    "internal": N_("internal"),
    "personal": N_("personal"),
    "restricted": N_("restricted"),
}
AUTHORITY_WORDS = {
    "system": N_("from the system"),
    "file": N_("checked in a file"),
    "user_confirmed": N_("confirmed by you"),
    "document": N_("from a document"),
    "conversation": N_("from a conversation"),
    "inferred": N_("inferred, unconfirmed"),
}
SOURCE_WORDS = {
    "user": N_("you"),
    "conversation": N_("conversation"),
    "file": N_("file"),
    "tool": N_("tool"),
    "import": N_("import"),
    "team": N_("team"),
}


def word(table: dict[str, str], value: str) -> str:
    """The word for `value`; an unknown value names itself."""
    known = table.get(value)
    return value if known is None else _(known)


def kind_letter(kind: str) -> str:
    letters = {
        "policy": p_("letter of policy", "L"),
        "preference": p_("letter of preference", "P"),
        "fact": p_("letter of fact", "F"),
        "relationship": p_("letter of relationship", "R"),
        "episode": p_("letter of episode", "E"),
        "procedure": p_("letter of procedure", "S"),
        "reflection": p_("letter of reflection", "H"),
    }
    return letters.get(kind, "?")


def status_letter(status: str) -> str:
    letters = {
        "candidate": p_("letter of candidate", "?"),
        "active": p_("letter of active", "A"),
        "conflict": p_("letter of conflict", "≠"),
        "superseded": p_("letter of superseded", "R"),
        "expired": p_("letter of expired", "E"),
        "archived": p_("letter of archived", "Z"),
        "disabled": p_("letter of disabled", "x"),
        "deleted": p_("letter of deleted", "D"),
    }
    return letters.get(status, "?")


def instant(stamp: str | None) -> datetime | None:
    """The instant of an ISO 8601 stamp, or None when there is none that can be read."""
    if not stamp:
        return None
    try:
        return parse(stamp)
    except Usage:
        return None


def age(stamp: str | None, now: datetime) -> str:
    """How long ago, in at most five cells: minutes, hours, days, weeks, then years."""
    at = instant(stamp)
    if at is None:
        return ""
    past_s = max(0, int((now - at).total_seconds()))
    if past_s < MINUTE_S:
        return p_("age", "now")
    if past_s < HOUR_S:
        return p_("age, minutes", "{n}m").format(n=past_s // MINUTE_S)
    if past_s < DAY_S:
        return p_("age, hours", "{n}h").format(n=past_s // HOUR_S)
    days = past_s // DAY_S
    if days < 100:
        return p_("age, days", "{n}d").format(n=days)
    if days < 730:
        return p_("age, weeks", "{n}w").format(n=days // 7)
    return p_("age, years", "{n}y").format(n=days // 365)


def day(stamp: str | None) -> str:
    """The local date of a stamp, `2026-03-12`; empty when there is none."""
    at = instant(stamp)
    return "" if at is None else at.astimezone().strftime("%Y-%m-%d")


def moment(stamp: str | None) -> str:
    at = instant(stamp)
    return "" if at is None else at.astimezone().strftime("%Y-%m-%d %H:%M")


def utc_now() -> datetime:
    return datetime.now(UTC)


def span(seconds: float) -> str:
    """A short duration: `14m`, `2h`."""
    if seconds < HOUR_S:
        return p_("age, minutes", "{n}m").format(n=max(1, int(seconds // MINUTE_S)))
    return p_("age, hours", "{n}h").format(n=int(seconds // HOUR_S))
