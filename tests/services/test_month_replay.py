"""A month of generated daily use: no illegal move, no silent contradiction, nothing deleted comes back."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memvault import lifecycle
from memvault.errors import MemvaultError
from memvault.gate.compare import IN_FORCE, about_the_same, same_conditions, value_of
from memvault.lifecycle import Move
from memvault.model import Draft, Record, Source, SourceType, Status
from memvault.services import candidates, erase, graves, maintain, remember, verdicts
from memvault.services.caller import PERSON
from memvault.services.candidates import SIGHTINGS, lapse_candidates, sightings
from memvault.services.change import EVERYTHING
from memvault.store import events, memories, settings
from memvault.store.memories import Filter
from memvault.text import fold, words

pytestmark = pytest.mark.slow

_SPEC = importlib.util.spec_from_file_location("month_of_use", Path(__file__).with_name("month.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
month = importlib.util.module_from_spec(_SPEC)
sys.modules["month_of_use"] = month
_SPEC.loader.exec_module(month)

SEEDS = (20260302, 11)
FAST, LONG = 600, 5_000
MOVES = {str(move) for move in Move}

RULES = {
    "fresh": ("active", None, "active"),
    "correction": ("superseded", "superseded", "active"),
    "higher authority": ("superseded", "superseded", "active"),
    "lower authority": ("refused", "active", "superseded"),
    "same origin": ("superseded", "superseded", "active"),
    "source says it replaces": ("superseded", "superseded", "active"),
    "preference said later": ("superseded", "superseded", "active"),
    "sources name conditions": ("active", "active", "active"),
    "stated conditions": ("active", "active", "active"),
    "clearly newer": ("superseded", "superseded", "active"),
    "nothing ranks them": ("conflict", "conflict", "conflict"),
    "elsewhere": ("active", "active", "active"),
}
"""Rule -> outcome, state of what was known before, state of the new memory."""


class Replay:
    """One vault through a month. What an agent says is only proposed; what a person does stays a person's."""

    def __init__(self, desk: Any, robot: Any, clock: Any, *, as_agent: bool, wire: bool = False) -> None:
        self.desk, self.vault, self.robot, self.clock = desk, desk.vault, robot, clock
        self.as_agent, self.wire = as_agent, wire
        self.topics: dict[int, list[str]] = {}
        self.runs: dict[int, str] = {}
        self.held: set[int] = set()
        """Topics held by the sketch alone, as like something deleted; the person confirmed them."""
        self.deleted: list[tuple[int, Record]] = []
        """With the number of the last event then."""
        self.wrong: list[str] = []
        self.counts: Counter[str] = Counter()

    def play(self, seed: int, writes: int, folder: Path) -> None:
        start = datetime(2026, 3, 2, 8, tzinfo=UTC)
        for day, steps in month.days(seed, writes):
            self.clock.advance((start + timedelta(days=day) - self.clock.now()).total_seconds())
            for step in steps:
                self.clock.advance(20)
                if isinstance(step, month.Say):
                    self.say(step)
                else:
                    self.do(step)
            if day % 5 == 4:
                self.take_in(folder / str(day), day)
            lapse_candidates(self.vault)

    # ------------------------------------------------------------------------------------------- what is said

    def say(self, said: Any) -> None:
        kind, _, ref = said.source.partition(":")
        by_agent = self.as_agent or said.proposed
        if by_agent and self.wire and kind in ("user", "import"):
            kind = {"user": "conversation", "import": "tool"}[kind]
        source = Source(SourceType(kind), ref, task=ref, evidence=said.evidence)
        about = {
            name: getattr(said, name)
            for name in ("kind", "project", "subject", "attribute", "value", "conditions")
        }
        draft = Draft(self.desk.draft(said.content, **about).claim, (source,))
        caller = self.robot if by_agent else PERSON
        written = remember.add(self.vault, caller, draft, correct=said.correct and not by_agent)
        self.counts[f"said:{written.outcome}"] += 1
        assert written.reason, "every answer has a reason"
        if by_agent:
            assert written.outcome in ("candidate", "refused")
            assert "delete" not in written.reason, "an agent learns nothing of what was deleted"
        if not by_agent and written.outcome == "candidate":
            assert written.reason == graves.HELD
            assert said.rule != "deleted"
            written = replace(written, id=candidates.confirm(self.vault, PERSON, str(written.id)).id)
            self.held.add(said.topic)
        if not self.as_agent and said.rule is not None:
            self.counts[f"rule:{said.rule}"] += 1
            if said.rule == "deleted" or said.topic not in self.held:
                self.judge(said, written)
        if written.id is not None:
            self.topics.setdefault(said.topic, [])
            if written.id not in self.topics[said.topic]:
                self.topics[said.topic].append(written.id)
        if written.run is not None:
            self.runs[said.topic] = written.run

    def judge(self, said: Any, written: Any) -> None:
        """What the rule that the step was made for says, against what happened."""
        known = self.topics.get(said.topic, [])
        if said.rule == "deleted":
            good = (written.outcome, written.id) == ("refused", None)
        elif said.rule == "repeat":
            good = written.outcome == "merged" and written.id in known
        elif said.rule == "proposed":
            good = written.outcome in ("candidate", "refused")
        else:
            outcome, before, after = RULES[said.rule]
            good = written.outcome == outcome and self.desk.get(written.id).status == after
            if before is not None:
                good = good and self.desk.get(known[-1]).status == before
        if not good:
            self.wrong.append(f"{said.rule}: {written.outcome} {written.reason} {said}")

    # ------------------------------------------------------------------------------------- what a person does

    def do(self, step: Any) -> None:
        ids = [record.id for record in self.living(step.topic)]
        if not ids or step.what == "leave":
            return
        try:
            self.act(step, ids)
            self.counts[f"did:{step.what}"] += 1
        except MemvaultError as error:
            assert error.message, "every refusal has a reason"
            self.counts[f"refused:{step.what}"] += 1

    def act(self, step: Any, ids: list[str]) -> None:
        """Raises MemvaultError where the state forbids it."""
        match step.what.split():
            case ["keep", side]:
                keep = {"new": ids[-1], "old": ids[0]}.get(side, side)
                named = {id_: f"case {n}" for n, id_ in enumerate(ids)} if side == "both" else {}
                before = self.living(step.topic)
                verdicts.resolve(self.vault, PERSON, ids[-1], keep, "as decided", named)
                if side == "neither":
                    self.buried([r for r in before if r.status is Status.CONFLICT])
            case ["delete"]:
                before = self.living(step.topic)
                erase.erase(self.vault, PERSON, erase.Selection(tuple(ids)), None)
                self.buried(before)
            case ["roll", "back"]:
                maintain.roll_back(self.vault, PERSON, self.runs[step.topic], with_dependents=True)
            case ["confirm"]:
                candidates.confirm(self.vault, PERSON, ids[-1])
            case ["reject"]:
                before = self.desk.get(ids[-1])
                candidates.reject(self.vault, PERSON, ids[-1])
                self.buried([before])
            case ["verify"]:
                remember.verify(self.vault, PERSON, ids[-1])
            case [switch]:
                remember.switch(self.vault, PERSON, ids[-1], on=switch == "enable")

    def buried(self, records: list[Record]) -> None:
        head = events.head(self.vault.writer).seq
        self.deleted += [(head, record) for record in records]

    def take_in(self, folder: Path, day: int) -> None:
        """A folder of new notes, of one that is known and of one that was deleted; twice."""
        folder.mkdir(parents=True)
        texts = [f"Cabinet {day} keeps the spare keys of floor {day}{n}." for n in range(4)]
        texts += [f"{day} 号柜子里放着 {day}{n} 层的备用钥匙。" for n in range(4)]
        gone = [r.claim.content for _, r in self.deleted if r.claim.project is None][-2:]
        for number, text in enumerate((*texts, texts[0].upper(), *gone)):
            (folder / f"{number}.md").write_text(f"---\nkind: fact\n---\n{text}\n")
        report = self.desk.take(folder)
        assert all(entry["reason"] for entry in report.refused)
        assert len(report.refused) == len(gone), "what was deleted is not imported"
        assert report.added == len(texts)
        again = self.desk.take(folder)
        assert (again.added, again.merged, len(again.refused)) == (0, 0, len(gone))
        self.counts["imported"] += report.added
        if day % 10 == 9:
            self.desk.roll_back(report.run)

    # ------------------------------------------------------------------------------------------ what is there

    def living(self, topic: int) -> list[Record]:
        found = memories.get(self.vault.writer, self.topics.get(topic, []), EVERYTHING)
        return [found[id_] for id_ in self.topics.get(topic, []) if id_ in found]

    def records(self) -> list[Record]:
        ids = memories.ids_of(self.vault.writer, EVERYTHING, Filter())
        chunks = [ids[n : n + 400] for n in range(0, len(ids), 400)]
        return [r for part in chunks for r in memories.get(self.vault.writer, part, EVERYTHING).values()]


# ------------------------------------------------------------------------------------------ what always holds


def check_moves(replay: Replay) -> None:
    """Every event starts where the one before it ended, and its move is in the table."""
    state: dict[str, str | None] = {}
    sql = "SELECT memory, type, from_status, to_status FROM event WHERE memory IS NOT NULL ORDER BY seq"
    seen = 0
    for memory, word, before, after in replay.vault.writer.all(sql):
        seen += 1
        assert before == state.get(memory), (word, before, after)
        assert (before, after) != ("conflict", "superseded")
        if before != after and word != "withdraw":
            assert word in MOVES
            assert Status(after) in lifecycle.TABLE[Move(word)][None if before is None else Status(before)]
        state[memory] = after
    assert seen > 300
    assert {r.id: str(r.status) for r in replay.records()} == {
        memory: after for memory, after in state.items() if after != "deleted"
    }


def check_chain(replay: Replay) -> None:
    assert events.first_broken(replay.vault.writer, replay.vault.secrets.events) is None
    assert maintain.verify_audit(replay.vault)["ok"]


def check_duplicates(replay: Replay) -> None:
    active = [r.claim for r in replay.records() if r.status is Status.ACTIVE]
    about = [
        (fold(c.subject or ""), fold(c.attribute or ""), value_of(c), c.project, c.scope) for c in active
    ]
    doubled = len(about) - len(set(about))
    assert not active or doubled < 0.01 * len(active), f"{doubled} of {len(active)}"


def check_contradictions(replay: Replay) -> None:
    """What is in force about one attribute and condition says one thing, or is listed as a conflict."""
    shown: set[str] = set()
    while True:
        page = verdicts.listing(replay.vault, PERSON, 500, len(shown))["items"]
        sides = {side["id"] for conflict in page for side in conflict["sides"]}
        if not sides - shown:
            break
        shown |= sides
    grouped: dict[tuple[Any, ...], list[Record]] = {}
    for record in replay.records():
        if record.status in IN_FORCE and record.claim.attribute:
            key = (record.claim.project, fold(record.claim.subject or ""), fold(record.claim.attribute))
            grouped.setdefault(key, []).append(record)
    for group in grouped.values():
        for n, one in enumerate(group):
            for other in group[n + 1 :]:
                assert about_the_same(one.claim, other.claim)
                apart = one.claim.conditions and other.claim.conditions
                if value_of(one.claim) == value_of(other.claim) or (
                    apart and not same_conditions(one.claim, other.claim)
                ):
                    continue
                both = {one.id, other.id}
                assert both <= shown, (one.claim, one.status, other.claim, other.status)


def check_deleted(replay: Replay) -> None:
    """No text, no words and no (subject, attribute, value) that a person deleted was written again.

    What stood beside it when it went may stay: one of several memories of a topic was deleted.
    """
    assert replay.deleted
    since: dict[Any, int] = {}
    for seq, record in replay.deleted:
        since = {**dict.fromkeys(_marks(record), seq), **since}
    gone = {record.id for _, record in replay.deleted}
    first = dict(replay.vault.writer.all("SELECT memory, min(seq) FROM event GROUP BY memory"))
    for record in replay.records():
        assert record.id not in gone
        for mark in _marks(record):
            assert mark not in since or first[record.id] < since[mark], (record.status, record.claim)
    assert settings.counters(replay.vault.writer)["prevented_resurrections"] > 0


def _marks(record: Record) -> list[Any]:
    """What a tombstone knows a claim by."""
    claim, bag = record.claim, tuple(sorted(words(record.claim.content)))
    if not (claim.subject and claim.attribute and claim.value):
        return [bag]
    return [bag, (claim.project, fold(claim.subject), fold(claim.attribute), fold(claim.value))]


def check_all(replay: Replay) -> None:
    check_moves(replay)
    check_chain(replay)
    check_duplicates(replay)
    check_contradictions(replay)
    check_deleted(replay)


def check_nothing_without_evidence(replay: Replay) -> None:
    """What an agent proposed is active only when a person confirmed it or two sightings bear it."""
    asked = promoted = 0
    for record in replay.records():
        said = events.of_memory(replay.vault.writer, record.id)
        if said[0]["actor"] != replay.robot.actor or record.status in (Status.CANDIDATE, Status.SUPERSEDED):
            continue
        asked += 1
        by_person = any(e["actor"] == "person" and e["type"] in ("confirm", "roll_back") for e in said)
        assert by_person or sightings(record.sources) >= SIGHTINGS, record
        promoted += not by_person
    assert asked
    assert bool(promoted) is not replay.wire, "over the socket an agent never speaks for the user"


SIZES = [
    pytest.param(SEEDS[0], FAST, id="fast"),
    pytest.param(SEEDS[1], LONG, id="long", marks=[pytest.mark.long, pytest.mark.timeout(900)]),
]


@pytest.mark.parametrize(("seed", "writes"), SIZES)
def test_a_month_of_daily_use_keeps_every_rule(
    desk: Any, robot: Any, clock: Any, tmp_path: Path, seed: int, writes: int
) -> None:
    replay = Replay(desk, robot, clock, as_agent=False)
    replay.play(seed, writes, tmp_path / "notes")
    assert not replay.wrong, "\n".join([f"{len(replay.wrong)} wrong", *replay.wrong[:10]])
    assert len(replay.held) < 0.03 * len(replay.topics), "few of the new are like the deleted"
    assert all(replay.counts[f"rule:{rule}"] for rule in (*RULES, "repeat", "deleted", "proposed"))
    check_all(replay)
    desk.whole()


@pytest.mark.parametrize("wire", [True, False], ids=["over the socket", "as a hook reports it"])
@pytest.mark.parametrize(("seed", "writes"), SIZES)
def test_the_same_month_as_an_agent_leaves_nothing_active_without_evidence_or_a_person(
    desk: Any, robot: Any, clock: Any, tmp_path: Path, seed: int, writes: int, wire: bool
) -> None:
    replay = Replay(desk, robot, clock, as_agent=True, wire=wire)
    replay.play(seed, writes, tmp_path / "notes")
    assert replay.counts["said:candidate"] > writes / 4
    check_all(replay)
    check_nothing_without_evidence(replay)
