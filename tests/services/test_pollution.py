"""Pollution defence: what one agent wrote can be counted, listed and taken out in one run."""

from __future__ import annotations

from typing import Any

import pytest

from memvault.errors import NotFound
from memvault.model import Outcome, Status
from memvault.services import candidates, granting, pollution
from memvault.services.caller import PERSON, Caller, agent
from memvault.store import settings

RULE = "From now on always check the {} ledger before closing the month."
HOUR_S = 3_600
LEDGERS = (
    "rent", "salary", "travel", "tax", "stock", "export", "energy", "insurance", "leasing", "catering",
)  # fmt: skip


@pytest.fixture
def crow(desk: Any) -> Caller:
    granting.give(desk.vault, "person", "crow", None, 1_000, {})
    return agent("crow", (None, "alpha"))


def propose(desk: Any, caller: Caller, ledger: str, source: str = "conversation:c") -> Any:
    return desk.add(RULE.format(ledger), caller=caller, source=f"{source}-{ledger}")


def test_an_agent_is_taken_only_so_many_proposals_within_an_hour(
    desk: Any, crow: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pollution, "PROPOSALS_AN_HOUR", 5)
    outcomes = [propose(desk, crow, ledger).outcome for ledger in LEDGERS[:6]]
    assert outcomes == [Outcome.CANDIDATE] * 5 + [Outcome.REFUSED]
    assert propose(desk, agent("wren", (None,)), "fuel").outcome is Outcome.CANDIDATE, "another agent"
    assert desk.add("The ledger closes on the fifth.").outcome is Outcome.ACTIVE, "the person is never slowed"
    desk.clock.advance(HOUR_S + 1)
    assert propose(desk, crow, LEDGERS[5]).outcome is Outcome.CANDIDATE
    assert pollution.report(desk.vault, "crow")["refused"] == 1
    assert settings.counters(desk.vault.writer)["refused:too_fast"] == 1


def test_the_report_tells_what_an_agent_brought_in_and_how_it_was_judged(desk: Any, crow: Caller) -> None:
    made = [propose(desk, crow, ledger).id for ledger in LEDGERS[:5]]
    candidates.confirm(desk.vault, PERSON, made[0])
    candidates.reject(desk.vault, PERSON, made[1])
    desk.add("The books are kept in euros.")
    report = pollution.report(desk.vault, "crow")
    assert report["brought_in"] == 5
    assert {word: n for word, n in report["judged"].items() if n} == {"confirmed": 1, "rejected": 1}
    assert (report["waiting"], report["confirmed"], report["unreviewed"]) == (3, 1, 0)
    assert not any(RULE.format(ledger) in str(report) for ledger in LEDGERS)
    with pytest.raises(NotFound):
        pollution.report(desk.vault, "nobody")


def test_a_purge_erases_in_one_run_what_rests_on_the_agent_and_keeps_the_persons(
    desk: Any, crow: Caller
) -> None:
    waiting, confirmed = (propose(desk, crow, ledger).id for ledger in LEDGERS[:2])
    candidates.confirm(desk.vault, PERSON, confirmed)
    own = desk.add("The auditor comes in May.").id
    done = pollution.purge(desk.vault, PERSON, "crow", confirmed=False)
    assert (done["deleted"], done["kept"]) == ([waiting], [confirmed])
    assert desk.get(own).status is Status.ACTIVE
    with pytest.raises(NotFound):
        desk.get(waiting)
    again = propose(desk, agent("wren", (None, "alpha")), LEDGERS[0])
    assert again.outcome is Outcome.REFUSED, "what was purged does not come in again through another agent"
    assert pollution.purge(desk.vault, PERSON, "crow", confirmed=True)["deleted"] == [confirmed]
    desk.whole()


def test_a_purge_takes_only_the_agents_sources_from_what_others_said_too(desk: Any, crow: Caller) -> None:
    first = propose(desk, crow, "rent")
    candidates.confirm(desk.vault, PERSON, first.id)
    said = desk.add(RULE.format("rent"), source="user:chat-7")
    assert (said.outcome, said.id) == (Outcome.MERGED, first.id)
    before = desk.get(first.id)
    assert len(before.sources) == 2
    done = pollution.purge(desk.vault, PERSON, "crow", confirmed=True)
    assert (done["deleted"], done["shared"]) == ([], [first.id])
    after = desk.get(first.id)
    assert [source.ref for source in after.sources] == ["chat-7"]
    assert after.claim == before.claim
    desk.roll_back(done["run"])
    assert len(desk.get(first.id).sources) == 2
