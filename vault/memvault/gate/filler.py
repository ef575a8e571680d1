"""Words and phrases that can be added to a claim, or left out, without changing what it says. Data only.

Read on case-folded NFKC text with straight quotes. Phrases go before anything else is looked at, so that
"do not forget to" is no negation and 十分 ("very") no number. Words that can be a value are missing on
purpose: on and off, left and right, today, us.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PHRASES = """
    after all | all in all | as a general rule | as a matter of fact | as a reminder | as a rule
    as always | as far as i can tell | as far as i know | as far as we know | as i said | as i said before
    as i told you | as usual | as mentioned | as mentioned above | as mentioned before
    as mentioned earlier | as we agreed | as we discussed | as we know | as you know
    at the end of the day | be aware | be sure | believe me | by the way | can you | could you
    do not forget | don't forget | first of all | for clarity | for the record | for what it's worth
    for your information | from now on | from here on | generally speaking | going forward | good to know
    heads up | i believe | i guess | i mean | i said | i told you | i think | i want you to know
    if possible | in a nutshell | in fact | in general | in other words | in practice | in short
    in this case | it is clear | it is important | it is known | it is worth noting | it's clear
    it's important | it's known | it's worth noting | just so you know | just to be clear | keep in mind
    kind of | last but not least | let me add | let me just add | let me note | let me say | let us
    let's | make sure | more or less | need to | needs to | needless to say | never forget | no doubt
    no matter what | not to mention | of course | once again | once more | one more thing | right away
    quick note | so to speak | sort of | speaking of which | take note | that is to say | the fact is
    the point is | the thing is | the truth is | to be clear | to be exact | to be fair | to be honest
    to be on the safe side | to be precise | to be safe | to be sure | to put it simply | to sum up
    to tell the truth | to tell you the truth | want to | wants to | with all due respect
    without a doubt | without doubt | without exception | without fail | without question | you know
    you see | you should know
"""

_WORDS = """
    a actually additionally again ah all also although altogether always am an and anyhow anyway
    apparently are as at basically be been being briefly btw by certainly clearly could currently
    definitely did do does doing done effectively especially essentially etc evidently exactly fairly
    finally firstly folks for frankly fundamentally further furthermore fyi generally gets get getting got
    guys had has have having he hello hence her here hey hi him his honestly hopefully however i ideally
    imho imo importantly important in incidentally indeed invariably is it its itself just kindly know
    largely lastly literally mainly may maybe me merely meanwhile mind moreover mostly must my naturally
    nb necessarily nevertheless nonetheless normally notably note now obviously of oh ok okay ordinarily
    our ours perhaps plainly please practically precisely presumably primarily probably pretty ps quite
    rather really remember reminder seriously shall she should simply so still sure surely than thanks
    that the their theirs them then there therefore these they this those though thus to too totally truly
    typically um undoubtedly usually very was we well were whatsoever which will with would yeah yep yes
    yet you your yours i'm i've i'd i'll it's that's we're we've we'll you're they're there's he's she's
"""

_CHINESE = """
    请大家注意 请大家记住 请务必记住 请务必注意 请注意 请记住 请牢记 请留意 请知悉 请 注意 记住 记得 牢记
    切记 千万记得 千万要 别忘了 别忘记 不要忘记 不要忘了 不用说 不必说 不言而喻 不瞒你说 不管怎样
    不管怎么说 无论如何 无需多言 毫无疑问 毫无例外 众所周知 一般来说 一般而言 一般情况下 一般 总的来说
    总而言之 总之 换句话说 换言之 简单来说 简单说 简而言之 严格来说 严格地说 具体来说 实际上 事实上 其实
    基本上 大体上 原则上 老实说 说实话 说真的 坦白说 顺便说一下 顺便说一句 顺便提一下 顺便 补充一下
    补充一句 提醒一下 提醒 说明一下 强调一下 再说一遍 再次 另外 此外 而且 并且 以及 然后 那么 当然 显然
    确实 的确 真的 其中 目前 现在 如今 当前 始终 总是 一直 一向 历来 通常 平时 平常 往往 永远 从今以后
    从现在起 以后都 以后 今后 往后 务必 一定要 一定 必须 应该 应当 应 需要 最好 可以 大概 大约 可能 也许
    或许 恐怕 好像 似乎 我觉得 我认为 我们约定 我想 按照约定 按照惯例 按惯例 照例 照常 如前所述 如上所述
    据我所知 非常 特别是 尤其是 尤其 相当 大家 各位 咱们 咱 我们 你们 他们 她们 它们 我 你 您 他 她 它
    这个 那个 这些 那些 哦 啊 呀 吧 呢 嘛 啦 哈 嗯 喂 哎 的话 而已 罢了 就是 都是 还是 也是 不过 不仅 的
    了 着 地 得 之 所 其 该 此 是 有 在 要 会 能 就 都 也 还 又 再 才 则 便 很 太 更 最 吗 么 与 和 及 或
    个
"""
_CHINESE_BY_CONTEXT = (
    r"(?<![一二两三四五六七八九十百几\d])千万|十分(?!钟|之)|(?<![第每十百千万零])一[个些下种]"
)


def _either(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_LINES = [phrase.strip() for phrase in _PHRASES.replace("\n", "|").split("|") if phrase.strip()]

PHRASES = re.compile(rf"(?<![a-z0-9'-])(?:{_either(_LINES)})(?![a-z0-9'-])")
WORDS: frozenset[str] = frozenset(_WORDS.split())
CHINESE = re.compile(f"{_CHINESE_BY_CONTEXT}|{_either(_CHINESE.split())}")
