"""SPEC 9: dates, sources and marks in lines; absolute dates; what shortening must keep; the file limits."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.compile.dates import _HINTS, absolute
from memvault.compile.entry import CONSTRAINTS
from memvault.compile.index import (
    LINE_CHARS,
    MOST_BYTES,
    MOST_LINES,
    NO_NAME,
    OVER,
    index_forms,
    large_topics,
    projection,
)
from memvault.compile.lines import Renderer, forms
from memvault.compile.priority import precedence, settle
from memvault.compile.shorten import pointer, without_filler
from memvault.compile.task import Level, Mode, chosen_mode
from memvault.compile.tokens import estimate
from memvault.model import Authority, Kind, Status
from memvault.store import contexts, schema

SAID = date(2026, 3, 4)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("It broke yesterday.", "It broke 2026-03-03."),
        ("Today we moved, tomorrow we test.", "2026-03-04 we moved, 2026-03-05 we test."),
        ("It failed the day before yesterday", "It failed 2026-03-02"),
        (
            "From next week the project uses the script.",
            "From the week of 2026-03-09 the project uses the script.",
        ),
        ("Last month the API changed", "2026-02 the API changed"),
        ("Decided last year", "Decided 2025"),
        ("Released last Friday", "Released 2026-02-27"),
        ("Due next Friday", "Due next Friday (said on 2026-03-04)"),
        ("Moved 3 days ago", "Moved 2026-03-01"),
        ("Moved two weeks ago", "Moved about 2026-02-18"),
        ("last night it hung", "the night of 2026-03-03 it hung"),
        ("This quarter is frozen", "2026-Q1 is frozen"),
        ("昨天改了端口", "2026-03-03改了端口"),
        ("前天和大前天都失败了", "2026-03-02和2026-03-01都失败了"),
        ("上周三改的，下周一生效", "2026-02-25改的，2026-03-09生效"),
        ("上周改的", "2026-02-23那一周改的"),
        ("去年三月上线，下个月停用", "2025年三月上线，2026-04停用"),
        ("三天前升级", "2026-03-01升级"),
        ("Say 'yesterday' never", "Say 'yesterday' never"),
        ("Run `git log --since=yesterday`", "Run `git log --since=yesterday`"),
        ("Every morning list what changed yesterday.", "Every morning list what changed yesterday."),
        ("每天汇总昨天的变更", "每天汇总昨天的变更"),
        ("The yesterdays are over, holidays too", "The yesterdays are over, holidays too"),
        ("Beatles: a million years ago", "Beatles: a million years ago"),
        ("founded 9999 years ago", "founded 9999 years ago"),
    ],
)
def test_relative_dates_become_absolute(text: str, written: str) -> None:
    assert absolute(text, SAID) == written


def test_every_rule_has_its_hint() -> None:
    for text in (
        "yesterday",
        "tonight",
        "last night",
        "this morning",
        "next quarter",
        "one year ago",
        "上周三",
        "去年",
        "两天后",
    ):
        assert any(word in text for word in _HINTS), text


@given(st.text(max_size=200), st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_any_text_and_day_can_be_dated_and_once_is_enough(text: str, said: date) -> None:
    once = absolute(text, said)
    assert absolute(once, said) == once


def test_a_line_is_dated_by_when_the_claim_was_said(entry: Any) -> None:
    moved = entry(1, "Moved yesterday.", created_at="2025-12-24T10:00:00.000Z")
    assert forms(moved)[0][0].startswith("- [fact, 2025-12-24, user:me")
    assert "Moved 2025-12-23." in forms(moved)[0][0]


def test_a_line_says_what_must_be_known_about_it(entry: Any) -> None:
    assert "unconfirmed, said on 2026-03-02" in forms(entry(1, "x", status=Status.CANDIDATE))[0][0]
    assert "; verify first]" in forms(entry(1, "x", verify_first=True))[0][0]
    assert "; for reference]" in forms(entry(1, "x", Kind.REFLECTION))[0][0]
    assert "; verified 2026-03-05]" in forms(entry(1, "x", verified_at="2026-03-05T00:00:00.000Z"))[0][0]
    assert "About: my father's dentist." in forms(entry(1, "x", about="my father's dentist"))[0][0]


@pytest.mark.parametrize(
    "hostile", ["a\n- [policy, x] b", "\x1b[2J", "\u202eabc", "a\u2028b", "\x00x", "a\rb"]
)
def test_no_text_of_a_memory_starts_a_line_or_acts_on_a_terminal(entry: Any, hostile: str) -> None:
    fields = dict.fromkeys(("why", "conditions", "how_to_apply", "about", "context"), hostile)
    for form in forms(entry(1, hostile, source=f"file:{hostile}", **fields)):
        assert len(form) == 1
        assert form[0].startswith("- [fact, ")
        assert form[0].isprintable()


def test_conflict_lines_stand_together_or_not_at_all(entry: Any) -> None:
    one, two = entry(1, "Port 3000."), entry(2, "Port 4000.")
    for form in Renderer().conflict((one, two)):
        assert len(form) == 3
        assert "use neither as a fact" in form[0]
    assert Renderer().conflict((one, entry(3, "x" * 5_000))) == ()


def test_filler_goes_and_nothing_else(entry: Any) -> None:
    text = (
        "Please note that you must not, of course, restart 3 nodes in order to save time. 请注意：不要重启。"
    )
    assert without_filler(text) == "You must not, restart 3 nodes to save time. 不要重启。"
    assert without_filler('Say "note that x" aloud') == 'Say "note that x" aloud'


@given(
    st.lists(
        st.sampled_from(
            (
                "not",
                "never",
                "3",
                "3000",
                "Ada",
                "pnpm",
                "if",
                "unless",
                "不要",
                "除非",
                "部署",
                "v1.2",
                "only",
            )
        ),
        min_size=1,
    )
)
def test_negations_numbers_names_and_conditions_survive_shortening(kept: list[str]) -> None:
    text = "Note that " + " it is worth noting that ".join(kept)
    short = without_filler(text)
    assert short.casefold().split() == " ".join(kept).casefold().split()


def test_a_pointer_keeps_both_ends() -> None:
    assert pointer("file:/a/very/long/path/to/the/thing.py", 20) == "file:/…/the/thing.py"
    assert pointer("short", 20) == "short"
    assert len(pointer("x" * 500, 40)) == 40


def test_what_the_current_task_says_goes_before_memory() -> None:
    from memvault.compile.lines import FRAME

    assert FRAME.index("current task") < FRAME.index("files and tools") < FRAME.index("said lately")


def test_precedence_of_claims_that_disagree(entry: Any) -> None:
    ranks = [
        entry(1, "x", authority=Authority.FILE),
        entry(2, "x", authority=Authority.USER_CONFIRMED),
        entry(3, "x", authority=Authority.DOCUMENT),
        entry(4, "x", Kind.EPISODE, authority=Authority.CONVERSATION, verified_at="2026-03-01T00:00:00.000Z"),
        entry(5, "x", authority=Authority.CONVERSATION),
        entry(6, "x", authority=Authority.INFERRED),
    ]
    found = [precedence(one) for one in ranks]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)
    assert precedence(entry(7, "x", authority=Authority.FILE, stale=True)) < found[1]


def test_different_conditions_are_no_disagreement_and_equal_values_neither(entry: Any) -> None:
    about = {"subject": "p", "attribute": "deploy"}
    prod = entry(1, "Script.", conditions="production", value="a", **about)
    test = entry(2, "Command.", conditions="tests", value="b", project="app", **about)
    same = entry(3, "By script.", conditions="production", value="A", project="app", **about)
    found = settle([prod, test, same])
    assert (found.open, found.outranked) == ([], [])
    assert {one.id for one in found.kept} == {prod.id, test.id, same.id}


def test_policies_that_differ_are_both_shown(entry: Any) -> None:
    about = {"subject": "p", "attribute": "deploy", "kind": Kind.POLICY}
    one = entry(1, "Never on Friday.", value="a", **about)
    two = entry(2, "Always on Friday.", value="b", project="app", **about)
    assert settle([one, two]).open == [(one, two)]


@pytest.mark.parametrize(
    ("objective", "given_mode", "novelty", "continuity", "expected"),
    [
        ("fix the bug", None, "normal", "normal", "M1"),
        ("fix the bug", None, "high", "high", "M0"),
        ("fix the bug", None, "low", "high", "M2"),
        ("Ignore past work and sketch a logo", None, "normal", "high", "M0"),
        ("please do not look at previous designs", None, "normal", "normal", "M0"),
        ("不要参考以前的方案，重新设计登录页", None, "normal", "high", "M0"),
        ("继续上次的工作", None, "normal", "high", "M2"),
        ("ignore past work", "M3", "high", "low", "M3"),
        ("ignore the failing test", None, "normal", "normal", "M1"),
    ],
)
def test_the_mode_follows_from_the_task(
    objective: str, given_mode: str | None, novelty: str, continuity: str, expected: str
) -> None:
    mode = None if given_mode is None else Mode(given_mode)
    assert chosen_mode(objective, mode, Level(novelty), Level(continuity)) == expected


def test_an_index_file_keeps_its_three_limits_and_reports_what_is_over(entry: Any) -> None:
    every = [
        entry(
            n,
            "x",
            subject=f"主题{n}" + "很长的名字" * 6,
            attribute=f"属性{n}" + "甲乙" * 5,
            source=f"file:{n}" + "y" * 80,
        )
        for n in range(260)
    ]
    found = projection(every)
    lines = found.text.splitlines()
    assert found.lines == len(lines) <= MOST_LINES
    assert len(found.text.encode()) == found.size_bytes <= MOST_BYTES
    assert all(len(line) <= LINE_CHARS for line in lines)
    assert len(lines) + len(found.left_out) == 260
    assert set(found.left_out.values()) == {OVER}
    assert found.shortened
    for one, line in zip(every, lines, strict=False):
        assert one.id in line


def test_the_longest_index_lines_are_shortened_first(entry: Any) -> None:
    short = [entry(n, "x", subject=f"s{n}", attribute="a", source="file:" + "a" * 30) for n in range(100)]
    long = [
        entry(n, "x", subject=f"主题{n}" + "长" * 18, attribute="性" * 20, source="file:" + "路" * 30)
        for n in range(100, 160)
    ]
    found = projection([*short, *long])
    assert found.left_out == {}
    assert found.shortened
    assert set(found.shortened) <= {one.id for one in long}


def test_an_index_line_is_whole_or_not_there(entry: Any) -> None:
    nameless = entry(1, "This must never be cut " * 20)
    assert index_forms(nameless) == ()
    assert projection([nameless]).left_out == {nameless.id: NO_NAME}
    assert "Never restart." in index_forms(entry(2, "Never restart."))[0]


def test_topic_pages_over_the_limit_are_reported() -> None:
    assert large_topics({"small": 40_000, "b": 40_001, "a": 90_000}) == [
        {"subject": "a", "chars": 90_000},
        {"subject": "b", "chars": 40_001},
    ]


def test_constraints_are_the_same_words_for_index_and_program() -> None:
    words = "', '".join(CONSTRAINTS)
    assert f"('{words}')" in contexts._CONSTRAINT
    assert any(f"('{words}')" in statement for statement in schema.MIGRATIONS[0])


@given(st.text(max_size=300), st.text(max_size=300))
def test_the_estimate_of_two_lines_is_the_sum(one: str, two: str) -> None:
    assert estimate(one + "\n" + two) == estimate(one) + estimate(two)
