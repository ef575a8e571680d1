"""SPEC 7 over generated sentences in both languages: what returns is refused or held, what differs passes.

Honest exceptions, of which these sentences contain only the last. A text whose words are those of a deleted
one is refused whatever their order ("from A to B", "from B to A"). A word replaced by a synonym passes. A
name that differs in nothing but an English ending (William, Williams), and a Chinese name with one character
more, is held. Negations of other languages are words like others. A replaced Chinese character is not noticed
when it falls into the same of 128 buckets (0.8 %), nor is an English word when others were added: both are
held.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memvault.model import Outcome
from memvault.services import graves
from memvault.store import sketch


def words_of(text: str) -> list[str]:
    return text.split()


NAMES = words_of("Wexelblatt Orla Quennell Marisol Tadeusz Ingrid Kowalski Bertram Yolanda Fitzroy Dagmar")
WORDS = words_of("copper walnut harbor lantern granite pepper violet meadow saffron cobalt willow ember")
DAYS = words_of("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = words_of("January February April June July August September October November December")
SUBJECTS = [
    "the staging gateway", "our release script", "the contractor {name}", "{name}", "the team of {name}",
    "the customer portal",
]  # fmt: skip
VERBS = [
    "listens on port {number}", "is restarted every {day}", "keeps {number} replicas",
    "stores logs below {word}",
    "sends reports to {name}", "rotates keys after {number} days", "deploys with {word}", "waits for {word}",
    "calls {name} before the {word} release", "ships version {version} in {month}",
]  # fmt: skip
TAILS = ["", " in the {word} region", " because {name} asked for it", " for the {word} project"]
FILLER = [
    "please", "note that", "by the way", "as mentioned", "in general", "really", "honestly", "for the record",
    "of course", "keep in mind", "basically", "as far as I know", "again", "just", "do not forget that",
]  # fmt: skip
UNHEARD = ["colleagues", "fellow readers", "hereby"]
"""Filler that no list knows: a word more than before."""

CHINESE_NAMES = words_of("张伟 李娜 王芳 刘洋 陈静 杨磊 赵敏 黄强 周杰 吴霞")
CHINESE_WORDS = words_of("铜矿 核桃 港口 灯笼 花岗岩 胡椒 紫罗兰 草地 藏红花 柳树")
CHINESE_DAYS = words_of("周一 周二 周三 周四 周五 星期六 星期日")
COUNTS = words_of("两 三 四 五 六 七 八 九 十二 二十 三十五")
CHINESE_SUBJECTS = ["测试网关", "账单服务", "发布脚本", "夜间备份", "客户门户"]
CHINESE_VERBS = [
    "监听{number}端口", "每{day}重启", "保留{count}个副本", "把日志放在{word}目录", "把报告发给{name}",
    "{count}天后轮换密钥", "用{word}部署", "在发布前通知{name}", "等待{count}秒", "升级到{version}版本",
]  # fmt: skip
CHINESE_TAILS = ["", "，仅限{word}区域", "，因为{name}要求这样", "，用于{word}项目"]
CHINESE_FILLER = [
    "请注意，", "其实", "顺便说一下，", "一般来说，", "记住，", "当然", "据我所知，", "说实话，", "别忘了，",
    "确实",
]  # fmt: skip

Change = Callable[[random.Random, str], str | None]


@pytest.fixture(autouse=True)
def same_key_every_time(desk: Any) -> None:
    desk.vault.secrets = replace(desk.vault.secrets, tombstones=b"t" * 32)


def filled(rnd: random.Random, text: str, chinese: bool) -> str:
    choices: dict[str, Callable[[], str]] = {
        "{name}": lambda: rnd.choice(CHINESE_NAMES if chinese else NAMES),
        "{word}": lambda: rnd.choice(CHINESE_WORDS if chinese else WORDS),
        "{day}": lambda: rnd.choice(CHINESE_DAYS if chinese else DAYS),
        "{number}": lambda: str(rnd.randint(2, 9_999)),
        "{count}": lambda: rnd.choice(COUNTS),
        "{version}": lambda: f"{rnd.randint(1, 9)}.{rnd.randint(0, 30)}",
        "{month}": lambda: rnd.choice(MONTHS),
    }
    for place, choose in choices.items():
        while place in text:
            text = text.replace(place, choose(), 1)
    return text


def english(rnd: random.Random) -> str:
    return filled(rnd, f"{rnd.choice(SUBJECTS)} {rnd.choice(VERBS)}{rnd.choice(TAILS)}.", False)


def chinese(rnd: random.Random) -> str:
    return filled(
        rnd, f"{rnd.choice(CHINESE_SUBJECTS)}{rnd.choice(CHINESE_VERBS)}{rnd.choice(CHINESE_TAILS)}。", True
    )


def shuffled(rnd: random.Random, text: str) -> str:
    words = text.rstrip(".").split()
    rnd.shuffle(words)
    return " ".join(words)


def other_case(rnd: random.Random, text: str) -> str:
    return rnd.choice([text.upper(), text.lower(), text.title(), text.swapcase()])


def with_filler(rnd: random.Random, text: str) -> str:
    words = text.rstrip(".").split()
    for _ in range(rnd.randint(1, 4)):
        words.insert(rnd.randint(0, len(words)), rnd.choice(FILLER))
    return " ".join(words)


def all_at_once(rnd: random.Random, text: str) -> str:
    return other_case(rnd, with_filler(rnd, shuffled(rnd, text)))


def with_unheard_filler(rnd: random.Random, text: str) -> str:
    words = [rnd.choice(UNHEARD), text.rstrip(".")]
    return " ".join(rnd.sample(words, 2))


def chinese_filler(rnd: random.Random, text: str) -> str:
    return "".join(rnd.sample(CHINESE_FILLER, rnd.randint(1, 3))) + text


def chinese_order(rnd: random.Random, text: str) -> str | None:
    """The subject behind the rest, and filler in front."""
    subject = next(one for one in CHINESE_SUBJECTS if text.startswith(one))
    return f"{rnd.choice(CHINESE_FILLER)}{text.removeprefix(subject).rstrip('。')}，{subject}"


def other_number(rnd: random.Random, text: str) -> str | None:
    found = list(re.finditer(r"\d+", text))
    if not found:
        return None
    one = rnd.choice(found)
    return f"{text[: one.start()]}{int(one[0]) + rnd.randint(1, 50)}{text[one.end() :]}"


def another(*families: list[str]) -> Change:
    """Replace a word by another of its family, in any case."""

    def change(rnd: random.Random, text: str) -> str | None:
        for family in families:
            here = [word for word in family if word in text]
            if here:
                fresh = rnd.choice([word for word in family if word not in text])
                return rnd.choice([str, str.lower, str.upper])(text.replace(rnd.choice(here), fresh))
        return None

    return change


def other_count(rnd: random.Random, text: str) -> str | None:
    found = re.search(rf"({'|'.join(sorted(COUNTS, key=len, reverse=True))})(个副本|天后|秒)", text)
    if found is None:
        return None
    return text.replace(found[0], rnd.choice([one for one in COUNTS if one != found[1]]) + found[2])


def negated(rnd: random.Random, text: str) -> str:
    verbs = "listens|is|keeps|stores|sends|rotates|deploys|waits|calls|ships"
    word = rnd.choice(["never", "does not", "doesn't", "must not", "cannot", "no longer", "refuses to"])
    return re.sub(rf"\b({verbs})\b", rf"{word} \1", text, count=1)


def chinese_negated(rnd: random.Random, text: str) -> str:
    subject = next(one for one in CHINESE_SUBJECTS if text.startswith(one))
    return subject + rnd.choice(["不", "没有", "禁止", "从不", "别"]) + text.removeprefix(subject)


BACK: dict[str, tuple[Callable[[random.Random], str], Change]] = {
    "shuffled": (english, shuffled),
    "other case": (english, other_case),
    "filler": (english, with_filler),
    "order, case and filler": (english, all_at_once),
    "Chinese filler": (chinese, chinese_filler),
    "Chinese order and filler": (chinese, chinese_order),
}
OTHER: dict[str, tuple[Callable[[random.Random], str], Change]] = {
    "number": (english, other_number),
    "day or month": (english, another(DAYS, MONTHS)),
    "name": (english, another(NAMES)),
    "word": (english, another(WORDS)),
    "negation": (english, negated),
    "Chinese number": (chinese, other_number),
    "Chinese numeral": (chinese, other_count),
    "Chinese day": (chinese, another(CHINESE_DAYS)),
    "Chinese name": (chinese, another(CHINESE_NAMES)),
    "Chinese word": (chinese, another(CHINESE_WORDS)),
    "Chinese negation": (chinese, chinese_negated),
}


def verdicts(
    desk: Any, sentence: Callable[[random.Random], str], change: Change, number: int
) -> list[tuple[str, str, str]]:
    """(deleted, written, verdict) of `number` sentences: refused, held or passes."""
    rnd, found = random.Random(7), []
    while len(found) < number:
        old = sentence(rnd)
        new = change(rnd, old)
        if new is None or new == old:
            continue
        claim = desk.draft(old).claim
        with desk.vault.writer.transaction():
            desk.vault.writer.run("DELETE FROM tombstone")
            graves.bury(desk.vault, "m", [claim], desk.vault.now(), "r", by_source=False)
        grave = graves.tombstoned(desk.vault, desk.draft(new))
        found.append((old, new, "passes" if grave is None else "refused" if grave.forbids else "held"))
    return found


@pytest.mark.parametrize("name", BACK)
def test_what_changed_in_case_order_or_filler_is_refused_or_held(desk: Any, name: str) -> None:
    passed = [row for row in verdicts(desk, *BACK[name], 80) if row[2] == "passes"]
    assert not passed


def test_filler_that_no_list_knows_is_held_as_well(desk: Any) -> None:
    passed = [row for row in verdicts(desk, english, with_unheard_filler, 80) if row[2] == "passes"]
    assert len(passed) <= 4, passed


@pytest.mark.parametrize("name", OTHER)
def test_another_number_name_word_or_negation_passes(desk: Any, name: str) -> None:
    """At least 95 of 100, and none of the others is refused: a person can let it in."""
    found = verdicts(desk, *OTHER[name], 80)
    stopped = [row for row in found if row[2] != "passes"]
    assert len(stopped) <= 4, stopped
    assert not [row for row in stopped if row[2] == "refused"]


@pytest.mark.parametrize("sentence", [english, chinese])
def test_nothing_that_returns_is_active_among_many_deleted_ones(
    desk: Any, sentence: Callable[[random.Random], str]
) -> None:
    """Through the door itself, with two hundred tombstones that are alike among themselves."""
    rnd = random.Random(11)
    texts = list(dict.fromkeys(sentence(rnd) for _ in range(200)))
    claims = [desk.draft(text).claim for text in texts]
    with desk.vault.writer.transaction():
        for number, claim in enumerate(claims):
            graves.bury(desk.vault, f"m{number}", [claim], desk.vault.now(), "r", by_source=False)
    change = all_at_once if sentence is english else chinese_filler
    for text in rnd.sample(texts, 40):
        assert desk.add(change(rnd, text)).outcome in (Outcome.REFUSED, Outcome.CANDIDATE), text


def test_the_threshold_lies_between_what_returns_and_what_has_nothing_to_do_with_it(desk: Any) -> None:
    def alike(one: str, other: str) -> float:
        prints = [
            graves._prints(desk.vault.secrets.tombstones, desk.draft(text).claim, graves.likeness(text))
            for text in (one, other)
        ]
        assert prints[0].sketch is not None
        assert prints[1].sketch is not None
        return sketch.likeness_of(prints[0].sketch, prints[1].sketch)

    rnd = random.Random(3)
    pairs = [(english, all_at_once), (chinese, chinese_order), (chinese, chinese_filler)]
    back = [
        alike(text, str(change(rnd, text)))
        for make, change in pairs
        for text in [make(rnd) for _ in range(60)]
    ]
    foreign = [alike(english(rnd), chinese(rnd)) for _ in range(60)]
    foreign += [
        alike("The " + " ".join(rnd.sample(WORDS, 6)), " ".join(rnd.sample(NAMES, 6))) for _ in range(60)
    ]
    assert max(foreign) < graves.ALIKE < min(back)
