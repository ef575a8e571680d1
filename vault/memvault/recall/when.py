"""From the words of a question to the days it asks about: "last March", 三天前, "since 2024-05-03". Pure.

Whatever may mean something else ("may", a version, a title in quotes) is taken for no date: a date that is
not seen costs less than one that was never meant. `when_words` and `when_chinese` know the words; this module
knows what "since" and "before" make of them, and what the days are worth. Must not know rows: `boost` is
given columns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt

from memvault.datewords import LITERAL
from memvault.recall import when_chinese, when_words
from memvault.recall.when_words import HINT, Ends

DATED = 2.0
"""Log-odds that a memory of the days asked about gains. Questions with a date find at R@10 .900 on LoCoMo
(.786 without the gain), .847 on LongMemEval (.752); between 1 and 3 both are level."""
DATED_NEAR_DAYS = 7.0
"""So far from those days the gain is a third: what happened is told some days later."""

EARLIEST = date(1900, 1, 1)
"""Earlier years are numbers; "before 2020" begins here."""
YEARS_AHEAD = 10
"""Later years are numbers too."""

LOOKED_AT_CHARS = 16_384
"""Of a longer text only the end is read: a question as long as that has its dates in its gist."""

_EPOCH = date(1970, 1, 1).toordinal()
_DAY = timedelta(days=1)
_MOST_TOLD = 3
_LIMIT_CHARS = 48

_BEFORE = re.compile(
    r"(?:\b(day|week|month)\s+)?\b(since|before|after|until|till|prior\s+to|up\s+to)\s+(?:the\s+)?"
    r"(?:(?:beginning|start|end|middle)\s+of\s+)?(?:early\s+|mid[ -]|late\s+)?\Z"
    r"|(自从|自|从|直到|截至|截止)\s*\Z",
    re.IGNORECASE,
).search
_BEHIND = re.compile(
    r"\s*份?[初底末]?(以来|之前|以前|前(?![端台辈任往几面提景])|之后|以后|后(?![端台面来勤果续悔天])|为止|起(?![床来初诉点码])|开始)"
).match
_LIMITS = {
    "since": "since", "自从": "since", "以来": "since",
    "before": "before", "prior to": "before", "之前": "before", "以前": "before", "前": "before",
    "after": "after", "之后": "after", "以后": "after", "后": "after",
    "until": "until", "till": "until", "up to": "until", "直到": "until", "截至": "until", "截止": "until",
    "为止": "until",
}  # fmt: skip
_FROM_ON = ("自", "从")
"""With one of these ahead, 起 and 开始 behind mean "since"."""
_UNIT_DAYS = {"day": 1, "week": 7, "month": 31}


@dataclass(frozen=True, slots=True)
class Span:
    """Days that a question asks about, `first` to `last` inclusive (since 1970-01-01 UTC), in its words."""

    first: int
    last: int
    words: str

    @property
    def reason(self) -> str:
        """Why a memory of these days is preferred."""
        return f"of the time asked for: {self.words}"

    def holds(self, *days: int) -> bool:
        """Whether any of these days is among them."""
        return any(self.first <= day <= self.last for day in days)


def asked(text: str, today: int) -> Span | None:
    """The days that `text` asks about when it is asked on day `today`; None when it names none.

    Several dates ("in January and March") give the days from the first to the last of them; a "since" and a
    "before" give what lies between.
    """
    shown = text[-LOOKED_AT_CHARS:]
    if not shown.isascii():
        shown = unicodedata.normalize("NFKC", shown)
    if HINT.search(shown) is None:
        return None
    try:
        now = date.fromordinal(today + _EPOCH)
    except (ValueError, OverflowError):
        return None
    found = _found(LITERAL.sub(lambda quoted: " " * len(quoted[0]), shown), now)
    if not found:
        return None
    first, last = _together([ends for _, ends in found])
    told = " and ".join(list(dict.fromkeys(said for said, _ in found))[:_MOST_TOLD])
    return Span(first.toordinal() - _EPOCH, last.toordinal() - _EPOCH, told)


def boost(columns: Sequence[npt.NDArray[np.int32]], span: Span) -> npt.NDArray[np.float32]:
    """What to add to the log-odds of each row: DATED where any column holds a day of the span, less near it.

    Columns hold day numbers and are of one length; a day that never was is far from every span.
    """
    away = np.full(len(columns[0]), np.inf, np.float32)
    for column in columns:
        days = column.astype(np.float32)
        away = np.minimum(away, np.maximum(np.maximum(span.first - days, days - span.last), 0.0))
    return (DATED * np.exp(-away / DATED_NEAR_DAYS)).astype(np.float32)


def _found(text: str, now: date) -> list[tuple[str, Ends]]:
    """Dates in their order, with their words. Of two that overlap the earlier counts, then the longer one."""
    every: list[tuple[int, int, Ends]] = []
    for pattern, read in (*when_words.RULES, *when_chinese.RULES):
        for match in pattern.finditer(text):
            try:
                first, last = read(match, now)
                begin, end, ends = _limited(text, match.span(), (first, last), now)
            except (ValueError, OverflowError):
                continue
            if first >= EARLIEST and last.year <= now.year + YEARS_AHEAD:
                every.append((begin, end, ends))
    every.sort(key=lambda one: (one[0], -one[1]))
    out: list[tuple[str, Ends]] = []
    reached = 0
    for begin, end, ends in every:
        if begin >= reached:
            out.append((" ".join(text[begin:end].split()), ends))
            reached = end
    return out


def _limited(text: str, at: tuple[int, int], ends: Ends, now: date) -> tuple[int, int, Ends]:
    """The place of a date and its days, with the "since" or "before" that stands beside it."""
    begin, end = at
    first, last = ends
    ahead = _BEFORE(text[max(begin - _LIMIT_CHARS, 0) : begin])
    behind = _BEHIND(text[end : end + _LIMIT_CHARS])
    limit, unit = _limit(ahead, behind)
    if ahead is not None and limit is not None:
        begin -= len(ahead[0])
    if behind is not None and limit is not None:
        end += len(behind[0])
    match limit:
        case "since":
            return begin, end, (first, max(last, now))
        case "after" if unit:
            return begin, end, (last + _DAY, last + _DAY * _UNIT_DAYS[unit])
        case "after":
            return begin, end, (last + _DAY, max(last + _DAY, now))
        case "before" if unit:
            return begin, end, (first - _DAY * _UNIT_DAYS[unit], first - _DAY)
        case "before":
            return begin, end, (EARLIEST, max(first - _DAY, EARLIEST))
        case "until":
            return begin, end, (EARLIEST, last)
        case _:
            return begin, end, ends


def _limit(ahead: re.Match[str] | None, behind: re.Match[str] | None) -> tuple[str | None, str | None]:
    """Which limit the words around a date set, and the unit of "the week before"."""
    word = "" if ahead is None else " ".join((ahead[2] or ahead[3]).casefold().split())
    if word in _LIMITS:
        return _LIMITS[word], None if ahead is None or ahead[1] is None else ahead[1].casefold()
    if behind is None:
        return None, None
    if behind[1] in ("起", "开始"):
        return ("since" if word in _FROM_ON else None), None
    return _LIMITS[behind[1]], None


def _together(every: Sequence[Ends]) -> Ends:
    """From the first to the last day; "after March and before June" is what lies between."""
    ended = [ends for ends in every if ends[0] == EARLIEST]
    others = [ends for ends in every if ends[0] != EARLIEST]
    if ended and others:
        first, last = min(ends[0] for ends in others), max(ends[1] for ends in ended)
        if first <= last:
            return first, last
    return min(ends[0] for ends in every), max(ends[1] for ends in every)
