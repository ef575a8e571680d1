"""What a person's sentence asks to be kept, cut out of it, as a claim that can be proposed. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memvault.hooks import words
from memvault.model import Kind

MOST_CLAIMS = 3
"""Of one prompt: more is a sign of a pasted text, and the gate takes no more of one turn."""
MOST_CLAIM_CHARS = 600
LEAST_SIZE = 2

_BEHAVIOUR = re.compile(
    r"^(?:please )?(?:always|never|don't|do not|stop|avoid|use|prefer|write|run|put|keep|call|name|ask"
    r"|answer|reply|respond"
    r"|speak|format|commit|test|deploy|make|only|no|start|end|add|check|show|explain|wrap|leave|follow|sign"
    r"|build|push"
    r"|squash|document|mention|treat|stick|go|work|read|ship|rebase|merge|wait|lint|quote)\b"
    r"|\b(?:i|we) (?:(?:always|never|really|strongly|usually) )*(?:prefer|like|love|want|hate|dislike"
    r"|don't (?:like|want|use)"
    r"|can't stand)\b"
    r"|^(?:请|都|要|不要|别|不许|不准|必须|一律|统一|只|先|用|使用|不用|每次|优先|尽量|避免|禁止|给我|把|按"
    r"|写|跑|改用|保持|直接)"
    r"|我(?:更|很|最|特别|比较)?(?:喜欢|不喜欢|讨厌|习惯|偏好|希望|想要)|我们(?:都|一律|统一|只)",
    re.IGNORECASE,
)
_POINTS_AWAY = re.compile(
    r"^(?:to )?(?:(?:do|use|try|keep|make|like|it's|it is|is|fix|change|run|put|call|all of|just) )*"
    r"(?:it|this|that|these|those|them|so|the (?:other|first|second|third|last|same|new|old)(?: (?:one|way"
    r"|thing))?|here|there|one)"
    r"(?: (?:one|way|too|here|there|now|again|instead|like (?:this|that)))*$"
    r"|^(?:都|要|就|请|用|按|照|改成|改用|换成|是|应该|应该是|使用|做)*(?:这|那|它|他|她|其他|另外?|别的?"
    r"|上面|下面|前面|刚才)(?:个|样|种|些|里|一个|的)*"
    r"(?:做|来|办|写|吧|了|就行|方式|方法)*$",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"\b(?:pass(?:word|phrase|code)|secret|token|api.?key|credentials?|pin)s?\b.{0,24}?(?:\bis\b|\bare\b"
    r"|[:=])"
    r"|(?:密码|口令|密钥|令牌|验证码).{0,8}(?:是|为|[:：=])",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[\s,，;；:：、—-]+$")
_POLITE_END = re.compile(
    r"[,，]?\s*(?:please|pls|thanks|thank you|ok(?:ay)?|谢谢|好吗|好吧|吧|哦|啊)[.!。！]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """`content`: the claim. `evidence`: the words it was cut out of."""

    kind: Kind
    content: str
    evidence: str


def claim_of(rest: str, evidence: str, kind: Kind | None = None) -> Claimed | None:
    """A claim of what is left of a sentence; None when it says nothing by itself, or tells a password."""
    content = _TAIL.sub("", _POLITE_END.sub("", rest.strip())).strip()
    content = re.sub(r"^(?:please|that|请你?|你)\s*(?=\S)", "", content, flags=re.IGNORECASE)
    core = content.rstrip(".!。！ ")
    if (
        words.size(core) < LEAST_SIZE
        or len(content) > MOST_CLAIM_CHARS
        or _POINTS_AWAY.match(core)
        or _SECRET.search(content)
    ):
        return None
    found = kind or (Kind.PREFERENCE if _BEHAVIOUR.search(content) else Kind.FACT)
    return Claimed(found, content[0].upper() + content[1:], evidence.strip())
