"""What is asked for: objective, mode, risk and limits, and how a mode follows from them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from memvault.model import Kind, Sensitivity
from memvault.text import fold

DEFAULT_BUDGET = 1_000
"""Tokens."""
MOST_BUDGET = 8_000
"""Hard cap in tokens: memory is a small part of a context."""


class Mode(StrEnum):
    """What a context loads (SPEC 9). M4 is two packs and stands for none by itself."""

    MINIMAL = "M0"
    SCOPED = "M1"
    CONTINUITY = "M2"
    AUDIT = "M3"
    CONTRASTIVE = "M4"


class Level(StrEnum):
    """How much of something a task has or needs."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Task:
    """One task with everything that decides what of the memory it gets.

    `verified_only`: the risk is high. `fresh_only`: what waits for a new check is left out instead of marked.
    `ceiling`: the highest sensitivity that may appear. `budget`: tokens, never exceeded.
    """

    objective: str
    mode: Mode
    project: str | None = None
    session: str | None = None
    verified_only: bool = False
    fresh_only: bool = False
    ceiling: Sensitivity | None = None
    budget: int = DEFAULT_BUDGET

    @property
    def variant(self) -> str:
        """What beside session and memories decides the stable zone."""
        ceiling = self.ceiling or "any"
        return f"{self.mode}/{ceiling}/{self.verified_only:d}{self.fresh_only:d}/{self.budget}"


_IGNORE_PAST = re.compile(
    r"\b(?:ignor(?:e|ing)|forget|disregard|without (?:looking at|regard (?:to|for)|using)"
    r"|do(?:n't| not) (?:look at|use|consider|refer to|build on)) (?:(?:all|any|the|our|my|your) )*"
    r"(?:past|previous|earlier|prior|old|existing|former|history|memor(?:y|ies))\b"
    r"|\b(?:start|begin|think|design|build|rewrite) (?:\w+ )?(?:over )?from scratch\b|\bclean slate\b"
    r"|(?:不要|别|不用|无需|请勿)(?:再)?(?:参考|参照|考虑|沿用|看)(?:任何)?(?:过去|以前|之前|历史|旧|已有|既有|原有|记忆)"
    r"|(?:忽略|抛开|忘掉|忘记|撇开)(?:一切|所有|全部|掉)?(?:过去|以前|之前|历史|旧|已有|既有|原有|记忆)"
    r"|从零开始|从头开始",
    re.IGNORECASE,
)


_OPENING = frozenset(
    (
        "start", "started", "begin", "beginning", "session", "new", "work", "working", "project", "repo",
        "repository", "task", "continue", "resume", "go", "on", "the", "a", "this", "my", "our", "in", "at",
        "with", "for", "to", "of", "let's", "lets", "hello", "hi", "help", "me", "please", "again", "today",
        "what", "is", "there", "know", "do", "we", "everything", "anything", "about", "context", "memory",
    )
)  # fmt: skip
"""Words that begin work on a project without saying on what."""
_OPENING_CJK = re.compile(
    r"新的?会话|会话|开始|继续|工作|项目|任务|仓库|今天|我们|这个|你好|请|帮我|上下文|记忆|一下|吧|的|新|在|做"
)
_WORD = re.compile(r"[^\W_](?:[\w'.-]*[^\W_])?")


def is_unspecific(objective: str, project: str | None) -> bool:
    """Whether an objective says no more than that work on the project begins: then nothing can be relevant to
    it, and the project's facts are what it gets.
    """
    text = fold(objective)
    if project:
        text = text.replace(fold(project), " ")
    names = set(_WORD.findall(fold(project or "")))
    words = _WORD.findall(_OPENING_CJK.sub(" ", text))
    return all(word in _OPENING or word in names for word in words)


def chosen_mode(objective: str, given: Mode | None, novelty: Level, continuity: Level) -> Mode:
    """The mode as given; else M0 for something new, M2 for what goes on, M1 otherwise."""
    if given is not None:
        return given
    if novelty is Level.HIGH or _IGNORE_PAST.search(objective):
        return Mode.MINIMAL
    return Mode.CONTINUITY if continuity is Level.HIGH else Mode.SCOPED


_SCOPED = frozenset(Kind) - {Kind.EPISODE}

LOADED: dict[Mode, frozenset[Kind]] = {
    Mode.MINIMAL: frozenset({Kind.POLICY, Kind.FACT}),
    Mode.SCOPED: _SCOPED,
    Mode.CONTINUITY: frozenset(Kind),
    Mode.AUDIT: frozenset(Kind),
}
"""Kinds each mode loads. Of facts, M0 takes only constraints of the project."""
