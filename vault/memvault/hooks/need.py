"""Whether a prompt needs memory at all, and what to ask it for (SPEC 8: silence is normal). Pure.

Owns which prompts bring no question: consent, thanks, "continue", commands of the host, code without a word.
What is asked still has to pass recall's own threshold. English and Chinese.
"""

from __future__ import annotations

import re

from memvault.hooks import words
from memvault.pasted import CODE_LINE, FAILED

MOST_ASKED_CHARS = 16_000
TAIL_CHARS = 8_000
"""Of a longer prompt its beginning is asked for, and its end: there the question often stands. What of it is
informative, recall finds out itself."""

_HOST_COMMAND = re.compile(r"\s*(?:/[a-z][\w:.-]*(?:\s|$)|!|#(?=\S))", re.IGNORECASE)

_ENGLISH = """
    ok(?:ay)? ; kk? ; y ; n ; yes+ ; yep ; yeah ; yup ; sure ; right ; correct ; exactly ; agreed ; no ; nope
    nah ; not now
    fine ; good ; great ; nice ; cool ; perfect ; awesome ; excellent ; amazing ; lovely ; brilliant ; super
    wow ; neat
    (?:good|great|nice) (?:job|work|one|idea|point|catch) ; well done ; got it ; i see ; understood
    makes sense
    sounds good ; looks? (?:good|great|fine|right)(?: to me)? ; lgtm
    that(?:'s| is) (?:fine|good|great|right|it|all)
    that(?:'s| is) (?:perfect|enough|ok(?:ay)?) ; continue ; go on ; go ahead ; carry on ; keep going
    proceed ; resume
    next(?: one| step)? ; more ; and ; what else ; do (?:it|that|so|this) ; do (?:them )?(?:both|all)
    try (?:it|that|again) ; run (?:it|that) ; retry ; redo(?: it)? ; undo(?: it| that)? ; stop ; wait
    cancel ; abort
    never ?mind ; skip(?: it| that)? ; forget (?:it|that) ; hi ; hello ; hey
    good (?:morning|evening|afternoon|night)
    bye ; see you ; ready ; done ; finished ; test ; ping ; (?:option |number )?[0-9]{1,2}
    (?:the )?(?:first|second|third|last|former|latter)(?: one)? ; both ; all of (?:them|it) ; either ; neither
    that (?:worked|works|fixed it|did it) ; it works(?: now)? ; works(?: now)? ; fixed ; show me ; explain
    why ; how ; what
    really ; (?:are )?you sure ; commit ; push ; please ; pls ; thanks?(?: you)?(?: (?:so|very) much| a lot)?
    thx ; ty
    cheers ; now ; then ; claude ; codex ; gemini ; again ; just ; so ; well ; also ; too ; for now
    everyone ; there ; all
"""
_CHINESE = """
    好+[的吧啊呀嘞了]? ; 行[吧啊]? ; 可以了? ; 嗯+ ; 哦+ ; 对[的啊呀]? ; 是的? ; 没错 ; 没问题 ; 同意
    不用了? ; 不需要 ; 不要了? ; 算了
    不 ; 没有? ; 谢+了? ; 谢谢[你您]? ; 多谢 ; 感谢 ; 辛苦了? ; 麻烦了? ; 继续[吧啊]? ; 接着来? ; 往下
    下一[步个] ; 开始吧? ; 来吧
    就这样 ; 就这么(?:办|做|定) ; 先这样 ; 按你说的(?:做|来|办)? ; 听你的 ; 你(?:来)?(?:决定|定) ; 都行 ; 随便
    再(?:来|试)一?[次遍下]? ; 重[来试] ; 试试 ; 试一下 ; 停 ; 等等 ; 等一下 ; 稍等 ; 取消 ; 跳过 ; 撤销
    回退 ; 很好 ; 不错 ; 太好了?
    真棒 ; 厉害 ; 完美 ; 漂亮 ; 赞 ; 牛 ; 收到 ; 明白了? ; 懂了? ; 知道了? ; 了解了? ; 你好 ; 您好 ; 在吗
    早上?好? ; 晚上好 ; 晚安
    再见 ; 拜拜 ; 哈+ ; 搞定了? ; 完成了? ; 成功了? ; 解决了? ; 为什么 ; 怎么了? ; 什么 ; 真的吗? ; 确定吗?
    两个都要?
    第[一二三四五六七八九十0-9]+[个种项] ; 全部 ; 都要 ; 提交 ; 推送 ; 提交并推送 ; 执行 ; 运行 ; 跑一下
    改吧 ; 做吧 ; 写吧
    请 ; 那 ; 就 ; 你们? ; 我 ; 了 ; 吧 ; 啊 ; 呀 ; 的 ; 先 ; 帮我
"""
_BETWEEN = r"[\s,，.。!！?？:：;；、~～…—-]*"


def _items(table: str, end: str) -> list[re.Pattern[str]]:
    """One pattern for each item of a table, with what may stand behind it."""
    parts = [item.strip() for line in table.strip().splitlines() for item in line.split(" ; ")]
    return [re.compile(rf"(?:{item}){end}{_BETWEEN}", re.IGNORECASE) for item in parts]


_IDLE = [*_items(_ENGLISH, r"(?![a-z0-9'])"), *_items(_CHINESE, "")]
MOST_IDLE_CHARS = 80


def question(prompt: str) -> str | None:
    """What to ask memory for; None for a prompt that needs none."""
    if _HOST_COMMAND.match(prompt):
        return None
    own = words.own(prompt, whole=True)
    lines = [line for line in own.splitlines() if line.strip()]
    spoken = [line for line in lines if not CODE_LINE.search(line)]
    if not spoken or (len(lines) >= 4 and len(spoken) * 10 <= len(lines) * 3):
        return _failure(prompt)
    text = " ".join(" ".join(lines).split())
    if _is_idle(text):
        return None
    return shortened("\n".join(line.rstrip() for line in lines))


def shortened(text: str) -> str:
    """A text that is asked for, without the middle of a very long one."""
    if len(text) <= MOST_ASKED_CHARS:
        return text
    return f"{text[: MOST_ASKED_CHARS - TAIL_CHARS]}\n{text[-TAIL_CHARS:]}"


def _is_idle(text: str) -> bool:
    """Nothing but consent, thanks, greetings, or an order that points at what was said before."""
    if not any(char.isalnum() for char in text):
        return True
    if len(text) > MOST_IDLE_CHARS:
        return False
    reached, open_ = {0}, [0]
    while open_:
        at = open_.pop()
        ends = {found.end() for item in _IDLE if (found := item.match(text, at)) is not None}
        if len(text) in ends:
            return True
        open_ += ends - reached
        reached |= ends
    return False


def _failure(prompt: str) -> str | None:
    """Of pasted code or output only what failed is worth a question: a memory may know the cause."""
    found = [line.strip() for line in FAILED.findall(prompt[: words.MOST_CHARS])]
    return found[-1][:400] if found else None
