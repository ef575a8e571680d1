"""Words that ask or join but name nothing. Owns two small lists; their weight is in `calibration`."""

from __future__ import annotations

_ENGLISH = """
    a about after again all also am an and any are as at be because been before being but by can could did do
    does doing done else ever every for from had has have having he her here hers him his how i if in into is
    it its just let like many may me might more most much must my no nor not of off on one or other our ours
    out over own per please shall she should so some such tell than that the their theirs them then there
    these they this those through to too under until up upon us very was we well were what when where whether
    which while who whom whose why will with within without would yes yet you your yours don't doesn't didn't
    isn't aren't wasn't i'm i've i'd i'll it's that's what's how's we're we've you're they're can't won't
"""

_CJK = """
    什么 怎么 怎样 如何 为何 为什 么样 哪里 哪个 哪些 哪种 多少 几个 是否 是不 不是 有没 没有 可以 应该 能不
    不能 需要 请问 我们 你们 他们 她们 它们 我的 你的 他的 她的 的是 这个 那个 这些 那些 一下 一个 一些 了吗
    的吗 是什 是怎 么做 时候 的时 以及 或者 因为 所以 但是 如果 就是 还是 已经 现在 的话
    です ます でし した して する いる ある こと もの どう なに から まで この その まし 何で ので のか
    하는 합니 니다 입니 습니 어떻 떻게 무엇 에서 으로 했던 있는 나요 까요
"""

FUNCTION_WORDS: frozenset[str] = frozenset(_ENGLISH.split())

CJK_FUNCTION_PAIRS: frozenset[str] = frozenset(_CJK.split())
