"""The questions a vault is tried with when what counts as an answer is calibrated.

Owns where they come from: a person's labels; or, without any, the shipped background questions (they stand
for what the vault holds no answer to) and the vault's own memories, asked by half of their words and by
meaning alone. Must not know what is made of the answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from memvault.errors import Illegal, Usage
from memvault.recall import shift
from memvault.recall.gist import gist
from memvault.recall.query import QueryTerm
from memvault.recall.shift import Group
from memvault.recall.terms import Analyser
from memvault.services.caller import PERSON
from memvault.services.recollect import QUERY_BYTES
from memvault.services.vault import Vault
from memvault.store import memories
from memvault.store.memories import Filter
from memvault.text import accept
from memvault_models.language import language
from memvault_models.means import background

LEAST = 10
"""Questions of each kind below which nothing is suggested."""
LEAST_MEMORIES = 20
MOST = 200
"""Background questions, and memories, that are asked."""
MOST_LABELS = 2_000
NAMED = 5
"""Bad lines that an error names; it counts the others."""

_FEWEST_WORDS, _MOST_WORDS = 3, 12
_WORTH = 0.5
"""Terms of at most this weight (function words, parts of identifiers) are not asked for."""
_PAIRED = frozenset({"zh", "ja", "ko"})
_FORM = 'One JSON object a line: {"query": "...", "expects": ["memory id", ...]}, [] when there is no answer.'


class LabelInvalid(ValueError):
    """What is wrong with one line, without its text."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to try the vault with. `expects`: ids of which one has to be found; none: nothing should be.

    `by_words`: its words count beside its meaning, as when a person asks.
    """

    text: str
    expects: frozenset[str]
    by_words: bool = True
    line: int = 0
    """Where the label stands, from 1."""

    @property
    def group(self) -> Group:
        return shift.group_of(language(gist(self.text)))


def parse(lines: Iterable[str]) -> list[Asked]:
    """A person's labels; blank lines are skipped. Raises Usage, naming bad lines by number, never their text,
    and when there are too few or too many to calibrate on."""
    asked: list[Asked] = []
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            asked.append(_label(line, number))
        except LabelInvalid as error:
            wrong.append(f"line {number}: {error}")
        except Usage as error:
            wrong.append(f"line {number}: {error.message}")
    refuse(wrong, "labels that cannot be read")
    if len(asked) > MOST_LABELS:
        raise Usage(f"there are more than {MOST_LABELS:,} labels", "Calibrate on a part of them.")
    for name, number in (("with", count(asked, True)), ("without", count(asked, False))):
        if number < LEAST:
            raise Usage(f"too few labels: {number} questions {name} an answer, {LEAST} are needed", _FORM)
    return asked


def refuse(wrong: Sequence[str], what: str) -> None:
    """Raises Usage when anything is wrong."""
    if wrong:
        more = f"; and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        raise Usage(f"{what}: {'; '.join(wrong[:NAMED])}{more}", _FORM)


def _label(line: str, number: int) -> Asked:
    """Raises LabelInvalid, TextUnusable."""
    try:
        raw: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LabelInvalid("not JSON") from error
    if not isinstance(raw, dict):
        raise LabelInvalid("not a JSON object")
    given = cast("dict[str, object]", raw)
    query, expects = given.get("query"), given.get("expects")
    if not isinstance(query, str) or not query.strip():
        raise LabelInvalid("`query` is not a text")
    if not isinstance(expects, list) or not all(
        isinstance(one, str) for one in cast("list[object]", expects)
    ):
        raise LabelInvalid("`expects` is not a list of memory ids")
    return Asked(accept(query, "query", QUERY_BYTES), frozenset(cast("list[str]", expects)), line=number)


def count(asked: Sequence[Asked], answerable: bool) -> int:
    """How many of the questions have an answer, or have none."""
    return sum(bool(one.expects) == answerable for one in asked)


def check_ids(vault: Vault, asked: Sequence[Asked]) -> None:
    """Raises Usage when labels expect memories that are not there. For the reader's thread."""
    ids = sorted({id_ for one in asked for id_ in one.expects})
    known = memories.get(vault.reader, ids, PERSON.reach).keys()
    wrong = [f"line {one.line}" for one in asked if not one.expects <= known]
    refuse(wrong, "labels that expect what is no memory")


def own_questions(vault: Vault) -> list[Asked]:
    """Questions that need no labels, the same ones for the same vault. Raises Illegal when it holds too few
    memories. For the browser's thread."""
    chosen = _spread(memories.ids_of(vault.browser, PERSON.reach, Filter(status="active")), 2 * MOST)
    contents = memories.contents(vault.browser, chosen)
    analyser = Analyser(vault.secrets.terms)  # the vault's own belongs to the reader's thread
    halves = [(id_, half(analyser.query(text), text), language(text)) for id_, text in sorted(contents)]
    own = _spread([one for one in halves if one[1]], MOST)
    if len(own) < LEAST_MEMORIES:
        raise Illegal(
            f"too few memories to calibrate on: {len(own)} of {LEAST_MEMORIES}",
            "Give labels of your own, or wait until more is remembered.",
        )
    spoken = {lang for *_, lang in own}
    texts = [one.text for one in background() if one.role == "query" and one.style in ("question", "request")]
    strange = [text for text in texts if language(text) in spoken] or texts
    asked = [Asked(text, frozenset({id_}), by_words=False) for id_, text, _ in own]
    return asked + [Asked(text, frozenset()) for text in _spread(strange, MOST)]


def _spread(given: Sequence[Any], most: int) -> list[Any]:
    """At most so many of them, evenly from the first to the last."""
    if len(given) <= most:
        return list(given)
    return [given[at * (len(given) - 1) // (most - 1)] for at in range(most)]


def half(terms: Sequence[QueryTerm], text: str) -> str:
    """Every other informative word of a text; empty when there are too few. Pairs of characters overlap."""
    words = [term.text for term in terms if term.weight > _WORTH]
    kept = words[:: 4 if language(text) in _PAIRED else 2]
    return " ".join(kept[:_MOST_WORDS]) if len(kept) >= _FEWEST_WORDS else ""
