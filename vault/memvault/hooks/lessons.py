"""A success the person confirms, and what of the agent's last message was not obvious: cause or fix. Pure.

Owns recognising both (SPEC 2: a reflection needs an attributed cause). English and Chinese.
"""

from __future__ import annotations

import re

from memvault.hooks import words
from memvault.hooks.claims import MOST_CLAIM_CHARS, Claimed
from memvault.model import Kind

MOST_CONFIRMING_CHARS = 160
"""Whoever confirms says so in a few words; more is about something else."""
MOST_MESSAGE_CHARS = 8_192

_WORKED = re.compile(
    r"\b(?:that|this|it|which|now it|all) (?:finally |really |actually |indeed )?(?:worked|works|fixed it"
    r"|solved it|did it|did the trick"
    r"|helped|fixed (?:the|my|that)|solved (?:the|my|that))\b|^(?:works|worked|fixed|solved"
    r"|it works)\b(?! on| with)"
    r"|\b(?:that|this) was (?:it|the (?:problem|cause|reason|issue|culprit))\b|\byou (?:found|nailed|fixed"
    r"|got) it\b"
    r"|\bproblem solved\b|\bthe (?:error|bug|problem|crash|issue) is gone\b|\b(?:tests?|it|build"
    r"|everything) (?:passe?s?|is green) now\b",
    re.IGNORECASE,
)
_DID_NOT = re.compile(
    r"\b(?:not|n't|n’t|never|neither|nothing|if|whether|almost|half|but|except|still|wish|unless)\b"
    r"|\?",
    re.IGNORECASE,
)
_ZH_WORKED = re.compile(
    r"搞定了?|解决了|就是这个(?:原因|问题)|果然是|问题就在这|好使了?|管用|有效|(?:可以|好|通|成功|正常|修好"
    r"|跑通|通过)了|没问题了|确实是"
)
_ZH_DID_NOT = re.compile(
    r"没有?(?:解决|搞定|用|成功|好|修好|通过|效)|不(?:行|对|管用|好使|起作用)|还是|但是?|可是|不过|如果|是不是|吗|？|\?|怎么"
)

_CAUSE = re.compile(
    r"\b(?:because|caused by|root cause|the (?:real |actual |underlying )?(?:cause|culprit|reason|problem"
    r"|issue) (?:is|was)|due to"
    r"|turned out|turns out|stems? from|came from|traced to|which is why)\b|根因|原因(?:是|在于)|因为|由于"
    r"|导致|罪魁祸首|其实是",
    re.IGNORECASE,
)
_FIX = re.compile(
    r"\b(?:the fix (?:is|was)|fix(?:ed)? (?:it )?by|the solution (?:is|was)|to (?:fix|avoid|prevent) (?:it"
    r"|this|that)|workaround"
    r"|you (?:have|need) to|must be|has to be|needs? to be|only (?:works|helps) (?:if|when|after)"
    r"|before (?:re)?\w+ing)\b"
    r"|解决(?:办法|方法|方案)|修复(?:方法|方式)|需要先|必须先?|要先|只有.{1,30}才|改成|办法是",
    re.IGNORECASE,
)
_SHALLOW = re.compile(
    r"^(?:i(?:'ve|’ve|'ll| have| will)?\b|let me|let's|now |next|here(?:'s| is)|done|great|perfect|you're"
    r"|sure|all tests|sorry"
    r"|我(?:已|将|来|会|们)|接下来|现在|好的|已经|下面|抱歉)|[?？:：]$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"^[#>\s]+|\*\*|__")


def confirms(prompt: str) -> bool:
    """Whether the prompt says that what the agent did last has worked."""
    text = words.own(prompt)
    if not text or len(text) > MOST_CONFIRMING_CHARS:
        return False
    first = words.sentences(text)[0].text
    if words.CJK.search(first):
        return _ZH_WORKED.search(first) is not None and _ZH_DID_NOT.search(first) is None
    return _WORKED.search(first) is not None and _DID_NOT.search(first) is None


def lesson(message: str) -> Claimed | None:
    """The sentence of the agent's message that names a cause or a fix best; None when none does."""
    best: tuple[int, int, str] | None = None
    for at, sentence in enumerate(words.sentences(words.own(message[-MOST_MESSAGE_CHARS:]))):
        text = _MARKUP.sub("", sentence.text).strip()
        if not 4 <= words.size(text) <= 80 or len(text) > MOST_CLAIM_CHARS or _SHALLOW.search(text):
            continue
        score = 2 * bool(_CAUSE.search(text)) + bool(_FIX.search(text))
        if score and (best is None or score > best[0]):
            best = (score, at, text)
    if best is None:
        return None
    kind = Kind.REFLECTION if best[0] >= 2 else Kind.PROCEDURE
    return Claimed(kind, best[2], best[2])
