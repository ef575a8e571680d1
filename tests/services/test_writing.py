"""SPEC 6 and 12: merging, correcting, proposing; authority is computed; what comes in is checked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import Illegal, NotFound, Refused, TextUnusable, Usage
from memvault.model import (
    Authority,
    Claim,
    Draft,
    Failure,
    Kind,
    Outcome,
    Scope,
    Sensitivity,
    Source,
    SourceType,
    Status,
)
from memvault.services import candidates, recollect, remember, trust
from memvault.services.caller import PERSON, Caller
from memvault.services.intake import checked_claim, checked_source
from memvault.services.trust import CONFIDENCE, merged_confidence

DEPLOY = {"project": "p", "subject": "project:p", "attribute": "deploy"}


def test_the_same_claim_from_several_sources_is_one_memory_that_keeps_them_all(desk: Any) -> None:
    first = desk.add("Use pnpm.", **DEPLOY, value="pnpm", source="conversation:a")
    for ref in ("b", "c"):
        again = desk.add("The manager is pnpm!", **DEPLOY, value="PNPM", source=f"conversation:{ref}")
        assert (again.outcome, again.id) == (Outcome.MERGED, first.id)
    record = desk.get(first.id)
    assert [source.ref for source in record.sources] == ["a", "b", "c"]
    assert (record.observations, record.version, record.claim.content) == (3, 1, "Use pnpm.")


def test_merging_raises_confidence_by_the_formula_up_to_its_cap(desk: Any) -> None:
    first = desk.add("Use pnpm.", source="import:a")
    assert desk.get(first.id).confidence == pytest.approx(0.8)
    desk.add("use pnpm", source="import:b")
    assert desk.get(first.id).confidence == pytest.approx(1 - 0.2 * 0.2)
    desk.add("use pnpm", source="import:c")
    assert desk.get(first.id).confidence == 0.99


@given(st.floats(0, 1), st.floats(0, 1))
def test_confidence_never_falls_by_agreement_and_never_reaches_certainty(one: float, other: float) -> None:
    merged = merged_confidence(one, other)
    assert merged <= 0.99
    assert merged >= min(0.99, max(one, other)) - 1e-9
    assert merged == pytest.approx(merged_confidence(other, one))


def test_the_same_source_again_is_no_further_observation(desk: Any) -> None:
    first = desk.add("Use pnpm.", source="conversation:a")
    again = desk.add("Use pnpm.", source="conversation:a")
    assert (again.outcome, again.changed) == (Outcome.MERGED, False)
    record = desk.get(first.id)
    assert (record.observations, len(record.sources)) == (1, 1)
    assert len(desk.events(first.id)) == 1


def test_a_correction_supersedes_and_closes_the_old_claim(desk: Any, clock: Any) -> None:
    old = desk.add("Deploy with npm.", **DEPLOY, value="npm")
    clock.advance(3_600)
    new = desk.add("Deploy with ship.sh.", **DEPLOY, value="ship.sh", correct=True)
    assert new.outcome is Outcome.SUPERSEDED
    before, after = desk.get(old.id), desk.get(new.id)
    assert (before.status, after.status) == (Status.SUPERSEDED, Status.ACTIVE)
    assert before.claim.valid_to == after.claim.valid_from == "2026-03-02T10:00:00.000Z"
    assert after.supersedes == f"{old.id}@1"
    assert [(e["type"], e["from"], e["to"]) for e in desk.events(old.id)][-1] == (
        "supersede", "active", "superseded",
    )  # fmt: skip


def test_a_correction_of_nothing_known_is_an_ordinary_memory(desk: Any) -> None:
    assert desk.add("Deploy by hand.", **DEPLOY, value="hand", correct=True).outcome is Outcome.ACTIVE


def test_a_contradiction_makes_two_moves_in_one_run_and_lowers_confidence(desk: Any) -> None:
    one = desk.add("Tests run on testing.", **DEPLOY, value="testing", source="conversation:a")
    two = desk.add("Tests run on staging.", **DEPLOY, value="staging", source="conversation:b")
    assert two.outcome is Outcome.CONFLICT
    records = [desk.get(one.id), desk.get(two.id)]
    assert {record.status for record in records} == {Status.CONFLICT}
    assert {round(record.confidence, 4) for record in records} == {round(0.95 * 0.7, 4)}
    moves = [(e["type"], e["from"], e["to"]) for e in desk.events(two.id) if e["run"] == two.run]
    assert moves == [("create", None, "active"), ("contradict", "active", "conflict")]


def test_other_projects_and_scopes_neither_merge_nor_conflict(desk: Any) -> None:
    values = {"subject": "s", "attribute": "a"}
    one = desk.add("Indent by tabs.", **values, value="tabs", project="alpha", source="conversation:a")
    two = desk.add("Indent by spaces.", **values, value="spaces", project="beta", source="conversation:b")
    three = desk.add("Indent by tabs.", **values, value="tabs", project="alpha", scope=Scope.TEAM)
    assert {w.outcome for w in (one, two, three)} == {Outcome.ACTIVE}
    assert len({one.id, two.id, three.id}) == 3


def test_a_weaker_source_yields_and_is_kept_for_audit(desk: Any) -> None:
    mine = desk.add("Port 3000.", **DEPLOY, value="3000")
    theirs = desk.add("Port 4000.", **DEPLOY, value="4000", source="import:old-notes")
    assert theirs.outcome is Outcome.REFUSED
    assert desk.get(mine.id).status is Status.ACTIVE
    assert desk.get(theirs.id).status is Status.SUPERSEDED


@pytest.mark.parametrize(
    ("kind", "sources", "authority"),
    [
        ("person", "user", Authority.USER_CONFIRMED),
        ("person", "conversation", Authority.USER_CONFIRMED),
        ("person", "import", Authority.DOCUMENT),
        ("person", "team", Authority.DOCUMENT),
        ("agent", "conversation", Authority.CONVERSATION),
        ("agent", "user", Authority.INFERRED),
        ("agent", "tool", Authority.INFERRED),
        ("agent", "import", Authority.DOCUMENT),
    ],
)
def test_authority_comes_from_who_asks_and_not_from_what_is_said(
    kind: str, sources: str, authority: Authority, robot: Caller
) -> None:
    caller = PERSON if kind == "person" else robot
    assert trust.authority_of(caller, [Source(SourceType(sources), "x")]) is authority
    assert CONFIDENCE[authority] <= 0.99


def test_what_an_agent_writes_waits_and_changes_nothing_else(desk: Any, robot: Caller) -> None:
    mine = desk.add("Deploy with npm.", **DEPLOY, value="npm")
    before = desk.get(mine.id)
    same = desk.add("Deploy with npm.", **DEPLOY, value="npm", caller=robot, source="conversation:a")
    other = desk.add("Deploy with sh.", **DEPLOY, value="sh", caller=robot, correct=True)
    assert {same.outcome, other.outcome} == {Outcome.CANDIDATE}
    assert same.reason == other.reason, "an agent does not learn what is known already"
    assert desk.get(mine.id) == before
    desk.embed()
    assert [hit["id"] for hit in desk.recall("deploy with npm or sh")] == [mine.id]


def test_an_agent_does_not_learn_that_something_was_deleted(desk: Any, robot: Caller) -> None:
    desk.delete(desk.add("The code is zanzibar.").id)
    refused = desk.add("The code is zanzibar.", caller=robot)
    assert refused.outcome is Outcome.REFUSED
    assert "delete" not in refused.reason
    assert "deleted" in desk.add("The code is zanzibar.").reason


def test_confirming_makes_a_candidate_active_and_the_persons_own(desk: Any, robot: Caller) -> None:
    waiting = desk.add("Deploy with sh.", **DEPLOY, value="sh", caller=robot)
    record = candidates.confirm(desk.vault, PERSON, waiting.id)
    assert (record.status, record.authority) == (Status.ACTIVE, Authority.USER_CONFIRMED)
    with pytest.raises(Illegal, match="active"):
        candidates.confirm(desk.vault, PERSON, waiting.id)


def test_confirming_what_is_known_merges_and_leaves_one_memory(desk: Any, robot: Caller) -> None:
    mine = desk.add("Deploy with npm.", **DEPLOY, value="npm")
    waiting = desk.add("Ship by npm.", **DEPLOY, value="npm", caller=robot, source="conversation:a")
    assert candidates.confirm(desk.vault, PERSON, waiting.id).id == mine.id
    assert [source.ref for source in desk.get(mine.id).sources] == ["test", "a"]
    with pytest.raises(NotFound):
        desk.get(waiting.id)


def test_a_rejected_candidate_cannot_be_proposed_again(desk: Any, robot: Caller) -> None:
    waiting = desk.add("The user loves Java.", caller=robot)
    candidates.reject(desk.vault, PERSON, waiting.id)
    assert desk.add("the user loves java", caller=robot).outcome is Outcome.REFUSED
    active = desk.add("Something else.")
    with pytest.raises(Illegal):
        candidates.reject(desk.vault, PERSON, active.id)


def test_editing_makes_versions_that_only_grow_and_keeps_the_old_ones(desk: Any) -> None:
    written = desk.add("Port 3000.")
    for version, content in ((2, "Port 3001."), (3, "Port 3002.")):
        record = remember.edit(desk.vault, PERSON, written.id, {"content": content}, version - 1, "moved")
        assert (record.version, record.claim.content) == (version, content)
    history = recollect.history(desk.vault, PERSON, written.id)
    assert [v["content"] for v in history["versions"]] == ["Port 3000.", "Port 3001.", "Port 3002."]
    assert history["events"][-1]["reason"] == "moved"


def test_an_edit_against_another_version_is_refused(desk: Any) -> None:
    written = desk.add("Port 3000.")
    remember.edit(desk.vault, PERSON, written.id, {"content": "Port 3001."}, None, None)
    with pytest.raises(Illegal, match="version 2"):
        remember.edit(desk.vault, PERSON, written.id, {"content": "Port 9."}, 1, None)


def test_an_edit_that_changes_nothing_makes_no_version(desk: Any) -> None:
    written = desk.add("Port 3000.")
    assert remember.edit(desk.vault, PERSON, written.id, {"content": " Port 3000. "}, 1, None).version == 1
    assert len(desk.events(written.id)) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"content": None},
        {"content": ""},
        {"kind": "rumour"},
        {"scope": "task"},
        {"status": "active"},
        {"authority": "system"},
        {"confidence": "1"},
        {"attribute": "alone"},
        {"value": "alone"},
        {"expires_at": "soon"},
    ],
)
def test_an_edit_cannot_make_what_could_not_be_written(desk: Any, changes: dict[str, Any]) -> None:
    written = desk.add("Port 3000.")
    with pytest.raises(Usage):
        remember.edit(desk.vault, PERSON, written.id, changes, None, None)
    assert desk.get(written.id).version == 1


def test_an_edit_cannot_bring_back_what_was_deleted(desk: Any) -> None:
    desk.delete(desk.add("The contractor Wexelblatt is paid on Monday.").id)
    written = desk.add("Something else.")
    with pytest.raises(Refused):
        remember.edit(
            desk.vault,
            PERSON,
            written.id,
            {"content": "the contractor WEXELBLATT is paid on monday"},
            None,
            None,
        )


def test_use_makes_neither_version_nor_event(desk: Any) -> None:
    written = desk.add("Port 3000 belongs to the gateway.")
    desk.embed()
    before = desk.events(written.id)
    question = recollect.checked(recollect.Question("gateway port"))
    vector = desk.embedder.embed_query("gateway port")
    answer = recollect.recall(desk.vault, PERSON, question, vector, "hybrid")
    recollect.note_uses(desk.vault, [recollect.Use("person", answer)] * 3)
    record = desk.get(written.id)
    assert (record.usage_count, record.version) == (3, 1)
    assert record.last_used_at == desk.vault.now()
    assert record.verified_at is None, "use is no verification"
    assert desk.events(written.id) == before


def test_verifying_is_an_event_but_no_version_and_no_use(desk: Any, clock: Any) -> None:
    written = desk.add("Port 3000.")
    clock.advance(60)
    record = remember.verify(desk.vault, PERSON, written.id)
    assert (record.version, record.verified_at, record.last_used_at) == (1, desk.vault.now(), None)
    assert desk.events(written.id)[-1]["type"] == "verify"


def test_switching_off_and_on_again_loses_nothing(desk: Any) -> None:
    written = desk.add("Port 3000.")
    before = desk.get(written.id)
    assert remember.switch(desk.vault, PERSON, written.id, on=False).status is Status.DISABLED
    with pytest.raises(Illegal):
        remember.switch(desk.vault, PERSON, written.id, on=False)
    assert remember.switch(desk.vault, PERSON, written.id, on=True) == before


def test_only_the_persons_own_word_switches_a_disabled_memory_on_again(desk: Any) -> None:
    written = desk.add("Port 3000.", source="import:notes")
    remember.switch(desk.vault, PERSON, written.id, on=False)
    for source in ("import:notes", "import:other", "conversation:b"):
        desk.add("Port 3000.", source=source)
        assert desk.get(written.id).status is Status.DISABLED, source
    desk.add("Port 3000.", source="user:me")
    assert desk.get(written.id).status is Status.ACTIVE


@pytest.mark.parametrize("text", ["", " ", "a\0b", "\ud800", "x" * 70_000])
@pytest.mark.parametrize("name", ["content", "why", "subject", "conditions", "about"])
def test_every_text_of_a_claim_is_checked(name: str, text: str) -> None:
    fields = {"content": "fine", "attribute": "a" if name == "subject" else None, name: text}
    with pytest.raises(TextUnusable):
        checked_claim(Claim(kind=Kind.FACT, scope=Scope.PRIVATE, **fields))


@pytest.mark.parametrize("text", ["", "a\0b", "\ud800", "x" * 17_000])
def test_every_text_of_a_failure_is_checked(text: str) -> None:
    failure = Failure("symptom", "cause", text)
    with pytest.raises(TextUnusable):
        checked_claim(Claim(Kind.REFLECTION, Scope.PRIVATE, "x", failure=failure))


@pytest.mark.parametrize(
    "source",
    [
        Source(SourceType.USER, ""),
        Source(SourceType.USER, "a\0b"),
        Source(SourceType.USER, "x" * 17_000),
        Source(SourceType.USER, "x", evidence="\ud800"),
        Source(SourceType.USER, "x", observed_at="\x1b[31m"),
    ],
)
def test_every_text_of_a_source_is_checked(source: Source) -> None:
    with pytest.raises(Usage):
        checked_source(source)


@pytest.mark.parametrize(
    "claim",
    [
        Claim(Kind.FACT, Scope.TASK, "x"),
        Claim(Kind.FACT, Scope.PRIVATE, "x", attribute="a"),
        Claim(Kind.FACT, Scope.PRIVATE, "x", value="v"),
        Claim(Kind.FACT, Scope.PRIVATE, "x", expires_at="tomorrow"),
        Claim(Kind.FACT, Scope.PRIVATE, "x", failure=Failure("a", "b", "c")),
    ],
)
def test_a_claim_that_cannot_stand_is_refused(claim: Claim) -> None:
    with pytest.raises(Usage):
        checked_claim(claim)


def test_relationships_are_personal_unless_said_otherwise() -> None:
    assert trust.default_sensitivity(Kind.RELATIONSHIP) is Sensitivity.PERSONAL
    assert trust.default_sensitivity(Kind.FACT) is Sensitivity.INTERNAL


def test_a_refused_write_changes_nothing_but_a_counter(desk: Any) -> None:
    desk.add("Kept.")
    with pytest.raises(TextUnusable):
        remember.add(desk.vault, PERSON, Draft(Claim(Kind.FACT, Scope.PRIVATE, "\0"), ()), correct=False)
    desk.whole()
    assert len(desk.news) == 1
