"""SPEC 6: what sources say about two rivals, in English and Chinese, and what they do not say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.gate.evidence import named_places, own_place, replaces
from memvault.model import Claim, Kind, Scope, Source, SourceType


def claim(value: str, content: str | None = None) -> Claim:
    return Claim(
        Kind.FACT,
        Scope.PRIVATE,
        content or f"Deploy with {value}.",
        subject="p",
        attribute="way",
        value=value,
    )


NPM, SCRIPT = claim("npm run deploy"), claim("bash deploy.sh")


def says(evidence: str) -> list[Source]:
    return [Source(SourceType.CONVERSATION, "a", evidence=evidence)]


@pytest.mark.parametrize(
    "evidence",
    [
        "from next week the project uses the script",
        "Starting Monday we deploy with the script.",
        "we no longer deploy with npm run deploy",
        "Use bash deploy.sh instead of npm run deploy.",
        "bash deploy.sh replaces npm run deploy",
        "npm was replaced by deploy.sh",
        "We moved from npm to deploy.sh.",
        "这个项目从下周起改用脚本",
        "自三月起部署走脚本",
        "不再用 npm run deploy",
        "现在用 bash deploy.sh",
        "bash deploy.sh 取代了 npm run deploy",
    ],
)
def test_a_source_says_that_it_replaces(evidence: str) -> None:
    assert replaces(SCRIPT, says(evidence), NPM)


@pytest.mark.parametrize(
    "evidence",
    [
        "Use npm instead of deploy.sh",
        "npm replaces deploy.sh",
        "we no longer use deploy.sh",
        "不再用脚本 deploy.sh",
        "npm 取代了 deploy.sh",
        "should we switch to the script?",
        "If we switch to the script, builds get faster.",
        "we have not switched to the script",
        "还没有改用脚本",
        "要不要改用脚本?",
        "如果改用脚本会快一些",
        "It takes no longer than 5 minutes",
        "Deploy with bash deploy.sh",
        "部署用脚本",
        "production by script, tests by command",
    ],
)
def test_the_other_direction_a_question_a_supposition_and_a_negation_replace_nothing(evidence: str) -> None:
    assert not replaces(SCRIPT, says(evidence), NPM)


@pytest.mark.parametrize(
    ("evidence", "mine", "theirs"),
    [
        ("production by script, tests by command", "production", "tests"),
        ("tests by command, production by script", "production", "tests"),
        ("in production we use the script, in tests the command", "production", "tests"),
        ("In production use bash deploy.sh; for tests use npm.", "production", "tests"),
        ("生产用脚本、测试用命令", "生产", "测试"),
        ("脚本用于生产,命令用于测试", "生产", "测试"),
        ("在生产环境部署用脚本,测试时走命令。", "生产环境", "测试"),
    ],
)
def test_one_statement_names_the_places_of_both(evidence: str, mine: str, theirs: str) -> None:
    assert named_places(SCRIPT, NPM, says(evidence)) == (mine, theirs)
    assert named_places(NPM, SCRIPT, says(evidence)) == (theirs, mine)


@pytest.mark.parametrize(
    "evidence",
    [
        "before we used npm, now we use bash",
        "以前用命令,现在用脚本",
        "production by script",
        "production by script, production by command",
        "should production go by script, tests by command?",
        "生产用脚本、测试用命令吗?",
        "production does not use the script, tests use the command",
        "the project uses the script, the docs mention the command",
        "production by docker, tests by make",
    ],
)
def test_a_change_over_time_one_place_alone_or_a_question_names_no_two_places(evidence: str) -> None:
    assert named_places(SCRIPT, NPM, says(evidence)) is None


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("In production deploy with x", "production"),
        ("Deploy x on Windows", "windows"),
        ("Deploy with x, weekends only", "weekends"),
        ("生产环境用 x", "production"),
        ("在测试环境用 x", "testing"),
        ("Deploy with x", None),
        ("Is x used in production?", None),
        ("In production and in tests deploy with x", None),
    ],
)
def test_a_claim_names_the_one_place_it_holds_in(content: str, place: str | None) -> None:
    found = own_place(claim("x", content), [])
    assert (found and found[1]) == place


def test_a_place_that_is_the_value_is_no_condition() -> None:
    one, other = claim("testing", "部署到 testing 环境"), claim("staging", "部署到 staging 环境")
    assert own_place(one, [], other) is None


@given(st.text(max_size=300), st.text(min_size=1, max_size=40))
def test_no_text_makes_the_reading_fail(evidence: str, value: str) -> None:
    replaces(claim(value), says(evidence), NPM)
    named_places(claim(value), NPM, says(evidence))
    own_place(claim(value), says(evidence), NPM)


def test_a_long_hostile_text_is_read_in_reasonable_time() -> None:
    import time

    for piece in ("in a ", "生产用", "production by ", "a, ", "for " * 3, "x " * 20 + "for "):
        started = time.perf_counter()
        text = piece * (16_000 // len(piece))
        replaces(SCRIPT, says(text), NPM)
        named_places(SCRIPT, NPM, says(text))
        own_place(claim("x", text), says(text))
        assert time.perf_counter() - started < 1.0, piece
