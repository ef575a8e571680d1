"""What a source says about two rivals: that one replaces the other, or that each has its place. Pure.

Owns the wordings, English and Chinese, and the check that they point at the values in question. A question, a
supposition and a negation say nothing. Knows nothing of authority, time or storage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import permutations

from memvault.gate.reading import LOOK_AT, normal
from memvault.model import Claim, Source
from memvault.text import fold

_SENTENCE = re.compile(r"(?<=[.!?\n])(?=\s|$|[\u3400-\u9fff])|\n")
_UNSURE = re.compile(
    r"\?|吗\b|\b(?:if|whether|maybe|perhaps|might|could|should (?:we|i)|shall we|would|propos\w+|consider\w*|"
    r"discuss\w*|suggest\w*)\b|如果|假如|要是|是否|要不要|也许|可能|或许|考虑|讨论|建议|打算|万一",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;\n]|\.(?=\s|$|[\u3400-\u9fff])|\s(?:and|but|while|whereas)\s|(?:而|但)(?!不是|且)")
_DENIED = re.compile(
    r"\b(?:not|never|no|without)\b|n't\b|不用|不走|别用|没用|不靠|不要|不能|不得|禁止", re.IGNORECASE
)

# ------------------------------------------------------------------------------------ one replaces the other

_TO = (
    r"\b(?:switch|chang|migrat|mov|transition|convert)(?:ed?|es|s|ing)?\s+(?:over\s+)?to\b|"
    r"改用|改为|改成|改走|改由|换成|换用|换到|换为|迁移到|迁到|切换到|切换为|切到|转用|转为"
)
_FROM = (
    r"\b(?:instead|in place) of\b|\brather than\b|\bno longer\b(?! than)|"
    r"\b(?:switch|chang|migrat|mov)(?:ed?|es|s|ing)?\s+(?:away\s+)?from\b|"
    r"\b(?:we|it|they|i|you|project|team)\s+used to\b|"
    r"不再|而不是|弃用|废弃|停用|淘汰"
)
_OVER = r"\breplac(?:es|ed|ing)\b(?! by)|\bsupersedes?d?\b(?! by)|取代|替代|替换(?!为|成)|代替"
_UNDER = r"\b(?:replaced|superseded) (?:by|with)\b|被|替换为|替换成"
_SINCE = (
    r"\b(?:from|starting|beginning|effective|as of|as from)\s+(?:now on|today|tomorrow|next|this|the (?:next|"
    r"first)|v?\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march|april|may|june|july|"
    r"august|september|october|november|december)\b)|"
    r"\b(?:is|are|uses?|runs?|deploys?) now\b|\bnow (?:is|are|uses?|runs?|deploys?|goes)\b|\banymore\b|"
    r"[从自][^,.\n]{1,12}(?:起|开始|往后)|(?:现在|今后|以后)(?:起)?(?:都|就|一律|统一)?(?:用|是|走|改)"
)
_SAYS = re.compile(
    f"(?P<to>{_TO})|(?P<of>{_FROM})|(?P<under>(?:{_UNDER}))|(?P<over>{_OVER})|(?P<since>{_SINCE})",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    r"(?:\bnot|n't|\bnever|\bwithout|\bno plans? to|还没有?|没有?|尚未|不会|暂不|不要|别|不准备|并未|拒绝)"
    r"(?:\s+\w+){0,3}\s*$",
    re.IGNORECASE,
)

_WORD = re.compile(r"[a-z0-9][\w./+-]*[\w+]|[a-z0-9]|[\u3400-\u9fff]")
_PART = re.compile(r"[./_+-]")


def tokens(text: str) -> frozenset[str]:
    """Folded words, and the parts of compound ones; each Chinese character counts as one."""
    whole = _WORD.findall(fold(normal(text)))
    return frozenset((*whole, *(part for word in whole for part in _PART.split(word) if part)))


def _said(claim: Claim) -> str:
    return claim.value if claim.value is not None else claim.content


def _distinct(one: Claim, other: Claim) -> tuple[frozenset[str], frozenset[str]]:
    """The words by which the two values can be told apart."""
    first, second = tokens(_said(one)), tokens(_said(other))
    return first - second, second - first


def _texts(claim: Claim, sources: Iterable[Source]) -> Iterator[str]:
    yield from (source.evidence for source in sources if source.evidence)
    yield claim.content
    if claim.why:
        yield claim.why


def _asserted(text: str) -> Iterator[str]:
    """The sentences that say something, without those that ask or suppose."""
    for sentence in _SENTENCE.split(normal(text[:LOOK_AT])):
        if sentence.strip() and not _UNSURE.search(sentence):
            yield sentence.strip()


def replaces(claim: Claim, sources: Iterable[Source], old: Claim) -> bool:
    """Whether the later claim or its sources say that it takes the place of `old`."""
    new, before = _distinct(claim, old)
    return any(
        _points(sentence, found, new, before)
        for text in _texts(claim, sources)
        for sentence in _asserted(text)
        for found in _SAYS.finditer(sentence)
    )


def _points(sentence: str, found: re.Match[str], new: frozenset[str], old: frozenset[str]) -> bool:
    """Whether a wording points from the old value to the new one, or at least not the other way round."""
    ahead = sentence[: found.start()]
    behind = tokens(_CLAUSE.split(sentence[found.end() :])[0])
    if found.lastgroup != "of" and _UNDONE.search(ahead):
        return False
    if found.lastgroup == "of":
        return not behind & new or bool(behind & old)
    if found.lastgroup == "to":
        return not behind & old or bool(behind & new)
    if found.lastgroup == "over":
        return not behind & new and not tokens(ahead) & old
    if found.lastgroup == "under":
        return bool(behind & new or tokens(ahead) & old) and not behind & old
    return not tokens(sentence) & old or bool(tokens(sentence) & new)


# --------------------------------------------------------------------------------------- each has its place

_PLACES: dict[str, dict[str, str]] = {
    "environment": {
        "production": r"production|prod\b|生产|线上|正式环境",
        "testing": r"tests?\b|testing|测试",
        "staging": r"staging|pre-?prod(?:uction)?|预发布?|灰度",
        "development": r"development|dev\b|local(?:ly)?\b|laptops?|开发|本地",
        "ci": r"ci\b|pipelines?\b|流水线",
    },
    "platform": {
        "windows": r"windows",
        "linux": r"linux",
        "mac": r"mac ?os|macs?\b",
        "android": r"android|安卓",
        "ios": r"ios\b",
    },
    "time": {
        "weekdays": r"weekdays?|工作日|平日",
        "weekends": r"weekends?|周末",
        "day": r"daytime|白天",
        "night": r"nights?\b|nightly|夜间|晚上|夜里",
    },
    "stage": {
        "release": r"releases?\b|正式发布|发版",
        "hotfix": r"hot-?fix(?:es)?|emergenc(?:y|ies)|热修复?|紧急",
        "debug": r"debug(?:ging)?|调试",
    },
    "side": {"frontend": r"front-?end|前端", "backend": r"back-?end|后端"},
    "branch": {
        "main": r"(?:main|master) branch|主分支",
        "feature": r"feature branch(?:es)?|特性分支|功能分支",
    },
}
"""Group -> place -> its wordings. Two places of one group exclude each other."""

_PLACE = re.compile(
    "|".join(
        rf"(?P<{group}_{place}>(?<![A-Za-z])(?:{wording}))"
        for group, places in _PLACES.items()
        for place, wording in places.items()
    ),
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:now|before|previously|formerly|today|tomorrow|yesterday|next|last|from|since|until|used|then|once|"
    r"week|month|year)\b|以前|之前|原来|过去|原先|现在|今后|以后|将来|下周|上周|从|月|年|今天|明天",
    re.IGNORECASE,
)
_THE = r"(?:the\s+|our\s+|an?\s+)?"
_BY = (
    re.compile(
        rf"^(?P<at>for|in|on|during|when|under)?\s*{_THE}(?P<x>[\w /-]{{2,40}}?)\s*"
        r"(?:\s(?:we|you|i|they|it|deploys?|deployments?|runs?|goes|go|happens?|is|are|done|deployed|only|always|still))*"
        rf"\s*(?:\bby\b|\bwith\b|\bvia\b|\bthrough\b|\busing\b|\buses?\b|\btakes?\b|->|=>|:|=)\s*{_THE}(?P<y>\S.*)$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:we\s+|always\s+|please\s+)*(?:use|using|run|with|by|via|deploy (?:with|by|via))?\s*{_THE}"
        r"(?P<y>\S.*?)\s+(?:is\s+|are\s+)?(?:only\s+|used\s+)?(?P<at>for|in|on|during|when|under)\s+"
        rf"{_THE}(?P<x>[\w /-]{{2,40}})$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<at>在)?(?P<x>[^用走靠以]{1,12}?)(?P<at2>的时候|时|环境|阶段|上|里|下|中)?(?:我们|都|就|则|要|一律|仍然?|还是?)*"
        r"(?:部署|发布|运行)?\s*(?:使用|采用|用(?!于|在|来)|走|靠|通过)\s*(?P<y>\S.*)$"
    ),
    re.compile(r"^(?:用|使用)?\s*(?P<y>\S.*?)\s*(?:只|仅)?(?P<at>用于|用在|用来|适用于)\s*(?P<x>\S{1,12})$"),
    re.compile(
        rf"^(?P<at>for|in|on|during)\s+{_THE}(?P<x>\w+)\s+(?:it(?:'s| is)\s+)?(?:the\s+)?(?P<y>\S.*)$",
        re.IGNORECASE,
    ),
)
_SCRIPT = re.compile(r"\bscripts?\b|脚本", re.IGNORECASE)
_IS_SCRIPT = re.compile(r"\.(?:sh|py|ps1|rb|bat|cmd)\b|\b(?:ba|z)?sh\b|\bscripts?\b|脚本", re.IGNORECASE)
_COMMAND = re.compile(r"\bcommands?\b|命令", re.IGNORECASE)
_IS_COMMAND = re.compile(r"^[a-z][\w.-]* \S|\bcommands?\b|命令", re.IGNORECASE)
_HAND = re.compile(r"\bby hand\b|\bmanual(?:ly)?\b|手动|手工|人工", re.IGNORECASE)
_ARTICLE = re.compile(rf"^{_THE}", re.IGNORECASE)


def _fits(name: str, said: str, words: frozenset[str]) -> float:
    """0..1: how well a name in the evidence ("the script") stands for a value (`bash deploy.sh`)."""
    if tokens(name) & words:
        return 1.0
    if _SCRIPT.search(name):
        return 1.0 if _IS_SCRIPT.search(said) else 0.0
    if _COMMAND.search(name):
        return 0.25 if _IS_SCRIPT.search(said) else 1.0 if _IS_COMMAND.search(said) else 0.0
    return 1.0 if _HAND.search(name) and _HAND.search(said) else 0.0


def _placed(sentence: str) -> Iterator[tuple[str, str]]:
    """(place, what is used there) of every clause that says so."""
    for clause in _CLAUSE.split(sentence):
        if _DENIED.search(clause):
            continue
        for pattern in _BY:
            found = pattern.match(clause.strip())
            if found is None or _PASSING.search(found["x"]):
                continue
            parts = found.groupdict()
            if _PLACE.search(found["x"]) or parts.get("at") or parts.get("at2"):
                place = _ARTICLE.sub("", found["x"].strip())
                yield place + ("环境" if parts.get("at2") == "环境" else ""), found["y"].strip()
                break


def named_places(claim: Claim, old: Claim, sources: Iterable[Source]) -> tuple[str, str] | None:
    """The places where `claim` and `old` hold, when one statement names both: "production by script, tests by
    command". None when it does not, or not clearly."""
    new, before = _distinct(claim, old)
    for text in _texts(claim, sources):
        for sentence in _asserted(text):
            found = _pair(list(_placed(sentence)), claim, old, new, before)
            if found is not None:
                return found
    return None


def _pair(
    placed: list[tuple[str, str]], claim: Claim, old: Claim, new: frozenset[str], before: frozenset[str]
) -> tuple[str, str] | None:
    best, choice = 0.0, None
    for (mine, name), (theirs, other) in permutations(placed[:6], 2):
        if fold(mine) == fold(theirs):
            continue
        ours, rest = _fits(name, _said(claim), new), _fits(other, _said(old), before)
        crossed = _fits(other, _said(claim), new) + _fits(name, _said(old), before)
        if ours and rest and ours + rest > max(best, crossed):
            best, choice = ours + rest, (mine, theirs)
    return choice


_OWN = re.compile(
    r"\b(?:in|on|for|during|under)\s+(?:the\s+|our\s+)?(?P<a>[A-Za-z][\w -]{1,24}?)"
    r"(?=\s+(?:environments?|only|builds?|runs?|machines?|servers?)\b|[,.;:!)]|\s+(?:use|run|we|deploy|it|the)\b|$)|"
    r"\b(?P<b>[A-Za-z]+)\s+only\b|(?P<c>[\u3400-\u9fff]{2,6})(?=环境|时|服务器|机器)|"
    r"(?:只|仅)?在(?P<d>[\u3400-\u9fff]{2,6})",
    re.IGNORECASE,
)


def own_place(claim: Claim, sources: Iterable[Source], *others: Claim) -> tuple[str, str, str] | None:
    """(group, place, wording) when the claim, or its evidence, names one place it holds in.

    A place that is the value, attribute or subject itself is what the claim says, not where it holds.
    """
    if claim.conditions:
        return _one_place([claim.conditions], frozenset())
    taken = frozenset[tuple[str, str]]().union(
        *(
            _places_in(text)
            for other in (claim, *others)
            for text in (other.value, other.attribute, other.subject)
        )
    )
    spans = [
        next(filter(None, found.groups()))
        for text in (claim.content, *(source.evidence for source in sources if source.evidence))
        for sentence in _asserted(text)
        for found in _OWN.finditer(sentence)
    ]
    return _one_place(spans, taken)


def _places_in(text: str | None) -> frozenset[tuple[str, str]]:
    return frozenset((group, place) for group, place, _ in _all_places(text or ""))


def _all_places(text: str) -> Iterator[tuple[str, str, str]]:
    for found in _PLACE.finditer(normal(text)):
        group, _, place = str(found.lastgroup).partition("_")
        yield group, place, found.group()


def _one_place(texts: Iterable[str], taken: frozenset[tuple[str, str]]) -> tuple[str, str, str] | None:
    found = {(group, place): word for text in texts for group, place, word in _all_places(text)}
    free = [(*key, word) for key, word in found.items() if key not in taken]
    return free[0] if len(free) == 1 else None
