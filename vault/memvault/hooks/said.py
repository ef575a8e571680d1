"""What a person asks to be remembered: "remember ...", "from now on ...", 记住, 以后 (SPEC 5). Pure.

Owns recognising the order and cutting the claim out of the sentence. "Do you remember", "after that" and
"later, perhaps" are none. English and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memvault.hooks import lessons, words
from memvault.hooks.claims import MOST_CLAIMS, Claimed, claim_of
from memvault.hooks.words import Sentence
from memvault.model import Kind

_HELLO = (
    r"^(?:(?:ok(?:ay)?|also|and|so|oh|hey|hi|btw|by the way|well|right|yes|yeah|no|good|great|perfect"
    r"|thanks|thank you"
    r"|one more thing|fyi|important|claude|codex|gemini|cursor)[,:;.!—-]*\s+){0,4}"
    r"(?:(?:please|pls|can you|could you|would you|will you|you should|you must|you need to|i want you to"
    r"|i'd like you to|"
    r"i need you to|just|always)[,]?\s+){0,3}"
)
_ORDER = (
    r"(?:remember|keep in mind|bear in mind|memori[sz]e|(?:make|take) a (?:mental )?note"
    r"|note for (?:the future|next time|later)"
    r"|for (?:future|later) reference|don't (?:you )?(?:ever )?forget|do not forget|never forget"
    r"|add (?:this |that |it )?to (?:your |the )?memory|(?:save|store|put|commit) (?:this |that |it )?(?:to"
    r"|in|into) (?:your |the )?"
    r"(?:long.term )?memory)"
)
_REMEMBER = re.compile(
    rf"{_HELLO}(?P<order>{_ORDER}\b(?:,? please)?"
    r"(?:\s+(?:for (?:the future|next time|later|future \w+)|in (?:the )?future))?[\s,:;—-]*"
    r"(?P<rest>.*))$",
    re.IGNORECASE | re.DOTALL,
)
_POINTER = re.compile(
    r"(?:(?:this|that|it|the following|these|those)(?:\s+(?:rule|point|fact|one|things?|for (?:the future"
    r"|next time|later)))*)?"
    r"[\s:.!,—-]*$",
    re.IGNORECASE,
)
_ASKS_BACK = re.compile(
    r"(?:when|how|what|where|who|which|why|if|whether|the (?:time|day|last)|last|our (?:last|previous)"
    r"|we (?:talked|discussed)"
    r"|you (?:said|told)|from)\b",
    re.IGNORECASE,
)
_FROM_NOW = (
    r"(?:from (?:now|here|today) on(?:wards?)?|from this point on(?:wards?)?|going forward|moving forward"
    r"|henceforth"
    r"|for all future \w+)"
)
_LEADS = re.compile(
    rf"{_HELLO}(?P<order>(?:{_FROM_NOW}|in (?:the )?future|next time)[\s,:—-]+(?P<rest>.+))$", re.IGNORECASE
)
_TRAILS = re.compile(rf"{_HELLO}(?P<rest>.+?)[\s,]+(?:{_FROM_NOW})(?P<end>,? please)?[.!]*$", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:might|may|could|would|maybe|perhaps|probably|possibly|if we ever|we'll|we will|i'll|i will"
    r"|let's see)\b",
    re.IGNORECASE,
)
_MAY_ASK = re.compile(rf"\b(?:can|could|would|will) you (?:please )?{_ORDER}\s+(?:to|that)\b", re.IGNORECASE)

_ZH_HELLO = (
    r"^(?:(?:好的?|嗯|哦|另外|还有|对了|顺便|然后|那么?|所以|请|麻烦|帮我|你|您|要|给我|务必|一定要?|千万"
    r"|谢谢|不错|可以|注意)[，,、：:。！!\s]*){0,5}"
)
_ZH_REMEMBER = re.compile(
    rf"{_ZH_HELLO}(?P<order>(?:记住|记得|记好|记下来?|记一下|记到记忆里|牢记|切记|别忘记?了?|不要忘[了记]?"
    rf"|勿忘)(?:了|一下|下|啊|哦)?"
    r"(?:[，,：:\s]*)(?P<rest>.*))$",
    re.DOTALL,
)
_ZH_POINTER = re.compile(
    r"(?:这一?[点条件个]事?|这些|那一?[点条个]|以下(?:几|这些)?[点条]?|下面(?:的|几点)?|它)?[：:，,。！!\s]*$"
)
_ZH_ASKS_BACK = re.compile(r"(?:上次|上回|之前|以前|那次|那天|我们上次|昨天|前几天|当时)")
_ZH_LATER = r"(?:以后|今后|往后|从现在起|从现在开始|从今天起|从今以后|从今往后|从此以后|下次)"
_ZH_LEADS = re.compile(
    rf"(?:{_ZH_HELLO}|^.*[，,；;])(?P<order>{_ZH_LATER}[，,：:\s]*(?:请你?|你)?(?P<rest>.+))$"
)
_ZH_LEAVES_OPEN = re.compile(
    r"(?:再[说做看改讲议聊弄加补]|有空|有时间|有机会|可能|或许|也许|会不会|如果|万一|怎么|为什么|的|才|还会"
    r"|说不定|肯定|应该会|就会|我会|我再|我们再|"
    r"会[^用写]|能|发现|报错|出现|变|没)"
)
_ZH_AMID = re.compile(r"(?:以后|今后)(?:都|一律|统一|必须|不要|别|不许|只[用能写]|请|改用|全部|每次|默认)")
_ZH_QUESTION = re.compile(r"(?:[吗么呢]|没有|不)?\s*[?？]|[吗么]\s*[。.]?$|还记得|记不记得|记得.*吗")


def explicit(prompt: str) -> list[Claimed]:
    """The claims that the prompt asks to be remembered, at most MOST_CLAIMS."""
    every = words.sentences(words.edges(words.own(prompt)))
    found: dict[str, Claimed] = {}
    for at, sentence in enumerate(every):
        for claim in _of_one(every, at, sentence):
            found.setdefault(claim.content, claim)
    return list(found.values())[:MOST_CLAIMS]


def _of_one(every: Sequence[Sentence], at: int, sentence: Sentence) -> list[Claimed]:
    text = sentence.text
    if words.CJK.search(text):
        return _chinese(every, at, text)
    if text.endswith("?") and not _MAY_ASK.search(text):
        return []
    if found := _LEADS.match(text):
        if text.endswith(":"):  # what holds comes after it, if anything of the user's does
            return _pointed_at(every, at, listed=True)
        rest = found["rest"]
        kept = None if _UNSURE.search(rest) else claim_of(rest, found["order"], Kind.PREFERENCE)
        return [] if kept is None else [kept]
    if found := _REMEMBER.match(text):
        return _remembered(every, at, found)
    if found := _TRAILS.match(text):
        kept = None if _UNSURE.search(found["rest"]) else claim_of(found["rest"], text, Kind.PREFERENCE)
        return [] if kept is None else [kept]
    return []


def _remembered(every: Sequence[Sentence], at: int, found: re.Match[str]) -> list[Claimed]:
    rest = found["rest"].rstrip("?")
    if _POINTER.fullmatch(rest):
        return _pointed_at(every, at, listed=every[at].text.endswith(":"))
    rest = re.sub(r"^(?:this|that|it|the following)\s*[:,—-]\s*", "", rest, flags=re.IGNORECASE)
    rest = re.sub(r"^that\s+", "", rest, flags=re.IGNORECASE)
    if inner := _LEADS.match(rest):
        rest = inner["rest"]
    if inner := re.match(r"to\s+(?P<rest>.+)$", rest, re.IGNORECASE | re.DOTALL):
        kept = claim_of(inner["rest"], found["order"], Kind.PREFERENCE)
    else:
        kept = None if _ASKS_BACK.match(rest) else claim_of(rest, found["order"])
    return [] if kept is None else [kept]


def _pointed_at(every: Sequence[Sentence], at: int, *, listed: bool) -> list[Claimed]:
    """What "remember this" means: the list after a colon, else the sentence before, else the one after."""
    if listed or at == 0:
        after = list(every[at + 1 : at + 1 + MOST_CLAIMS])
        meant = after if listed else after[:1]
    else:
        meant = [every[at - 1]]
    meant = [one for one in meant if not one.text.endswith(("?", "？")) and not lessons.confirms(one.text)]
    kept = [claim_of(one.text, one.text) for one in meant]
    return [claim for claim in kept if claim is not None]


def _chinese(every: Sequence[Sentence], at: int, text: str) -> list[Claimed]:
    if _ZH_QUESTION.search(text):
        return []
    if found := _ZH_REMEMBER.match(text):
        rest = found["rest"]
        if _ZH_POINTER.fullmatch(rest):
            return _pointed_at(every, at, listed=text.endswith(("：", ":")))
        rest = re.sub(r"^(?:这一?[点条件]|这个|这件事)\s*[：:，,]\s*", "", rest)
        if inner := _ZH_LEADS.match(rest):
            kept = claim_of(inner["rest"], found["order"], Kind.PREFERENCE)
        else:
            kept = None if _ZH_ASKS_BACK.match(rest) else claim_of(rest, found["order"])
    elif found := _ZH_LEADS.match(text):
        rest = found["rest"]
        kept = None if _ZH_LEAVES_OPEN.match(rest) else claim_of(rest, found["order"], Kind.PREFERENCE)
    else:
        kept = claim_of(text, text, Kind.PREFERENCE) if _ZH_AMID.search(text) else None
    return [] if kept is None else [kept]
