"""The rules found by literals: reads the data files, compiles each rule on first use. Knows nothing of views.

A rule is found by its literals first, all at once by an automaton; only then is its form matched there.
"""

from __future__ import annotations

import itertools
import re
import string
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from typing import Any

from memvault_sync.scan.finding import Kind

_SHORT = {
    "<a>": "[0-9A-Za-z]",
    "<w>": "[0-9A-Za-z_-]",
    "<l>": "[0-9a-z]",
    "<U>": "[0-9A-Z]",
    "<h>": "[0-9a-f]",
    "<H>": "[0-9A-Fa-f]",
    "<b>": "[0-9A-Za-z+/]",
    "<o>": "(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})",
    "<uuid>": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
}
_CHOICE = re.compile(r"\[([^\]]+)\]")
_FILES = (("credentials.toml", Kind.CREDENTIAL, 1), ("places.toml", Kind.LOCAL, 2))
_SHORTEST_NAME = 3
_LEAD_REACH = 220  # bytes looked at before a literal whose lead varies in length
_LONG_LEAD_REACH = 4200  # a PuTTY key has its public half before the private one


@dataclass(frozen=True)
class Rule:
    """One format. `at` holds literals with their choices written out, as bytes."""

    id: str
    what: str
    kind: Kind
    tier: int
    at: tuple[bytes, ...]
    form: str
    offset: int = 0
    lead: str = ""
    left: bool = True
    right: bool = False
    cut: bool = False
    any_case: bool = False
    run: int = 0
    bits: float = 2.6
    checks: frozenset[str] = field(default=frozenset())

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The form, to be matched where it starts (or where the lead ends)."""
        form = f"(?:{_expand(self.form)})" + ("(?![0-9A-Za-z])" if self.right else "")
        return re.compile(form.encode(), re.IGNORECASE if self.any_case else 0)

    @cached_property
    def lead_pattern(self) -> re.Pattern[bytes]:
        """What must end where the literal starts."""
        return re.compile(f"(?:{_expand(self.lead)})\\Z".encode())

    @cached_property
    def open_pattern(self) -> re.Pattern[bytes]:
        """The form, whatever follows."""
        return re.compile(f"(?:{_expand(self.form)})".encode(), re.IGNORECASE if self.any_case else 0)

    def match(self, data: bytes, hit: int, *, closed: bool = True) -> tuple[int, int] | None:
        """Where the token is whose literal starts at `hit`, or None; `closed` false ignores what follows."""
        pattern = self.pattern if closed or not self.right else self.open_pattern
        found = pattern.match(data, hit - self.offset) if hit >= self.offset else None
        if found is None:
            return None
        if not self.lead:
            return found.span()
        reach = _LONG_LEAD_REACH if "{0,4000}" in self.lead else _LEAD_REACH
        start = max(0, hit - reach)
        before = self.lead_pattern.search(data[start:hit])
        return None if before is None else (start + before.start(), found.end())


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules, and the literals they are found by; `by_literal[i]` are the rules of `literals[i]`."""

    rules: tuple[Rule, ...]
    literals: tuple[bytes, ...]
    by_literal: tuple[tuple[Rule, ...], ...]
    at_runs: tuple[Rule, ...]


@cache
def load() -> RuleSet:
    """The rules of the data files, read once."""
    return index(
        _rule(row, kind, tier) for name, kind, tier in _FILES for row in tomllib.loads(_read(name))["rule"]
    )


def names(names: Iterable[str]) -> tuple[Rule, ...]:
    """Rules for user and host names of this machine; shorter ones than three characters are words too."""
    return tuple(
        Rule(
            id="machine-name",
            what="name of a user or host of this machine",
            kind=Kind.LOCAL,
            tier=2,
            at=(name.encode(),),
            form=re.escape(name),
            right=True,
        )
        for name in dict.fromkeys(names)
        if len(name) >= _SHORTEST_NAME
    )


def index(all_rules: Iterable[Rule]) -> RuleSet:
    """The rules with their literals."""
    rules = tuple(all_rules)
    by_literal: dict[bytes, list[Rule]] = {}
    for rule in rules:
        for literal in rule.at:
            by_literal.setdefault(literal, []).append(rule)
    literals = tuple(by_literal)
    return RuleSet(
        rules,
        literals,
        tuple(tuple(by_literal[literal]) for literal in literals),
        tuple(rule for rule in rules if rule.run),
    )


def _read(name: str) -> str:
    return resources.files("memvault_sync.scan").joinpath(name).read_text("utf-8")


def _rule(row: dict[str, Any], kind: Kind, tier: int) -> Rule:
    any_case = row.get("case") == "any"
    at = dict.fromkeys(itertools.chain.from_iterable(_choices(text) for text in row["at"]))
    if any_case:
        at = dict.fromkeys(itertools.chain.from_iterable((t, t.lower(), t.upper()) for t in at))
    return Rule(
        id=row["id"],
        what=row["what"],
        kind=kind,
        tier=row.get("tier", tier),
        at=tuple(text.encode() for text in at),
        form=row["form"],
        offset=row.get("offset", 0),
        lead=row.get("lead", ""),
        left=row.get("left", True),
        right=row.get("right", False),
        cut=row.get("cut", kind is Kind.CREDENTIAL),
        any_case=any_case,
        run=row.get("run", 0),
        bits=row.get("bits", 2.6),
        checks=frozenset(row.get("checks", ())),
    )


def _expand(form: str) -> str:
    for short, full in _SHORT.items():
        form = form.replace(short, full)
    return form


def _choices(text: str) -> Iterator[str]:
    """`gh[pu]_` is `ghp_` and `ghu_`; ranges as in a regular expression."""
    parts = _CHOICE.split(text)
    options: list[Iterable[str]] = [
        _members(part) if number % 2 else (part,) for number, part in enumerate(parts)
    ]
    return map("".join, itertools.product(*options))


def _members(choice: str) -> list[str]:
    wanted = re.compile(f"[{choice}]")
    return [char for char in string.ascii_letters + string.digits + "_-" if wanted.match(char)]
