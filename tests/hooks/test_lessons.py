"""SPEC 2: a confirmed success that was not obvious, and the cause or fix in what the agent said last."""

from __future__ import annotations

import pytest

from memvault.hooks import lessons
from memvault.model import Kind

CONFIRMS = [
    "that worked", "That worked, thanks!", "perfect, that fixed it", "works now!", "Great, the error is gone",
    "that was it", "you found it", "all tests pass now. Next: the docs",
    "搞定了", "就是这个原因，谢谢", "解决了！", "好了，可以了", "果然是缓存的问题",
]  # fmt: skip
CONFIRMS_NOT = [
    "that didn't work", "it still fails", "did that work?", "if that worked we could merge",
    "it almost works now",
    "it works, but the port is wrong", "thanks", "continue", "fix the login", "make it work",
    "还是没搞定", "不行", "可以了吗？", "没解决", "好了但是又坏了", "继续",
]  # fmt: skip


@pytest.mark.parametrize("prompt", CONFIRMS)
def test_a_confirmed_success_is_recognised(prompt: str) -> None:
    assert lessons.confirms(prompt)


@pytest.mark.parametrize("prompt", CONFIRMS_NOT)
def test_doubt_and_failure_confirm_nothing(prompt: str) -> None:
    assert not lessons.confirms(prompt)


def test_the_sentence_with_the_cause_is_taken() -> None:
    message = (
        "Done! I've updated the file.\n\n## Summary\n- **The upload failed because the gateway drops"
        " headers over 8 KB**, so cookies have to be compressed first.\n- All tests pass."
    )
    found = lessons.lesson(message)
    assert found is not None
    assert found.kind is Kind.REFLECTION
    assert found.content.startswith("The upload failed because the gateway drops headers over 8 KB")


def test_a_fix_without_a_cause_is_a_procedure() -> None:
    found = lessons.lesson("Fixed.\nYou have to clear the tile cache before rebuilding the map bundle.")
    assert found is not None
    assert found.kind is Kind.PROCEDURE
    found = lessons.lesson("好的。\n解决办法是先清空瓦片缓存，再重新打包地图。")
    assert found is not None
    assert found.kind is Kind.PROCEDURE


@pytest.mark.parametrize(
    "message",
    [
        "Done! All tests pass.", "I fixed it because you asked me to.", "Is it because of the cache?", "",
        "```\nbecause x\n```",
        "It works because of this:", "好的，已经改好了。", "because",
    ],
)  # fmt: skip
def test_what_is_obvious_or_no_statement_teaches_nothing(message: str) -> None:
    assert lessons.lesson(message) is None
