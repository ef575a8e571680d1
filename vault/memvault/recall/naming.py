"""Structured match: the (subject, attribute) that a question names (SPEC 8).

Owns which labels are named by which words and what else a question then asks for. A label ("person:Orla",
"deploy_command", "部署命令") is known by the keyed hashes of its words alone, the same that `terms` makes
of a question: nothing readable is kept, nothing is read from the vault to answer. Must not know scores.

A question names a pair when every word of both labels stands in it. A subject may be left out when the caller
sees a single one with that attribute and the question asks for nothing else. Of several pairs the one with
the most words counts; between equals none is sure. A pair is not named where the question asks as much for
something else: when one in three of its words sufficed, 1.7 % of the questions of LoCoMo and LongMemEval
named one of 800 pairs of everyday words, most of them by chance; now 0.2 %.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from memvault.recall.calibration import PART_WEIGHT
from memvault.recall.function_words import FUNCTION_WORDS
from memvault.recall.query import Named, QueryTerm
from memvault.recall.rows import Mask, Slots
from memvault.recall.terms import Analyser

ASKER, HERE = 1, 2
"""What a subject may stand for beside its own words: whoever asks, or what is being worked on."""

_NONE = 0
_REMEMBERED = 32_768
_MOST_WORDS = 12
"""Labels of more words are never named: they are sentences."""
_INFORMATIVE = 0.2
"""Terms that weigh less in a question (function words) ask for nothing."""
_MOST_TIED = 8
"""A question that names more subjects than this, or more attributes of one, asks for none of them."""

_type_of_subject = re.compile(r"\A[A-Za-z_]{2,20}:(?=[^/\s])").match
_ASKERS = frozenset({"user", "me", "myself", "self", "i", "owner", "用户", "我", "本人", "自己"})
_PLACES = frozenset(
    {"project", "repo", "repository", "workspace", "codebase", "team", "项目", "仓库", "团队"}
)
_SAYS_ASKER = frozenset({"i", "me", "my", "mine", "i'm", "i've", "i'd", "user", "user's", "用户", "我的"})
_SAYS_HERE = frozenset({"we", "our", "ours", "us", "here", "this", "我们", "咱们"}) | _PLACES
_SAID_BESIDES = """
    use uses used using usage prefer prefers preferred like likes want current currently now today know remind
    remember show give say please name exact exactly right correct 使用 当前 目前 现在 用的 告诉 记得
"""
_BESIDES = FUNCTION_WORDS | _SAYS_ASKER | _SAYS_HERE | frozenset(_SAID_BESIDES.split())
"""Words beside the labels that make a question ask for nothing more."""


class Labels:
    """Makes `Named` of subjects and attributes, under the key of the analyser. One thread at a time."""

    def __init__(self, analyser: Analyser) -> None:
        self._analyser = analyser
        self._of = lru_cache(maxsize=_REMEMBERED)(self._words)

    def named(self, subject: str | None, attribute: str | None) -> Named | None:
        """What a question has to say to name this pair; None when it has none, or one made of no words."""
        if subject is None or attribute is None:
            return None
        typed = _type_of_subject(subject)
        about = subject[typed.end() :] if typed else subject
        folded = about.strip().casefold()
        stands = ASKER if folded in _ASKERS else HERE if folded in _PLACES else _NONE
        subjects, attributes = self._of(about), self._of(attribute)
        if not attributes[0] or not (subjects[0] or stands):
            return None
        return Named(subjects[0], subjects[1], stands, *attributes)

    def _words(self, label: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Hashes that must all be asked for, and hashes that are no more than another form of them."""
        needs: set[int] = set()
        covers: set[int] = set()
        for piece in label.split():
            terms = self._analyser.query(piece)
            covers.update(term.hash for term in terms)
            at = 0
            while at < len(terms):
                whole, at = terms[at], at + 1
                parts: list[QueryTerm] = []
                while at < len(terms) and terms[at].weight == PART_WEIGHT:
                    parts.append(terms[at])
                    at += 1
                needs.update(term.hash for term in _atoms(whole, parts))
        if len(needs) > _MOST_WORDS:
            return (), ()
        return tuple(sorted(needs)), tuple(sorted(covers))


def _atoms(whole: QueryTerm, parts: list[QueryTerm]) -> Sequence[QueryTerm]:
    """The parts of an identifier when they are all of it, else the whole; nothing for a function word."""
    if parts and sum(len(part.text) for part in parts) == sum(char.isalnum() for char in whole.text):
        return parts
    return [whole] if whole.weight > _INFORMATIVE else []


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Slots the question names. `sure`: one pair, not several equally well named. `wholly`: 1 when the
    question asks for nothing else, falling to 0 when it asks as much for something else."""

    slots: Slots
    sure: bool
    wholly: float


class _Asked:
    """The words of one question, as labels are looked for in it."""

    def __init__(self, terms: Sequence[QueryTerm]) -> None:
        self.hashes = frozenset(term.hash for term in terms)
        texts = {term.text for term in terms}
        self.asker = not texts.isdisjoint(_SAYS_ASKER) or any(
            text.startswith("我") and len(text) <= 2 and text != "我们" for text in texts
        )
        self.here = not texts.isdisjoint(_SAYS_HERE)
        self._telling = [term for term in terms if term.weight > _INFORMATIVE and term.text not in _BESIDES]
        self._empty = [term for term in terms if term.weight <= _INFORMATIVE or term.text in _BESIDES]

    def says(self, stands: int) -> bool:
        return (stands == ASKER and self.asker) or (stands == HERE and self.here)

    def split(self, covers: Collection[int]) -> tuple[float, float]:
        """How much of the question the labels are, and how much it asks for beside them."""
        inside = [term for term in self._telling if term.hash in covers]
        joints = {char for term in (*inside, *self._empty) if _is_pair(term.text) for char in term.text}
        outside = [
            term
            for term in self._telling
            if term.hash not in covers and not (_is_pair(term.text) and not joints.isdisjoint(term.text))
        ]
        return sum(term.weight for term in inside), sum(term.weight for term in outside)


def _is_pair(text: str) -> bool:
    """Whether it is two characters out of a run, of which one may belong to a neighbouring word."""
    return len(text) == 2 and text[0] >= "\u3000"


@dataclass(slots=True)
class _Vocabulary:
    """Labels by number, from 1 on; each hangs on one of its words, so that few are looked at."""

    numbers: dict[tuple[tuple[int, ...], int], int] = field(
        default_factory=dict[tuple[tuple[int, ...], int], int]
    )
    needs: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    covers: list[frozenset[int]] = field(default_factory=lambda: [frozenset()])
    stands: list[int] = field(default_factory=lambda: [_NONE])
    held: list[int] = field(default_factory=lambda: [0])
    free: list[int] = field(default_factory=list[int])
    hanging: dict[int, set[int]] = field(default_factory=dict[int, set[int]])
    standing: dict[int, set[int]] = field(default_factory=dict[int, set[int]])

    def take(self, needs: tuple[int, ...], covers: Iterable[int], stands: int) -> int:
        """The number of a label, which one more row now holds."""
        number = self.numbers.get((needs, stands), _NONE)
        if number == _NONE:
            number = self._add(needs, stands)
        if not self.covers[number].issuperset(covers):
            self.covers[number] |= frozenset(covers)
        self.held[number] += 1
        return number

    def _add(self, needs: tuple[int, ...], stands: int) -> int:
        if self.free:
            number = self.free.pop()
        else:
            number = len(self.needs)
            self.needs.append(())
            self.covers.append(frozenset())
            self.stands.append(_NONE)
            self.held.append(0)
        self.numbers[needs, stands] = number
        self.needs[number], self.stands[number] = needs, stands
        if needs:
            self.hanging.setdefault(self._hook(needs), set()).add(number)
        if stands:
            self.standing.setdefault(stands, set()).add(number)
        return number

    def _hook(self, needs: tuple[int, ...]) -> int:
        """The word that the fewest labels hang on."""
        return min(needs, key=lambda word: (len(self.hanging.get(word, ())), word))

    def give_back(self, number: int) -> None:
        """One row less holds it; what none holds is forgotten."""
        self.held[number] -= 1
        if self.held[number]:
            return
        for word in self.needs[number]:
            hung = self.hanging.get(word)
            if hung is not None:
                hung.discard(number)
                if not hung:
                    del self.hanging[word]
        self.standing.get(self.stands[number], set()).discard(number)
        del self.numbers[self.needs[number], self.stands[number]]
        self.needs[number], self.covers[number], self.stands[number] = (), frozenset(), _NONE
        self.free.append(number)

    def named(self, asked: _Asked) -> list[int]:
        """Labels of which every word is asked for, or for which another word stands in the question."""
        found = {
            number
            for word in asked.hashes
            for number in self.hanging.get(word, ())
            if asked.hashes.issuperset(self.needs[number])
        }
        for stands, numbers in self.standing.items():
            if asked.says(stands):
                found |= numbers
        return sorted(found)

    def lookup(self, numbers: Collection[int]) -> Mask:
        """Which numbers are among these, for indexing by a column of numbers."""
        out = np.zeros(len(self.needs), np.bool_)
        out[list(numbers)] = True
        return out


class Names:
    """The subject and attribute of each slot, as numbers of labels. Slots are those of the index."""

    def __init__(self) -> None:
        self._subjects, self._attributes = _Vocabulary(), _Vocabulary()
        self._subject = np.zeros(0, np.int32)
        self._attribute = np.zeros(0, np.int32)

    def put(self, slot: int, named: Named | None) -> None:
        """Set what one slot is about. The slot is new, or was dropped."""
        if slot >= len(self._subject):
            room = max(slot + 1, len(self._subject) * 3 // 2, 1024)
            self._subject, self._attribute = _grown(self._subject, room), _grown(self._attribute, room)
        if named is None:
            return
        self._subject[slot] = self._subjects.take(named.subject, named.subject_forms, named.stands)
        self._attribute[slot] = self._attributes.take(named.attribute, named.attribute_forms, _NONE)

    def drop(self, slots: Iterable[int]) -> None:
        """Forget what some slots are about."""
        for slot in slots:
            if slot >= len(self._subject):
                continue
            for column, known in ((self._subject, self._subjects), (self._attribute, self._attributes)):
                if column[slot] != _NONE:
                    known.give_back(int(column[slot]))
                    column[slot] = _NONE

    def reorder(self, order: Slots) -> None:
        """Move slot `order[i]` to i and forget the others, which hold nothing."""
        reach = int(order.max()) + 1 if len(order) else 0
        self._subject = _grown(self._subject, max(reach, len(self._subject)))[order]
        self._attribute = _grown(self._attribute, max(reach, len(self._attribute)))[order]

    def find(self, terms: Sequence[QueryTerm], mask: Mask) -> Match:
        """The permitted slots that a question names; slots outside the mask change nothing."""
        asked = _Asked(terms)
        attributes = self._attributes.named(asked)
        if not attributes:
            return _nothing()
        size = min(len(self._attribute), len(mask))
        wanted = self._attributes.lookup(attributes)
        rows = np.flatnonzero(wanted[self._attribute[:size]] & mask[:size])
        if not len(rows):
            return _nothing()
        return self._both(asked, rows) or self._attribute_alone(asked, rows) or _nothing()

    def size_bytes(self) -> int:
        """Memory held by the columns; the labels come on top."""
        return self._subject.nbytes + self._attribute.nbytes

    def _both(self, asked: _Asked, rows: Slots) -> Match | None:
        """Rows of which subject and attribute are named, of the pairs with the most words."""
        subjects = self._subjects.named(asked)
        if not subjects:
            return None
        rows = rows[self._subjects.lookup(subjects)[self._subject[rows]]]
        if not len(rows):
            return None
        sizes = {pair: self._words(asked, *pair) for pair in self._pairs(rows)}
        most = max((size for size, _ in sizes.values()), default=0)
        best = {pair: wholly for pair, (size, wholly) in sizes.items() if size == most > 0}
        if not 1 <= len(best) <= _MOST_TIED:
            return None
        mine = np.zeros(len(rows), np.bool_)
        for subject, attribute in best:
            mine |= (self._subject[rows] == subject) & (self._attribute[rows] == attribute)
        return Match(rows[mine], len(best) == 1, min(best.values()))

    def _pairs(self, rows: Slots) -> list[tuple[int, int]]:
        """Subjects and attributes of these rows; nothing when there are too many to mean one of them."""
        subjects = _held(self._subject[rows])
        if len(subjects) > _MOST_TIED:
            return []
        held = [
            (subject, _held(self._attribute[rows[self._subject[rows] == subject]])) for subject in subjects
        ]
        if any(len(attributes) > _MOST_TIED for _, attributes in held):
            return []
        return [(subject, attribute) for subject, attributes in held for attribute in attributes]

    def _words(self, asked: _Asked, subject: int, attribute: int) -> tuple[int, float]:
        """How many words of a question name the pair, and how wholly; 0 when it asks as much for others."""
        words = self._subjects.needs[subject]
        spelt = bool(words) and asked.hashes.issuperset(words)
        covers = self._subjects.covers[subject] | self._attributes.covers[attribute]
        inside, outside = asked.split(covers)
        if inside <= outside or (outside and not spelt):
            return 0, 0.0
        named = {*words, *self._attributes.needs[attribute]} & asked.hashes
        return len(named), (inside - outside) / (inside + outside)

    def _attribute_alone(self, asked: _Asked, rows: Slots) -> Match | None:
        """Rows of an attribute that is all the question asks for, if one subject alone has it."""
        sizes: dict[int, int] = {}
        for number in _held(self._attribute[rows]):
            inside, outside = asked.split(self._attributes.covers[number])
            if inside > 0.0 and not outside:
                sizes[number] = len(self._attributes.needs[number])
        if not sizes:
            return None
        most = max(sizes.values())
        longest = [number for number, size in sizes.items() if size == most]
        if len(longest) > 1:
            return None
        rows = rows[self._attribute[rows] == longest[0]]
        subjects = self._subject[rows]
        return Match(rows, True, 1.0) if bool((subjects == subjects[0]).all()) else None


def _grown(column: npt.NDArray[np.int32], room: int) -> npt.NDArray[np.int32]:
    out = np.zeros(room, np.int32)
    out[: len(column)] = column
    return out


def _held(numbers: npt.NDArray[np.int32]) -> list[int]:
    """The numbers that occur, in their order."""
    found: list[int] = np.flatnonzero(np.bincount(numbers)).tolist()
    return found


def _nothing() -> Match:
    return Match(np.zeros(0, np.int64), False, 0.0)
