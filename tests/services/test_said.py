"""SPEC 5: what the user says in so many words is recalled at once in its project only, unconfirmed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from memvault.compile.task import Mode, Task
from memvault.compile.tokens import estimate
from memvault.hooks.claims import Claimed
from memvault.model import Kind, Outcome, Status
from memvault.services import candidates, compiling, prompting, remember
from memvault.services.caller import PERSON, SCRIPT, Caller, agent
from memvault.services.prompting import Proposal
from memvault.store import memories
from memvault.store.memories import SAID, Filter

PORT = "The staging database listens on port 5433."
QUESTION = "Which port does the staging database listen on?"
SETTING = "The user asked the agent to remember this."


def say(desk: Any, robot: Caller, content: str = PORT, kind: Kind = Kind.FACT, session: str = "s") -> Any:
    (note,) = prompting.propose(
        desk.vault, robot, session, [Proposal("said", Claimed(kind, content, content), SETTING)]
    )
    return note


def context(desk: Any, caller: Caller, objective: str, project: str | None = "alpha") -> Any:
    task = compiling.checked(Task(objective, Mode.SCOPED, project, "one"))
    vector = desk.embedder.embed_query(objective)
    return compiling.finish(
        compiling.gather(desk.vault, caller, task, vector, "hybrid"), estimate, "estimate"
    )


def zones(found: Any) -> dict[str, str]:
    return {name: "\n".join(lines) for name, lines, _ in found.pack.zones}


def test_it_is_found_by_every_reader_of_the_project_and_says_so(desk: Any, robot: Caller) -> None:
    memory = say(desk, robot).id
    desk.embed()
    other = agent("codex", (None, "alpha"))
    for caller, asked in (
        (robot, {}),
        (other, {}),
        (PERSON, {}),
        (PERSON, {"project": "alpha"}),
        (SCRIPT, {}),
    ):
        (hit,) = desk.recall(QUESTION, caller, **asked)
        assert (hit["id"], hit["unconfirmed"], hit["status"]) == (memory, True, Status.CANDIDATE)
        assert hit["why"][0] == f"unconfirmed, said on {desk.vault.now()[:10]}"


def test_it_is_found_in_no_other_project_by_any_path(desk: Any, robot: Caller) -> None:
    memory = say(desk, robot).id
    desk.embed()
    wide = agent("codex", (None, "beta", "alpha"))  # works in beta, may read both
    assert wide.project == "beta"
    for caller in (wide, agent("codex", (None,)), agent("codex", (None, "beta"))):
        assert desk.recall(QUESTION, caller) == []
        assert memories.get(desk.vault.reader, [memory], caller.reach) == {}
        assert memories.page(desk.vault.reader, caller.reach, Filter(), "created", 9, 0) == ([], 0)
        assert PORT not in context(desk, caller, QUESTION, caller.project).pack.text
    assert desk.recall(QUESTION, PERSON, project="beta") == []


def test_said_outside_of_any_project_it_stays_there(desk: Any, robot: Caller) -> None:
    nowhere = agent("claude-code", (None,))
    say(desk, nowhere)
    assert len(desk.recall(QUESTION, nowhere)) == 1
    assert desk.recall(QUESTION, robot) == []


def test_it_ranks_below_what_a_person_confirmed(desk: Any, robot: Caller) -> None:
    say(desk, robot, "The staging database listens on port 5433 since spring.")
    known = desk.add("The staging database listens on port 6543 since autumn.", project="alpha").id
    desk.embed()
    assert [hit["unconfirmed"] for hit in desk.recall(QUESTION, robot)] == [False, True]
    assert desk.recall(QUESTION, robot)[0]["id"] == known


def test_any_doubt_takes_it_out_of_recall(desk: Any, robot: Caller) -> None:
    memory = say(desk, robot).id
    with remember.change(desk.vault, "test", "person") as work:
        work.flag(desk.get(memory), "suspicious")
    for caller in (robot, PERSON):
        assert desk.recall(QUESTION, caller) == []
    assert memories.get(desk.vault.reader, [memory], robot.reach) == {}


def test_what_was_deleted_and_is_said_again_is_refused(desk: Any, robot: Caller) -> None:
    desk.delete(desk.add(PORT, project="alpha").id)
    assert say(desk, robot).outcome is Outcome.REFUSED
    alike = say(desk, robot, "Well, the staging database really listens on port 5433.")
    assert alike.id is None or not desk.recall(QUESTION, robot)


def test_a_candidate_that_an_agent_proposed_before_becomes_said(desk: Any, robot: Caller) -> None:
    content = "From now on always start the staging database on port 5433."
    first = desk.add(content, caller=robot, source="conversation:x", project="alpha")
    assert desk.recall(QUESTION, robot) == []
    assert say(desk, robot, content).id == first.id
    assert desk.get(first.id).flags == (SAID,)
    assert len(desk.recall(QUESTION, robot)) == 1


def test_being_said_neither_promotes_nor_keeps_from_promotion(desk: Any, robot: Caller) -> None:
    memory = say(desk, robot).id
    for number in range(4):
        say(desk, robot, session=f"t{number}")
    assert desk.get(memory).status is Status.CANDIDATE, "a hook's words are no observation"
    for chat in ("user:one", "user:two"):
        remember.add(desk.vault, SCRIPT, desk.draft(PORT, source=chat, project="alpha"), correct=False)
    promoted = desk.get(memory)
    assert (promoted.status, promoted.flags) == (Status.ACTIVE, ())


def test_confirming_takes_the_flag_off_and_nothing_is_unconfirmed_any_more(desk: Any, robot: Caller) -> None:
    memory = say(desk, robot).id
    confirmed = candidates.confirm(desk.vault, PERSON, memory)
    assert (confirmed.status, confirmed.flags) == (Status.ACTIVE, ())
    assert desk.recall(QUESTION, robot)[0]["unconfirmed"] is False


def test_it_lapses_after_thirty_days_without_a_tombstone(desk: Any, robot: Caller) -> None:
    memory = say(desk, robot).id
    desk.clock.advance(timedelta(days=31).total_seconds())
    assert candidates.lapse_candidates(desk.vault) == [memory]
    assert desk.recall(QUESTION, robot) == []
    assert say(desk, robot).outcome is Outcome.CANDIDATE


def test_the_index_is_the_same_after_the_vault_was_opened_again(desk: Any, robot: Caller) -> None:
    say(desk, robot)
    desk.reopen()
    assert len(desk.recall(QUESTION, robot)) == 1
    assert desk.recall(QUESTION, agent("codex", (None, "beta"))) == []


def test_a_context_holds_it_in_its_dynamic_part_only(desk: Any, robot: Caller) -> None:
    desk.add("Answer in British English.", kind=Kind.PREFERENCE, project="alpha")
    before = context(desk, robot, "anything at all").pack
    say(desk, robot, "Prefer tabs over spaces in the web app.", Kind.PREFERENCE)
    after = context(desk, robot, "anything at all")
    assert after.pack.stable_text == before.stable_text
    day = desk.vault.now()[:10]
    assert "tabs" not in after.pack.stable_text
    assert f"unconfirmed, said on {day}" in zones(after)["working set"]
    assert "inferred" not in after.pack.text
    candidates.confirm(desk.vault, PERSON, after.pack.shown[-1])
    assert "unconfirmed" not in context(desk, robot, "anything at all").pack.text


def test_three_of_a_turn_are_taken_and_further_turns_are_free(desk: Any, robot: Caller) -> None:
    def turn(numbers: range) -> list[Outcome]:
        found = [
            Proposal("said", Claimed(Kind.FACT, f"Service {n} listens on port {n}.", "x"), SETTING)
            for n in numbers
        ]
        return [note.outcome for note in prompting.propose(desk.vault, robot, "s", found)]

    assert turn(range(8001, 8005)) == [Outcome.CANDIDATE] * 3 + [Outcome.REFUSED]
    assert turn(range(8011, 8014)) == [Outcome.CANDIDATE] * 3
    indexes = {
        desk.get(id_).sources[0].message_index
        for id_ in memories.ids_of(desk.vault.reader, PERSON.reach, Filter())
    }
    assert indexes == {0, 1}


def test_without_the_right_to_propose_or_a_private_scope_nothing_is_offered(desk: Any, robot: Caller) -> None:
    for caller in (
        replace(robot, verbs=frozenset()),
        replace(robot, here=False),
        replace(robot, write_scopes=("team",)),
    ):
        found = [Proposal("said", Claimed(Kind.FACT, PORT, PORT), SETTING)]
        assert prompting.propose(desk.vault, caller, "s", found) == []
    assert memories.count(desk.vault.reader) == 0


def test_how_it_was_said_is_for_the_gate_and_is_not_kept(desk: Any, robot: Caller) -> None:
    memory = say(desk, robot, "Use pnpm for the web app.", Kind.PREFERENCE).id
    assert desk.get(memory).claim.context is None
    refused = desk.add(
        "Use yarn for the web app.", kind=Kind.PREFERENCE, caller=robot, source="conversation:x"
    )
    assert refused.outcome is Outcome.REFUSED, "without the order the same words are no statement"
