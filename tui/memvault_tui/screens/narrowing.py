"""Choosing filters and order for a list, in small pickers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from memvault_tui.gateway import Filters
from memvault_tui.i18n import N_, _
from memvault_tui.records import Facets
from memvault_tui.screens.base import Working
from memvault_tui.widgets.memory_list import MemoryList, Position
from memvault_tui.words import KIND_WORDS, SCOPE_WORDS, STATUS_WORDS, word

FACET_WORDS = {"kind": N_("kind"), "project": N_("project"), "status": N_("status"), "scope": N_("scope")}
SORT_WORDS = {
    "created": N_("newest first"),
    "updated": N_("changed last, first"),
    "used": N_("used last, first"),
    "confidence": N_("surest first"),
    "subject": N_("by subject"),
}
ANY = "*"


def facet_word(name: str, value: str) -> str:
    tables = {"kind": KIND_WORDS, "status": STATUS_WORDS, "scope": SCOPE_WORDS}
    return word(tables[name], value) if name in tables else value


def filter_words(filters: Filters) -> list[tuple[str, str]]:
    """What narrows the list, as (name, value) for the line above it."""
    named = [
        (_(FACET_WORDS[name]), facet_word(name, value))
        for name in FACET_WORDS
        if (value := getattr(filters, name))
    ]
    if filters.text:
        named.insert(0, (_("search"), filters.text))
    if filters.sort != "created":
        named.append((_("order"), _(SORT_WORDS[filters.sort])))
    return named


class Narrowing(Working):
    """A screen with `filters` over a memory list."""

    filters: Filters
    home: Position | None

    @property
    @abstractmethod
    def listing(self) -> MemoryList: ...

    @abstractmethod
    def load(self, place: Position | None = None) -> None: ...

    def action_facets(self) -> None:
        self.act(self._narrow)

    async def _narrow(self) -> None:
        from memvault_tui.screens.dialogs import Choice, Offer

        offers = [
            Offer(
                name,
                _(words),
                facet_word(name, value) if (value := getattr(self.filters, name)) else _("any"),
            )
            for name, words in FACET_WORDS.items()
        ]
        offers.append(Offer(ANY, _("show all"), _("drop every filter")))
        name = await self.memvault.push_screen_wait(Choice(_("Narrow by"), offers))
        if name is None:
            return
        if name == ANY:
            self._use(Filters(sort=self.filters.sort))
            return
        facets = await self.gateway.facets(replace(self.filters, **{name: None}))
        values = [Offer(ANY, _("any"))]
        values += [
            Offer(value, facet_word(name, value), f"{count:,}")
            for value, count in _counts(facets, name)
            if value
        ]
        value = await self.memvault.push_screen_wait(Choice(_(FACET_WORDS[name]), values))
        if value is not None:
            self._use(replace(self.filters, **{name: None if value == ANY else value}))

    def _use(self, filters: Filters) -> None:
        if not self.filters.narrowed and self.home is None:
            self.home = self.listing.position
        self.filters = filters
        place = None
        if not filters.narrowed:
            place, self.home = self.home, None
        self.load(place)

    def action_sort(self) -> None:
        self.act(self._sort)

    async def _sort(self) -> None:
        from memvault_tui.screens.dialogs import Choice, Offer

        offers = [Offer(name, _(words)) for name, words in SORT_WORDS.items()]
        chosen = await self.memvault.push_screen_wait(Choice(_("Order"), offers))
        if chosen is not None and chosen != self.filters.sort:
            self.filters = replace(self.filters, sort=chosen)
            self.load()


def _counts(facets: Facets, name: str) -> tuple[tuple[str, int], ...]:
    by_name = {
        "kind": facets.kinds,
        "project": facets.projects,
        "status": facets.statuses,
        "scope": facets.scopes,
    }
    return tuple(sorted(by_name[name], key=lambda pair: (-pair[1], pair[0])))
