"""What texts teach about names, and the look-alikes that must teach nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.recall.teaching import MOST_TAUGHT, taught

TEACH = [
    ("We run Kubernetes (k8s) in production.", ("k8s", "Kubernetes")),
    ("k8s (Kubernetes) is upgraded on Mondays.", ("k8s", "Kubernetes")),
    ("k8s stands for Kubernetes.", ("k8s", "Kubernetes")),
    ("k8s is short for Kubernetes, mostly.", ("k8s", "Kubernetes")),
    ("k8s means Kubernetes here.", ("k8s", "Kubernetes")),
    ("pg is short for Postgres.", ("pg", "Postgres")),
    ("Our continuous integration (CI) runs nightly.", ("CI", "continuous integration")),
    ("CI stands for continuous integration in our docs.", ("CI", "continuous integration")),
    ("The internationalization (i18n) guide is long.", ("i18n", "internationalization")),
    ("JavaScript (JS) builds take long.", ("JS", "JavaScript")),
    ("Mercury, also known as Gemini, is the billing service.", ("Mercury", "Gemini")),
    ("Mercury aka Gemini sends the bills.", ("Mercury", "Gemini")),
    ("Mercury (formerly Gemini) sends the bills.", ("Mercury", "Gemini")),
    ("Kubernetes 简称 k8s。", ("Kubernetes", "k8s")),
    ("Kubernetes（k8s）集群每周升级", ("k8s", "Kubernetes")),
    ("k8s 是 Kubernetes 的缩写", ("k8s", "Kubernetes")),
    ("部署平台，又名海燕。", ("部署平台", "海燕")),
    ("部署平台（又名海燕）已上线", ("部署平台", "海燕")),
    ("测试环境（即 staging）每晚重建", ("测试环境", "staging")),
    ("我们的支付网关，也叫 Falcon。", ("支付网关", "Falcon")),
    ("持续集成，简称 CI。", ("持续集成", "CI")),
]

ALIKE = [
    "We stayed in Rome (IR).",
    "k8s does not stand for Kafka.",
    "CI doesn't stand for continuous integration.",
    "Anna stands for re-election.",
    "Time is short for this sprint.",
    "Friday means no deploys.",
    "Red means stop.",
    "Is CI short for continuous integration?",
    "Maybe PG stands for Postgres.",
    "It stands for nothing.",
    "Deploy the service (v2) now.",
    "The meeting (Monday) was long.",
    "Call Anna (AN) at noon.",
    "The port (3000) is open.",
    "i9n (Internet)",
    "Use the test database (staging).",
    "We use Redis (cache) there.",
    "Anna (formerly Lead Engineer) reviews.",
    "Anna (formerly at Google) reviews.",
    "他也叫小李去开会。",
    "小王也叫了外卖。",
    "老板也叫停项目。",
    "他是负责人，也叫大家去开会。",
    "新版本（即将上线）",
    "支付服务（API）",
    "部署（prod）",
    "可能 PG 是 Postgres 的简称",
]


@pytest.mark.parametrize(("text", "pair"), TEACH)
def test_a_text_that_says_so_teaches_the_pair(text: str, pair: tuple[str, str]) -> None:
    assert taught([text]) == (pair,)


@pytest.mark.parametrize("text", ALIKE)
def test_what_only_looks_alike_teaches_nothing(text: str) -> None:
    assert taught([text]) == ()


@given(st.text(max_size=300))
def test_any_text_is_read_and_what_it_teaches_is_bounded_and_stands_in_it(text: str) -> None:
    found = taught([text, text])
    assert len(found) <= MOST_TAUGHT
    assert all(name in text for pair in found for name in pair)


@pytest.mark.parametrize(
    "piece", ["x", "A1.", "(x) ", "中", "Ab Cd ", "A " * 280 + "formerly. ", "x" * 580 + " means y. ", "("]
)
def test_a_very_long_text_is_read_in_a_moment(piece: str) -> None:
    began = time.perf_counter()
    taught([piece * (16_000 // len(piece))] * 4)
    assert time.perf_counter() - began < 1.0
