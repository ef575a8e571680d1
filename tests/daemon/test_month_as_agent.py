"""The month of generated daily use as an agent with the default grant: nothing became active by itself.

The real server on its real socket, the agent's token, its own processes in git repositories; the clock is set
day by day.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memvault.clock import parse
from memvault.model import Record, SourceType, Status
from memvault.services import maintain, pollution
from memvault.services.candidates import LAPSE_AFTER, SIGHTINGS, sightings
from memvault.services.change import EVERYTHING, fetch
from memvault.services.vault import Vault
from memvault.store import events, memories, settings
from memvault.store.memories import Filter

HERE = Path(__file__)
BURIED = "refused by a rule of this vault"
"""All that an agent is told of what a person deleted."""
ECHO = "it came from memvault itself and is no new observation"

SIZES = [
    pytest.param(20260302, 600, id="fast"),
    pytest.param(11, 5_000, id="long", marks=[pytest.mark.long, pytest.mark.timeout(1_800)]),
]


def load(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


living = load("agent_month", HERE.with_name("agent_month.py"))
rules = load("month_rules", HERE.parents[1] / "services" / "test_month_replay.py")


@pytest.fixture
def daemon(daemon_home: Any, clock: Any) -> Iterator[Any]:
    running = living.Living(daemon_home, clock)
    yield running
    running.stop()


class Watch:
    """Looks at every event soon after it happened: who made what active, and what lapsed when."""

    def __init__(self, replay: Any) -> None:
        self.replay, self.seq = replay, 0
        self.counts: Counter[str] = Counter()
        self.lapsed: list[str] = []
        replay.watched.append(self.look)

    def look(self) -> None:
        self.replay.living.inside(self._look)

    def _look(self, vault: Vault) -> None:
        sql = "SELECT seq, memory, actor, type, from_status, to_status FROM event WHERE seq > ? ORDER BY seq"
        for seq, memory, actor, word, before, after in vault.writer.all(sql, (self.seq,)):
            self.seq = seq
            if after == Status.ACTIVE and before != after and actor != "person":
                self._bears_itself(fetch(vault, memory), actor, word)
            if word == "lapse":
                self._waited(vault, seq, memory)

    def _waited(self, vault: Vault, seq: int, memory: str) -> None:
        """Thirty days since it was proposed or last observed; not much longer after anything else."""
        sql = (
            "SELECT max(at) FILTER (WHERE type = 'observe' OR from_status IS NOT to_status), max(at)"
            " FROM event WHERE memory = ? AND seq < ?"
        )
        seen, touched = map(parse, vault.writer.one(sql, (memory, seq)))
        now = self.replay.clock.now()
        assert now - seen > LAPSE_AFTER
        assert now - touched <= LAPSE_AFTER + timedelta(days=2)
        self.lapsed.append(memory)

    def _bears_itself(self, record: Record, actor: str, word: str) -> None:
        """Only two observations in files that the daemon verified make a proposal active."""
        assert (actor, word) == (f"agent:{living.AGENT}", "promote"), (actor, word, record)
        assert sightings(record.sources) >= SIGHTINGS, record
        assert all(source.type is not SourceType.USER for source in record.sources), record
        assert sum(source.verified for source in record.sources) >= SIGHTINGS, record
        self.counts["promoted"] += 1


class Cites:
    """Claims that files of the project bear: two files, one twice, or files of the agent's own making."""

    def __init__(self, replay: Any, number: int) -> None:
        self.replay, self.at = replay, replay.repositories["alpha"]
        self.claims = {n: f"The queue of dock {n}00{n} is always redis, never kafka." for n in range(number)}
        self.files = [
            self._write(f"{folder}/dock{n}.md", n) for n in self.claims for folder in ("docs", "notes")
        ]

    def _write(self, name: str, number: int) -> Path:
        path = self.at / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {name}\n\n{self.claims[number]}\n")
        return path

    def cite(self, number: int, ref: str, task: str) -> dict[str, Any]:
        claim = self.claims[number]
        about = {"subject": f"dock {number}00{number}", "attribute": "queue", "value": "redis"}
        source = {"type": "file", "ref": ref, "task": task, "evidence": claim}
        return {"content": claim, "kind": "fact", "scope": "private", "source": source, **about}

    def play(self, number: int) -> None:
        """By turns: two files, one file twice, one file and hearsay, two files that are new."""
        way, hearsay = number % 4, {"type": "conversation", "ref": f"talk-{number}"}
        one, two = f"docs/dock{number}.md", f"notes/dock{number}.md"
        first = self.replay.add(self.cite(number, one, f"task {number}"))
        if way == 3:
            for name in (one, two):
                (self.at / name).unlink()
            one, two = f"docs/new{number}.md", f"notes/new{number}.md"
            for name in (one, two):
                self._write(name, number)
            self.replay.add(self.cite(number, one, f"morning {number}"))
        again = self.cite(number, one if way == 1 else two, f"evening {number}")
        second = self.replay.add({**again, "source": hearsay} if way == 2 else again)
        assert first["id"] == second["id"], (number, first, second)
        (record,) = self.replay.records([first["id"]])
        assert (record.status is Status.ACTIVE) == (way == 0), (way, record)
        assert first["reason"] == second["reason"], "the answer is the same in every case"


def crowd(replay: Any, day: int) -> None:
    """Six conclusions of one turn of one source: three are held."""
    for turn in ({"task": f"crowd {day}", "message_index": 3}, {}):
        source = {"type": "conversation", "ref": f"crowd:{day}{len(turn)}", **turn}
        outcomes = [
            replay.add(living.speech(f"crane {day} {n} {len(turn)}", "8081", source))["outcome"]
            for n in range(6)
        ]
        assert outcomes == ["candidate"] * 3 + ["refused"] * 3


def hurry(replay: Any, day: int) -> None:
    """More within an hour than is taken: what is beyond is refused, and an hour later the agent is heard."""
    outcomes: list[str] = []
    for n in range(pollution.PROPOSALS_AN_HOUR + 10):
        replay.clock.advance(1)
        source = {"type": "conversation", "ref": f"hurry:{day}-{n}"}
        outcomes.append(replay.add(living.speech(f"sluice {day} {n}", "9007", source))["outcome"])
    assert outcomes[-10:] == ["refused"] * 10
    replay.clock.advance(3_601)
    source = {"type": "conversation", "ref": f"hurry:{day}-later"}
    assert replay.add(living.speech(f"sluice {day} later", "9007", source))["outcome"] == "candidate"


def echo(replay: Any) -> int:
    """Recall what a person confirmed and say it again: no observation. Returns how many were recalled."""
    found = replay.ask("recall", {"query": "always listens, ships, formats or sends 总是", "limit": 3})[
        "result"
    ]
    for number, hit in enumerate(found["results"]):
        before = replay.records([hit["id"]])
        for said in (hit["content"], hit["content"].upper()):
            source = {"type": "conversation", "ref": f"echo:{replay.clock.now().isoformat()}-{number}"}
            given = {"content": said, "kind": "fact", "scope": "private", "source": source}
            assert replay.add(given)["outcome"] == "refused"
        assert [r.sources for r in replay.records([hit["id"]])] == [r.sources for r in before]
    return len(found["results"])


def stray(replay: Any) -> None:
    """A project that is named instead of worked in answers as nothing there."""
    given = {**living.speech("stray", "1", {"type": "conversation", "ref": "stray"}), "project": "beta"}
    assert replay.ask("memory.add", given)["error"] == "not_found"


# --------------------------------------------------------------------------------------------- what must hold


class Seen:
    """The vault at the end, as the rules of the month look at it."""

    def __init__(self, replay: Any, vault: Vault) -> None:
        self.vault, self.deleted = vault, replay.deleted

    def records(self) -> list[Record]:
        ids = memories.ids_of(self.vault.writer, EVERYTHING, Filter())
        chunks = [ids[n : n + 400] for n in range(0, len(ids), 400)]
        return [r for part in chunks for r in memories.get(self.vault.writer, part, EVERYTHING).values()]


def check_log(replay: Any) -> None:
    def look(vault: Vault) -> None:
        seen = Seen(replay, vault)
        rules.check_moves(seen)
        rules.check_duplicates(seen)
        rules.check_contradictions(seen)
        rules.check_deleted(seen)
        assert events.first_broken(vault.writer, vault.secrets.events) is None
        assert maintain.verify_audit(vault)["ok"]

    replay.living.inside(look)
    assert replay.living.as_person("audit.verify", {})["ok"] is True


def check_answers(replay: Any) -> None:
    """An agent hears `candidate` or `refused`, with a reason that says nothing of other memories."""
    held = {answer["reason"] for _, _, answer in replay.answers if answer["outcome"] == "candidate"}
    assert len(held) == 1
    for _, params, answer in replay.answers:
        assert answer["outcome"] in ("candidate", "refused"), answer
        assert answer["reason"], params
        assert not any(word in answer["reason"] for word in ("delete", "merge", "conflict", "resembl"))
        if answer["outcome"] == "refused":
            assert (answer["id"], answer["version"], answer["run"]) == (None, None, None)
        else:
            assert answer["version"] == 1


def check_counted(replay: Any) -> None:
    """Every refusal is counted: against the agent, and by its reason."""
    refused = Counter(a["reason"] for _, _, a in replay.answers if a["outcome"] == "refused")
    counters = replay.living.inside(lambda vault: settings.counters(vault.writer))
    assert counters[f"refused_of:agent:{living.AGENT}"] == refused.total()
    report = replay.living.as_person("agents.report", {"name": living.AGENT})
    assert report["refused"] == refused.total()
    by_reason = {name: n for name, n in counters.items() if name.startswith("refused:")}
    assert sum(by_reason.values()) == refused.total() - refused[BURIED], (by_reason, refused)
    assert counters["prevented_resurrections"] >= refused[BURIED] > 0
    assert counters["refused:echo"] == refused[ECHO] > 0


def check_limits(replay: Any) -> None:
    """At most three proposals of one turn and source, at most sixty within any hour."""
    turns: defaultdict[tuple[Any, ...], set[str]] = defaultdict(set)
    taken = [(at, params, answer) for at, params, answer in replay.answers if answer["id"] is not None]
    for _, params, answer in taken:
        source = params["source"]
        turn = (source["type"], source["ref"], source.get("task"), source.get("message_index"))
        turns[turn].add(answer["id"])
    assert max(map(len, turns.values())) == 3
    times = [at for at, _, _ in taken]
    most = pollution.PROPOSALS_AN_HOUR
    assert all(
        later - earlier >= timedelta(hours=1) for earlier, later in zip(times, times[most:], strict=False)
    )


@pytest.mark.parametrize(("seed", "writes"), SIZES)
def test_over_the_socket_as_an_agent_nothing_became_active_without_evidence_or_a_person(
    daemon: Any, tmp_path: Path, until: Callable[..., Any], seed: int, writes: int
) -> None:
    replay = living.Month(daemon, tmp_path, seed)
    cites = Cites(replay, 8 if writes < 1_000 else 40)
    replay.wait_until_older(cites.files, until)
    watch = Watch(replay)
    recalled = 0
    for day in replay.play(writes):
        replay.clock.advance(3_601)
        if day % 6 == 1:
            crowd(replay, day)
        if day == 12:
            hurry(replay, day)
        if day % 3 == 2:
            recalled += echo(replay)
        for number in [n for n in cites.claims if n % 25 == day]:
            cites.play(number)
        stray(replay)
    assert replay.counts["said:candidate"] > writes / 4
    assert watch.counts["promoted"] == len([n for n in cites.claims if n % 4 == 0])
    assert recalled > 0
    assert replay.counts["did:review.confirm"] > 10
    assert replay.counts["did:review.reject"] > 5
    lapse(replay, watch)
    check_log(replay)
    check_answers(replay)
    check_counted(replay)
    check_limits(replay)


def lapse(replay: Any, watch: Watch) -> None:
    """Thirty days after the last word nothing waits any more, and what lapsed may be proposed again."""
    last = (max(replay.said_at.values()) - replay.start).days
    for day in range(living.month.DAYS, last + 33):
        replay.at(day)
    assert watch.lapsed
    waiting = replay.living.as_person("memory.list", {"status": "candidate"})
    assert waiting["total"] == 0
    params = next(p for _, p, a in replay.answers if a["id"] == watch.lapsed[-1])
    again = replay.add(params)
    assert again["outcome"] == "candidate"
    assert again["id"] != watch.lapsed[-1]
