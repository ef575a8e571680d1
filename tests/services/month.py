"""A month of daily use, drawn from a seed: what is said, by whom, and what must become of it (SPEC 4 to 7).

Every topic has a story of its own, whose steps are spread over the days. Knows nothing of the vault: steps
name memories by topic, and a contradiction names the rule of SPEC 6 it was planted for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from memvault.model import Kind

DAYS = 30

ATTRIBUTES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "queue": (
        ("redis", "rabbitmq", "kafka", "nats"),
        ("For {s}, jobs always go to {v}.", "Always send the jobs of {s} to {v}."),
        ("对{s}来说，任务总是发给 {v}。", "{s}的任务一律交给 {v}。"),
    ),
    "deploy command": (
        ("make ship", "fly deploy", "rake push", "cargo release"),
        ("For {s}, always ship it by `{v}`.", "Never ship {s} by anything but `{v}`."),
        ("对{s}来说，发布总是执行 {v}。", "{s}必须用 {v} 发布。"),
    ),
    "port": (
        ("8081", "8444", "9007", "5522"),
        ("For {s}, the gateway always listens on {v}.", "Always reach {s} at port {v}."),
        ("对{s}来说，网关总是监听 {v}。", "{s}的端口固定为 {v}。"),
    ),
    "formatter": (
        ("black", "yapf", "ruff", "autopep8"),
        ("For {s}, code is always formatted by {v}.", "Always format {s} by {v}."),
        ("对{s}来说，代码总是由 {v} 排版。", "{s}的代码一律由 {v} 排版。"),
    ),
}
"""Attribute -> its values, its English sentences, its Chinese ones. The first of each has two clauses."""

_SYLLABLES = ("ba", "do", "fi", "gu", "ke", "lo", "mi", "nu", "po", "ra", "si", "to", "vu", "we", "zy")
_SIGNS = "松竹梅兰荷枫桂杉柏槐橡棠樱榆柳桐茶稻麦菊莲杏桃葵"

SWITCHED = ("We switched to {v}.", "我们已经改用 {v}。")
PLACES = (
    ("production by {v}, tests by {o}", "staging by {v}, production by {o}"),
    ("生产用 {v}、测试用 {o}", "线上用 {v}、本地用 {o}"),
)
CONDITIONS = (("nightly builds", "release builds"), ("夜间构建", "正式构建"))


@dataclass(frozen=True, slots=True)
class Say:
    """One write. `rule`: what its outcome is held against; None expects nothing."""

    topic: int
    content: str
    source: str
    value: str | None
    subject: str | None
    attribute: str | None
    project: str | None = None
    kind: Kind = Kind.FACT
    evidence: str | None = None
    conditions: str | None = None
    correct: bool = False
    proposed: bool = False
    """By an agent even where the person writes."""
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Do:
    """Something that only a person does to the memories of a topic."""

    what: str
    topic: int


Step = Say | Do


@dataclass(frozen=True, slots=True)
class Planted:
    """Two values of one attribute: how each is said, how many days apart at least and at most."""

    first: str
    second: str
    days: tuple[int, int] = (0, 12)
    kind: Kind = Kind.FACT
    correct: bool = False
    evidence: str = ""
    conditions: bool = False
    elsewhere: bool = False


PLANTED = {
    "correction": Planted("conversation", "user", correct=True),
    "higher authority": Planted("import", "user"),
    "lower authority": Planted("user", "import"),
    "same origin": Planted("user", "user"),
    "source says it replaces": Planted("conversation", "conversation", (0, 6), evidence="switched"),
    "preference said later": Planted("conversation", "user", (0, 6), kind=Kind.PREFERENCE),
    "sources name conditions": Planted("conversation", "conversation", evidence="places"),
    "stated conditions": Planted("conversation", "user", conditions=True),
    "clearly newer": Planted("conversation", "tool", (8, 12)),
    "nothing ranks them": Planted("conversation", "tool", (0, 6)),
    "elsewhere": Planted("conversation", "conversation", (0, 6), elsewhere=True),
}
"""The rows of SPEC 6, by the rule that decides them."""


class Story:
    """The steps of one topic. Each is (day, step); days never go back."""

    def __init__(self, rnd: random.Random, topic: int, names: tuple[str, str]) -> None:
        self.rnd, self.topic = rnd, topic
        self.chinese = rnd.random() < 0.5
        self.name = names[self.chinese]
        self.attribute = rnd.choice(list(ATTRIBUTES))
        values, *sentences = ATTRIBUTES[self.attribute]
        self.values = rnd.sample(values, len(values))
        self.sentences = sentences[self.chinese]
        self.project = rnd.choice((None, "alpha", "beta"))
        self.day = rnd.randrange(DAYS - 14)
        self.refs = 0
        self.steps: list[tuple[int, Step]] = []

    def later(self, least: int = 0, most: int = 3) -> None:
        self.day += self.rnd.randint(least, most)

    def do(self, what: str) -> None:
        self.steps.append((self.day, Do(what, self.topic)))

    def text(self, value: str, which: int = 0) -> str:
        return self.sentences[which].format(s=self.name, v=value)

    def say(self, value: str, source: str, *, which: int = 0, **more: Any) -> Say:
        self.refs += 1
        said = Say(
            self.topic,
            self.text(value, which),
            f"{source}:{self.topic}-{self.refs}",
            value,
            self.name,
            self.attribute,
            self.project,
        )
        said = replace(said, **more)
        self.steps.append((self.day, said))
        return said

    def repeat(self, value: str, times: int) -> None:
        """The same again: in other words, in capitals, from another source, or word for word."""
        for _ in range(times):
            self.later()
            which, source = self.rnd.randrange(2), self.rnd.choice(("user", "conversation", "tool"))
            said = self.say(value, source, which=which, rule="repeat")
            if self.rnd.random() < 0.3:
                self.steps[-1] = (self.day, replace(said, content=said.content.upper(), value=value.upper()))

    # ------------------------------------------------------------------------------------------- the stories

    def repeats(self) -> None:
        self.say(self.values[0], self.rnd.choice(("user", "conversation")), rule="fresh")
        self.repeat(self.values[0], self.rnd.randint(1, 4))

    def contradiction(self) -> None:
        rule = self.rnd.choice(list(PLANTED))
        plan, (old, new) = PLANTED[rule], self.values[:2]
        ours, theirs = CONDITIONS[self.chinese] if plan.conditions else (None, None)
        self.say(old, plan.first, kind=plan.kind, conditions=theirs, rule="fresh")
        self.later(*plan.days)
        hint = {"switched": SWITCHED[self.chinese], "places": self.rnd.choice(PLACES[self.chinese])}
        evidence = hint.get(plan.evidence, "").format(v=new, o=old) or None
        self.say(
            new,
            plan.second,
            kind=plan.kind,
            conditions=ours,
            evidence=evidence,
            correct=plan.correct,
            project="gamma" if plan.elsewhere else self.project,
            content=self.text(new) + (" (gamma)" if plan.elsewhere else ""),
            rule=rule,
        )
        self.later()
        if rule == "nothing ranks them" and self.rnd.random() < 0.7:
            self.do(self.rnd.choice(("keep new", "keep old", "keep both", "keep neither")))
        elif self.rnd.random() < 0.2:
            self.do("roll back")

    def deletion(self) -> None:
        first = self.say(self.values[0], "user", rule="fresh")
        self.repeat(self.values[0], self.rnd.randrange(2))
        self.later()
        self.do("delete")
        for form in self.rnd.sample(("exact", "case", "order", "bare", "value"), self.rnd.randint(1, 3)):
            self.later(0, 2)
            again = self.say(first.value or "", self.rnd.choice(("user", "conversation", "import")))
            self.steps[-1] = (self.day, replace(brought_back(again, form), rule="deleted"))
        if self.rnd.random() < 0.5:
            self.later(0, 2)
            self.say(self.values[1], "user", rule="fresh")

    def proposal(self) -> None:
        self.say(self.values[0], "conversation", proposed=True, rule="proposed")
        self.later()
        self.do(self.rnd.choice(("confirm", "confirm", "reject", "leave")))
        self.later()
        self.say(self.values[0], "conversation", proposed=True)

    def switching(self) -> None:
        self.say(self.values[0], "user", rule="fresh")
        self.later()
        self.do("disable")
        self.later()
        self.do(self.rnd.choice(("enable", "leave")))
        self.repeat(self.values[0], 1)
        self.do("verify")

    def chaos(self) -> None:
        """Anything in any order; only the rules that always hold are asked of it."""
        acts = ("delete", "roll back", "disable", "enable", "verify", "confirm", "reject", "keep new")
        for _ in range(self.rnd.randint(4, 9)):
            self.later(0, 2)
            if self.rnd.random() < 0.4:
                self.do(self.rnd.choice((*acts, "keep both", "keep neither", "keep old")))
                continue
            self.say(
                self.rnd.choice(self.values[:3]),
                self.rnd.choice(("user", "conversation", "import", "tool")),
                which=self.rnd.randrange(2),
                proposed=self.rnd.random() < 0.2,
                correct=self.rnd.random() < 0.15,
                conditions=self.rnd.choice((None, None, None, *CONDITIONS[self.chinese])),
            )


def brought_back(said: Say, form: str) -> Say:
    """A deleted claim said again: as it was, in capitals, turned round, as text alone, or in other words."""
    if form == "value":
        return replace(said, content=f"{said.subject}: {said.attribute} = {said.value}")
    if form == "case":
        said = replace(said, content=said.content.upper())
    if form == "order":
        comma = "，" if "，" in said.content else ", "
        head, found, tail = said.content.rstrip(".。").partition(comma)
        said = replace(said, content=f"{tail}{comma}{head}" if found else said.content)
    bare = form != "exact"
    return replace(said, subject=None, attribute=None, value=None) if bare else said


def _names() -> list[tuple[str, str]]:
    """(English, Chinese) names; no two have the same words or characters."""
    english = [f"service {one}{two}{three}" for one, two, three in product(_SYLLABLES, repeat=3)]
    chinese = ["".join(found) + "服务" for found in combinations(_SIGNS, 3)]
    order = random.Random(7)
    order.shuffle(english)
    order.shuffle(chinese)
    return list(zip(english, chinese, strict=False))


_STORIES: tuple[tuple[Callable[[Story], None], int], ...] = (
    (Story.repeats, 4),
    (Story.contradiction, 6),
    (Story.deletion, 3),
    (Story.proposal, 2),
    (Story.switching, 1),
    (Story.chaos, 2),
)


def days(seed: int, writes: int) -> Iterator[tuple[int, list[Step]]]:
    """(day, its steps) of a month with about `writes` writes. The order within a topic is kept."""
    rnd, names, said = random.Random(seed), _names(), 0
    by_day: dict[int, list[list[Step]]] = {}
    tellers, weights = zip(*_STORIES, strict=True)
    for topic, name in enumerate(names):
        if said >= writes:
            break
        story = Story(rnd, topic, name)
        rnd.choices(tellers, weights)[0](story)
        said += sum(isinstance(step, Say) for _, step in story.steps)
        for day in sorted({day for day, _ in story.steps}):
            by_day.setdefault(day, []).append([step for when, step in story.steps if when == day])
    assert said >= writes, "more names are needed"
    for day in sorted(by_day):
        rnd.shuffle(by_day[day])
        yield day, [step for steps in by_day[day] for step in steps]
