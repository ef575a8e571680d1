"""SPEC 8, "last March", 上周: which days a question asks about, what is no date, and what the days change."""

from __future__ import annotations

import time
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.recall import when
from memvault.recall.rows import NEVER

EPOCH = date(1970, 1, 1).toordinal()
ASKED_ON = date(2026, 3, 4)  # a Wednesday


def day(text: str) -> int:
    return date.fromisoformat(text).toordinal() - EPOCH


def asked(text: str, on: date = ASKED_ON) -> when.Span | None:
    return when.asked(text, on.toordinal() - EPOCH)


def days(text: str, on: date = ASKED_ON) -> tuple[str, str] | None:
    span = asked(text, on)
    if span is None:
        return None
    return tuple(date.fromordinal(at + EPOCH).isoformat() for at in (span.first, span.last))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did we decide last March", "2025-03-01", "2025-03-31"),
        ("who joined in March 2024?", "2024-03-01", "2024-03-31"),
        ("what broke yesterday", "2026-03-03", "2026-03-03"),
        ("the day before yesterday it hung, why", "2026-03-02", "2026-03-02"),
        ("what did I eat last night", "2026-03-03", "2026-03-04"),
        ("bugs of last week", "2026-02-23", "2026-03-01"),
        ("where was I last weekend", "2026-02-28", "2026-03-01"),
        ("what did I buy two weeks ago", "2026-02-15", "2026-02-21"),
        ("a couple of days ago I named a book", "2026-03-01", "2026-03-03"),
        ("what changed in the past 3 days", "2026-03-01", "2026-03-04"),
        ("films of the last two months", "2026-01-02", "2026-03-04"),
        ("trips this year", "2026-01-01", "2026-12-31"),
        ("plans of last quarter", "2025-10-01", "2025-12-31"),
        ("what did Ada paint in 2023?", "2023-01-01", "2023-12-31"),
        ("jobs from 2019 to 2021", "2019-01-01", "2021-12-31"),
        ("what happened on 5 May", "2025-05-05", "2025-05-05"),
        ("what happened on 29 February", "2024-02-29", "2024-02-29"),
        ("the decision of 2024-05-03", "2024-05-03", "2024-05-03"),
        ("what ran at 2024-05-03T10:15:00Z", "2024-05-03", "2024-05-03"),
        ("who wrote on May 3rd, 2024", "2024-05-03", "2024-05-03"),
        ("notes from May 3-5, 2024", "2024-05-03", "2024-05-05"),
        ("the 3rd of may 2024", "2024-05-03", "2024-05-03"),
        ("the invoice of 13/3/2024", "2024-03-13", "2024-03-13"),
        ("the race on 7/22", "2025-07-22", "2025-07-22"),
        ("who did I meet last Tuesday", "2026-03-03", "2026-03-03"),
        ("who did I meet last Wednesday", "2026-02-25", "2026-02-25"),
        ("what did Ada say on Monday", "2026-03-02", "2026-03-02"),
        ("what is new since Monday", "2026-03-02", "2026-03-04"),
        ("what was true before June", "1900-01-01", "2025-05-31"),
        ("releases until 2024-05", "1900-01-01", "2024-05-31"),
        ("what came after March 3, 2025", "2025-03-04", "2026-03-04"),
        ("after March 3, 2025 and before June 2025", "2025-03-04", "2025-05-31"),
        ("between 2024-05-03 and 2024-06-01", "2024-05-03", "2024-06-01"),
        ("the week before August 3, 2023", "2023-07-27", "2023-08-02"),
        ("novels I finished in January and March", "2026-01-01", "2026-03-31"),
        ("from May to July 2024", "2024-05-01", "2024-07-31"),
        ("上周讨论了什么", "2026-02-23", "2026-03-01"),
        ("上上周的会议", "2026-02-16", "2026-02-22"),
        ("上周三谁来了", "2026-02-25", "2026-02-25"),
        ("上周末去了哪里", "2026-02-28", "2026-03-01"),
        ("上个月花了多少钱", "2026-02-01", "2026-02-28"),
        ("去年三月的决定", "2025-03-01", "2025-03-31"),
        ("三天前改了什么", "2026-03-01", "2026-03-01"),
        ("两个月前读的书", "2025-12-18", "2026-01-17"),
        ("最近两周的故障", "2026-02-18", "2026-03-04"),
        ("过去3天", "2026-03-01", "2026-03-04"),
        ("昨天说了什么", "2026-03-03", "2026-03-03"),
        ("前天和昨天", "2026-03-02", "2026-03-03"),
        ("昨晚吃了什么", "2026-03-03", "2026-03-03"),
        ("本月的计划", "2026-03-01", "2026-03-31"),
        ("今年的目标", "2026-01-01", "2026-12-31"),
        ("2024年5月3日发生了什么", "2024-05-03", "2024-05-03"),
        ("２０２４年５月３日发生了什么", "2024-05-03", "2024-05-03"),
        ("二〇二四年五月的账单", "2024-05-01", "2024-05-31"),
        ("5月3日的会议", "2025-05-03", "2025-05-03"),
        ("十二月二十五日收到的礼物", "2025-12-25", "2025-12-25"),
        ("周一谁值班", "2026-03-02", "2026-03-02"),
        ("三月份说了什么", "2026-03-01", "2026-03-31"),
        ("从上周开始改了什么", "2026-02-23", "2026-03-04"),
        ("五月三号之前的版本", "1900-01-01", "2025-05-02"),
    ],
)
def test_a_question_asks_about_these_days(text: str, first: str, last: str) -> None:
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    "text",
    [
        "may I see the notes",
        "May I ask who owns this",
        "it may 3 times fail",
        "3 may be enough",
        "we march on",
        "the March on Washington",
        "who is April",
        "what did June say",
        "April and June agreed",
        "Jan wrote the parser",
        "the Mayor of Oslo",
        "wait a second",
        "the second one",
        "v2024.5.3",
        "python 3.12",
        "release-2024-05-03.tar",
        "ABC-2024-05",
        "https://example.org/2024/05/03/post",
        "commit 20240503",
        "5.3.2024",
        "5/3/2024",
        "7/22",
        "tests 7/22 passed",
        "in 2048 bits",
        "in 2000 ms",
        "port 2023",
        "2023",
        "about 1999 files",
        "every Monday",
        "when do I wake up on Saturday mornings",
        "what do I do each week on Monday",
        "how many days before my anniversary",
        "after the accident",
        "my one-year-old",
        "a million years ago",
        "for three days",
        "the last week of it",
        'what is in the "last week" report',
        "run `git log --since=yesterday`",
        "the yesterdays are over",
        "sun and sat",
        "3000年前的事",
        "三月兔是谁",
        "三月份牌口红多少钱",
        "《五月》的作者",
        "一周一次的会议",
        "每周一做什么",
        "周一到周五几点上班",
        "目前天气如何",
        "说明天气原因",
        "晚上周杰伦唱了什么",
        "以上周期是多长",
        "上周围了多少人",
        "一个月的工资",
        "需要三个月",
        "失去年华",
        "提前天窗",
        "「昨天」这首歌",
        "上周期的参数",
    ],
)
def test_words_that_only_look_like_dates_are_none(text: str) -> None:
    assert asked(text) is None


def test_of_the_reason_a_person_knows_the_date() -> None:
    span = asked("what did we decide last  March?")
    assert span is not None
    assert span.reason == "of the time asked for: last March"
    since = asked("what is new since Monday?")
    assert since is not None
    assert since.words == "since Monday"


def test_a_day_outside_of_the_calendar_asks_about_none() -> None:
    assert when.asked("yesterday", -1_000_000) is None
    assert when.asked("yesterday", 10**9) is None
    assert when.asked("9999 years ago", 20_000) is None


_WORDS = st.sampled_from(
    [
        "last",
        "March",
        "in",
        "2024",
        "2024-05-03",
        ",",
        "since",
        "before",
        "after",
        "until",
        "5",
        "May",
        "may",
        "3rd",
        "99",
        "week",
        "weeks",
        "ago",
        "past",
        "few",
        "days",
        "yesterday",
        "next",
        "year",
        "Monday",
        "on",
        "-",
        "/",
        "上周",
        "三",
        "天前",
        "去年",
        "月",
        "日",
        "五",
        "十",
        "号",
        "之前",
        "以来",
        "从",
        "起",
        "周一",
        "个",
        "最近",
        "半年",
        "前",
    ]
)
_TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(_WORDS, max_size=30).map(" ".join),
    st.lists(_WORDS, max_size=30).map("".join),
)


@given(_TEXTS, st.integers(day("1950-01-01"), day("2200-01-01")))
def test_for_any_text_the_days_are_ordered_and_neither_far_ahead_nor_before_1900(
    text: str, today: int
) -> None:
    span = when.asked(text, today)
    assert span == when.asked(text, today)
    if span is not None:
        assert day("1900-01-01") <= span.first <= span.last <= today + 366 * (when.YEARS_AHEAD + 1)
        assert span.words


@given(st.text(max_size=60), st.integers())
def test_any_day_number_can_be_asked_on(text: str, today: int) -> None:
    when.asked(f"yesterday {text}", today)


@pytest.mark.parametrize(
    "piece", ["“", "'", "last ", "1", "May 3 ", "1 ", "十", "since ", "`\"'", "周一 ", "on monday ", " "]
)
def test_hostile_text_of_64_kb_takes_time_linear_in_its_length(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece.encode()))
        started = time.perf_counter()
        when.asked(text, 20_000)
        return time.perf_counter() - started

    small = min(seconds(8_192) for _ in range(3))
    assert seconds(65_536) < 40 * small + 0.1  # 8 when linear, 64 when not


def test_rows_of_the_days_gain_most_and_others_less_with_every_day_that_they_are_away() -> None:
    span = when.Span(100, 110, "then")
    created = np.array([105, 100, 110, 111, 117, 300, NEVER], np.int32)
    gain = when.boost([created], span)
    assert gain[:3].tolist() == [when.DATED] * 3
    assert when.DATED > gain[3] > gain[4] > 0.3
    assert gain[5] < 1e-6
    assert gain[6] == 0.0


def test_the_nearest_of_the_days_of_a_row_counts() -> None:
    span = when.Span(100, 110, "then")
    created, valid_from = np.array([500, 500, 105], np.int32), np.array([104, NEVER, NEVER], np.int32)
    assert when.boost([created, valid_from], span).round(6).tolist() == [when.DATED, 0.0, when.DATED]
