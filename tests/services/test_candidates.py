"""The candidate pool (SPEC 4 and 5): two independent observations or a person; echoes never count."""

from __future__ import annotations

from typing import Any

import pytest

from memvault.errors import NotFound
from memvault.model import Draft, Kind, Outcome, Source, SourceType, Status
from memvault.services import candidates, recollect, remember
from memvault.services.caller import PERSON, Caller, agent
from memvault.services.candidates import PENDING, lapse_candidates, sightings
from memvault.services.change import change
from memvault.services.intake import checked_claim
from memvault.services.placing import Written
from memvault.store import settings

DAY_S = 86_400
ABOUT = {"subject": "project:alpha", "attribute": "queue"}


def propose(desk: Any, caller: Caller, content: str, *sources: Source, **claim: Any) -> Written:
    """A proposal that passed the gate, whose own tests are elsewhere."""
    draft = Draft(checked_claim(desk.draft(content, **claim).claim), sources)
    reason = candidates.refusal(desk.vault, caller, draft)
    if reason is not None:
        return Written(Outcome.REFUSED, None, None, reason, None)
    with change(desk.vault, "add", caller.actor) as work:
        return candidates.propose(work, caller, draft)


def heard(ref: str, task: str | None = None, index: int | None = None, kind: str = "user") -> Source:
    return Source(SourceType(kind), ref, task, index)


def read_file(ref: str) -> Source:
    """A file that the daemon read, and that vouches by itself."""
    return Source(SourceType.FILE, ref, content_hash=f"{ref.partition('#')[0]:0>64}", verified=True)


def pair(desk: Any, robot: Caller, one: Source, two: Source, **claim: Any) -> Any:
    about = {**ABOUT, "value": "redis", **claim}
    first = propose(desk, robot, "The queue is redis.", one, **about)
    second = propose(desk, robot, "Redis holds the queue.", two, **about)
    assert first.id == second.id, "several candidates of one claim are one candidate"
    assert (first.outcome, second.outcome) == (Outcome.CANDIDATE, Outcome.CANDIDATE)
    assert first.reason == second.reason == PENDING
    return desk.get(first.id)


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.EPISODE])
def test_two_independent_observations_promote_facts_and_episodes(
    desk: Any, robot: Caller, kind: Kind
) -> None:
    record = pair(desk, robot, heard("s1", "t1", 1), heard("s2", "t2", 5), kind=kind)
    assert (record.status, record.observations, len(record.sources)) == (Status.ACTIVE, 2, 2)
    assert record.confidence == pytest.approx(1 - 0.5 * 0.5)
    assert [(e["type"], e["from"], e["to"]) for e in desk.events(record.id)][-1] == (
        "promote", "candidate", "active",
    )  # fmt: skip


@pytest.mark.parametrize(
    "kind", [Kind.PREFERENCE, Kind.PROCEDURE, Kind.RELATIONSHIP, Kind.REFLECTION, Kind.POLICY]
)
def test_every_other_kind_waits_for_a_person(desk: Any, robot: Caller, kind: Kind) -> None:
    record = pair(desk, robot, heard("s1"), heard("s2"), kind=kind)
    assert (record.status, record.observations) == (Status.CANDIDATE, 2)


def test_a_file_the_daemon_read_itself_is_an_observation(desk: Any, robot: Caller) -> None:
    assert pair(desk, robot, heard("s1"), read_file("/a")).status is Status.ACTIVE


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (heard("s1", "t1", 1), heard("s1", "t1", 9)),
        (heard("s1", None, 1), heard("s1", None, 2)),
        (heard("s1#a"), heard("s1#b")),
        (heard("s1", "t1"), heard("s2", "t1")),
        (read_file("/a"), read_file("/a#b")),
    ],
)
def test_two_observations_from_the_same_source_are_one(
    desk: Any, robot: Caller, one: Source, two: Source
) -> None:
    record = pair(desk, robot, one, two)
    assert (record.status, record.observations) == (Status.CANDIDATE, 1)
    assert len(record.sources) == (2 if one != two else 1)


@pytest.mark.parametrize("kind", ["conversation", "tool", "file", "import"])
def test_only_user_messages_and_verified_files_are_observations(desk: Any, robot: Caller, kind: str) -> None:
    assert pair(desk, robot, heard("s1", kind=kind), heard("s2", kind=kind)).status is Status.CANDIDATE


def test_observations_that_share_a_reference_or_a_task_are_counted_once() -> None:
    assert sightings([]) == 0
    assert sightings([heard("a"), heard("b"), heard("a")]) == 2
    assert sightings([heard("a", "t"), heard("b", "t"), heard("b", "u"), heard("c")]) == 2


def test_a_flagged_candidate_is_never_promoted_by_itself(desk: Any, robot: Caller) -> None:
    claim = desk.draft("The queue is redis.", **ABOUT, value="redis").claim
    for ref, flags in (("s1", ()), ("s2", ("suspicious",)), ("s3", ())):
        with change(desk.vault, "add", robot.actor) as work:
            first = candidates.propose(work, robot, Draft(claim, (heard(ref),)), flags)
    assert desk.get(first.id).status is Status.CANDIDATE
    confirmed = candidates.confirm(desk.vault, PERSON, first.id)
    assert (confirmed.status, confirmed.flags) == (Status.ACTIVE, ()), "a person looked"


STATED = [
    "Always start the queue of alpha with redis, never with kafka.",
    "以后阿尔法项目的队列一律用 redis。",
]


@pytest.mark.parametrize("content", STATED)
def test_through_the_gate_two_user_messages_make_a_fact_active(
    desk: Any, robot: Caller, content: str
) -> None:
    for number, ref in enumerate(("s1", "s2")):
        draft = Draft(desk.draft(content).claim, (Source(SourceType.USER, ref, ref, 3, content),))
        answer = remember.add(desk.vault, robot, draft, correct=False)
        assert answer.outcome is Outcome.CANDIDATE
        assert desk.get(answer.id).status is (Status.ACTIVE if number else Status.CANDIDATE)


@pytest.mark.parametrize(
    ("known", "becomes", "theirs"),
    [
        ({"value": "kafka"}, Status.SUPERSEDED, Status.ACTIVE),
        ({"value": "kafka", "source": "tool:x"}, Status.CONFLICT, Status.CONFLICT),
        ({"value": "kafka", "source": "user:x"}, Status.ACTIVE, Status.SUPERSEDED),
    ],
    ids=["weaker than what is known", "of the same authority", "the user's later word"],
)
def test_a_promoted_candidate_is_weighed_like_any_new_claim(
    desk: Any, robot: Caller, known: dict[str, str], becomes: Status, theirs: Status
) -> None:
    if "source" in known:
        value, (kind, _, ref) = known["value"], known["source"].partition(":")
        mine = propose(desk, robot, "The queue is kafka.", heard(ref, kind=kind), **ABOUT, value=value)
        with desk.vault.writer.transaction():
            desk.vault.writer.run("UPDATE memory SET status = 'active' WHERE id = ?", (mine.id,))
    else:
        mine = desk.add("The queue is kafka.", **ABOUT, **known)
    record = pair(desk, robot, heard("s1"), heard("s2"))
    assert (record.status, desk.get(mine.id).status) == (becomes, theirs)


def test_a_promoted_candidate_merges_into_the_memory_that_says_the_same(desk: Any, robot: Caller) -> None:
    mine = desk.add("We queue with redis.", **ABOUT, value="redis", source="user:me")
    for ref in ("s1", "s2"):
        answer = propose(desk, robot, "The queue is redis.", heard(ref), **ABOUT, value="redis")
        assert (answer.outcome, answer.reason) == (Outcome.CANDIDATE, PENDING)
        assert answer.id != mine.id
    record = desk.get(mine.id)
    assert [source.ref for source in record.sources] == ["me", "s1", "s2"], "all sources are kept"
    with pytest.raises(NotFound):
        desk.get(answer.id)


def test_a_candidate_never_changes_another_memorys_state(desk: Any, robot: Caller) -> None:
    mine = desk.add("The queue is kafka.", **ABOUT, value="kafka")
    before, events = desk.get(mine.id), desk.events(mine.id)
    propose(desk, robot, "The queue is redis.", heard("s1"), **ABOUT, value="redis")
    propose(desk, robot, "The queue is kafka.", heard("s2", kind="tool"), **ABOUT, value="kafka")
    assert (desk.get(mine.id), desk.events(mine.id)) == (before, events)


def test_at_most_three_candidates_per_turn_and_source(desk: Any, robot: Caller) -> None:
    turn = heard("s1", "t1", 4)
    written = [propose(desk, robot, f"Office {n} has key {n}.", turn) for n in range(4)]
    assert [w.outcome for w in written] == [Outcome.CANDIDATE] * 3 + [Outcome.REFUSED]
    assert "3 proposals" in written[-1].reason
    assert written[-1].id is None
    assert settings.counters(desk.vault.writer)["refused:too_many"] == 1
    assert propose(desk, robot, "office 2 has key 2", turn).outcome is Outcome.CANDIDATE, "nothing new"
    candidates.confirm(desk.vault, PERSON, written[0].id)
    assert propose(desk, robot, "Office 7 has key 7.", turn).outcome is Outcome.REFUSED
    for other in (heard("s1", "t1", 5), heard("s1", "t2", 4), heard("s2", "t1", 4)):
        assert propose(desk, robot, f"Office {other} has a key.", other).outcome is Outcome.CANDIDATE


@pytest.mark.parametrize("turn", [("s1", "t1", 4), ("s1",)], ids=["a turn", "no turn"])
def test_what_another_agent_proposed_before_changes_nothing_of_how_many_are_held(
    desk: Any, robot: Caller, turn: Any
) -> None:
    other, mine = agent("wren", (None, "alpha")), heard(*turn, kind="conversation")
    for n in (0, 2):
        propose(desk, other, f"Office {n} has key {n}.", heard("s9", "t9", n, "conversation"))
    written = [propose(desk, robot, f"Office {n} has key {n}.", mine) for n in range(4)]
    assert [w.outcome for w in written] == [Outcome.CANDIDATE] * 3 + [Outcome.REFUSED]


def test_a_source_that_names_no_turn_has_one_in_ten_minutes(desk: Any, robot: Caller, clock: Any) -> None:
    outcomes = [propose(desk, robot, f"Office {n} has key {n}.", heard("s1")).outcome for n in range(4)]
    assert outcomes[-1] is Outcome.REFUSED
    clock.advance(601)
    assert propose(desk, robot, "Office 9 has key 9.", heard("s1")).outcome is Outcome.CANDIDATE


def test_30_days_without_confirmation_deletes_without_tombstone(desk: Any, robot: Caller, clock: Any) -> None:
    old = propose(desk, robot, "Office 1 has key 1.", heard("s1"))
    kept = desk.add("Office 2 has key 2.")
    clock.advance(20 * DAY_S)
    seen_again = propose(desk, robot, "Office 3 has key 3.", heard("s2"), kind=Kind.PROCEDURE)
    clock.advance(9 * DAY_S)
    assert lapse_candidates(desk.vault) == []
    clock.advance(2 * DAY_S)
    assert lapse_candidates(desk.vault) == [old.id]
    with pytest.raises(NotFound):
        desk.get(old.id)
    assert {desk.get(kept.id).status, desk.get(seen_again.id).status} == {Status.ACTIVE, Status.CANDIDATE}
    assert propose(desk, robot, "Office 1 has key 1.", heard("s3")).outcome is Outcome.CANDIDATE
    desk.whole()


# ------------------------------------------------------------------------------------------- no feedback loop


def tell(desk: Any, caller: Caller, query: str, *, log: bool = True) -> list[str]:
    """Recall as `caller`; the contents that reached it."""
    question = recollect.checked(recollect.Question(query))
    vector = desk.embedder.embed_query(query)
    answer = recollect.recall(desk.vault, caller, question, vector, "hybrid")
    if log:
        recollect.note_uses(desk.vault, [recollect.Use(caller.actor, answer)])
    return [result["content"] for result in answer.results]


TOLD = ["The queue of alpha is redis, not kafka.", "阿尔法项目的队列用 redis。"]


@pytest.mark.parametrize("content", TOLD)
@pytest.mark.parametrize("log", [True, False])
def test_text_recalled_and_fed_back_never_counts_as_an_observation(
    desk: Any, robot: Caller, content: str, log: bool
) -> None:
    mine = desk.add(content)
    desk.embed()
    assert tell(desk, robot, "queue redis 队列", log=log) == [content]
    before = desk.get(mine.id)
    for back in (content, content.upper(), f"  {content.rstrip('.。')}  "):
        answer = propose(desk, robot, back, heard("s1"))
        assert answer.outcome is Outcome.REFUSED
        assert "came from memvault" in answer.reason
    quoting = Source(SourceType.USER, "s2", evidence=content)
    assert propose(desk, robot, "Alpha queues with redis", quoting).outcome is Outcome.REFUSED
    assert desk.get(mine.id).sources == before.sources
    assert settings.counters(desk.vault.writer)["refused:echo"] == 4


def test_what_carries_the_id_of_a_memory_is_an_echo_if_its_bearer_may_read_it(
    desk: Any, robot: Caller
) -> None:
    mine = desk.add("The queue is redis.", project="alpha")
    hidden = desk.add("The vault is in room 9.", project="secret")
    reworded = f"Memory {mine.id} says that redis queues"
    assert propose(desk, robot, reworded, heard("s1")).outcome is Outcome.REFUSED
    source = Source(SourceType.USER, f"memvault:{mine.id}")
    assert propose(desk, robot, "Redis queues things", source).outcome is Outcome.REFUSED
    probing = propose(desk, robot, f"Memory {hidden.id} says something", heard("s2"))
    assert probing.outcome is Outcome.CANDIDATE, "no refusal betrays what it may not read"


def test_what_was_told_is_known_after_a_lock_and_only_for_the_one_it_was_told_to(
    desk: Any, robot: Caller, clock: Any
) -> None:
    desk.add(TOLD[0])
    desk.embed()
    assert tell(desk, robot, "queue redis")
    desk.reopen()
    other = agent("other", (None,))
    assert propose(desk, other, TOLD[0], heard("s1")).outcome is Outcome.CANDIDATE
    assert propose(desk, robot, TOLD[0], heard("s2")).outcome is Outcome.REFUSED
    script = Caller("script", False, PERSON.reach)
    tell(desk, PERSON, "queue redis")
    assert propose(desk, script, TOLD[0], heard("s3")).outcome is Outcome.REFUSED


def test_a_deleted_memory_leaves_no_trace_of_having_been_told(desk: Any, robot: Caller) -> None:
    mine = desk.add(TOLD[0])
    desk.embed()
    tell(desk, robot, "queue redis")
    assert desk.vault.writer.one("SELECT count(*) FROM told")[0] > 0
    desk.delete(mine.id)
    assert desk.vault.writer.one("SELECT count(*) FROM told")[0] == 0


def test_an_agent_is_told_pending_or_refused_and_nothing_about_what_it_may_not_read(
    desk: Any, robot: Caller
) -> None:
    desk.add("The queue is redis.", **ABOUT, value="redis", sensitivity="restricted")
    desk.add("The queue is kafka.", **{**ABOUT, "attribute": "other"}, value="kafka")
    known = propose(desk, robot, "The queue is redis.", heard("s1"), **ABOUT, value="redis")
    clash = propose(desk, robot, "The queue is nats.", heard("s2"), **ABOUT, value="nats")
    fresh = propose(desk, robot, "The moon is round.", heard("s3"))
    answers = {(a.outcome, a.version, a.reason) for a in (known, clash, fresh)}
    assert answers == {(Outcome.CANDIDATE, 1, PENDING)}
