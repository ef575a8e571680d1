"""Forgetting, the automatic half (SPEC 2, 4 and 10): expire, archive, ask for a new check. Never deletes.

Owns when a memory is due and what becomes of it then. What a run did, a rollback takes back; it is not done
again to a memory that was brought back since. Knows nothing of files that sources cite.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from memvault.clock import iso, parse
from memvault.lifecycle import Move
from memvault.model import Kind, Record, Status
from memvault.recall.calibration import FLOOR
from memvault.recall.weigh import faded, weight
from memvault.services.change import EVERYTHING, Change, change
from memvault.services.plain import NEEDS_VERIFICATION
from memvault.services.vault import Vault, day_of
from memvault.store import ageing, events, memories
from memvault.store.ageing import Aged, Bounds

UNVERIFIED_DAYS = {Kind.FACT: 180, Kind.RELATIONSHIP: 365, Kind.PROCEDURE: 180, Kind.REFLECTION: 90}
"""How long a verification holds, by kind (SPEC 2)."""
TIMELESS = (Kind.POLICY, Kind.PREFERENCE)
"""Kinds that never grow old by time and count for no cap."""
IDLE = timedelta(days=180)
MOST_ABOUT_ONE = 200
"""Memories of one scope, project and subject (SPEC 10)."""
MOST_A_RUN = 2_000
"""Memories that one run touches, so that nobody waits long for it; the rest follow the next day."""

JUMP = timedelta(days=400)
SETTLED = timedelta(days=7)
"""As long after a jump of the clock, changes made since are no proof that it is right."""
CLOCK_JUMPED = "the clock is more than 400 days away from the newest changes: nothing is aged by it for now"


@dataclass(frozen=True, slots=True)
class Summary:
    """How many memories a run moved or flagged; `left` wait for the next run.

    `held`: the clock cannot be trusted, so nothing was done. `run` None: nothing was due.
    """

    run: str | None = None
    expired: int = 0
    archived: int = 0
    flagged: int = 0
    left: int = 0
    held: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    """Ids by what becomes of them; `archived` with the reason."""

    expired: Sequence[str]
    archived: Sequence[tuple[str, str]]
    flagged: Sequence[str]

    def steps(self) -> Iterator[tuple[str, Status | None, str]]:
        """Id, the state it gets (None: only the flag) and the reason, the most pressing first."""
        yield from ((memory, Status.EXPIRED, "past its date") for memory in self.expired)
        yield from ((memory, Status.ARCHIVED, reason) for memory, reason in self.archived)
        yield from ((memory, None, "") for memory in self.flagged)


def forget(vault: Vault) -> Summary:
    """Let time do its work on the active memories, in one run that a rollback takes back.

    Does nothing, but for a warning, while the clock cannot be trusted.
    """
    if _clock_jumped(vault):
        if CLOCK_JUMPED not in vault.warnings:
            vault.warnings.append(CLOCK_JUMPED)
        return Summary(held=True)
    if CLOCK_JUMPED in vault.warnings:
        vault.warnings.remove(CLOCK_JUMPED)
    steps = list(_plan(vault).steps())
    if not steps:
        return Summary()
    now, left = steps[:MOST_A_RUN], len(steps[MOST_A_RUN:])
    records = memories.get(vault.writer, [memory for memory, _, _ in now], EVERYTHING)
    states = [after for _, after, _ in now]
    with change(vault, "forget", "memvault") as work:
        for memory, after, reason in now:
            _carry_out(work, records[memory], after, reason)
        done = Summary(
            run=work.run,
            expired=states.count(Status.EXPIRED),
            archived=states.count(Status.ARCHIVED),
            flagged=states.count(None),
            left=left,
        )
        work.summary.update({name: n for name, n in asdict(done).items() if name not in ("run", "held")})
    return done


def _carry_out(work: Change, record: Record, after: Status | None, reason: str) -> None:
    if after is None:
        work.flag(record, NEEDS_VERIFICATION, reversible=True)
    else:
        work.move(record, Move.EXPIRE if after is Status.EXPIRED else Move.ARCHIVE, after, reason)


def _clock_jumped(vault: Vault) -> bool:
    """Whether the clock stands far from where the log of events, in the order of its numbers, says it is.

    A jump ahead is remembered for a week: a single change made under a wrong clock does not make it right.
    """
    now = vault.clock.now()
    times = events.times(vault.writer, iso(now - SETTLED))
    if times.newest is not None and parse(times.newest) - now > JUMP:
        return True
    if times.settled is None:
        return False
    since = now if times.after is None else parse(times.after)
    return since - parse(times.settled) > JUMP


def _plan(vault: Vault) -> _Plan:
    now = vault.clock.now()
    bounds = Bounds(
        now=iso(now),
        unverified={kind: iso(now - timedelta(days=days)) for kind, days in UNVERIFIED_DAYS.items()},
        idle=iso(now - IDLE),
        timeless=TIMELESS,
        most=MOST_ABOUT_ONE,
    )
    found = ageing.due(vault.writer, bounds, NEEDS_VERIFICATION)
    expired = [aged.id for aged in found if _ended(aged, bounds.now)]
    gone = set(expired)
    archived = [
        (aged.id, "at the floor and unused for 180 days")
        for aged in found
        if aged.id not in gone and _faded_away(aged, bounds.idle, vault.today())
    ]
    gone.update(memory for memory, _ in archived)
    surplus = _surplus((aged for aged in found if aged.id not in gone), bounds.idle, vault.today())
    archived += [(memory, f"more than {MOST_ABOUT_ONE} memories of one subject") for memory in surplus]
    gone.update(surplus)
    flagged = [aged.id for aged in found if aged.id not in gone and _unverified(aged, bounds)]
    return _Plan(expired, archived, flagged)


def _ended(aged: Aged, now: str) -> bool:
    """Past its date, unless it was brought back after that date."""
    ended = aged.ends_at is not None and aged.ends_at <= now
    return ended and (aged.brought_back_at is None or aged.brought_back_at < str(aged.ends_at))


def _faded_away(aged: Aged, idle: str, today: int) -> bool:
    """At the floor of its weight and unused for so long, and never of a kind that time leaves alone."""
    if aged.kind in TIMELESS or aged.idle_since > idle:
        return False
    return faded(aged.kind, *_ages(aged, today)) <= FLOOR


def _surplus(found: Iterable[Aged], idle: str, today: int) -> list[str]:
    """What is too many of one scope, project and subject: the lowest weight first, of equals the older.

    What was brought back lately stays, but counts.
    """
    groups: dict[tuple[str, str | None, str | None], list[Aged]] = defaultdict(list)
    for aged in found:
        if aged.crowded:
            groups[aged.scope, aged.project, aged.subject].append(aged)
    out: list[str] = []
    for group in groups.values():
        movable = [aged for aged in group if aged.brought_back_at is None or aged.brought_back_at <= idle]
        movable.sort(key=lambda aged: weight(aged.kind, aged.confidence, *_ages(aged, today)))
        out += [aged.id for aged in movable[: max(0, len(group) - MOST_ABOUT_ONE)]]
    return out


def _unverified(aged: Aged, bounds: Bounds) -> bool:
    before = bounds.unverified.get(aged.kind)
    return before is not None and not aged.flagged and (aged.verified_at or aged.created_at) <= before


def _ages(aged: Aged, today: int) -> tuple[int, int]:
    """Whole days since it was last used and last verified; since it was made, when it never was."""
    made = day_of(aged.created_at) or 0
    used, verified = day_of(aged.last_used_at), day_of(aged.verified_at)
    return today - (made if used is None else used), today - (made if verified is None else verified)
