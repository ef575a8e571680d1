"""The stable zone: what belongs to it, in which order, and why it changed. Pure.

Choice and order follow (kind, subject, id): neither the objective nor use moves a byte. Within a session
nothing enters; what is deleted, switched off, corrected or past its date goes, or changes, at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memvault.compile.entry import Entry, confirmed, is_constraint
from memvault.compile.fit import TOO_LONG, Placed, Rank, Unit, choose_stable
from memvault.compile.lines import Renderer
from memvault.compile.priority import settle
from memvault.model import Kind
from memvault.text import fold

_KINDS = (Kind.POLICY, Kind.PREFERENCE, Kind.FACT)
_PLACES = {
    Kind.POLICY: ("policy", Rank.POLICY),
    Kind.PREFERENCE: ("preferences", Rank.TASK),
    Kind.FACT: ("project", Rank.CONSTRAINT),
}


@dataclass(frozen=True, slots=True)
class Held:
    """What a session's stable zone held of one memory: never its text."""

    id: str
    version: int
    verify_first: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """One change of a stable zone and its reason; `version` is the newest known."""

    id: str
    version: int
    reason: str


def belongs(entry: Entry) -> bool:
    """Whether it is of the stable zone by its kind and by who stands behind it."""
    kind = entry.record.claim.kind
    return kind is Kind.POLICY or (kind is Kind.PREFERENCE and confirmed(entry)) or is_constraint(entry)


def _order(entry: Entry) -> tuple[int, str, str]:
    claim = entry.record.claim
    return _KINDS.index(claim.kind), fold(claim.subject or ""), entry.id


@dataclass(frozen=True, slots=True)
class Zone:
    """A stable zone: what it holds, what found no room in it, and why something else is left out."""

    placed: tuple[Placed, ...]
    over: tuple[Unit, ...]
    reasons: Mapping[str, str]


def zone(entries: Sequence[Entry], budget: int, beside: Sequence[Unit], render: Renderer) -> Zone:
    """The stable zone of `entries`; it is the same as long as they are, whatever the task."""
    ids = tuple(sorted((entry.id, entry.record.version) for entry in entries))
    spared = tuple(unit.forms[-1] for unit in beside)
    return render.once(("zone", ids, budget, spared), lambda: _zone(entries, budget, beside, render))


def _zone(entries: Sequence[Entry], budget: int, beside: Sequence[Unit], render: Renderer) -> Zone:
    reasons: dict[str, str] = {}
    placed, over = choose_stable(units(entries, reasons, render), budget, beside)
    return Zone(tuple(placed), tuple(over), reasons)


def units(entries: Iterable[Entry], left_out: dict[str, str], render: Renderer) -> list[Unit]:
    """The stable zone's units in their order; what a stronger claim outranks is left out."""
    settled = settle(sorted(entries, key=_order))
    for loser, winner in settled.outranked:
        left_out[loser.id] = f"{winner.id} goes before it"
    groups = [(entry,) for entry in settled.kept] + settled.open
    groups.sort(key=lambda group: min(map(_order, group)))
    found: list[Unit] = []
    for group in groups:
        first = min(group, key=_order)
        alone = len(group) == 1
        shown = render.forms(first, stable=True) if alone else render.disagreement(group, stable=True)
        name, rank = _PLACES[first.record.claim.kind]
        ids = tuple(entry.id for entry in group)
        if shown:
            found.append(Unit(ids, name, shown, rank))
        else:
            left_out.update(dict.fromkeys(ids, TOO_LONG))
    return found


def held(ids: Sequence[str], entries: Mapping[str, Entry]) -> tuple[Held, ...]:
    """What is kept of a stable zone with these memories."""
    return tuple(
        Held(id_, entries[id_].record.version, entries[id_].verify_first) for id_ in ids if id_ in entries
    )


def drift(before: Sequence[Held], now: Sequence[Held], gone: Mapping[str, str]) -> list[Drift]:
    """Every change between two calls of a session; `gone`: why a memory is no longer there."""
    found = {one.id: one for one in now}
    out: list[Drift] = []
    for old in before:
        new = found.get(old.id)
        if new is None:
            out.append(Drift(old.id, old.version, gone.get(old.id, "no longer in force")))
        elif new.version != old.version:
            out.append(Drift(old.id, new.version, "corrected"))
        elif new.verify_first != old.verify_first:
            reason = "needs a new check" if new.verify_first else "checked again"
            out.append(Drift(old.id, new.version, reason))
    return out
