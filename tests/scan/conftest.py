"""Builds credentials at run time from the formats, so that no scanner trips over this repository."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from re import _parser as parser  # type: ignore[attr-defined]  # the only reader of regular expressions there is
from typing import Any

import pytest

from memvault_sync.scan import Scanner
from memvault_sync.scan.rules import Rule

_CLASSES = {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": string.digits}
_ASSERTIONS = {"ASSERT", "ASSERT_NOT", "AT"}


@pytest.fixture(scope="session")
def scanner() -> Scanner:
    return Scanner()


@pytest.fixture(scope="session")
def build() -> Callable[..., str]:
    """`build(rule, seed=0, extra=0)`: a token in the rule's form, repeats at their least and `extra` more."""
    return token


def token(rule: Rule, seed: int = 0, extra: int = 0) -> str:
    chance = random.Random(f"{rule.id}{rule.form}{seed}")
    form = rule.pattern.pattern.decode()
    lead = rule.lead_pattern.pattern.decode() if rule.lead else ""
    text = _write(lead, chance, extra) + _write(form, chance, extra)
    return text.replace("PRIVATE KEY-----", "PRIVATE KEY-----\n" + _letters(chance, 64) + "\n")


def _letters(chance: random.Random, count: int) -> str:
    return "".join(chance.choice(string.ascii_letters + string.digits) for _ in range(count))


def _write(form: str, chance: random.Random, extra: int) -> str:
    return "".join(_part(op.name, value, chance, extra) for op, value in parser.parse(form))


def _part(name: str, value: Any, chance: random.Random, extra: int) -> str:
    if name == "LITERAL":
        return chr(value)
    if name == "IN":
        return chance.choice(_members(value))
    if name in {"NOT_LITERAL", "ANY"}:
        return "q"
    if name in _ASSERTIONS:
        return ""
    if name == "BRANCH":
        return _parts(chance.choice(value[1]), chance, extra)
    if name == "SUBPATTERN":
        return _parts(value[3], chance, extra)
    if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        low, high, inner = value
        return "".join(_parts(inner, chance, extra) for _ in range(min(int(high), low + extra)))
    raise AssertionError(f"no writer for {name}")


def _parts(parts: Any, chance: random.Random, extra: int) -> str:
    return "".join(_part(op.name, value, chance, extra) for op, value in parts)


def _members(choices: Any) -> list[str]:
    negated = False
    allowed: set[str] = set()
    for op, value in choices:
        if op.name == "NEGATE":
            negated = True
        elif op.name == "LITERAL":
            allowed.add(chr(value))
        elif op.name == "RANGE":
            allowed.update(map(chr, range(value[0], value[1] + 1)))
        elif op.name == "CATEGORY":
            allowed.update(_CLASSES.get(value.name, string.ascii_letters))
    every = string.ascii_letters + string.digits
    return [char for char in every if char not in allowed] if negated else sorted(allowed)
