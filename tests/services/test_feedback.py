"""Feedback of agents: uses are counted, doubt is noted for the person, the claim never changes (SPEC 2)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from memvault.errors import LimitReached, NotFound, NotGranted, Refused, TextUnusable, Usage
from memvault.model import Sensitivity
from memvault.services import erase, feedback, maintain, remember
from memvault.services.caller import PERSON, Caller, Verb, agent
from memvault.services.inbox import page
from memvault.store import events, recalls

CROW = agent("crow", (None,))
DAY_S = 86_400


def notes(desk: Any, memory: str) -> list[str]:
    return [note["text"] for note in feedback.notes(desk.vault.writer, memory)]


def test_doubt_flags_and_notes_and_changes_nothing_else(desk: Any) -> None:
    memory = desk.add("The mill grinds at night.").id
    before = desk.get(memory)
    assert feedback.doubt(desk.vault, CROW, memory, "wrong", "It grinds by day.") == "flagged"
    after = desk.get(memory)
    assert after == replace(before, flags=("needs_verification",))
    (item,) = page(desk.vault, PERSON, 50, 0)["items"]
    assert (item["because"], [note["actor"] for note in item["notes"]]) == ("flagged", ["agent:crow"])
    assert notes(desk, memory) == ["wrong: It grinds by day."]


def test_an_agent_repeats_itself_in_vain_and_another_is_heard(desk: Any) -> None:
    memory = desk.add("The mill grinds at night.").id
    feedback.doubt(desk.vault, CROW, memory, "wrong", "By day.")
    assert feedback.doubt(desk.vault, CROW, memory, "outdated", "By day!") == "known"
    assert feedback.doubt(desk.vault, agent("wren", (None,)), memory, "outdated", "Not at all.") == "flagged"
    assert notes(desk, memory) == ["wrong: By day.", "outdated: Not at all."]


def test_taking_the_run_back_takes_off_the_flag_it_set_and_no_other(desk: Any) -> None:
    memory = desk.add("The mill grinds at night.").id
    feedback.doubt(desk.vault, CROW, memory, "wrong", "By day.")
    first = desk.vault.writer.one("SELECT id FROM run WHERE kind = 'feedback' ORDER BY id DESC")[0]
    feedback.doubt(desk.vault, agent("wren", (None,)), memory, "wrong", "By day, surely.")
    second = desk.vault.writer.one("SELECT id FROM run WHERE kind = 'feedback' ORDER BY id DESC")[0]
    maintain.roll_back(desk.vault, PERSON, second, with_dependents=False)
    assert desk.get(memory).flags == ("needs_verification",)
    maintain.roll_back(desk.vault, PERSON, first, with_dependents=True)
    assert desk.get(memory).flags == ()


def test_a_verification_settles_it(desk: Any) -> None:
    memory = desk.add("The mill grinds at night.").id
    feedback.doubt(desk.vault, CROW, memory, "wrong", "By day.")
    remember.verify(desk.vault, PERSON, memory)
    assert (desk.get(memory).flags, notes(desk, memory)) == ((), [])
    assert feedback.doubt(desk.vault, CROW, memory, "wrong", "By day again.") == "flagged"


def test_an_agent_gives_only_so_much_doubt_in_a_day(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "DOUBTS_A_DAY", 2)
    made = [desk.add(f"Mill number {number} grinds at night.").id for number in range(4)]
    for memory in made[:2]:
        feedback.doubt(desk.vault, CROW, memory, "wrong", "By day.")
    with pytest.raises(LimitReached):
        feedback.doubt(desk.vault, CROW, made[2], "wrong", "By day.")
    assert desk.get(made[2]).flags == ()
    assert feedback.doubt(desk.vault, agent("wren", (None,)), made[2], "wrong", "By day.") == "flagged"
    desk.clock.advance(DAY_S)
    assert feedback.doubt(desk.vault, CROW, made[3], "wrong", "By day.") == "flagged"


def test_a_use_is_counted_and_logged_without_words(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "USES_A_DAY", 2)
    memory = desk.add("The mill grinds at night.").id
    before = desk.get(memory)
    for count in (1, 2):
        assert feedback.used(desk.vault, CROW, memory) == "counted"
        assert desk.get(memory).usage_count == before.usage_count + count
    with pytest.raises(LimitReached):
        feedback.used(desk.vault, CROW, memory)
    after = desk.get(memory)
    assert replace(after, usage_count=before.usage_count, last_used_at=None) == before
    logged = desk.vault.writer.all("SELECT actor, results FROM recall_log")
    assert [actor for actor, _ in logged] == ["agent:crow"] * 2
    assert "mill" not in str(logged)
    assert recalls.KEPT_ROWS > 2


def test_what_was_said_to_be_wrong_is_in_the_log_as_well(desk: Any) -> None:
    memory = desk.add("The mill grinds at night.").id
    feedback.doubt(desk.vault, CROW, memory, "outdated", "It grinds by day since the flood.")
    (row,) = desk.vault.writer.all("SELECT actor, query_hash, results FROM recall_log")
    assert (row[0], row[1]) == ("agent:crow", b"")
    assert json.loads(row[2]) == [{"id": memory, "feedback": "outdated"}]
    assert desk.get(memory).usage_count == 0, "to be found wrong is no use"


@pytest.mark.parametrize("verdict", ["wrong", "used"])
def test_what_an_agent_may_not_read_does_not_exist_for_its_feedback(desk: Any, verdict: str) -> None:
    hidden = desk.add("The mill owner limps.", sensitivity=Sensitivity.PERSONAL).id
    for memory in (hidden, "01999999-0000-7000-8000-000000000000"):
        with pytest.raises(NotFound, match="no such memory"):
            give(desk, CROW, memory, verdict)
    assert desk.get(hidden).flags == ()


def give(desk: Any, caller: Caller, memory: str, verdict: str) -> str:
    if verdict == "used":
        return feedback.used(desk.vault, caller, memory)
    return feedback.doubt(desk.vault, caller, memory, verdict, "By day.")


def test_from_an_agent_that_may_not_propose_no_doubt_is_taken(desk: Any) -> None:
    memory = desk.add("The mill grinds at night.").id
    reader = replace(CROW, verbs=frozenset({Verb.READ}))
    assert feedback.used(desk.vault, reader, memory) == "counted"
    with pytest.raises(NotGranted):
        feedback.doubt(desk.vault, reader, memory, "wrong", "By day.")


@pytest.mark.parametrize(
    ("evidence", "error"),
    [
        (None, Usage),
        ("  ", TextUnusable),
        ("x" * 9_000, TextUnusable),
        ("the key is AKIA" + "Z7QJ4MX2KD5RT6WY now", Refused),
    ],
)
def test_evidence_is_checked_like_any_text(desk: Any, evidence: str | None, error: type[Exception]) -> None:
    memory = desk.add("The mill grinds at night.").id
    with pytest.raises(error):
        feedback.doubt(desk.vault, CROW, memory, "wrong", evidence)
    assert (desk.get(memory).flags, notes(desk, memory)) == ((), [])


def test_the_evidence_goes_with_the_memory(desk: Any) -> None:
    memory = desk.add("The mill grinds at night.").id
    feedback.doubt(desk.vault, CROW, memory, "wrong", "The miller sleeps at night.")
    erase.erase(desk.vault, PERSON, erase.Selection((memory,)), None)
    assert "miller" not in str(desk.vault.writer.all("SELECT body FROM event_payload"))
    assert [event["type"] for event in events.of_memory(desk.vault.writer, memory)].count("feedback") == 1
