"""SPEC 8 and 9: rules arrive with the work they are for, though no word of the prompt asks for them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from memvault.daemon.handlers import hooks
from memvault.model import Kind, Sensitivity
from memvault.rpc.hook_wire import HookEvent
from memvault.services import prompting
from memvault.services.caller import Caller
from memvault.services.hearing import Hearing

RULE = "Write the first line in the imperative mood, below 60 characters."


def shown(desk: Any, caller: Caller, prompt: str, known: frozenset[str] = frozenset()) -> prompting.Shown:
    desk.embed()
    vector = desk.embedder.embed_query(prompt)
    return prompting.recalled(desk.vault, caller, prompt, vector, "hybrid", known)


def rule(desk: Any, content: str = RULE, **more: Any) -> str:
    about = {"subject": "commits", "attribute": "style", "kind": Kind.PREFERENCE, "project": "alpha"}
    return desk.add(content, **{**about, **more}).id


@pytest.mark.parametrize("prompt", ["commit this please", "把改动提交一下"])
def test_a_rule_arrives_with_the_work_it_is_for(desk: Any, robot: Caller, prompt: str) -> None:
    memory = rule(desk)
    found = shown(desk, robot, prompt)
    assert RULE in found.text
    assert found.answer.used == [memory]
    assert found.answer.logged[0]["hook"] == "topic"


@pytest.mark.parametrize("prompt", ["make the button larger", "把按钮改大一点", "why is the sky blue?"])
def test_without_its_topic_there_is_silence(desk: Any, robot: Caller, prompt: str) -> None:
    rule(desk)
    assert shown(desk, robot, prompt).text == ""


def test_what_the_session_has_is_not_shown_again(desk: Any, robot: Caller) -> None:
    memory = rule(desk)
    assert shown(desk, robot, "commit this please", frozenset((memory,))).text == ""


def test_only_rules_somebody_stands_behind_and_of_this_place_arrive(desk: Any, robot: Caller) -> None:
    rule(desk, "Commits of the other project end with a ticket number.", project="beta")
    rule(desk, "The commit hook lives in the tools folder.", kind=Kind.FACT, attribute="hook")
    rule(
        desk, "Commits are signed with the person's key.", attribute="key", sensitivity=Sensitivity.RESTRICTED
    )
    rule(desk, "Commits wait for the linter.", attribute="wait", expires_at="2020-01-01T00:00:00.000Z")
    assert shown(desk, robot, "把改动提交一下").text == ""


def test_at_most_two_of_them_and_what_was_asked_for_comes_first(desk: Any, robot: Caller) -> None:
    for number in range(5):
        rule(desk, f"Rule number {number} of how it is done.", attribute=f"rule {number}")
    desk.add("The payment gateway times out after nine seconds.", project="alpha")
    found = shown(desk, robot, "commit the change: the payment gateway times out after nine seconds")
    lines = [line for line in found.text.splitlines() if line.startswith("- [")]
    assert ["nine seconds" in line for line in lines] == [True] + [False] * (len(lines) - 1)
    assert len(lines) >= 2
    assert shown(desk, robot, "把改动提交一下").text.count("of how it is done") == prompting.MOST_DUE


class Untouchable:
    """A daemon in which whatever a recall or a context would need fails."""

    def __init__(self, setting: str) -> None:
        self.config = SimpleNamespace(hook_recall=setting, hook_proposals=False)

    def require(self) -> Any:
        return SimpleNamespace(hearing=Hearing())


async def told(setting: str, caller: Caller, event: str) -> Any:
    session = SimpleNamespace(is_agent=True, caller=caller, peer=SimpleNamespace(cwd="/somewhere"))
    call = cast("Any", SimpleNamespace(keeper=Untouchable(setting), session=session))
    said = HookEvent(event=cast("Any", event), session="s", prompt="commit the change")
    return (await hooks.event(call, said))["context"]


@pytest.mark.parametrize("setting", ["off", "start"])
async def test_where_recall_for_prompts_is_off_none_is_run(setting: str, robot: Caller) -> None:
    assert await told(setting, robot, "UserPromptSubmit") is None
    with pytest.raises(AttributeError):
        await told("auto", robot, "UserPromptSubmit")


async def test_where_all_is_off_no_context_is_compiled(robot: Caller) -> None:
    assert await told("off", robot, "SessionStart") is None
    with pytest.raises(AttributeError):
        await told("start", robot, "SessionStart")
