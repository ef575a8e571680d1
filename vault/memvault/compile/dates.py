"""Dates that are relative to when something was said, written out. Pure.

"yesterday" in a memory of last March means a day of last March. Text in quotes and code is left
alone, and so are sentences about what happens again and again, where "yesterday" is no particular day.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from memvault.datewords import (
    CJK_COUNT,
    CJK_WEEKDAYS,
    COUNT,
    DAYS,
    HABIT,
    LITERAL,
    NIGHTS,
    STEPS,
    WEEKDAYS,
    YEARS,
    any_of,
    monday,
    month,
    number,
    quarter,
    weekday_before,
)

_SENTENCE = re.compile(r"[^.!?。！？；;\n]*[.!?。！？；;\n]*")
_Written = Callable[[re.Match[str], date], str]


def absolute(text: str, said: date) -> str:
    """`text` with its relative dates counted from `said`."""
    folded = text.casefold()
    if not any(word in folded for word in _HINTS):
        return text
    out: list[str] = []
    at = 0
    for literal in LITERAL.finditer(text):
        out += [_sentences(text[at : literal.start()], text, said), literal[0]]
        at = literal.end()
    return "".join([*out, _sentences(text[at:], text, said)])


def _sentences(piece: str, whole: str, said: date) -> str:
    habits = HABIT.search(whole) is not None
    return "".join(
        found if habits and HABIT.search(found) else _written_out(found, said)
        for found in _SENTENCE.findall(piece)
    )


def _written_out(sentence: str, said: date) -> str:
    for pattern, write in _RULES:
        sentence = pattern.sub(lambda match, w=write: _or_as_it_was(w, match, said), sentence)
    return sentence


def _or_as_it_was(write: _Written, match: re.Match[str], said: date) -> str:
    try:
        return write(match, said)
    except (OverflowError, ValueError):
        return match[0]


def _day(match: re.Match[str], said: date) -> str:
    return (said + timedelta(days=DAYS[match[0].casefold()])).isoformat()


def _part(match: re.Match[str], said: date) -> str:
    word = match[0].casefold()
    part = "evening" if word == "tonight" else "night"
    return f"the {part} of {said + timedelta(days=NIGHTS[word])}"


def _this_part(match: re.Match[str], said: date) -> str:
    return f"the {match[1].casefold()} of {said}"


def _month(said: date, step: int) -> str:
    return f"{month(said, step):%Y-%m}"


def _span(match: re.Match[str], said: date) -> str:
    step, unit = STEPS[match[1].casefold()], match[2].casefold()
    if unit == "week":
        return f"the week of {monday(said, step)}"
    if unit == "month":
        return _month(said, step)
    if unit == "year":
        return _year(said, step)
    first = quarter(said, step)
    return f"{first:%Y}-Q{first.month // 3 + 1}"


def _weekday(match: re.Match[str], said: date) -> str:
    """What is past is one day; what is to come means different days to different people."""
    step, name = match[1].casefold(), match[2].casefold()
    if step != "last":
        return f"{match[0]} (said on {said})"
    return weekday_before(said, WEEKDAYS.index(name)).isoformat()


def _ago(match: re.Match[str], said: date) -> str:
    count, unit = number(match[1]), match[2].casefold()
    if unit == "day":
        return (said - timedelta(days=count)).isoformat()
    if unit == "week":
        return f"about {said - timedelta(weeks=count)}"
    return f"about {_month(said, -count)}" if unit == "month" else f"about {_year(said, -count)}"


def _year(said: date, step: int) -> str:
    return f"{date(said.year + step, 1, 1):%Y}"


def _from_now(match: re.Match[str], said: date) -> str:
    days = number(match[1]) * (7 if match[2].casefold() == "week" else 1)
    return (said + timedelta(days=days)).isoformat()


def _cjk_weekday(match: re.Match[str], said: date) -> str:
    return (monday(said, STEPS[match[1]]) + timedelta(days=CJK_WEEKDAYS[match[2]])).isoformat()


def _cjk_week(match: re.Match[str], said: date) -> str:
    return f"{monday(said, STEPS[match[1]])}那一周"


def _cjk_month(match: re.Match[str], said: date) -> str:
    return _month(said, STEPS[match[1]])


def _cjk_year(match: re.Match[str], said: date) -> str:
    return f"{_year(said, YEARS[match[0]])}年"


def _cjk_days(match: re.Match[str], said: date) -> str:
    count = number(match[1]) * (-1 if match[2] == "前" else 1)
    return (said + timedelta(days=count)).isoformat()


_RULES: tuple[tuple[re.Pattern[str], _Written], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), write)
    for pattern, write in (
        (any_of(NIGHTS), _part),
        (any_of(DAYS), _day),
        (r"\bthis (morning|afternoon|evening)\b", _this_part),
        (r"\b(last|this|next) (week|month|quarter|year)\b", _span),
        (rf"\b(last|this|next) ({'|'.join(WEEKDAYS)})\b(?! \(said on)", _weekday),
        (rf"\b{COUNT} (day|week|month|year)s? ago\b", _ago),
        (rf"\b{COUNT} (day|week)s? from (?:now|today)\b", _from_now),
        (r"(上|本|这|下)个?(?:周|星期|礼拜)([一二三四五六日天])(?!起|次|项)", _cjk_weekday),
        (r"(上|本|这|下)个?(?:周|星期|礼拜)(?![边围期末岁])", _cjk_week),
        (r"(上|本|这|下)个?月(?![份亮球])", _cjk_month),
        (any_of(YEARS), _cjk_year),
        (rf"{CJK_COUNT}天(前|后|之前|之后|以前|以后)", _cjk_days),
    )
)
_HINTS = (
    "day", "night", "this morning", "this afternoon", "this evening", " week", " month", " quarter", " year",
    "tomorrow", " ago", "天", "日", "周", "星期", "礼拜", "月", "年",
)  # fmt: skip
"""One of these is in every text that the rules change: most texts need no further look."""
