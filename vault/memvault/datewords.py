"""Words for days and for stretches of time, English and Chinese, and the calendar they are counted in. Pure.

One place for what both sides need: `compile` writes such words out in memories, `recall` reads them in
questions. Must not know either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta

LITERAL = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^“”]*”|「[^「」]*」|《[^《》]*》|‘[^‘’]*’|(?<!\w)'[^']*'(?!\w)")
"""Quotations, titles and code: words in them are no dates of the sentence."""
HABIT = re.compile(
    r"\b(?:every|each|whenever|daily|weekly|monthly|yearly|usually|per)\b|每|通常|往往", re.IGNORECASE
)
"""What happens again and again: "yesterday" in it is no particular day."""

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CJK_WEEKDAYS = {char: at for at, char in enumerate("一二三四五六日")} | {"天": 6}

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
    "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
COUNT = r"(\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
CJK_COUNT = r"(\d{1,4}|[一两二三四五六七八九十])"

STEPS = {"last": -1, "previous": -1, "this": 0, "next": 1, "上": -1, "上上": -2, "本": 0, "这": 0, "下": 1}
"""How many weeks, months or years a word goes forward."""

DAYS = {
    "the day before yesterday": -2, "the day after tomorrow": 2, "yesterday": -1, "today": 0, "tomorrow": 1,
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1,
    "今天": 0, "今日": 0, "明天": 1, "明日": 1, "大后天": 3, "后天": 2,
}  # fmt: skip
NIGHTS = {"tonight": 0, "last night": -1}
YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}

_WITHIN_WORDS = {
    "前天": ("目之以眼提当空", "气"),
    "后天": ("然之以最今", "性"),
    "明天": ("说", ""),
    "今日": ("", "头条"),
    "去年": ("失过出回", "华|轻|龄"),
    "前年": ("提目之以", "轻|龄"),
    "后年": ("之以然前最", "轻|龄"),
}
"""Characters before a word, and those behind it, with which it is part of other words (目前天气)."""


def any_of(names: Iterable[str]) -> str:
    """A pattern for any of these words; Latin ones stand by themselves, Chinese ones in no other word."""
    every = list(names)
    latin = [name for name in every if name.isascii()]
    return "|".join(
        ([rf"\b(?:{'|'.join(latin)})\b"] if latin else [])
        + [_apart(name) for name in every if not name.isascii()]
    )


def _apart(name: str) -> str:
    before, behind = _WITHIN_WORDS.get(name, ("", ""))
    return (f"(?<![{before}])" if before else "") + name + (f"(?!{behind})" if behind else "")


def number(word: str) -> int:
    """The number that `COUNT` or `CJK_COUNT` matched."""
    return int(word) if word.isdecimal() else _NUMBERS[word.casefold()]


def cjk_number(word: str) -> int:
    """A number below 100, in digits or in Chinese characters. Raises ValueError."""
    if word.isdecimal():
        return int(word)
    tens, ten, ones = word.partition("十")
    if any(part not in _NUMBERS and part for part in (tens, ones)) or not word:
        raise ValueError("no number")
    if not ten:
        return _NUMBERS[tens]
    return (_NUMBERS[tens] if tens else 1) * 10 + (_NUMBERS[ones] if ones else 0)


def monday(day: date, step: int) -> date:
    """The Monday of the week of `day`, `step` weeks on. Raises OverflowError outside of the calendar."""
    return day - timedelta(days=day.weekday()) + timedelta(weeks=step)


def month(day: date, step: int) -> date:
    """The first of the month of `day`, `step` months on. Raises ValueError."""
    months = day.year * 12 + day.month - 1 + step
    return date(months // 12, months % 12 + 1, 1)


def quarter(day: date, step: int) -> date:
    """The first day of the quarter of `day`, `step` quarters on. Raises ValueError."""
    quarters = day.year * 4 + (day.month - 1) // 3 + step
    return date(quarters // 4, quarters % 4 * 3 + 1, 1)


def weekday_before(day: date, weekday: int) -> date:
    """The last such weekday (0 is Monday) before `day`. Raises OverflowError."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)
