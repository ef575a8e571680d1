"""Zones under a budget: what fits, in which form, in which order. Pure.

Owns the promises of SPEC 9: the pack never takes more tokens than it may, a policy is never dropped for
something lesser, a unit (a conflict with all its sides) is shown whole or not at all, and the stable zone
depends on its own memories and the budget alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from memvault.compile.lines import FRAME, TITLES, ZONES, Lines
from memvault.compile.tokens import Count, cost, estimate

STABLE_SHARE = 0.6
"""Of the budget: preferences and constraints leave the rest to the task. Policies may take all of it."""
INDEX_SHARE = 5
"""The index takes at most one part in so many of the budget."""

NO_ROOM = "no room in the budget"
POLICIES_FIRST = "held back because a policy did not fit in the budget"
TOO_LONG = "too long for a line, and not safe to shorten: ask for it by id"


class Rank(IntEnum):
    """Who gets room first."""

    POLICY = 0
    CONSTRAINT = 1
    TASK = 2
    HINT = 3
    AUDIT = 4
    INDEX = 5


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines that are shown together or not at all; `forms` from the fullest to the shortest."""

    ids: tuple[str, ...]
    zone: str
    forms: tuple[Lines, ...]
    rank: Rank
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Placed:
    """A unit in the form that fits."""

    unit: Unit
    lines: Lines


@dataclass(frozen=True, slots=True)
class Pack:
    """A finished context. `stable_text`: the beginning that stays the same. `shown`: ids shown in full."""

    text: str
    zones: tuple[tuple[str, Lines, tuple[str, ...]], ...]
    """Name, lines and ids of each zone, in order."""
    tokens: int
    stable_text: str
    left_out: dict[str, str]
    shown: tuple[str, ...]

    @property
    def stable_hash(self) -> str:
        return hashlib.sha256(self.stable_text.encode()).hexdigest()


@dataclass(slots=True)
class _Sheet:
    """A page with room for `budget` tokens."""

    budget: int
    count: Count
    used: int = 0
    of_zone: dict[str, int] = field(default_factory=dict[str, int])
    placed: dict[str, list[Placed]] = field(default_factory=dict[str, list[Placed]])

    def _price(self, zone: str, lines: Lines) -> int:
        heads = (() if self.placed else (FRAME,)) + (() if zone in self.placed else (TITLES[zone],))
        return cost((*heads, *lines), self.count)

    def put(self, unit: Unit, limit: int | None = None, zone_limit: int | None = None) -> Placed | None:
        """Place the fullest form within `limit` tokens of the page and `zone_limit` of the zone."""
        room = self.budget if limit is None else min(limit, self.budget)
        for lines in unit.forms:
            price = self._price(unit.zone, lines)
            framed = 0 if self.placed else cost((FRAME,), self.count)
            of_zone = self.of_zone.get(unit.zone, 0) + price - framed
            if self.used + price <= room and (zone_limit is None or of_zone <= zone_limit):
                self.used += price
                self.of_zone[unit.zone] = of_zone
                found = Placed(unit, lines)
                self.placed.setdefault(unit.zone, []).append(found)
                return found
        return None


def choose_stable(
    units: Sequence[Unit], budget: int, beside: Iterable[Unit] = ()
) -> tuple[list[Placed], list[Unit]]:
    """What the stable zone holds, in the order of choice, and what found no room in it.

    Measured by the estimate alone, so that no model, loaded or not, changes a byte. `beside`: policies that
    are shown outside of it; preferences leave them room.
    """
    share = min(int(budget * STABLE_SHARE), budget - sum(cost(unit.forms[-1], estimate) for unit in beside))
    sheet = _Sheet(budget, estimate)
    found: list[Placed] = []
    over: list[Unit] = []
    for rank, limit in ((Rank.POLICY, budget), (Rank.CONSTRAINT, share), (Rank.TASK, share)):
        crowded = any(unit.rank is Rank.POLICY for unit in over)
        for unit in (unit for unit in units if unit.rank is rank):
            placed = None if crowded and rank is not Rank.POLICY else sheet.put(unit, limit)
            found += [] if placed is None else [placed]
            over += [unit] if placed is None else []
    return found, over


def assemble(
    stable: Sequence[Placed], units: Iterable[Unit], budget: int, count: Count, left_out: dict[str, str]
) -> Pack:
    """Fill the page: the stable zone as chosen, then the units by rank and score, ties by id."""
    sheet = _Sheet(budget, count)
    missing = dict(left_out)
    kept = _keep_stable(sheet, stable, missing)
    ordered = sorted(units, key=lambda unit: (unit.rank, -unit.score, unit.ids))
    index = [unit for unit in ordered if unit.rank is Rank.INDEX]
    share = budget // INDEX_SHARE
    names = (TITLES["index"], *(unit.forms[-1][0] for unit in index[:20]))
    reserved = min(share, cost(names, count))
    crowded = any(placed.unit.rank is Rank.POLICY for placed in stable[len(kept) :])
    dynamic: list[Placed] = []
    told = {memory for placed in kept for memory in placed.unit.ids}
    for unit in ordered:
        placed = None
        if unit.rank is Rank.INDEX and unit.ids[0] in told:
            continue
        if unit.rank is Rank.INDEX:
            placed = None if crowded else sheet.put(unit, zone_limit=share)
        elif not crowded or unit.rank is Rank.POLICY:
            spared = reserved if index and unit.rank >= Rank.TASK else 0
            placed = sheet.put(unit, budget - spared)
        if placed is not None:
            dynamic.append(placed)
            if unit.rank < Rank.AUDIT:
                told.update(unit.ids)
            continue
        reason = POLICIES_FIRST if crowded and unit.rank is not Rank.POLICY else NO_ROOM
        crowded = crowded or unit.rank is Rank.POLICY
        if unit.rank is not Rank.INDEX:
            missing.update(dict.fromkeys(unit.ids, reason))
    return _pack(sheet, kept, dynamic, missing)


def _keep_stable(sheet: _Sheet, stable: Sequence[Placed], missing: dict[str, str]) -> list[Placed]:
    """The stable zone again under the true count; should the estimate have been too low, its end goes."""
    kept: list[Placed] = []
    for placed in stable:
        same_form = Unit(placed.unit.ids, placed.unit.zone, (placed.lines,), placed.unit.rank)
        if sheet.put(same_form) is None:
            for gone in stable[len(kept) :]:
                missing.update(dict.fromkeys(gone.unit.ids, NO_ROOM))
            break
        kept.append(placed)
    return kept


def _pack(
    sheet: _Sheet, stable: Sequence[Placed], dynamic: Sequence[Placed], missing: dict[str, str]
) -> Pack:
    lines: list[str] = []
    stable_lines: list[str] = []
    zones: list[tuple[str, Lines, tuple[str, ...]]] = []
    for zone in ZONES:
        fixed = [placed for placed in stable if placed.unit.zone == zone]
        moving = [placed for placed in dynamic if placed.unit.zone == zone]
        content = [line for placed in (*fixed, *moving) for line in placed.lines]
        if content:
            lines += [TITLES[zone], *content]
        if fixed:
            stable_lines += [TITLES[zone], *(line for placed in fixed for line in placed.lines)]
        ids = tuple(dict.fromkeys(id_ for placed in (*fixed, *moving) for id_ in placed.unit.ids))
        zones.append((zone, tuple(content), ids))
    shown = [
        id_ for placed in (*stable, *dynamic) if placed.unit.rank < Rank.AUDIT for id_ in placed.unit.ids
    ]
    return Pack(
        text=_text(lines),
        zones=tuple(zones),
        tokens=sheet.used,
        stable_text=_text(stable_lines),
        left_out={id_: reason for id_, reason in missing.items() if id_ not in set(shown)},
        shown=tuple(dict.fromkeys(shown)),
    )


def _text(lines: Sequence[str]) -> str:
    return "\n".join((FRAME, *lines, "")) if lines else ""
