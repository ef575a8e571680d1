"""Other names of what a question names: k8s and Kubernetes, CI and continuous integration.

Owns the groups of names in memory and which of them a question may use. A group that a memory taught counts
only for callers who may search that memory's shelf, one that a person set as an internal memory of its
project (or of none), a known one for everybody. Names of different groups are never joined. Knows nothing
of storage.
"""

from __future__ import annotations

import hmac
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import RLock

from memvault.recall.known_names import KNOWN_NAMES
from memvault.recall.query import OtherName, QueryTerm, Shelf
from memvault.recall.terms import Analyser

MOST_NAMES = 8
"""Names of a question that are looked after."""
MOST_OTHERS = 6
"""Other names of each."""
_REMEMBERED = 4_096
"""Names whose words and terms stay at hand while the vault is open."""
_INTERNAL = 1
_STANDING = "current"
"""Only what stands teaches: no candidate, nothing contradicted, nothing that rests."""

_CJK = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_words = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+(?:[.@:'’][^\W{_CJK}]+)*[+#]*").finditer
_possessive = re.compile(r"['’]s?$")
_PLURAL_FROM = 3

Words = tuple[str, ...]
Allow = Callable[[Shelf], bool]


@dataclass(frozen=True, slots=True)
class Group:
    """Names of one thing. `origin`: "set" by a person, "learned" from a memory, or "known" to everybody.

    `id` is that of the row or of the memory, of a known one its first name.
    """

    id: str
    origin: str
    names: tuple[str, ...]
    project: str | None = None
    shelf: Shelf | None = None

    def open_to(self, allow: Allow) -> bool:
        """Whether a caller's questions may use it."""
        if self.origin == "known":
            return True
        if self.shelf is not None:
            return self.shelf.pool == _STANDING and allow(self.shelf)
        return any(allow(Shelf(scope, self.project, _INTERNAL, _STANDING)) for scope in ("private", "team"))


def words_of(name: str) -> Words:
    """The words by which a name is compared; empty when it has none."""
    return tuple(word for word, _, _ in _split(unicodedata.normalize("NFKC", name)))


def _split(text: str) -> Iterator[tuple[str, int, int]]:
    for found in _words(text):
        yield _possessive.sub("", found.group().casefold()), found.start(), found.end()


class Aliases:
    """All groups of an unlocked vault. Thread safe."""

    def __init__(self, key: bytes = b"", known: Sequence[tuple[str, ...]] = KNOWN_NAMES) -> None:
        self._key = key
        self._lock = RLock()
        self._groups: dict[tuple[str, str], tuple[Group, ...]] = {}
        self._having: dict[Words, dict[Group, None]] = {}
        self._starts: dict[str, dict[Words, Words]] = {}
        self._off: frozenset[str] = frozenset()
        self._terms = lru_cache(_REMEMBERED)(_terms)
        self._words = lru_cache(_REMEMBERED)(words_of)
        for number, names in enumerate(known):
            self._put(("known", str(number)), (Group(names[0], "known", names),))

    def learn(self, memory: str, shelf: Shelf, taught: Sequence[tuple[str, ...]]) -> None:
        """What a memory teaches now, in place of what it taught before."""
        groups = [Group(memory, "learned", names, shelf.project, shelf) for names in taught]
        with self._lock:
            self._put(("learned", memory), tuple(groups))

    def forget(self, memory: str) -> None:
        """Nothing of what a memory taught stays."""
        with self._lock:
            self._put(("learned", memory), ())

    def settle(self, groups: Sequence[Group], off: frozenset[str]) -> None:
        """What a person set, and the prints of what they switched off."""
        with self._lock:
            for key in [key for key in self._groups if key[0] == "set"]:
                self._put(key, ())
            for group in groups:
                self._put(("set", group.id), (group,))
            self._off = off

    def clear(self) -> None:
        """Forget what belongs to the vault."""
        with self._lock:
            self._groups.clear()
            self._having.clear()
            self._starts.clear()
            self._off = frozenset()
            self._terms.cache_clear()
            self._words.cache_clear()

    def every(self, name: str | None = None) -> list[Group]:
        """The groups, set ones first, then learned and known ones; those that hold `name`, when given."""
        with self._lock:
            if name is not None:
                return sorted(self._having.get(words_of(name), ()), key=_rank)
            return sorted((group for groups in self._groups.values() for group in groups), key=_rank)

    def print_of(self, *names: str) -> str:
        """A keyed print of one name or of a pair in any order: nothing readable."""
        parts = sorted("\x1e".join(words_of(name)) for name in names)
        return hmac.digest(self._key, "\x1f".join(("alias", *parts)).encode(), "sha256").hex()

    def is_off(self, *names: str) -> bool:
        """Whether a person switched off one of the names, or the pair."""
        off = self._off
        return bool(off) and (
            self.print_of(*names) in off or any(self.print_of(name) in off for name in names)
        )

    def expand(
        self, text: str, terms: tuple[QueryTerm, ...], analyser: Analyser, allow: Allow
    ) -> tuple[QueryTerm, ...]:
        """The terms of a question; those of a name carry its other names. Without a name, the same terms."""
        with self._lock:
            asked = self._asked(unicodedata.normalize("NFKC", text))
            if not asked:
                return terms
            found: dict[int, tuple[OtherName, ...]] = {}
            for words, shown in asked.items():
                own = {term.hash: term.weight for term in self._terms(analyser, shown)}
                others = self._others(words, shown, own, asked, analyser, allow)
                for term in terms:
                    # A word that also stands outside of the name, and weighs more there, is its own.
                    if others and own.get(term.hash, 0.0) >= term.weight and term.hash not in found:
                        found[term.hash] = others
        return tuple(replace(term, others=found[term.hash]) if term.hash in found else term for term in terms)

    def _asked(self, text: str) -> dict[Words, str]:
        """The names that stand in a question, the longest at each place, as they are written there."""
        found: dict[Words, str] = {}
        if not self._starts:
            return found
        tokens = list(_split(text))
        at = 0
        while at < len(tokens) and len(found) < MOST_NAMES:
            best: Words = ()
            for form in self._starts.get(tokens[at][0], ()):
                size = len(form)
                if size > len(best) and tuple(word for word, _, _ in tokens[at : at + size]) == form:
                    best = form
            if best:
                name = self._starts[tokens[at][0]][best]
                found.setdefault(name, text[tokens[at][1] : tokens[at + len(best) - 1][2]])
            at += max(len(best), 1)
        return found

    def _others(
        self,
        words: Words,
        shown: str,
        own: dict[int, float],
        asked: dict[Words, str],
        analyser: Analyser,
        allow: Allow,
    ) -> tuple[OtherName, ...]:
        found: dict[Words, OtherName] = {}
        for group in sorted(self._having.get(words, ()), key=_rank):
            if not group.open_to(allow):
                continue
            mine = next(name for name in group.names if self._words(name) == words)
            for name in group.names:
                other = self._words(name)
                # What the question says itself is asked for already.
                if other in asked or other in found or self.is_off(mine, name):
                    continue
                hashes = tuple(term.hash for term in self._terms(analyser, name) if term.weight >= 1.0)
                if hashes and not own.keys() >= set(hashes):
                    found[other] = OtherName(f"{shown} ({name})", hashes)
                if len(found) == MOST_OTHERS:
                    return tuple(found.values())
        return tuple(found.values())

    def _put(self, key: tuple[str, str], groups: tuple[Group, ...]) -> None:
        for group in self._groups.pop(key, ()):
            for words in map(words_of, group.names):
                self._drop(words, group)
        if not groups:
            return
        self._groups[key] = groups
        for group in groups:
            for words in map(words_of, group.names):
                self._having.setdefault(words, {})[group] = None
                for form in _forms(words):
                    self._starts.setdefault(form[0], {}).setdefault(form, words)

    def _drop(self, words: Words, group: Group) -> None:
        having = self._having.get(words, {})
        having.pop(group, None)
        if having:
            return
        self._having.pop(words, None)
        for form in _forms(words):
            starts = self._starts.get(form[0], {})
            if starts.get(form) == words:
                del starts[form]
            if not starts:
                self._starts.pop(form[0], None)


def _terms(analyser: Analyser, text: str) -> tuple[QueryTerm, ...]:
    return analyser.query(text)


def _rank(group: Group) -> tuple[int, str, tuple[str, ...]]:
    return ("set", "learned", "known").index(group.origin), group.id, group.names


def _forms(words: Words) -> Iterator[Words]:
    """A name as it may be written: also with a plural s."""
    yield words
    last = words[-1]
    if last.isascii() and last.isalpha() and len(last) >= _PLURAL_FROM and not last.endswith("s"):
        yield (*words[:-1], last[:-1] + "ies" if last.endswith("y") else last + "s")
