"""Corrections of the agent: "no, use X", "that's wrong, it is ...", 不对，应该是 ... (SPEC 2 and 5). Pure.

Owns recognising that something is put right, and what holds instead. English and Chinese.
"""

from __future__ import annotations

import re

from memvault.hooks import words
from memvault.hooks.claims import Claimed, claim_of
from memvault.model import Kind

MOST_CORRECTIONS = 2

_NO = re.compile(
    r"^(?:no+|nope|wrong|incorrect|not quite|not like that|stop|actually|sorry|(?:that|this|it)(?:'s|’s| is"
    r"| was) (?:wrong|incorrect"
    r"|not (?:right|correct|true|it|what i (?:meant|want(?:ed)?|asked(?: for)?|said)|how (?:we|i"
    r"|it)\b[^.,;:]{0,30}))"
    r"|you(?:'re|’re| are| were) (?:wrong|mistaken)|you (?:misunderstood|got (?:it|that) wrong)|i (?:said"
    r"|told you|meant))\b"
    r"(?:[\s,.;:!—-]+|$)(?P<rest>.*)$",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"^(?:please |just |we |you should |you must |you need to )?(?:always |never )?(?:use|prefer|run|call"
    r"|write|put|deploy|name|avoid"
    r"|don't|do not|never|always|import|install|start|keep|go through|go with|pass|set|store|send|build"
    r"|test)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"^(?:it(?:'s|’s| is| should be| has to be| must be)|that(?:'s|’s| is| should be)|there(?:'s|’s| is"
    r"| are)|we(?:'re| are)? \w+"
    r"|the [\w -]{2,40} (?:is|are|was|should|must|uses?|lives?|runs?|has|have|needs?|goes)"
    r"|our [\w -]{2,40} (?:is|are|uses?|runs?)"
    r"|[\w./`-]+ (?:is|are|uses?|runs?|needs?|lives?))\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"^(?:please )?(?:use|run|call|import|write|put|say|name it|pick|choose)\b.{2,120}\b(?:instead of"
    r"|rather than|,? not)\s+\S"
    r"|^(?:please )?(?:don't|do not|never|stop) us(?:e|ing)\b.{2,80}[,;.—-]+\s*(?:but |please |rather "
    r"|always )?use\b"
    r"|^it(?:'s|’s| is) [^,]{2,60}, not \S",
    re.IGNORECASE,
)
_WEAK_END = re.compile(r"\s*,?\s*\b(?:instead|though|here|again|this time)[.!]*$", re.IGNORECASE)
_ONCE = re.compile(
    r"\b(?:for now|this time|just this once|here only|in this (?:file|case|commit|pr))\b"
    r"|这次|这一次|暂时|先这样",
    re.IGNORECASE,
)

_ZH_NO = re.compile(
    r"^(?:不是这样的?|这样不对|这不对|不对|不是的?|不行|有误|(?:你?(?:搞|弄|说|写|理解|记))?错了|我说的是"
    r"|我的意思是)"
    r"(?:[，,。！!；;：:\s]+|$|(?=应该|我们用的))(?P<rest>.*)$"
)
_ZH_HOLDS = re.compile(
    r"^(?:你|这里|这个|我们)?(?:应该?是?|要用|得用|用的?是?|使用|改成|改用|换成|是|别|不要|不能|不用|必须"
    r"|需要|我们用|走|写|跑)|(?:应该|必须|要用|用的是|在|是).{2,}"
)
_ZH_INSTEAD = re.compile(
    r"(?:别|不要|不能|不许)再?用.{1,40}[，,。；;\s]*(?:要|请|改|而是|应该|得)?用.+|应该(?:是|用"
    r"|在).{1,40}(?:，|,)?(?:而)?不(?:是|用|在|要)"
    r"|^用.{1,40}[，,](?:而)?(?:不要|别|不)用|^(?:不是|不用).{1,40}[，,]?(?:而是|是|用).+"
    r"|改用.{1,40}(?:不要|别)再?用"
)


def corrections(prompt: str) -> list[Claimed]:
    """What holds instead of what the agent assumed, at most MOST_CORRECTIONS claims."""
    every = words.sentences(words.edges(words.own(prompt)))
    found: list[Claimed] = []
    denied = False
    for at, sentence in enumerate(every):
        text = sentence.text
        if text.endswith(("?", "？")) or _ONCE.search(text):
            denied = False
            continue
        chinese = words.CJK.search(text) is not None
        no = (_ZH_NO if chinese else _NO).match(text) if at < 2 else None
        rest = text if no is None else no["rest"].strip()
        kept = _held(rest, chinese=chinese, denied=no is not None or denied)
        denied = no is not None and not rest
        if kept is not None:
            found.append(kept)
    return found[:MOST_CORRECTIONS]


def _held(rest: str, *, chinese: bool, denied: bool) -> Claimed | None:
    """The claim of a sentence that stands against another; `denied`: "no" was said before it."""
    if not rest:
        return None
    if chinese:
        if not (_ZH_INSTEAD.search(rest) or (denied and _ZH_HOLDS.search(rest))):
            return None
        return claim_of(re.sub(r"^(?:你|这里)?应该(?=[用是在走写跑])", "", rest), rest)
    orders = _INSTEAD.match(rest) or (denied and _ORDERS.match(rest))
    if not orders and not (denied and _STATES.match(rest)):
        return None
    kind = None if not orders or rest.lower().startswith(("it", "we ")) else Kind.PREFERENCE
    return claim_of(_WEAK_END.sub("", rest), rest, kind)
