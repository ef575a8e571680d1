"""SPEC 8: what somebody did not know to ask for. Topics of prompts and of titles, in English and Chinese."""

from __future__ import annotations

import time

import pytest

from memvault.hooks.topics import topics

ABOUT = [
    ("commit this and push", "commit"),
    ("Please write the changelog entry", "commit"),
    ("rebase onto main", "branch"),
    ("ship it to production and deploy the worker", "release"),
    ("add unit tests for the parser", "test"),
    ("write a migration for the orders table", "migration"),
    ("upgrade the dependencies", "dependency"),
    ("add logging to the importer", "logging"),
    ("what should happen on retry?", "errors"),
    ("rename the module", "naming"),
    ("update the README", "docs"),
    ("draft an e-mail to the customer", "prose"),
    ("translate the settings page", "translation"),
    ("where do the API keys go?", "secrets"),
    ("把改动提交一下", "commit"),
    ("帮我合并分支", "branch"),
    ("今晚上线新版本", "release"),
    ("给解析器补单元测试", "test"),
    ("升级一下依赖", "dependency"),
    ("给导入器加日志", "logging"),
    ("更新说明文档", "docs"),
    ("写一封邮件给客户", "prose"),
    ("把设置页翻译成英文", "translation"),
]
ABOUT_NOTHING = [
    "why is the sky blue?", "make the button larger", "the committee meets at noon", "a contest of prose",
    "attest the figures", "the shipment is late", "this catalogue is old", "explain closures to me",
    "how many users are there?", "把按钮改大一点", "天空为什么是蓝的", "解释一下闭包", "用户有多少", "",
]  # fmt: skip


@pytest.mark.parametrize(("text", "topic"), ABOUT)
def test_a_prompt_has_the_topics_of_the_work_it_asks_for(text: str, topic: str) -> None:
    assert topic in topics(text)


@pytest.mark.parametrize("text", ABOUT_NOTHING)
def test_a_prompt_without_a_topic_is_normal(text: str) -> None:
    assert topics(text) == frozenset()


def test_a_title_and_a_prompt_in_another_language_meet() -> None:
    assert topics("提交一下这个改动") & topics("commits style")
    assert topics("deploy the shop") & topics("上线 步骤")


def test_no_prompt_makes_the_rules_slow() -> None:
    started = time.process_time()
    for piece in ("commit", "error ", "merge-", "提", "a-", "...."):
        topics(piece * 4_000)
    assert time.process_time() - started < 2.0
