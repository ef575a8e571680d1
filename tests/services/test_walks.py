"""Random sequences of adds, corrections, proposals, switches and verdicts keep the rules of SPEC 4 and 6."""

from __future__ import annotations

import random
from typing import Any

import pytest

from memvault import lifecycle
from memvault.errors import MemvaultError
from memvault.gate.compare import about_the_same, same_conditions, value_of
from memvault.lifecycle import Move
from memvault.model import Draft, Kind, Record, Source, SourceType, Status
from memvault.services import candidates, remember, verdicts
from memvault.services.caller import PERSON
from memvault.services.change import EVERYTHING, change
from memvault.store import events, memories
from memvault.store.memories import Filter

EVIDENCE = (
    None, None, None, "from next week v2 instead of v1", "改用 v3", "production by v1, tests by v2",
    "生产用 v2、测试用 v3", "we might use v1?",
)  # fmt: skip
MOVES = {str(move) for move in Move}


class Walk:
    """One vault, and changes drawn from a seed."""

    def __init__(self, desk: Any, robot: Any, clock: Any, seed: int) -> None:
        self.desk, self.robot, self.clock, self.rnd = desk, robot, clock, random.Random(seed)
        self.sources: dict[str, set[tuple[str, str]]] = {}
        self.done = 0

    def records(self) -> list[Record]:
        ids = memories.ids_of(self.desk.vault.writer, EVERYTHING, Filter())
        return list(memories.get(self.desk.vault.writer, ids, EVERYTHING).values())

    def step(self) -> None:
        rnd = self.rnd
        self.clock.advance(rnd.choice((60, 3_600, 86_400, 9 * 86_400)))
        acts = [self.add, self.add, self.add, self.switch, self.edit, self.decide, self.review, self.undo]
        try:
            rnd.choice(acts)()
            self.done += 1
        except MemvaultError:
            pass

    def add(self) -> None:
        rnd, value = self.rnd, self.rnd.choice(("v1", "v2", "v3"))
        kind = rnd.choice(("user", "conversation", "import", "tool"))
        source = Source(SourceType(kind), f"r{rnd.randrange(6)}", evidence=rnd.choice(EVIDENCE))
        claim = self.desk.draft(
            rnd.choice(("Ship {}.", "发布用 {}。")).format(value),
            kind=rnd.choice((Kind.FACT, Kind.PREFERENCE)),
            subject=rnd.choice(("app", "App")),
            attribute=rnd.choice(("ship", "build")),
            value=value,
            conditions=rnd.choice((None, None, None, "nightly")),
        ).claim
        draft = Draft(claim, (source,))
        if rnd.random() < 0.3:
            with change(self.desk.vault, "add", self.robot.actor) as work:
                candidates.propose(work, self.robot, draft)
        else:
            remember.add(self.desk.vault, PERSON, draft, correct=rnd.random() < 0.15)

    def _one(self) -> str:
        return self.rnd.choice(self.records()).id if self.records() else "none"

    def switch(self) -> None:
        remember.switch(self.desk.vault, PERSON, self._one(), on=self.rnd.random() < 0.6)

    def edit(self) -> None:
        changes = {"conditions": self.rnd.choice((None, "nightly", "weekly"))}
        remember.edit(self.desk.vault, PERSON, self._one(), changes, None, None)

    def review(self) -> None:
        candidates.confirm(self.desk.vault, PERSON, self._one())

    def undo(self) -> None:
        from memvault.services import maintain

        maintain.undo(self.desk.vault, PERSON)

    def decide(self) -> None:
        found = verdicts.listing(self.desk.vault, PERSON, 50, 0)["items"]
        if not found:
            return
        sides = [side["id"] for side in self.rnd.choice(found)["sides"]]
        keep = self.rnd.choice((*sides, *sides, "both"))
        conditions = {id_: f"case {n}" for n, id_ in enumerate(sides)} if keep == "both" else {}
        verdicts.resolve(self.desk.vault, PERSON, sides[0], keep, "because", conditions)


def check_moves(walk: Walk) -> None:
    """Every recorded move is in the table, and each starts where the last one ended."""
    for record in walk.records():
        state: Status | None = None
        for event in events.of_memory(walk.desk.vault.writer, record.id):
            before = None if event["from"] is None else Status(event["from"])
            after = Status(event["to"])
            assert before is state
            assert (before, after) != (Status.CONFLICT, Status.SUPERSEDED)
            if before is not after:
                assert event["type"] in MOVES
                lifecycle.check(Move(event["type"]), before, after)
            state = after
        assert state is record.status


def check_no_hidden_contradiction(walk: Walk) -> None:
    """No two memories that are used as facts say different things about one attribute and condition."""
    active = [record for record in walk.records() if record.status is Status.ACTIVE]
    for n, one in enumerate(active):
        for other in active[n + 1 :]:
            if about_the_same(one.claim, other.claim) and same_conditions(one.claim, other.claim):
                assert value_of(one.claim) == value_of(other.claim)


def check_trust(walk: Walk) -> None:
    for record in walk.records():
        assert 0 < record.confidence <= 1.0
        assert record.sources
        assert record.status is not Status.SUPERSEDED or record.claim.valid_to


@pytest.mark.parametrize("seed", range(8))
def test_random_adds_corrections_and_verdicts_never_leave_the_table(
    desk: Any, robot: Any, clock: Any, seed: int
) -> None:
    walk = Walk(desk, robot, clock, seed)
    for _ in range(60):
        walk.step()
        check_no_hidden_contradiction(walk)
    check_moves(walk)
    check_trust(walk)
    assert walk.done > 25
    desk.whole()


@pytest.mark.parametrize("seed", range(4))
def test_merging_keeps_every_source_and_counts_it_once(desk: Any, seed: int) -> None:
    rnd, said = random.Random(seed), set[tuple[str, str]]()
    for _ in range(25):
        kind, ref = rnd.choice(("user", "conversation", "tool")), f"r{rnd.randrange(8)}"
        said.add((kind, ref))
        wording = rnd.choice(("Ship v1.", "ship V1", "We ship `v1`!", "Please ship v1"))
        written = desk.add(wording, source=f"{kind}:{ref}", subject="app", attribute="ship", value="v1")
    record = desk.get(written.id)
    assert {(str(source.type), source.ref) for source in record.sources} == said
    assert len(record.sources) == len(said) == record.observations
    assert record.confidence == 0.99 or len(said) == 1
