"""Sentences and questions made for benchmarks, English and Chinese. Owns the words they are made of."""

from __future__ import annotations

import random

NAMES = ("Ada", "Boris", "Chen", "Dalia", "Emil", "Fatou", "Goran", "Hana", "Ivo", "Jun", "Kofi", "Lena")
TOWNS = ("Oslo", "Quito", "Harbin", "Perth", "Lyon", "Davos", "Accra", "Turin", "Kobe", "Riga", "Leeds")
_THINGS = (
    "gateway",
    "billing service",
    "search index",
    "mail queue",
    "import job",
    "login page",
    "nightly backup",
    "invoice printer",
    "staging database",
    "release branch",
    "test cluster",
    "feature flag",
)
_ENGLISH = (
    "{name} moved the {thing} in {town} to port {number}.",
    "The {thing} in {town} is restarted by {name} every {number} days.",
    "On error {number} of the {thing}, {name} checks the configuration in {town} first.",
    "{name} prefers that the {thing} is deployed from {town} before {number} o'clock.",
    "Since release {number} the {thing} of {town} must not be changed without {name}.",
    "The budget of the {thing} is {number} euros a month, says {name} from {town}.",
)
_CHINESE = (
    "{name}把{town}的{cjk}改到了端口{number}。",
    "{town}的{cjk}每{number}天由{name}重启一次。",
    "{cjk}报错{number}时，{name}先检查{town}的配置。",
)
_CJK_THINGS = (
    "网关",
    "账单服务",
    "搜索索引",
    "邮件队列",
    "导入任务",
    "登录页面",
    "夜间备份",
    "发票打印机",
    "测试数据库",
)
_ASKED = (
    "who moved the {thing} in {town}?",
    "what should I check when the {thing} fails in {town}",
    "how often is the {thing} restarted",
    "may I change the {thing} of {town} without asking {name}",
    "{town}的{cjk}多久重启一次",
    "{cjk}出错时先检查什么",
)


def made(texts: int, questions: int, rnd: random.Random) -> tuple[list[str], list[str]]:
    """Texts, a fifth of them Chinese, and questions about such things; equal ones may be among them."""
    forms = [rnd.choice(_CHINESE if number % 5 == 0 else _ENGLISH) for number in range(texts)]
    asked = [rnd.choice(_ASKED) for _ in range(questions)]
    return [_filled(form, rnd) for form in forms], [_filled(form, rnd) for form in asked]


def _filled(form: str, rnd: random.Random) -> str:
    return form.format(
        name=rnd.choice(NAMES),
        town=rnd.choice(TOWNS),
        thing=rnd.choice(_THINGS),
        cjk=rnd.choice(_CJK_THINGS),
        number=rnd.randrange(100_000),
    )
