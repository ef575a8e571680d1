"""Front matter keys of a note as fields of a claim. Owns names, aliases and checks of the keys.

What a file says about its own authority or confidence is not taken, and its scope can only be narrower than
the one the caller chose. Must not know files or Markdown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from memvault import clock, text
from memvault.errors import TextUnusable, Usage
from memvault.importers.base import Problem, Target
from memvault.importers.frontmatter import Front, Value
from memvault.model import Claim, Failure, Kind, Scope, Sensitivity

MAX_NAME_BYTES = 1_000
"""UTF-8 bytes of a subject, attribute, value, project or title."""

_ALIASES = {
    "how": "how_to_apply",
    "condition": "conditions",
    "when": "conditions",
    "tag": "tags",
    "date": "created",
    "created_at": "created",
    "modified": "updated",
    "updated_at": "updated",
    "last_modified": "updated",
    "expires_at": "expires",
    "valid_until": "valid_to",
}
_NAMES = ("subject", "attribute", "value", "project", "title")
_TEXTS = ("why", "how_to_apply", "conditions", "context", "about")
_DATES = ("created", "updated", "expires", "valid_from", "valid_to")
_KNOWN = {*_NAMES, *_TEXTS, *_DATES, "kind", "scope", "sensitivity", "tags", "failure"}
_ABSENT = {"", "~", "null"}
_LOOSE_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\Z")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields a note sets for its claims. `kind` is None when the note names none."""

    kind: Kind | None = None
    scope: Scope = Scope.PRIVATE
    project: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    why: str | None = None
    how_to_apply: str | None = None
    conditions: str | None = None
    context: str | None = None
    about: str | None = None
    sensitivity: Sensitivity | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    expires: str | None = None
    failure: Failure | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    created: str | None = None
    updated: str | None = None
    unused: int = 0
    """How many keys were not used."""

    def claim(
        self, content: str, default_kind: Kind, context: str | None = None, **changes: str | None
    ) -> Claim:
        """A claim with these fields; `changes` fill why and how_to_apply where no key does."""
        kind = self.kind or default_kind
        return Claim(
            kind=kind,
            scope=self.scope,
            content=content,
            project=self.project,
            subject=self.subject,
            attribute=self.attribute,
            value=self.value,
            why=self.why or changes.get("why"),
            how_to_apply=self.how_to_apply or changes.get("how_to_apply"),
            conditions=self.conditions,
            context=context,
            about=self.about,
            sensitivity=sensitivity_of(kind, self.sensitivity),
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            expires_at=self.expires,
            failure=self.failure,
        )


def sensitivity_of(kind: Kind, named: Sensitivity | None) -> Sensitivity:
    """The level named, or the default of the kind; a relationship is personal at least (SPEC 2)."""
    level = named or Sensitivity.INTERNAL
    if kind is Kind.RELATIONSHIP and level.rank < Sensitivity.PERSONAL.rank:
        return Sensitivity.PERSONAL
    return level


def narrower(asked: Scope | None, allowed: Scope) -> Scope:
    """The narrower of the two: a file may keep a note from the team, never give it to them."""
    if Scope.TASK in {asked, allowed}:
        return Scope.TASK
    return Scope.PRIVATE if Scope.PRIVATE in {asked, allowed} else allowed


def read(front: Front, target: Target, also_used: frozenset[str] = frozenset()) -> Fields | Problem:
    """Check the keys; the problem names the first key that cannot be used.

    `also_used` are keys the importer reads itself, so that they do not count as unused.
    """
    known: dict[str, tuple[str, Value]] = {}
    for key, value in front.values.items():
        name = _ALIASES.get(key, key)
        if name not in _KNOWN or (isinstance(value, str) and value.strip().lower() in _ABSENT) or not value:
            continue
        if name in known:
            return Problem(
                front.lines[key], f"the keys `{known[name][0]}` and `{key}` say the same thing twice"
            )
        known[name] = (key, value)
    checked: dict[str, Any] = {}
    unused = sum(1 for key in front.values if _ALIASES.get(key, key) not in _KNOWN and key not in also_used)
    for name, (key, value) in known.items():
        try:
            checked[name] = _check(name, key, value)
        except TextUnusable as error:
            return Problem(front.lines[key], error.message)
        if checked[name] is None:
            unused += 1
    for needed, by in (("subject", "attribute"), ("attribute", "value")):
        if checked.get(by) and not checked.get(needed):
            del checked[by]
            unused += 1
    checked["scope"] = narrower(checked.get("scope"), target.scope)
    checked["project"] = target.project or checked.get("project")
    return Fields(**checked, unused=unused)


def _check(name: str, key: str, value: Value) -> Any:
    """The value of one field, or None for a date that only informs and is none. Raises TextUnusable."""
    if name == "kind":
        return _choice(Kind, value, f"the key `{key}` names no kind of memory")
    if name == "scope":
        return _choice(Scope, value, f"the key `{key}` names no scope")
    if name == "sensitivity":
        return _choice(Sensitivity, value, f"the key `{key}` names no level of sensitivity")
    if name == "failure":
        return _failure(value, key)
    if name == "tags":
        return _tags(value, key)
    written = _text(value, key, MAX_NAME_BYTES if name in _NAMES else text.MAX_CONTENT_BYTES)
    if name not in _DATES:
        return written
    instant = date(written)
    if instant is None and name not in {"created", "updated"}:
        raise TextUnusable(f"the key `{key}` is not a date")
    return instant


def _choice(words: type[Kind | Scope | Sensitivity], value: Value, problem: str) -> Any:
    try:
        return words(value.strip().lower() if isinstance(value, str) else "")
    except ValueError as error:
        raise TextUnusable(problem) from error


def _text(value: Value, key: str, limit_bytes: int) -> str:
    """One text; a list of texts is joined by semicolons."""
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, str) for part in parts):
        raise TextUnusable(f"the key `{key}` must be text")
    return text.accept("; ".join(str(part) for part in parts), f"key `{key}`", limit_bytes)


def _tags(value: Value, key: str) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise TextUnusable(f"the key `{key}` must be a list of words")
    words = [str(part).strip().lstrip("#") for part in parts]
    return tuple(text.accept(word, f"key `{key}`", MAX_NAME_BYTES) for word in words if word)


def _failure(value: Value, key: str) -> Failure:
    if not isinstance(value, dict):
        raise TextUnusable(f"the key `{key}` must hold symptom, cause and fix")
    parts = {name: _text(said, key, text.MAX_CONTENT_BYTES) for name, said in value.items() if said}
    if not {"symptom", "cause", "fix"} <= parts.keys():
        raise TextUnusable(f"the key `{key}` must hold symptom, cause and fix")
    return Failure(
        parts["symptom"],
        parts["cause"],
        parts["fix"],
        parts.get("verification", ""),
        parts.get("stop_rule", ""),
    )


def date(written: str) -> str | None:
    """An ISO 8601 instant of a date or time as people write it (2026-3-2, 2026/03/02, ISO), or None."""
    loose = _LOOSE_DATE.match(written.strip())
    tidy = "{}-{:0>2}-{:0>2}".format(*loose.groups()) if loose else written.strip()
    try:
        return clock.iso(clock.parse(tidy))
    except (Usage, OverflowError):
        return None
