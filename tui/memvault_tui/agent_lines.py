"""One agent as a row, and what is known about it as rows for a given width. Pure.

Owns the words for rights, standing and judgement. Every function returns rows of (text, role) cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memvault_tui.grants import ALL, CURRENT, Agent, Judgement
from memvault_tui.i18n import N_, _, n_, p_
from memvault_tui.lines import Cell, Row, cut, fit, width, wrap
from memvault_tui.sheets import labelled
from memvault_tui.words import SCOPE_WORDS, SENSITIVITY_WORDS, age, day, word

STANDING_WORDS = {
    "pending": N_("asks you"),
    "active": N_("let in"),
    "quarantined": N_("quarantined"),
    "revoked": N_("kept out"),
}
VERB_WORDS = {"read": N_("read"), "propose": N_("propose"), "write": N_("write")}
JUDGED_WORDS = {
    "confirmed": N_("confirmed"),
    "promoted": N_("seen twice"),
    "rejected": N_("rejected"),
    "lapsed": N_("lapsed"),
    "deleted": N_("deleted"),
    "contradicted": N_("contradicted"),
    "superseded": N_("replaced"),
    "disabled": N_("switched off"),
}
PART_WORDS = {
    "waiting": N_("waiting for you"),
    "unreviewed": N_("active, not reviewed"),
    "confirmed": N_("confirmed by you"),
    "shared": N_("said by others too"),
}
_EXPLAINED = {
    "pending": N_("It asks to be let in. Until you do it reads nothing, and what it proposes waits for you."),
    "quarantined": N_("Nothing is taken from it; it still reads what it was granted."),
    "revoked": N_("It reads nothing and brings nothing in. What it wrote stays until you erase that too."),
}
_ROLES = {"pending": "warn", "active": "good", "quarantined": "warn", "revoked": "dim"}

CLOUD = N_(
    "What an agent recalls may go to the provider of its model, if that runs in a cloud: "
    "grant no more than you would send there."
)

NAME_CELLS, SEEN_CELLS, MARKER = 14, 5, 2


def listed(words: Iterable[str]) -> str:
    return p_("between the words of a list", ", ").join(words)


def standing_word(agent: Agent) -> str:
    return word(STANDING_WORDS, agent.standing)


def projects_words(agent: Agent, short: bool = False) -> str:
    """Where it may read: `short` for a row."""
    if agent.projects == CURRENT:
        return _("its project") if short else _("the project it works in, and what belongs to none")
    if agent.projects == ALL:
        return _("every project")
    return listed(agent.projects)


def verbs_words(agent: Agent) -> str:
    return listed(_(words) for verb, words in VERB_WORDS.items() if verb in agent.verbs) or _("nothing")


def ceiling_words(agent: Agent) -> str:
    return _("up to {level}").format(level=word(SENSITIVITY_WORDS, agent.ceiling))


def _columns(cells: int) -> tuple[int, int, int]:
    """Cells for name, standing and rights."""
    standing = max(width(_(words)) for words in STANDING_WORDS.values())
    name = min(NAME_CELLS if cells < 84 else 24, max(8, cells // 4))
    return name, standing, max(0, cells - MARKER - name - standing - SEEN_CELLS - 3)


def agent_row(agent: Agent, cells: int, now: datetime, at_cursor: bool) -> Row:
    """One agent in exactly `cells`."""
    name, standing, rights = _columns(cells)
    may = " · ".join((verbs_words(agent), projects_words(agent, short=True), ceiling_words(agent)))
    seen = age(agent.seen_at, now) or _("never")
    return (
        ("▸ " if at_cursor else "  ", "accent"),
        (fit(agent.name, name) + " ", "gone" if agent.standing == "revoked" else "strong"),
        (fit(standing_word(agent), standing) + " ", _ROLES.get(agent.standing, "plain")),
        (fit(may, rights) + " ", "gone" if agent.standing == "revoked" else "plain"),
        (fit(seen, SEEN_CELLS, right=True), "dim"),
    )


def agent_heading(cells: int) -> Row:
    """The names of the columns, aligned with `agent_row`."""
    name, standing, rights = _columns(cells)
    parts = (
        " " * MARKER,
        fit(_("agent"), name) + " ",
        fit(_("state"), standing) + " ",
        fit(_("may"), rights) + " ",
        fit(_("seen"), SEEN_CELLS, right=True),
    )
    return (("".join(parts), "dim"),)


def agent_sheet(agent: Agent, found: Judgement | None, cells: int, now: datetime) -> list[Row]:
    """Standing, rights, and what it brought in; without `found` that is still on its way."""
    seen = age(agent.seen_at, now)
    left: list[Cell] = [
        (cut(agent.name, cells), "strong"),
        ("  " + standing_word(agent), _ROLES.get(agent.standing, "plain")),
        ("  " + (_("last seen {age}").format(age=seen) if seen else _("never seen")), "dim"),
    ]
    rows: list[Row] = [tuple(left)]
    explained = _EXPLAINED.get(agent.standing)
    if explained is not None:
        rows += [((line, "warn"),) for line in wrap(_(explained), cells)]
    since = day(agent.approved_at)
    facts = [
        (_("may"), verbs_words(agent)),
        (_("scope"), listed((*(word(SCOPE_WORDS, scope) for scope in agent.scopes), ceiling_words(agent)))),
        (_("where"), projects_words(agent)),
        (_("host"), "" if agent.host == agent.name else agent.host),
        (_("since"), since if agent.let_in else ""),
        (_("asked"), day(agent.asked_at) if agent.standing == "pending" else ""),
        *_judgement(found),
    ]
    facts = [(label, text) for label, text in facts if text]
    margin = max(width(label) for label, _text in facts)
    for label, text in facts:
        rows += labelled(label, text, cells, label_cells=margin)
    return rows


def _judgement(found: Judgement | None) -> list[tuple[str, str]]:
    if found is None:
        return []
    wrote = n_("{n} memory brought in", "{n} memories brought in", found.brought_in)
    if found.refused:
        wrote += " · " + n_("{n} refused", "{n} refused", found.refused)
    judged = " · ".join(f"{word(JUDGED_WORDS, name)} {count:,}" for name, count in found.judged)
    rests = " · ".join(f"{word(PART_WORDS, name)} {count:,}" for name, count in found.rests)
    return [
        (_("wrote"), wrote),
        (_("judged"), judged or (_("not judged yet") if found.brought_in else "")),
        (_("left"), rests or (_("nothing of it is left") if found.brought_in else "")),
    ]


def told(words: str, cells: int, role: str = "plain") -> list[Row]:
    """A paragraph."""
    return [((line, role),) for line in wrap(words, cells)]
