"""SPEC 7: what makes two texts alike (case, order, filler) and what tells them apart."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.gate.likeness import core, likeness
from memvault.gate.marks import take_marks


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploy with npm", "please DEPLOY, with npm!"),
        ("Deploy with npm", "By the way: do not forget to deploy with npm."),
        ("Deploy with npm", "As far as I know we deploy with npm"),
        ("Wexelblatt comes on the first Monday", "note that on the 1st monday wexelblatt comes"),
        ("Do not deploy on Fridays", "Never deploy on Fridays, please."),
        ("承包商周一来", "请注意,承包商其实是周一来的"),
        ("端口是三千", "顺便说一下,端口就是3000"),
        ("不要用npm部署", "记住,千万别用npm部署!"),
        ("保留两个副本", "一般来说保留2个副本"),
        ("第一个星期一开会", "请记住第1个周一开会"),
    ],
)
def test_case_order_and_filler_leave_marks_and_telling_words_as_they_are(one: str, other: str) -> None:
    a, b = likeness(one), likeness(other)
    assert (a.marks, a.tokens) == (b.marks, b.tokens)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("first Monday", "first Tuesday"),
        ("first Monday", "second Monday"),
        ("Deploy with npm", "Do not deploy with npm"),
        ("Deploy with npm", "Stop deploying with npm"),
        ("Deploy with npm", "Don't deploy with npm"),
        ("Deploy with npm 9", "Deploy with npm 10"),
        ("Node v18.2", "Node v18.3"),
        ("port 3000", "port 30000"),
        ("release in June", "release in July"),
        ("on 2026-03-02", "on 2026-02-03"),
        ("at 9:30", "at 9:45"),
        ("costs $5", "costs €5"),
        ("costs 5%", "costs 5"),
        ("below -5", "below 5"),
        ("python >= 3", "python < 3"),
        ("three replicas", "four replicas"),
        ("the cache is on", "the cache is off"),
        ("周一开会", "周二开会"),
        ("三月发布", "五月发布"),
        ("保留两个副本", "保留三个副本"),
        ("二十三天", "三十二天"),
        ("第一次", "第二次"),
        ("可以部署", "不可以部署"),
        ("用npm部署", "禁止用npm部署"),
        ("用npm部署", "没用npm部署"),
        ("五千元", "六千元"),
    ],
)
def test_another_number_day_amount_comparison_or_negation_is_another_mark(one: str, other: str) -> None:
    assert likeness(one).marks != likeness(other).marks


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("三十五个", "number:35"), ("一百零三页", "number:103"), ("两万元", "number:20000"),
        ("二〇二六年", "number:2026"), ("三千", "number:3000"), ("第十二章", "number:12"),
        ("三次", "number:3"),
        ("5,000 euros", "number:5000"), ("v1.2.3-rc1", "number:1.2.3-rc1"), ("the 3rd", "number:3"),
        ("node-18", "number:18"), ("below -5", "number:-5"), ("星期天", "day:7"), ("sundays", "day:7"),
    ],
)  # fmt: skip
def test_numbers_are_read_however_they_are_written(text: str, mark: str) -> None:
    assert mark in take_marks(text)[0]


@pytest.mark.parametrize(
    "text", ["一般", "统一部署", "十分重要", "千万要小心", "不断改进", "非常好", "特别好", "one of them"]
)
def test_words_that_only_look_like_numbers_or_negations_are_none(text: str) -> None:
    assert likeness(text).marks == frozenset()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++ builds the engine", "C# builds the engine"),
        ("python < 3", "python > 3"),
        ("from 9:30 to 10:15", "from 9:15 to 10:30"),
        ("on 03/02/2026", "on 02/03/2026"),
        ("costs $5", "costs €5"),
        ("二十三天", "三十二天"),
    ],
)
def test_the_bag_of_words_keeps_signs_and_whole_numbers(one: str, other: str) -> None:
    assert likeness(one).bag != likeness(other).bag


def test_characters_that_cannot_be_seen_hide_nothing() -> None:
    assert likeness("dep\u200bloy with n\u00adpm").bag == likeness("Deploy with npm").bag


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ask Wexelblatt about it", "wexelblatt"), ('Call it "bluefin" there', "bluefin"),
        ("Run `tidewater` there", "tidewat"), ("It reads app.config there", "config"),
        ("It calls makeThings there", "maketh"), ("由张伟负责", "伟"), ("王老师负责", "王"),
        ("叫做《红楼》", "楼"),
    ],
)  # fmt: skip
def test_names_are_known_by_how_they_are_written(text: str, name: str) -> None:
    assert any(token.startswith(name) for token in likeness(text).names)


@pytest.mark.parametrize(
    "text", ["Deploy with npm. Then wait.", "THE CONTRACTOR IS HERE TODAY", "The Contractor Waits Here"]
)
def test_capitals_of_sentences_and_headlines_are_no_names(text: str) -> None:
    assert likeness(text).names == frozenset()


def test_a_value_is_compared_by_what_it_says() -> None:
    assert core("first Monday") == core("The FIRST monday, please") != core("first Tuesday")
    assert core("!?") == core("!?")


@given(st.text(max_size=300))
def test_any_text_has_features_that_do_not_depend_on_case_or_repetition(text: str) -> None:
    found = likeness(text)
    assert found.names <= found.tokens
    assert bool(found.shingles) == bool(found.tokens)
    assert likeness(text) == found


SENTENCE = "the quick brown fox jumps over 3 lazy dogs named Rex on 2026-01-05 at C++ school"


@given(st.permutations(SENTENCE.split()))
def test_no_feature_of_english_words_depends_on_their_order(order: list[str]) -> None:
    straight = likeness(SENTENCE)
    found = likeness(" ".join(order))
    assert (found.bag, found.marks, found.tokens, found.shingles) == (
        straight.bag, straight.marks, straight.tokens, straight.shingles,
    )  # fmt: skip


@pytest.mark.parametrize(
    "piece", ["1", "-1", "一", "A", "aA", '"', "请", "<", "a.", "1-", "n't ", "不", "A. ", "第"]
)
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * 65_536)[:65_536]
    started = time.process_time()
    likeness(text)
    assert time.process_time() - started < 3
