"""What makes two alike sentences two claims: numbers, days, amounts, comparisons and negations. Pure.

Owns how each is recognised in English and Chinese and spelled alike ("first" and 第一 are both 1). Reads
case-folded NFKC text without filler. Knows nothing of words, names or hashes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Inside a character class: Chinese, Japanese and Korean characters, written without spaces between words."""
LETTER = rf"[^\W_{CJK}]"
_START, _STOP = rf"(?<!{LETTER})", rf"(?!{LETTER})"

MOST_NEGATIONS = 3
"""Further ones are not counted: nobody can tell what such a sentence says."""
_LONGEST_NUMERAL = 16
"""Characters of a Chinese numeral that are read as one number."""

_DAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
_CHINESE_DAYS = {char: n for n, char in enumerate("一二三四五六日", 1)} | {"天": 7, "末": 8}
_MONTHS = {
    "january": 1, "february": 2, "april": 4, "june": 6, "july": 7, "august": 8, "september": 9,
    "october": 10, "november": 11, "december": 12,
}  # fmt: skip
"""Without March and May, which are ordinary words as well and count as words."""
_NUMBERS = {
    "zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14",
    "fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20",
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80",
    "ninety": "90", "hundred": "100", "hundreds": "100", "thousand": "1000", "thousands": "1000",
    "million": "1000000", "millions": "1000000", "billion": "1000000000", "dozen": "12", "half": "0.5",
    "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7",
    "eighth": "8", "ninth": "9", "tenth": "10", "eleventh": "11", "twelfth": "12", "thirteenth": "13",
    "fourteenth": "14", "fifteenth": "15", "twentieth": "20", "thirtieth": "30",
}  # fmt: skip
""""one" is missing: it is a pronoun more often than a number, and any other number differs from none."""

_DIGITS = {char: n for n, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_POWERS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_MEASURES = frozenset(
    "次天日号月年周点分秒刻时块元角钱美人台份页行层级倍成版位条项遍种岁家楼间期轮批组类步件只名季届章节段句字米克斤吨升度核"
    "折席室座辆套张把本集场门颗根双对副个%"
)
_MEASURES_OF_ONE = frozenset("号月日楼层点期")
"""Before these 一 is a number; elsewhere it is as often an article."""

_DAY = re.compile(rf"{_START}({'|'.join(_DAYS)})days?{_STOP}")
_CHINESE_DAY = re.compile(rf"(?:周|星期|礼拜)([{''.join(_CHINESE_DAYS)}])")
_MONTH = re.compile(rf"{_START}({'|'.join(_MONTHS)}){_STOP}")
_SIGN = re.compile(r"[$€£¥₹₩₽₿%‰°]|!=|==|<=|>=|≤|≥|≠|≈|±|[<>](?=\s*[-+]?\d)")
_NUMBER = re.compile(rf"{_START}({'|'.join(_NUMBERS)}){_STOP}")
_WORD = re.compile(rf"{LETTER}+(?:[.,:/_-]{LETTER}+)*")
_PIECE = re.compile(rf"{LETTER}+|[.,:/_-]")
_NUMERAL = re.compile(rf"(第?)([{''.join([*_DIGITS, *_POWERS])}]{{1,{_LONGEST_NUMERAL}}})")
_BEFORE_DIGITS = re.compile(r"第(?=\s*\d)")
_NEGATION = re.compile(
    rf"{_START}(?:(?:do|does|did|is|are|was|were|has|have|had|ca|can|could|should|would|must|need|wo|ai)n'?t|"
    r"not|no|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|except|excepting|excluding|unless|"
    r"instead|hardly|barely|off|avoid(?:s|ed|ing)?|stop(?:s|ped|ping)?|refus(?:e|es|ed|ing)|"
    r"forbid(?:s|den|ding)?|forbade|prohibit(?:s|ed|ing)?|disallow(?:s|ed|ing)?|ban(?:s|ned|ning)?|"
    rf"skip(?:s|ped|ping)?|disabl(?:e|es|ed|ing)|lack(?:s|ed|ing)?|rather than){_STOP}|"
    r"不(?![断同错久论少妨但只])|没|勿|未(?![来免])|非(?![洲凡])|无(?![论线锡限])|否(?!则)|莫(?=要)|禁止|严禁|避免|拒绝|停止|"
    r"取消|除了|除非|以外|之外|关闭|跳过|(?<![特分区类级识性告差个派])别(?![人处称名墅扭致])"
)

_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_VERSION = re.compile(r"v(\d.*)")


def take_marks(text: str) -> tuple[frozenset[str], str]:
    """The marks in `text`, and what is left of it without them."""
    found: set[str] = set()

    def take(pattern: re.Pattern[str], name: Callable[[re.Match[str]], str | None]) -> str:
        def replace(match: re.Match[str]) -> str:
            mark = name(match)
            if mark is None:
                return match[0]
            found.add(mark)
            return " "

        return pattern.sub(replace, text)

    text = _BEFORE_DIGITS.sub("", text)
    text = take(_CHINESE_DAY, lambda match: f"day:{_CHINESE_DAYS[match[1]]}")
    text = take(_DAY, lambda match: f"day:{_DAYS.index(match[1]) + 1}")
    text = take(_MONTH, lambda match: f"month:{_MONTHS[match[1]]}")
    text = take(_NUMBER, lambda match: f"number:{_NUMBERS[match[1]]}")
    text = _WORD.sub(lambda match: _numbers(match, found), text)
    text = take(_SIGN, lambda match: f"sign:{match[0]}")
    text = take(_NUMERAL, _numeral)
    text, negations = _NEGATION.subn(" ", text)
    if negations:
        found.add(f"negated:{min(negations, MOST_NEGATIONS)}")
    return frozenset(found), text


def plain_numbers(text: str) -> list[str]:
    """Numbers that are written in several pieces, each as one: 9:30, 2026/03/02, 二十三. In any order."""
    found: set[str] = set()
    for match in _WORD.finditer(text):
        _numbers(match, found)
    numerals = [match[2] for match in _NUMERAL.finditer(text) if len(match[2]) > 1]
    return [*found, *(f"number:{_value(numeral)}" for numeral in numerals)]


def _numbers(match: re.Match[str], found: set[str]) -> str:
    """Take the pieces with digits out of a word: all of `v1.2-rc1`, the 18 of `node-18`."""
    word = match[0]
    if not any(map(str.isdigit, word)):
        return word
    negative = match.string[max(0, match.start() - 2) : match.start()]
    number = "-" if negative.endswith("-") and not negative[:1].isalnum() else ""
    left: list[str] = []
    for piece in _PIECE.findall(word):
        if any(map(str.isdigit, piece)) or (len(piece) == 1 and piece in ".,:/_-" and number.strip("-")):
            number += piece
            continue
        if number.strip("-"):
            found.add(f"number:{_plain(number)}")
        number = ""
        left.append(piece)
    if number.strip("-"):
        found.add(f"number:{_plain(number)}")
    return " ".join(["", *left, ""])


def _plain(number: str) -> str:
    """`v1.2`, `5,000` and `1st` without their clothes."""
    bare = _THOUSANDS.sub("", number.rstrip(".,:/_-"))
    dressed = _ORDINAL.fullmatch(bare) or _VERSION.fullmatch(bare)
    return dressed[1] if dressed else bare


def _numeral(match: re.Match[str]) -> str | None:
    ordinal, numeral = match[1], match[2]
    following = match.string[match.end() : match.end() + 1]
    counted = following in (_MEASURES_OF_ONE if numeral == "一" else _MEASURES)
    return f"number:{_value(numeral)}" if ordinal or len(numeral) > 1 or counted else None


def _value(numeral: str) -> int:
    """三十五 -> 35, 一百零三 -> 103, 二〇二六 -> 2026."""
    if not any(char in _POWERS for char in numeral):
        return int("".join(str(_DIGITS[char]) for char in numeral))
    total = section = digit = 0
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif _POWERS[char] >= _POWERS["万"]:
            total = (total + section + digit or 1) * _POWERS[char]
            section = digit = 0
        else:
            section += (digit or 1) * _POWERS[char]
            digit = 0
    return total + section + digit
