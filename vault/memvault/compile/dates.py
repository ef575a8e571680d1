"""Dates that are relative to when something was said, written out. Pure.

"yesterday" in a memory of last March means a day of last March. Text in quotes and code is left
alone, and so are sentences about what happens again and again, where "yesterday" is no particular day.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

_LITERAL = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」|‘[^’]*’|(?<!\w)'[^']*'(?!\w)")
_SENTENCE = re.compile(r"[^.!?。！？；;\n]*[.!?。！？；;\n]*")
_HABIT = re.compile(
    r"\b(?:every|each|whenever|daily|weekly|monthly|yearly|usually|per)\b|每|通常|往往", re.IGNORECASE
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CJK_WEEKDAYS = {char: at for at, char in enumerate("一二三四五六日")} | {"天": 6}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
    "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_COUNT = r"(\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_CJK_COUNT = r"(\d{1,4}|[一两二三四五六七八九十])"
_STEPS = {"last": -1, "this": 0, "next": 1, "上": -1, "本": 0, "这": 0, "下": 1}

_DAYS = {
    "the day before yesterday": -2, "the day after tomorrow": 2, "yesterday": -1, "today": 0, "tomorrow": 1,
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1,
    "今天": 0, "今日": 0, "明天": 1, "明日": 1, "大后天": 3, "后天": 2,
}  # fmt: skip
_PARTS = {"tonight": ("evening", 0), "last night": ("night", -1)}
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}

_Written = Callable[[re.Match[str], date], str]


def absolute(text: str, said: date) -> str:
    """`text` with its relative dates counted from `said`."""
    folded = text.casefold()
    if not any(word in folded for word in _HINTS):
        return text
    out: list[str] = []
    at = 0
    for literal in _LITERAL.finditer(text):
        out += [_sentences(text[at : literal.start()], text, said), literal[0]]
        at = literal.end()
    return "".join([*out, _sentences(text[at:], text, said)])


def _sentences(piece: str, whole: str, said: date) -> str:
    habits = _HABIT.search(whole) is not None
    return "".join(
        found if habits and _HABIT.search(found) else _written_out(found, said)
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


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS[word.casefold()]


def _day(match: re.Match[str], said: date) -> str:
    return (said + timedelta(days=_DAYS[match[0].casefold()])).isoformat()


def _part(match: re.Match[str], said: date) -> str:
    name, step = _PARTS[match[0].casefold()]
    return f"the {name} of {said + timedelta(days=step)}"


def _this_part(match: re.Match[str], said: date) -> str:
    return f"the {match[1].casefold()} of {said}"


def _monday(said: date, step: int) -> date:
    return said - timedelta(days=said.weekday()) + timedelta(weeks=step)


def _month(said: date, step: int) -> str:
    months = said.year * 12 + said.month - 1 + step
    return f"{date(months // 12, months % 12 + 1, 1):%Y-%m}"


def _span(match: re.Match[str], said: date) -> str:
    step, unit = _STEPS[match[1].casefold()], match[2].casefold()
    if unit == "week":
        return f"the week of {_monday(said, step)}"
    if unit == "month":
        return _month(said, step)
    if unit == "year":
        return _year(said, step)
    quarter = said.year * 4 + (said.month - 1) // 3 + step
    return f"{date(quarter // 4, 1, 1):%Y}-Q{quarter % 4 + 1}"


def _weekday(match: re.Match[str], said: date) -> str:
    """What is past is one day; what is to come means different days to different people."""
    step, name = match[1].casefold(), match[2].casefold()
    if step != "last":
        return f"{match[0]} (said on {said})"
    back = (said.weekday() - _WEEKDAYS.index(name) - 1) % 7 + 1
    return (said - timedelta(days=back)).isoformat()


def _ago(match: re.Match[str], said: date) -> str:
    number, unit = _number(match[1]), match[2].casefold()
    if unit == "day":
        return (said - timedelta(days=number)).isoformat()
    if unit == "week":
        return f"about {said - timedelta(weeks=number)}"
    return f"about {_month(said, -number)}" if unit == "month" else f"about {_year(said, -number)}"


def _year(said: date, step: int) -> str:
    return f"{date(said.year + step, 1, 1):%Y}"


def _from_now(match: re.Match[str], said: date) -> str:
    days = _number(match[1]) * (7 if match[2].casefold() == "week" else 1)
    return (said + timedelta(days=days)).isoformat()


def _cjk_weekday(match: re.Match[str], said: date) -> str:
    return (_monday(said, _STEPS[match[1]]) + timedelta(days=_CJK_WEEKDAYS[match[2]])).isoformat()


def _cjk_week(match: re.Match[str], said: date) -> str:
    return f"{_monday(said, _STEPS[match[1]])}那一周"


def _cjk_month(match: re.Match[str], said: date) -> str:
    return _month(said, _STEPS[match[1]])


def _cjk_year(match: re.Match[str], said: date) -> str:
    return f"{_year(said, _YEARS[match[0]])}年"


def _cjk_days(match: re.Match[str], said: date) -> str:
    number = _number(match[1]) * (-1 if match[2] == "前" else 1)
    return (said + timedelta(days=number)).isoformat()


def _words(names: dict[str, int] | dict[str, tuple[str, int]]) -> str:
    latin = [name for name in names if name.isascii()]
    others = [name for name in names if not name.isascii()]
    both = ([rf"\b(?:{'|'.join(latin)})\b"] if latin else []) + others
    return "|".join(both)


_RULES: tuple[tuple[re.Pattern[str], _Written], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), write)
    for pattern, write in (
        (_words(_PARTS), _part),
        (_words(_DAYS), _day),
        (r"\bthis (morning|afternoon|evening)\b", _this_part),
        (r"\b(last|this|next) (week|month|quarter|year)\b", _span),
        (rf"\b(last|this|next) ({'|'.join(_WEEKDAYS)})\b(?! \(said on)", _weekday),
        (rf"\b{_COUNT} (day|week|month|year)s? ago\b", _ago),
        (rf"\b{_COUNT} (day|week)s? from (?:now|today)\b", _from_now),
        (r"(上|本|这|下)个?(?:周|星期|礼拜)([一二三四五六日天])(?!起|次|项)", _cjk_weekday),
        (r"(上|本|这|下)个?(?:周|星期|礼拜)(?![边围期末岁])", _cjk_week),
        (r"(上|本|这|下)个?月(?![份亮球])", _cjk_month),
        (_words(_YEARS), _cjk_year),
        (rf"{_CJK_COUNT}天(前|后|之前|之后|以前|以后)", _cjk_days),
    )
)
_HINTS = (
    "day", "night", "this morning", "this afternoon", "this evening", " week", " month", " quarter", " year",
    "tomorrow", " ago", "天", "日", "周", "星期", "礼拜", "月", "年",
)  # fmt: skip
"""One of these is in every text that the rules change: most texts need no further look."""
