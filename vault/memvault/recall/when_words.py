"""Which English words of a question, and which figures, are dates; and how days are counted. Pure.

A reader gives the first and the last day of what its pattern matched, counted from the day of the question,
or raises ValueError when the words are no date after all. Patterns take time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta

from memvault.datewords import (
    DAYS,
    HABIT,
    NIGHTS,
    STEPS,
    WEEKDAYS,
    any_of,
    cjk_number,
    monday,
    month,
    number,
    quarter,
    weekday_before,
)

Ends = tuple[date, date]
Reader = Callable[[re.Match[str], date], Ends]

HINT = re.compile(
    r"\d|day|night|week|month|year|quarter|morning|evening|afternoon|tomorrow|\bago\b"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|[年月周天日晚早]|星期|礼拜|季度",
    re.IGNORECASE,
)
"""Something of this is in every text that holds a date."""

UNIT_DAYS = {"day": 1.0, "week": 7.0, "weekend": 7.0, "month": 30.44, "year": 365.25}
_FUZZ_DAYS = {"day": 0, "week": 3, "month": 15, "year": 183}
"""How far from the day that is meant somebody may be who says "two months ago"."""
_VAGUE = {"couple of": (1, 3), "couple": (1, 3), "few": (2, 7), "several": (2, 7), "几": (2, 7)}
"""How many are meant by words that give no number."""

_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_MONTHS = {name: at for at, name in enumerate(_NAMES, 1)} | {
    name[:3]: at for at, name in enumerate(_NAMES, 1)
}
_MONTHS["sept"] = 9
_VERBS = frozenset({"may", "march", "mar"})
"""Written small these are other words as well."""

_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:19|20)\d\d"
_ENDED = r"(?!\w|[.:/-]\d|-\w|%)"
_APART = r"(?<![\w./$#-])"
_UNITS = r"(day|week|month|year)s?"
_MANY = (
    r"(\d{1,4}|(?:a\s+)?(?:couple\s+of|couple|few)|several|an?|one|two|three|four|five|six|seven|eight|nine"
    r"|ten|eleven|twelve)"
)
_IN_MONTH = re.compile(
    r"\b(?:in|during|throughout|since|before|after|until|till)\s+(?:early\s+|mid[ -]|late\s+)?"
    r"(?:the\s+)?(?:(?:beginning|start|end|middle|month|rest)\s+of\s+)?\Z|\b(?:end|month|early|late|mid)\s+(?:of\s+)?\Z",
    re.IGNORECASE,
).search
_ON_DAY = re.compile(r"\b(?:on|since|before|after|until|till)\s+\Z", re.IGNORECASE).search
_BETWEEN = re.compile(r"\b(?:from|between)\s+\Z", re.IGNORECASE).search
_IN_YEAR = re.compile(
    r"\b(?:in|during|throughout|since|before|after|until|till|year|(?:end|start|beginning|middle|rest|summer"
    r"|winter|spring|autumn|fall)\s+of|early|late|mid|summer|winter|spring|autumn)\s+\Z",
    re.IGNORECASE,
).search
_BESIDE_CHARS = 32


def ahead(match: re.Match[str]) -> str:
    return match.string[max(match.start() - _BESIDE_CHARS, 0) : match.start()]


def is_habit(match: re.Match[str]) -> bool:
    return (
        HABIT.search(match.string, max(match.start() - _BESIDE_CHARS, 0), match.end() + _BESIDE_CHARS)
        is not None
    )


def whole_month(first: date) -> Ends:
    return first, month(first, 1) - timedelta(days=1)


def whole_year(year: int) -> Ends:
    return date(year, 1, 1), date(year, 12, 31)


def one_day(day: date) -> Ends:
    return day, day


def _month_number(name: str) -> int:
    return _MONTHS[name.rstrip(".").casefold()]


def _is_verb(name: str) -> bool:
    return name.rstrip(".") in _VERBS


def recent_month(number_: int, now: date) -> date:
    """The last such month that has begun."""
    return date(now.year if number_ <= now.month else now.year - 1, number_, 1)


def recent_day(number_: int, day: int, now: date) -> date:
    """The last such day, today included; of 29 February the last one there was."""
    for year in range(now.year, now.year - 9, -1):
        try:
            found = date(year, number_, day)
        except ValueError:
            continue
        if found <= now:
            return found
    raise ValueError("no such day")


def _dated(number_: int, day: int, year: str | None, now: date) -> date:
    return date(int(year), number_, day) if year else recent_day(number_, day, now)


def _iso_day(match: re.Match[str], now: date) -> Ends:
    return one_day(date(int(match[1]), int(match[3]), int(match[4])))


def _iso_month(match: re.Match[str], now: date) -> Ends:
    return whole_month(date(int(match[1]), int(match[2]), 1))


def _slashed(match: re.Match[str], now: date) -> Ends:
    """Day and month in either order, where only one can be meant."""
    first, second = int(match[1]), int(match[2])
    if first <= 12 and second <= 12 and first != second:
        raise ValueError("ambiguous")
    day, month_ = max(first, second), min(first, second)
    if match[3] is None and not _ON_DAY(ahead(match)):
        raise ValueError("a fraction")
    return one_day(_dated(month_, day, match[3], now))


def _month_day(match: re.Match[str], now: date) -> Ends:
    name, day, until, year = match.groups()
    if _is_verb(name) and not year:
        raise ValueError("a verb")
    first = _dated(_month_number(name), int(day), year, now)
    return (first, first.replace(day=int(until))) if until and int(until) > int(day) else one_day(first)


def _day_month(match: re.Match[str], now: date) -> Ends:
    day, ordinal, name, year = match.groups()
    if _is_verb(name) and not year and not ordinal:
        raise ValueError("a verb")
    return one_day(_dated(_month_number(name), int(day), year, now))


def _months(match: re.Match[str], now: date) -> Ends:
    """A month, or from one to another; without a year only where its place says that it is one."""
    step, name, second, year = match.groups()
    if not step and not year:
        if second is None and not _IN_MONTH(ahead(match)):
            raise ValueError("a name")
        if second is not None and not (_IN_MONTH(ahead(match)) or _BETWEEN(ahead(match))):
            raise ValueError("names")
    if _is_verb(name) and match.string[match.end() : match.end() + 8].lstrip().startswith(
        ("on ", "to ", "toward", "be ")
    ):
        raise ValueError("a verb")
    first = _month_number(name)
    last = _month_number(second) if second else first
    if year:
        end = date(int(year), last, 1)
    elif step and step.casefold() == "next":
        end = recent_month(last, now).replace(year=now.year + (last <= now.month))
    elif step and step.casefold() == "this":
        end = date(now.year, last, 1)
    else:
        end = recent_month(last, month(now, -1) if step else now)
    begin = date(end.year - (first > last), first, 1)
    return begin, whole_month(end)[1]


def _years(match: re.Match[str], now: date) -> Ends:
    first, second = match[1], match[2]
    if not (_IN_YEAR(ahead(match)) or (second and _BETWEEN(ahead(match)))):
        raise ValueError("a number")
    return whole_year(int(first))[0], whole_year(max(int(second or first), int(first)))[1]


def _day(match: re.Match[str], now: date) -> Ends:
    return one_day(now + timedelta(days=DAYS[" ".join(match[0].casefold().split())]))


def _night(match: re.Match[str], now: date) -> Ends:
    day = now + timedelta(days=NIGHTS[" ".join(match[0].casefold().split())])
    return day, day + timedelta(days=1) if day < now else day


def _this_part(match: re.Match[str], now: date) -> Ends:
    return one_day(now)


def unit_from(step: int, unit: str, now: date) -> Ends:
    if unit == "week":
        return monday(now, step), monday(now, step) + timedelta(days=6)
    if unit == "weekend":
        return monday(now, step) + timedelta(days=5), monday(now, step) + timedelta(days=6)
    if unit == "month":
        return whole_month(month(now, step))
    if unit == "quarter":
        return quarter(now, step), quarter(now, step + 1) - timedelta(days=1)
    return whole_year(now.year + step)


def _span(match: re.Match[str], now: date) -> Ends:
    return unit_from(STEPS.get(match[1].casefold(), 0), match[2].casefold(), now)


def many(word: str) -> tuple[float, float]:
    """How many are meant, at least and at most."""
    bare = re.sub(r"^a\s+(?=\w)", "", " ".join(word.casefold().split()))
    if bare in _VAGUE:
        return _VAGUE[bare]
    if bare == "半":
        return 0.5, 0.5
    found = cjk_number(bare) if not bare.isascii() else number(bare)
    return found, found


def ago_days(word: str, unit: str, now: date) -> Ends:
    least, most = many(word)
    fuzz = round(_FUZZ_DAYS[unit] * min(least, 1.0)) if least == most else 0
    size = UNIT_DAYS[unit]
    first = now - timedelta(days=round(most * size) + fuzz)
    return first, now - timedelta(days=max(round(least * size) - fuzz, 0))


def _ago(match: re.Match[str], now: date) -> Ends:
    return ago_days(match[1], match[2].casefold(), now)


def _past(match: re.Match[str], now: date) -> Ends:
    _, most = many(match[1] or "one")
    return now - timedelta(days=round(most * UNIT_DAYS[match[2].casefold()])), now


def _weekday(match: re.Match[str], now: date) -> Ends:
    how, at = (match[1] or "").casefold(), WEEKDAYS.index(match[2].casefold())
    if how == "this":
        return one_day(monday(now, 0) + timedelta(days=at))
    if how == "next":
        return weekday_before(now, at) + timedelta(days=7), monday(now, 1) + timedelta(days=at)
    if not how and (not _ON_DAY(ahead(match)) or is_habit(match)):
        raise ValueError("no particular day")
    return one_day(weekday_before(now, at))


_SOME_MONTH_DAY = (
    rf"\b({_MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?(?:\s*[-–]\s*(\d{{1,2}})(?:st|nd|rd|th)?)?"
    rf"(?:,?\s*({_YEAR}))?{_ENDED}"
)
_SOME_MONTHS = (
    rf"(?:\b(last|past|this|next)\s+)?(?<![\w.-])({_MONTH})"
    rf"(?:\s*(?:,|and|or|to|through|till|until|-|–)\s*({_MONTH}))?(?:,?\s+(?:of\s+)?({_YEAR}))?{_ENDED}"
)
_SOME_YEARS = (
    rf"(?<![\w./$#:,-])({_YEAR})(?:\s*(?:-|–|to|and|through|until)\s*({_YEAR}))?{_ENDED}(?!,\d)"
    r"(?!\s*(?:ms|px|bytes?|bits?|[km]b|lines?|rows?|files?|tokens?|times|words?|steps?|k?m|kg|people"
    r"|users?|items?|records?|requests?|seconds?|minutes?|hours?|days?|entries)\b)"
)
_SOME_WEEKDAY = (
    rf"\b(?:(last|previous|this|next)\s+)?\b({'|'.join(WEEKDAYS)})\b"
    r"(?!\s+(?:morning|afternoon|evening|night)s)"
)
RULES: Sequence[tuple[re.Pattern[str], Reader]] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (
            rf"{_APART}(\d{{4}})([-/])(\d{{1,2}})\2(\d{{1,2}})(?:T\d\d:?\d\d[\d:.]{{0,16}}Z?)?{_ENDED}",
            _iso_day,
        ),
        (rf"{_APART}(\d{{4}})-(0[1-9]|1[0-2]){_ENDED}", _iso_month),
        (rf"{_APART}(\d{{1,2}})/(\d{{1,2}})(?:/((?:19|20)\d\d))?{_ENDED}(?!/)", _slashed),
        (_SOME_MONTH_DAY, _month_day),
        (rf"{_APART}(\d{{1,2}})(st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})(?:,?\s+({_YEAR}))?{_ENDED}", _day_month),
        (_SOME_MONTHS, _months),
        (_SOME_YEARS, _years),
        (any_of(DAYS).replace(" ", r"\s+"), _day),
        (any_of(NIGHTS).replace(" ", r"\s+"), _night),
        (r"\bthis\s+(?:morning|afternoon|evening)\b", _this_part),
        (
            r"\b(last|previous|this|current|next)\s+(weekend|week|month|quarter|year)\b(?!\s+of\b)",
            _span,
        ),
        (rf"\b(?:past|last|previous)\s+{_MANY}\s+{_UNITS}\b(?!\s+of\b)", _past),
        (r"\bpast()\s+(week|month|year)\b", _past),
        (rf"\b{_MANY}\s+{_UNITS}\s+ago\b", _ago),
        (_SOME_WEEKDAY, _weekday),
    )
)
"""Every pattern with its reader. Of matches that overlap the earlier one counts, then the longer one."""
