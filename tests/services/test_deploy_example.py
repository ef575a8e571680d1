"""The worked example of SPEC 6: one deploy command months ago, another last week, and what was said."""

from __future__ import annotations

from typing import Any

import pytest

from memvault.model import Draft, Kind, Outcome, Record, Scope, Source, SourceType, Status
from memvault.services import recollect, remember
from memvault.services.caller import PERSON

DAY_S = 86_400
ABOUT = {
    "kind": Kind.FACT,
    "scope": Scope.PRIVATE,
    "project": "shop",
    "subject": "project:shop",
    "attribute": "deploy command",
}
ENGLISH = ("The project is deployed with npm run deploy.", "The project is deployed with bash deploy.sh.")
CHINESE = ("项目用 npm run deploy 部署。", "项目用 bash deploy.sh 部署。")


class Story:
    """The two memories, one told by each of two tasks."""

    def __init__(self, desk: Any, clock: Any, contents: tuple[str, str]) -> None:
        self.desk, self.clock, self.contents = desk, clock, contents
        self.old = self._say(0, "npm run deploy", "task-a", 12, None)
        clock.advance(83 * DAY_S)

    def _say(self, which: int, value: str, task: str, index: int, evidence: str | None) -> Any:
        source = Source(SourceType.CONVERSATION, f"{task}.jsonl", task, index, evidence)
        claim = self.desk.draft(self.contents[which], value=value, **ABOUT).claim
        return remember.add(self.desk.vault, PERSON, Draft(claim, (source,)), correct=False)

    def last_week(self, evidence: str | None) -> tuple[Any, Record, Record]:
        new = self._say(1, "bash deploy.sh", "task-b", 4, evidence)
        self.desk.embed()
        self.clock.advance(7 * DAY_S)
        return new, self.desk.get(self.old.id), self.desk.get(new.id)

    def recalled(self) -> set[str]:
        return {hit["id"] for hit in self.desk.recall("deploy 部署 npm bash", project="shop")}


@pytest.fixture(params=[ENGLISH, CHINESE], ids=["english", "chinese"])
def story(request: Any, desk: Any, clock: Any) -> Story:
    return Story(desk, clock, request.param)


@pytest.mark.parametrize(
    "evidence", ["from next week the project uses the script", "这个项目从下周起改用脚本"]
)
def test_from_next_week_the_project_uses_the_script_superseded(story: Story, evidence: str) -> None:
    written, old, new = story.last_week(evidence)
    assert written.outcome is Outcome.SUPERSEDED
    assert (old.status, new.status) == (Status.SUPERSEDED, Status.ACTIVE)
    assert new.supersedes == f"{old.id}@1"
    assert old.claim.valid_to is not None
    assert new.flags == (), "the source said so: nothing to look at"
    assert story.recalled() == {new.id}, "the index no longer leads to the old one"
    event = story.desk.events(old.id)[-1]
    assert "its source says that it replaces" in event["reason"], "why did the system change its behaviour"


@pytest.mark.parametrize("evidence", ["production by script, tests by command", "生产用脚本、测试用命令"])
def test_production_by_script_tests_by_command_both_with_conditions(story: Story, evidence: str) -> None:
    written, old, new = story.last_week(evidence)
    assert written.outcome is Outcome.ACTIVE
    assert (old.status, new.status) == (Status.ACTIVE, Status.ACTIVE)
    assert {old.claim.conditions, new.claim.conditions} in ({"tests", "production"}, {"测试", "生产"})
    assert new.claim.conditions in {"production", "生产"}
    assert story.recalled() == {old.id, new.id}
    history = recollect.history(story.desk.vault, PERSON, old.id)
    assert [version["conditions"] for version in history["versions"]] == [None, old.claim.conditions]
    assert "conditions" in history["events"][-1]["reason"]


def test_no_hint_three_months_apart_superseded_reversible_and_shown_in_the_inbox(story: Story) -> None:
    written, old, new = story.last_week(None)
    assert written.outcome is Outcome.SUPERSEDED
    assert (old.status, new.status) == (Status.SUPERSEDED, Status.ACTIVE)
    assert new.flags == ("review_replacement",)
    waiting = recollect.page(story.desk.vault, PERSON, recollect.Filter(waiting=True), "created", 10, 0)
    assert [item["id"] for item in waiting["items"]] == [new.id]
    story.desk.roll_back(written.run)
    before = story.desk.get(old.id)
    assert (before.status, before.claim.valid_to) == (Status.ACTIVE, None)
    assert story.recalled() == {old.id}


def test_no_hint_and_said_in_the_same_week_is_a_conflict_for_a_person(desk: Any, clock: Any) -> None:
    story = Story(desk, clock, ENGLISH)
    remember.verify(desk.vault, PERSON, story.old.id)
    written, old, new = story.last_week(None)
    assert written.outcome is Outcome.CONFLICT, "the old one was checked as late as the new one was said"
    assert {old.status, new.status} == {Status.CONFLICT}
    assert story.recalled() == {old.id, new.id}
