"""Which Chinese words of a question are dates: patterns with their readers, as in `when_words`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from memvault.datewords import CJK_WEEKDAYS, STEPS, YEARS, any_of, cjk_number, monday, weekday_before
from memvault.recall.when_words import (
    UNIT_DAYS,
    Ends,
    Reader,
    ago_days,
    ahead,
    is_habit,
    many,
    one_day,
    recent_day,
    recent_month,
    unit_from,
    whole_month,
    whole_year,
)

_UNITS = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "年": "year",
}
_MANY = r"(\d{1,4}|[一两二三四五六七八九十]{1,3}|半|几)"
_MONTH = r"(1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月"
_DAY = r"(?:(\d{1,2}|[一二三四五六七八九十]{1,3})[日号])"
_YEAR = r"((?:19|20)\d\d|[一二][〇零一二三四五六七八九]{3})年"
_DIGITS = {char: str(at) for at, char in enumerate("零一二三四五六七八九")} | {"〇": "0"}

_IN_MONTH = re.compile(r"(?:^|[在从自到至于和、，。？！,.?!\s])\Z").search
_AFTER_MONTH = re.compile(
    r"份(?![牌店馆屋社酒茶咖书号])|[初底末里](?!程)|中旬|上旬|下旬|的时候|以来|之前|以前|之后|以后"
).match


def _date(match: re.Match[str], now: date) -> Ends:
    return _of_year(int("".join(_DIGITS.get(char, char) for char in match[1])), match[2], match[3])


def _relative_year(match: re.Match[str], now: date) -> Ends:
    return _of_year(now.year + YEARS[match[1]], match[2], match[3])


def _of_year(year: int, month_: str | None, day: str | None) -> Ends:
    if month_ is None:
        return whole_year(year)
    first = date(year, cjk_number(month_), 1)
    return one_day(first.replace(day=cjk_number(day))) if day else whole_month(first)


def _day(match: re.Match[str], now: date) -> Ends:
    return one_day(recent_day(cjk_number(match[1]), cjk_number(match[2]), now))


def _month(match: re.Match[str], now: date) -> Ends:
    """A month by itself, where it is not part of a name (三月兔)."""
    behind = match.string[match.end() : match.end() + 4]
    if not (_AFTER_MONTH(behind) or (_IN_MONTH(ahead(match)) and behind[:1] not in _NAME_LIKE)):
        raise ValueError("a name")
    if is_habit(match):
        raise ValueError("a habit")
    return whole_month(recent_month(cjk_number(match[1]), now))


_NAME_LIKE = frozenset("份兔女花球亮刊考嫂天蝎雪里程牌")


def _span(match: re.Match[str], now: date) -> Ends:
    step, _, day, end, month_, quarter_ = match.groups()
    if day:
        return one_day(monday(now, STEPS[step]) + timedelta(days=CJK_WEEKDAYS[day]))
    unit = "month" if month_ else "quarter" if quarter_ else "weekend" if end else "week"
    return unit_from(STEPS[step], unit, now)


def _ago(match: re.Match[str], now: date) -> Ends:
    return ago_days(match[1], _UNITS[match[2]], now)


def _past(match: re.Match[str], now: date) -> Ends:
    _, most = many(match[1])
    return now - timedelta(days=round(most * UNIT_DAYS[_UNITS[match[2]]])), now


def _weekday(match: re.Match[str], now: date) -> Ends:
    if is_habit(match):
        raise ValueError("a habit")
    return one_day(weekday_before(now, CJK_WEEKDAYS[match[1]]))


def _part_of_day(match: re.Match[str], now: date) -> Ends:
    return one_day(now - timedelta(days=match[0][0] == "昨"))


_WEEK = "周|星期|礼拜"
_STEP = (
    rf"(?<![晚早以之如网线身手路])(上上|上|下|本|这)个?(?:({_WEEK})(?:([一二三四五六日天])(?![起次项])"
    r"|(末)|(?![边围期岁转密长折旋末]))|(月)(?![份]?[亮球饼票光薪经色刊])|(季度))"
)
_SOME_WEEKDAY = (
    r"(?<![每一二两三四五六七八九十几\d上下本这整到至])(?:周|星期|礼拜)([一二三四五六日天])"
    r"(?![次个样项直般会世晃]|起[床来]|(?:到|至|-|~)(?:周|星期|礼拜))"
)
RULES: Sequence[tuple[re.Pattern[str], Reader]] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (r"昨[晚夜]|今[早晚晨夜]", _part_of_day),
        (rf"(?<!\d){_YEAR}(?:{_MONTH}{_DAY}?)?(?!的?历史|一遇)", _date),
        (rf"({any_of(YEARS)})(?:的?{_MONTH}{_DAY}?)?", _relative_year),
        (rf"(?<![\d年月一二三四五六七八九十]){_MONTH}{_DAY}", _day),
        (
            rf"(?<![\d年月一二三四五六七八九十个]){_MONTH}(?!\d|[一二三四五六七八九十]{{1,3}}[日号])",
            _month,
        ),
        (_STEP, _span),
        (rf"{_MANY}\s*个?(天|周|星期|礼拜|月|年)(?:之|以)?前(?![端台辈任往面提景])", _ago),
        (rf"(?:最近|过去的?|(?<![附最])近|这){_MANY}\s*个?(天|日|周|星期|礼拜|月|年)", _past),
        (_SOME_WEEKDAY, _weekday),
    )
)
"""Every pattern with its reader."""
