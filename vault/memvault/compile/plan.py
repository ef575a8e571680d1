"""From memories to units: what a mode loads, what a limit leaves out, and which zone each goes to. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memvault.compile import stable
from memvault.compile.entry import Entry, confirmed, is_constraint, is_style, verified
from memvault.compile.fit import INDEX_SHARE, TOO_LONG, Placed, Rank, Unit
from memvault.compile.index import index_forms
from memvault.compile.lines import Renderer
from memvault.compile.priority import precedence, settle
from memvault.compile.stable import Held
from memvault.compile.task import LOADED, Mode, Task
from memvault.model import Kind, Status
from memvault.text import fold, gist

_ALL_GUIDANCE = (Mode.CONTINUITY, Mode.AUDIT)
"""Modes that load style guidance and preferences nobody confirmed."""
_RULE = re.compile(
    r"\b(?:must|never|always|only|required?|forbidden|not allowed|may not|cannot|do not|don't)\b"
    r"|必须|禁止|不得|不要|不能|只能|一律|务必",
    re.IGNORECASE,
)
_PLACES: dict[Kind, tuple[str, Rank]] = {
    Kind.POLICY: ("working set", Rank.POLICY),
    Kind.PREFERENCE: ("working set", Rank.TASK),
    Kind.FACT: ("project", Rank.TASK),
    Kind.RELATIONSHIP: ("project", Rank.TASK),
    Kind.EPISODE: ("working set", Rank.TASK),
    Kind.PROCEDURE: ("working set", Rank.TASK),
    Kind.REFLECTION: ("hints", Rank.HINT),
}

HALF_HIDDEN = "in a conflict that cannot be shown whole"
_SHORTEST_NAME = 8
"""Tokens that a line of the index takes at least."""
NOBODYS = "a preference that nobody confirmed"
NEW_HERE = "new in this session"
_HIGHER = "goes before what is said above"
_EQUAL = "differs from what is said above: ask which one holds"


@dataclass(frozen=True, slots=True)
class Material:
    """What the vault has for a task, already within the caller's reach.

    `standing`: policies, preferences and constraints of the place. `held`: what the session's stable zone
    held before, None for the first time. `fresh`: what became active since the session began.
    `recalled`: best first. `conflicts`: sets with all their sides. `index`: in the order of the index.
    """

    now: str
    standing: tuple[Entry, ...]
    recalled: tuple[Entry, ...] = ()
    conflicts: tuple[tuple[Entry, ...], ...] = ()
    half_hidden: tuple[str, ...] = ()
    index: tuple[Entry, ...] = ()
    held: tuple[Held, ...] | None = None
    fresh: frozenset[str] = frozenset()


@dataclass(slots=True)
class Plan:
    """Units to be fitted into the budget. `reasons`: why something is left out; `entries`: all by id."""

    stable: list[Placed] = field(default_factory=list[Placed])
    units: list[Unit] = field(default_factory=list[Unit])
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    render: Renderer = field(default_factory=Renderer)
    unnamed: int = 0
    """Memories for which the index can have no room."""

    def texts(self) -> list[str]:
        """Every line whose tokens will be asked for."""
        placed = [line for one in self.stable for line in one.lines]
        return [*placed, *(line for unit in self.units for form in unit.forms for line in form)]


def refusal(task: Task, entry: Entry, now: str) -> str | None:
    """Why this task does not get a memory; None when it may."""
    record, kind = entry.record, entry.record.claim.kind
    if entry.is_past(now) and task.mode is not Mode.AUDIT:
        return "past its date"
    if kind not in LOADED[task.mode]:
        return f"{kind} is not loaded in {task.mode}"
    if task.verified_only and not verified(entry):
        return "not verified, and the risk is high"
    if task.fresh_only and entry.stale:
        return "waits for a new check, and the task is sensitive to time"
    if kind is Kind.PREFERENCE and task.mode not in _ALL_GUIDANCE:
        if is_style(entry):
            return f"style guidance is not loaded in {task.mode}"
        if not confirmed(entry) and record.status is Status.ACTIVE:
            return NOBODYS
    if task.mode is Mode.MINIMAL and kind is Kind.FACT and not _constrains(entry):
        return f"no constraint of the project: not loaded in {task.mode}"
    return None


def _constrains(entry: Entry) -> bool:
    claim = entry.record.claim
    worded = claim.project is not None and confirmed(entry) and _RULE.search(claim.content) is not None
    return is_constraint(entry) or worded


def plan(task: Task, found: Material, render: Renderer | None = None) -> Plan:
    """Decide what is shown where, before any budget is spent on the task's own part.

    `render` may be kept from call to call as long as no memory changes.
    """
    made = Plan(render=render or Renderer())
    every = (*found.standing, *found.recalled, *(side for sides in found.conflicts for side in sides))
    made.entries = {entry.id: entry for entry in reversed((*every, *found.index))}
    _plan_stable(task, found, made)
    _plan_task(task, found, made)
    _plan_conflicts(task, found, made)
    if task.mode is not Mode.MINIMAL:
        _plan_index(task, found, made)
    return made


def _allowed(task: Task, found: Material, made: Plan, entries: Sequence[Entry]) -> list[Entry]:
    kept: list[Entry] = []
    for entry in entries:
        reason = refusal(task, entry, found.now)
        if reason is None:
            kept.append(entry)
        else:
            made.reasons[entry.id] = reason
    return kept


def _plan_stable(task: Task, found: Material, made: Plan) -> None:
    allowed = [entry for entry in _allowed(task, found, made, found.standing) if stable.belongs(entry)]
    unconfirmed = [entry.id for entry in found.standing if not stable.belongs(entry)]
    made.reasons.update((id_, NOBODYS) for id_ in unconfirmed if id_ not in made.reasons)
    if found.held is None:
        inside = [entry for entry in allowed if entry.id not in found.fresh]
    else:
        kept = {one.id for one in found.held}
        inside = [entry for entry in allowed if entry.id in kept]
    known = {entry.id for entry in inside}
    for entry in allowed:
        if entry.id not in known and (entry.id in found.fresh or entry.record.claim.kind is Kind.POLICY):
            _offer(made, entry, 1.0, (NEW_HERE,) if entry.id in found.fresh else ())
    beside = [unit for unit in made.units if unit.rank is Rank.POLICY]
    chosen = stable.zone(inside, task.budget, beside, made.render)
    made.stable = list(chosen.placed)
    made.reasons.update(chosen.reasons)
    for unit in chosen.over:
        made.reasons.update(dict.fromkeys(unit.ids, "no room in the stable zone"))
        made.units.append(_beside(unit, found, steady=bool(made.stable)))


def _beside(unit: Unit, found: Material, *, steady: bool) -> Unit:
    """What found no room in the stable zone, to be placed where nothing steady is moved by it.

    Before an empty stable zone that is its own place, and the project's zone is the last of the stable ones.
    What had its share already and is not relevant waits for what is.
    """
    zone = unit.zone if unit.zone == "project" or not steady else "working set"
    relevance = max((entry.score for entry in found.recalled if entry.id in unit.ids), default=0.0)
    rank = unit.rank if unit.rank is Rank.POLICY or relevance > 0 else Rank.TASK
    return replace(unit, zone=zone, rank=rank, score=max(unit.score, relevance))


def _offer(made: Plan, entry: Entry, score: float, more: Sequence[str] = ()) -> None:
    zone, rank = _PLACES[entry.record.claim.kind]
    if entry.record.status is Status.CANDIDATE:
        zone, rank = "working set", Rank.TASK
    elif _constrains(entry) and entry.record.claim.kind is Kind.FACT:
        rank = Rank.CONSTRAINT
    elif entry.record.claim.kind is Kind.PREFERENCE and (is_style(entry) or not confirmed(entry)):
        zone, rank = "hints", Rank.HINT
        more = more if is_style(entry) else (*more, "inferred")
    shown = made.render.forms(entry, more=tuple(more))
    if shown:
        made.units.append(Unit((entry.id,), zone, shown, rank, score))
    else:
        made.reasons[entry.id] = TOO_LONG


def _plan_task(task: Task, found: Material, made: Plan) -> None:
    """What the objective recalled, after what is shown already and what a stronger claim outranks."""
    taken = {id_ for placed in made.stable for id_ in placed.unit.ids}
    taken |= {id_ for unit in made.units for id_ in unit.ids}
    steady = [placed.unit for placed in made.stable]
    above = [made.entries[id_] for unit in (*steady, *made.units) for id_ in unit.ids]
    new = [entry for entry in found.recalled if entry.id not in taken]
    new = [entry for entry in new if entry.record.status is not Status.CONFLICT]
    settled = settle(_allowed(task, found, made, new))
    for loser, winner in settled.outranked:
        made.reasons[loser.id] = f"{winner.id} goes before it"
    for entry in settled.kept:
        rival = next((other for other in above if _same_property(entry, other)), None)
        if rival is None:
            _offer(made, entry, entry.score)
        elif precedence(entry) < precedence(rival):
            made.reasons[entry.id] = f"{rival.id} goes before it"
        else:
            higher = precedence(entry) > precedence(rival)
            word = _HIGHER if higher else _EQUAL
            _offer(made, entry, entry.score, (word,))
    for group in settled.open:
        zone, rank = _PLACES[group[0].record.claim.kind]
        _offer_group(made, group, made.render.disagreement(group), zone, rank)


def _same_property(one: Entry, other: Entry) -> bool:
    """Whether two claims give different values to one property without conditions that tell them apart."""
    first, second = one.record.claim, other.record.claim
    if not (first.subject and first.attribute and second.subject and second.attribute):
        return False
    if (fold(first.subject), fold(first.attribute)) != (fold(second.subject), fold(second.attribute)):
        return False
    if first.conditions and second.conditions and fold(first.conditions) != fold(second.conditions):
        return False
    return fold(first.value or gist(first.content)) != fold(second.value or gist(second.content))


def _offer_group(
    made: Plan, group: Sequence[Entry], shown: tuple[tuple[str, ...], ...], zone: str, rank: Rank
) -> None:
    ids = tuple(entry.id for entry in group)
    if shown:
        made.units.append(Unit(ids, zone, shown, rank, max(entry.score for entry in group)))
    else:
        made.reasons.update(dict.fromkeys(ids, TOO_LONG))


def _plan_conflicts(task: Task, found: Material, made: Plan) -> None:
    made.reasons.update(dict.fromkeys(found.half_hidden, HALF_HIDDEN))
    for sides in found.conflicts:
        refused = next((why for side in sides if (why := refusal(task, side, found.now)) is not None), None)
        if refused is not None:
            made.reasons.update(dict.fromkeys((side.id for side in sides), refused))
            continue
        kind = sides[0].record.claim.kind
        zone = "project" if kind in (Kind.FACT, Kind.RELATIONSHIP) else "working set"
        _offer_group(made, sides, made.render.conflict(sides), zone, Rank.TASK)


def _plan_index(task: Task, found: Material, made: Plan) -> None:
    """Names of what is there beside. What is shown in full needs none: the fitting knows what that is."""
    taken = {id_ for placed in made.stable for id_ in placed.unit.ids}
    offered = {id_ for unit in made.units for id_ in unit.ids}
    most = task.budget // INDEX_SHARE // _SHORTEST_NAME
    named = 0
    for at, entry in enumerate(found.index):
        unfit = (task.verified_only and not verified(entry)) or (task.fresh_only and entry.stale)
        if entry.id in taken or unfit or entry.is_past(found.now):
            continue
        named += entry.id not in offered
        if named > most:
            made.unnamed += 1
            continue
        key = ("index", entry.id, entry.record.version)
        lines = made.render.once(key, lambda e=entry: tuple((line,) for line in index_forms(e)))
        if lines:
            made.units.append(Unit((entry.id,), "index", lines, Rank.INDEX, -float(at)))
