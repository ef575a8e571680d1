"""SPEC 8: silence is normal. Which prompts ask memory for something, in English and Chinese."""

from __future__ import annotations

import time

import pytest

from memvault.hooks import need

ASKS = [
    "how do we deploy staging?",
    "fix the login bug",
    "Write a test for the invoice number generator",
    "why does the build fail on CI but not here",
    "ok, but use the staging database this time",
    "yes, and then add the migration for the orders table",
    "commit this with the usual message format",
    "continue with the refactoring of the payment module",
    "no, I want the other layout for the settings page",
    "what did we decide about the cache?",
    "which port does postgres use locally?",
    "add pagination to /api/orders",
    "/etc/hosts is missing an entry for the gateway",
    "rename foo to bar in src/app.ts",
    "go ahead with the second proposal and update the docs",
    "thanks! now do the same for the Chinese locale",
    "run the tests for the billing service",
    "push it to the release branch",
    "Refactor this:\n```py\ndef f():\n    return 1\n```",
    "TypeError: cannot read properties of undefined (reading 'map')",
    "怎么部署测试环境？",
    "修一下登录页的问题",
    "好的，把部署脚本也改一下",
    "继续重构支付模块",
    "上次我们怎么决定缓存的？",
    "帮我写一个导出订单的接口",
    "数据库端口是多少",
    "提交信息用什么格式",
    "为什么流水线又失败了",
    "不对，应该走网关",
    "谢谢，接着把英文文档也更新了",
    "跑一下计费服务的测试",
]
ASKS_NOTHING = [
    "ok", "OK!", "yes", "yes please", "y", "no", "nope", "no thanks", "sure, go ahead", "go ahead",
    "continue",
    "please continue", "keep going", "do it", "ok do it then", "sounds good", "looks good to me, thanks!",
    "lgtm",
    "thanks", "Thank you so much", "great job!", "perfect", "hi", "hello there", "1", "option 2",
    "the second one",
    "both", "stop", "never mind", "try again", "that worked, thanks", "...", "👍", "", "   ", "why?",
    "/clear",
    "/compact keep the plan", "/memvault:search x", "!ls -la", "#remember", "```py\nprint(1)\n```",
    "def f(x):\n    return x + 1\n\n\nclass A:\n    y = f(2)\n    z = y + 1",
    "const a = 1;\nlet b = a + 2;\nexport function c() {\n  return b;\n}",
    "<system-reminder>How do we deploy?</system-reminder>", "> How do we deploy staging?",
    "好", "好的",
    "好的，继续吧", "继续", "请继续", "嗯", "可以", "行吧", "是的", "不用了", "谢谢", "谢谢你！",
    "就这样吧",
    "没问题", "你决定", "再试一次", "你好", "辛苦了", "搞定了", "下一步", "第二个", "好的 ok",
    "对对",
    "提交吧",
]  # fmt: skip


@pytest.mark.parametrize("prompt", ASKS)
def test_a_prompt_about_something_asks(prompt: str) -> None:
    assert need.question(prompt)


@pytest.mark.parametrize("prompt", ASKS_NOTHING)
def test_consent_thanks_commands_and_bare_code_ask_nothing(prompt: str) -> None:
    assert need.question(prompt) is None


def test_the_tables_are_as_large_as_they_should_be() -> None:
    assert len(ASKS) + len(ASKS_NOTHING) >= 80


def test_of_pasted_output_only_the_failure_is_asked_for() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    run()\n'
        '  File "b.py", line 9, in run\n    open(path)\n'
        "PermissionError: [Errno 13] Permission denied: /var/lib/x"
    )
    assert need.question(f"```\n{trace}\n```") == "PermissionError: [Errno 13] Permission denied: /var/lib/x"


def test_code_is_no_part_of_the_question_and_a_long_one_keeps_both_ends() -> None:
    assert need.question("Why does this fail?\n```\nsecret_code()\n```") == "Why does this fail?"
    long = "Begin here. " + "filler words " * 2_100 + "Where is the end?"
    asked = need.question(long)
    assert asked is not None
    assert len(asked) <= need.MOST_ASKED_CHARS + 1
    assert asked.startswith("Begin here.")
    assert asked.endswith("Where is the end?")


HOSTILE = [
    "a, " * 7_000, "kkkk" * 5_000, "that worked " * 1_700, "<a-b>" * 4_000, "`" * 20_000, ";" + " " * 20_000,
    "(((" * 6_000, "x = 1\n" * 3_000, "A.A" * 6_000, "Error" * 4_000, "[" * 20_000, "不" * 20_000,
    "好" * 20_000,
    "<memvault-context>" * 1_000, "memvault" + "|" * 20_000, "好的继续" * 19 + "x",
]  # fmt: skip


@pytest.mark.parametrize("prompt", HOSTILE, ids=range(len(HOSTILE)))
def test_no_prompt_makes_the_rules_slow(prompt: str) -> None:
    started = time.process_time()
    need.question(prompt)
    assert time.process_time() - started < 0.5
