"""What a text says about names: "Kubernetes (k8s)", "CI stands for continuous integration", 又名, 简称.

Owns the patterns. They would rather miss a name than take one that is none: an abbreviation counts only when
its letters are those of the words, "stands for" only when it abbreviates, 也叫 only behind a pause. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memvault.recall.function_words import FUNCTION_WORDS

RULES = b"1"
"""Grows when the patterns change: memories are then read anew."""
MOST_TAUGHT = 8
"""Pairs that one memory teaches."""
MOST_CHARS = 20_000
"""Of a text so many characters are read."""

MOST_OF_A_SENTENCE = 600
"""A longer one is no sentence; the patterns take more than linear time in it."""

Pair = tuple[str, str]

_SMALL = frozenset({"of", "and", "the", "for", "to", "in", "on", "a", "an"})
_NO_NAME = FUNCTION_WORDS | frozenset({"time", "someone", "something", "people"})
_ROLES = re.compile(
    r"\b(?:engineer|manager|lead|director|head|chief|officer|member|student|employee|years?|part|based)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:not|never|no longer|wrong|maybe|perhaps|might|could|confus\w+|unlike|pretend\w*|if|whether)\b"
    r"|n['’]t\b"
    r"|不是|并非|不要|别|可能|也许|误|是否|吗|如果|假如",
    re.IGNORECASE,
)
_sentences = re.compile(r"[^.!?。！？\n]+(?:\.(?=\S)[^.!?。！？\n]*)*[.!?。！？]?").findall
_WORD = r"[A-Za-z][A-Za-z0-9]*(?:[+#./&-][A-Za-z0-9]+)*[+#]*"
_PROPER = r"(?<![A-Za-z0-9_.+#/-])(?:[A-Z0-9][\w.+#/-]*|[a-z]+\d\w*)(?: (?:[A-Z0-9][\w.+#/-]*|\d+)){0,3}"
_parens = re.compile(r"[(（]\s*([^()（）]{2,60}?)\s*[)）]").finditer
_words = re.compile(r"[A-Za-z0-9]+(?:['’+#.][A-Za-z0-9]+)*").findall
_stands = re.compile(
    rf"(?<![\w+#./&-])[\"“'‘]?({_WORD})[\"”'’]?,?\s+(?:stands\s+for|(?:is|was)\s+(?:just\s+)?short\s+for"
    r"|is\s+(?:an?|the)\s+(?:abbreviation|acronym|short\s+form|shorthand)\s+(?:of|for)|means)\s+"
    r"[\"“'‘]?([A-Za-z][\w .&/-]{1,60})"
).finditer
_known_as = re.compile(
    rf"({_PROPER}),?\s*[(（]?\s*(?:also\s+known\s+as|aka|a\.k\.a\.|formerly\s+known\s+as|formerly\s+called)"
    rf"\s+[\"“]?({_PROPER})",
).finditer
_formerly = re.compile(rf"({_PROPER})\s*\(formerly\s+({_PROPER})\)").finditer

_english_cue = re.compile(
    r"\b(?:stands\s+for|short\s+for|abbreviation|acronym|short\s+form|shorthand|means|known\s+as|aka|formerly)\b"
    r"|a\.k\.a\.",
    re.IGNORECASE,
).search
_chinese_cue = re.compile("称|缩写|又名|也叫|别名|原名|简写|即").search

_RUN = r"[\u3400-\u9fff]{2,8}"
_LATIN = r"(?<![A-Za-z0-9_.+#/-])[A-Za-z][\w.+#/-]*(?: [A-Z][\w.+#/-]*){0,2}"
_SIDE = rf"(?:[「“\"《]([^」”\"》]{{2,20}})[」”\"》]|({_LATIN})|({_RUN}))"
_MARK = (
    r"(?:简称(?:为|是)?|缩写(?:为|是)?|又名|又称(?:为)?|也称(?:为)?"
    r"|也叫(?:做|作)?|别名(?:为|是|叫)?|原名|全称(?:为|是)?)"
)
_said_chinese = re.compile(
    rf"{_SIDE}\s*([，,（(]\s*)?{_MARK}[:：\s]*{_SIDE}(?=\s*(?:[，,。.；;）)！!]|$))"
).finditer
_is_short = re.compile(rf"({_LATIN})\s*(?:就)?是\s*({_LATIN})\s*的(?:简称|缩写|别名|简写)").finditer
_that_is = re.compile(
    rf"(?:({_LATIN})|({_RUN}))\s*[（(]\s*即\s*[:：]?\s*(?:({_LATIN})|({_RUN}))\s*[）)]"
).finditer
_BEFORE = re.compile(r"^.*[的了]|^(?:我们|咱们|这个|那个|在|把|用|从|到|给|向|对|该|此|本)")
_NOT_BEGUN = re.compile(
    r"^(?:了|上|来|我|你|他|她|它|人|大家|停|苦|好|去|将|使|时|日|可|便|刻|不|有|是|在|会|要)"
)
_PRONOUN = re.compile(r"^[我你他她它这那谁咱]|们$|大家$")


def taught(texts: Sequence[str]) -> tuple[Pair, ...]:
    """Pairs of names that the texts say are the same thing, each once, in the order of the texts."""
    found: dict[frozenset[str], Pair] = {}
    for text in texts:
        for pair in _pairs(text[:MOST_CHARS]):
            one, other = (name.strip(" .,'\"“”‘’") for name in pair)
            key = frozenset((one.casefold(), other.casefold()))
            if len(key) == 2 and _is_name(one) and _is_name(other):
                found.setdefault(key, (one, other))
    return tuple(found.values())[:MOST_TAUGHT]


def _is_name(name: str) -> bool:
    words = name.split()
    return (
        2 <= len(name) <= 60
        and len(words) <= 5
        and name.casefold() not in _NO_NAME
        and words[0].casefold() not in _SMALL
        and not name.replace(".", "").isdigit()
    )


def _pairs(text: str) -> Iterator[Pair]:
    if "(" in text or "（" in text:
        yield from _in_parentheses(text)
    for sentence in _sentences(text):
        if len(sentence) > MOST_OF_A_SENTENCE or sentence.endswith(("?", "？")) or _HEDGED.search(sentence):
            continue
        if _english_cue(sentence):
            yield from _english(sentence)
        if _chinese_cue(sentence):
            yield from _chinese(sentence)


def _in_parentheses(text: str) -> Iterator[Pair]:
    """The short name behind the long one, or the long one behind the short."""
    for found in _parens(text):
        inside, before = found.group(1), text[max(0, found.start() - 80) : found.start()]
        said = _words(before)
        if not said or before[len(before.rstrip()) :].count("\n"):
            continue
        if re.fullmatch(_WORD, inside):
            long = _spelt(inside, before)
            if long is not None:
                yield inside, long
        if re.fullmatch(_WORD, said[-1]) and before.rstrip().endswith(said[-1]):
            rest = inside if not re.search(r"[,，;；:：]", inside) else ""
            if rest and _abbreviates(said[-1], rest):
                yield said[-1], rest


def _spelt(short: str, before: str) -> str | None:
    """The words at the end of `before` whose letters `short` is; None when there are none."""
    words = list(re.finditer(r"[A-Za-z][A-Za-z0-9]*", before))
    if not words or before[words[-1].end() :].strip():
        return None
    for first in range(len(words) - 1, max(-1, len(words) - 1 - 8), -1):
        long = before[words[first].start() :].strip()
        if re.search(r"[^\w\s&/-]", long):
            return None
        if _abbreviates(short, long):
            return long
    return None


def _abbreviates(short: str, long: str) -> bool:
    """Whether the letters of the short name are those of the long one: initials, k8s, or JS of JavaScript."""
    words = _words(long.replace("-", " ").replace("/", " "))
    if (
        not words
        or len(short) >= len(long)
        or not _SMALL.isdisjoint((words[0].casefold(), words[-1].casefold()))
    ):
        return False
    numbered = re.fullmatch(r"([a-z])(\d{1,2})([a-z])", short.casefold())
    if numbered and len(words) == 1:
        word = words[0].casefold()
        first, between, last = numbered.groups()
        return word.isalpha() and (word[0], len(word) - 2, word[-1]) == (first, int(between), last)
    letters = short.replace("/", "").replace("&", "")
    if not 2 <= len(letters) <= 6 or not letters.isalpha():
        return False
    if len(words) == 1:
        capitals = "".join(char for char in words[0] if char.isupper())
        return len(capitals) >= 2 and words[0] != capitals and capitals.casefold() == letters.casefold()
    if sum(char.isupper() for char in letters) < 2:
        return False
    every = "".join(word[0] for word in words).casefold()
    telling = "".join(word[0] for word in words if word.casefold() not in _SMALL).casefold()
    return letters.casefold() in (every, telling)


def _within(short: str, long: str) -> bool:
    """Whether the letters of the short name stand in the long one, in order and from its first on."""
    rest = iter(long.casefold())
    return (
        short[0].casefold() == long[0].casefold()
        and len(short) * 10 <= len(long) * 7
        and all(char in rest for char in short.casefold() if char.isalnum())
    )


def _english(sentence: str) -> Iterator[Pair]:
    for found in _stands(sentence):
        short, rest = found.group(1), found.group(2)
        words = rest.split()
        sizes = range(min(len(words), 6), 0, -1)
        long = next((" ".join(words[:n]) for n in sizes if _abbreviates(short, " ".join(words[:n]))), None)
        if long is None and not re.search(r"\smeans\s", found.group()):
            first = words[0].strip(".,/-")
            long = first if first[:1].isupper() and _within(short, first) else None
        if long is not None:
            yield short, long
    for found in (*_known_as(sentence), *_formerly(sentence)):
        if not _ROLES.search(found.group()):
            yield found.group(1), found.group(2)


def _chinese(sentence: str) -> Iterator[Pair]:
    for found in _said_chinese(sentence):
        one, other = _side(found.groups()[:3]), _side(found.groups()[4:])
        run, pause = found.group(3) and found.group(7), found.group(4)
        if one and other and (pause or not run or "也叫" not in found.group()):
            yield one, other
    for found in _is_short(sentence):
        yield found.group(1), found.group(2)
    for found in _that_is(sentence):
        one, other = _side((None, *found.groups()[:2])), _side((None, *found.groups()[2:]))
        if one and other:
            yield one, other


def _side(groups: Sequence[str | None]) -> str | None:
    """The name on one side of the mark; None for a pronoun, or words that go on with a sentence."""
    quoted, latin, run = groups
    if quoted or latin:
        return quoted or latin
    name = _BEFORE.sub("", run or "")
    return None if len(name) < 2 or _PRONOUN.search(name) or _NOT_BEGUN.search(name) else name
