"""The MCP reference server's `memory.jsonl` (KIND `mcp-memory`): entities with observations, and relations.

Owns the meaning of its objects. An observation becomes a sentence about its entity, a relation a sentence
about two. The file is read as a stream; only the types of the first entities are kept, to know people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from memvault import text
from memvault.errors import TextUnusable
from memvault.importers import fields, files, jsonl, kinds
from memvault.importers.base import (
    Found,
    Item,
    Meter,
    Plan,
    Skipped,
    Target,
    Unreadable,
    anchor,
    check_target,
    source,
)
from memvault.importers.blocks import joined
from memvault.importers.files import File
from memvault.model import Claim, Draft, Kind

MAX_TYPES_KEPT = 50_000
"""Entities whose type is remembered for the relations that follow."""

MAX_NAME_BYTES = 500
"""UTF-8 bytes of a name or type; two of them make a subject or an attribute."""

MAX_PROBLEMS = 500
"""Unreadable lines of one file that are reported one by one."""

_NAME_KEYS = ("name", "entityName", "entity_name")
_TYPE_KEYS = ("entityType", "entity_type")
_FROM_KEYS = ("from", "from_id")
_TO_KEYS = ("to", "to_id")
_RELATION_KEYS = ("relationType", "relation_type")
_OBSERVATION_KEYS = ("observations", "contents")
_CONTENT_KEYS = ("content", "text")
_TIME_KEYS = ("timestamp", "createdAt", "created_at")
_SENTENCE = re.compile(
    r"[A-Z]|(?:the|an?|it|its|he|she|his|her|they|their|this|that|these|those|there|no|we|our|i|my|if|when)\b"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_jsonl(name: str) -> bool:
    """Whether a file of this name in a folder is read."""
    return name.lower().endswith(".jsonl") or name.lower() == "memory.json"


class McpMemory:
    """Reads one file, or every JSON lines file of a folder."""

    kind = "mcp-memory"

    def plan(self, path: Path, target: Target) -> Plan:
        """Measure the files; their lines are read as the items are walked. Raises Usage."""
        check_target(target)
        root = files.import_root(path)
        meter = Meter()
        total = 0
        facts: dict[str, jsonl.Facts | Unreadable] = {}
        for entry in files.walk(root, root, is_jsonl):
            if isinstance(entry, File):
                facts[entry.where] = measured = _measure(entry)
                total += measured.lines if isinstance(measured, jsonl.Facts) else 0
        return Plan(total, self._items(root, facts, target, meter), meter)

    def _items(
        self, root: Path, facts: dict[str, jsonl.Facts | Unreadable], target: Target, meter: Meter
    ) -> Iterator[Item]:
        for entry in files.walk(root, root, is_jsonl):
            measured = facts.get(entry.where) if isinstance(entry, File) else entry
            if isinstance(entry, File) and isinstance(measured, jsonl.Facts):
                yield from _Reader(entry, measured, target, meter).items()
            elif measured is not None and not isinstance(measured, jsonl.Facts | File):
                yield measured
        if not facts:
            yield Skipped(".", "no JSON lines file in this folder")


def _measure(file: File) -> jsonl.Facts | Unreadable:
    try:
        return jsonl.measure(file.path)
    except TextUnusable as error:
        return Unreadable(file.where, error.message)


@dataclass(slots=True)
class _Reader:
    """Walks one file and remembers the types of its entities."""

    file: File
    facts: jsonl.Facts
    target: Target
    meter: Meter
    types: dict[str, str] = field(default_factory=dict[str, str])
    problems: int = 0

    def items(self) -> Iterator[Item]:
        """The claims of every line, in order, and what could not be read."""
        if not self.facts.lines:
            yield Skipped(self.file.where, "the file is empty")
        try:
            for number, line in jsonl.lines(self.file.path, self.facts.size_bytes):
                yield from self._checked(self._line(f"{self.file.where}:{number}", line))
                self.meter.done += 1
        except TextUnusable as error:
            yield Unreadable(self.file.where, error.message)
        if self.problems > MAX_PROBLEMS:
            yield Unreadable(self.file.where, f"{self.problems - MAX_PROBLEMS:,} more parts cannot be read")

    def _checked(self, found: Iterator[Item]) -> Iterator[Item]:
        """Stop naming unreadable parts one by one when there are very many."""
        for item in found:
            self.problems += isinstance(item, Unreadable)
            if not isinstance(item, Unreadable) or self.problems <= MAX_PROBLEMS:
                yield item

    def _line(self, where: str, line: bytes | None) -> Iterator[Item]:
        if line is None:
            yield Unreadable(where, f"the line is over the limit of {jsonl.MAX_LINE_BYTES:,} bytes")
            return
        try:
            for found in jsonl.objects(line):
                yield from self._object(where, found)
        except TextUnusable as error:
            yield Unreadable(where, error.message)

    def _object(self, where: str, found: dict[str, Any]) -> Iterator[Item]:
        kind = found.get("type")
        if kind == "entity" or (kind is None and _first(found, _OBSERVATION_KEYS) is not None):
            yield from self._entity(where, found)
        elif kind == "relation" or (kind is None and _first(found, _RELATION_KEYS) is not None):
            yield self._relation(where, found)
        else:
            yield Unreadable(where, "the object is neither an entity nor a relation")

    def _entity(self, where: str, found: dict[str, Any]) -> Iterator[Item]:
        name = _name(found, _NAME_KEYS)
        kind = _name(found, _TYPE_KEYS) if _first(found, _TYPE_KEYS) is not None else self.types.get(name, "")
        if len(self.types) < MAX_TYPES_KEPT:
            self.types[name] = kind
        observations = _first(found, _OBSERVATION_KEYS)
        if not isinstance(observations, list):
            yield Unreadable(where, "the entity's observations are not a list")
            return
        if not observations:
            yield Skipped(where, "an entity without observations")
        for observation in cast("list[Any]", observations):
            try:
                yield self._observation(where, name, kind, observation)
            except TextUnusable as error:
                yield Unreadable(where, error.message)

    def _observation(self, where: str, name: str, entity_type: str, observation: Any) -> Found:
        said: Any = observation
        seen: str | None = None
        if isinstance(observation, dict):
            parts = cast("dict[str, Any]", observation)
            said, time = _first(parts, _CONTENT_KEYS), _first(parts, _TIME_KEYS)
            seen = fields.date(time) if isinstance(time, str) else None
        if not isinstance(said, str):
            raise TextUnusable("an observation is not text")
        observed = text.accept(said, "observation")
        content = text.accept(about(name, observed))
        kind = kinds.kind_of(observed, kinds.is_person(entity_type))
        claim = Claim(
            kind,
            self.target.scope,
            content,
            project=self.target.project,
            subject=_subject(name, entity_type),
            sensitivity=fields.sensitivity_of(kind, None),
        )
        return self._found(where, claim, name, said, seen)

    def _relation(self, where: str, found: dict[str, Any]) -> Item:
        """One edge of the graph; its attribute names both the type and the end.

        An entity has many relations of one type, and with the type alone each would replace the one before.
        """
        try:
            left, right = _name(found, _FROM_KEYS), _name(found, _TO_KEYS)
            relation = _name(found, _RELATION_KEYS)
            words = as_words(relation)
            content = text.accept(joined(joined(left, words), right))
        except TextUnusable as error:
            return Unreadable(where, error.message)
        kind = Kind.RELATIONSHIP if self._between_people(left, right, words) else Kind.FACT
        claim = Claim(
            kind,
            self.target.scope,
            content,
            project=self.target.project,
            subject=_subject(left, self.types.get(left, "")),
            attribute=f"{relation}:{right}",
            value=right,
            sensitivity=fields.sensitivity_of(kind, None),
        )
        return self._found(where, claim, left, content, None)

    def _between_people(self, left: str, right: str, words: str) -> bool:
        known = [self.types[name] for name in (left, right) if self.types.get(name)]
        if len(known) < 2:
            return kinds.is_kinship(words) and all(kinds.is_person(kind) for kind in known)
        return all(kinds.is_person(kind) for kind in known)

    def _found(self, where: str, claim: Claim, name: str, evidence: str, seen: str | None) -> Found:
        observed_at = files.not_after(seen or self.facts.modified_at, self.target.observed_at)
        origin = source(
            McpMemory.kind,
            self.file.where,
            anchor(name, claim.content),
            evidence=evidence,
            content_hash=self.facts.sha256,
            observed_at=observed_at,
        )
        return Found(where, Draft(claim, (origin,), created_at=seen))


def about(name: str, observed: str) -> str:
    """A sentence about an entity; the name is not repeated when the observation begins with it."""
    if _begins_with(observed, name):
        return observed
    if _SENTENCE.match(observed) and not observed[:2].isupper():
        return f"{name}: {observed}"
    return joined(name, observed)


def _begins_with(observed: str, name: str) -> bool:
    """Whether the observation begins with the whole name, not with a longer word."""
    if not observed.casefold().startswith(name.casefold()):
        return False
    after = observed[len(name) : len(name) + 1]
    return not (name[-1].isascii() and after.isascii() and (after.isalnum() or after == "_"))


def as_words(relation: str) -> str:
    """`works_at`, `works-at` and `worksAt` as "works at"."""
    spaced = _HUMP.sub(" ", relation).replace("_", " ").replace("-", " ")
    return " ".join(spaced.split()).lower() if spaced.isascii() else " ".join(spaced.split())


def _subject(name: str, entity_type: str) -> str:
    return f"{entity_type}:{name}" if entity_type else name


def _first(found: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((found[key] for key in keys if found.get(key) is not None), None)


def _name(found: dict[str, Any], keys: tuple[str, ...]) -> str:
    """A name of at most `MAX_NAME_BYTES`. Raises TextUnusable."""
    value = _first(found, keys)
    if not isinstance(value, str):
        raise TextUnusable(f"the object has no `{keys[0]}`")
    return text.accept(value, f"`{keys[0]}`", MAX_NAME_BYTES)
