"""What `memvault models calibrate` suggests on the public sets, and what real questions make of it.

    python bench/calibrating.py --data ../shared/data [--set locomo]

One JSON line per set and state, the mean over its indexes: the shift suggested without labels, by background
questions and by the set's own passages asked by half of their words; what it does to the set's questions and
to foreign ones (of the other sets in the same language); and the same with one half of the questions as
labels, judged on the other half. `cost` is the share of answers that the line keeps back.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from data_sets import SETS, Pool, Question, load
from embedded import CachedEmbedder
from retrieval import STATES, Bench, groups

from memvault.recall import Query
from memvault.services.calibrating import (
    FIRST,
    LABELLED,
    UNLABELLED,
    Rule,
    Shifts,
    Tried,
    rates,
    same,
    suggest,
)
from memvault.services.trials import MOST, Asked, half
from memvault_models.language import language
from memvault_models.means import background

T = TypeVar("T")

_EACH = 100
"""Foreign questions from each other set."""
_STYLES = ("question", "request")


class Trying(Bench):
    """An index that is tried as the daemon tries a vault."""

    def tried(self, asked: Asked) -> Tried:
        query = self._query(Question("", asked.text, asked.expects), None, next(self._days))
        if not asked.by_words:
            query = Query(query.text, (), query.vector, query.language, query.today)
        return Tried(asked, self._index.tried(query, lambda shelf: True, FIRST))

    def own_questions(self) -> list[Asked]:
        """As `trials.own_questions` asks a vault."""
        texts = [(passage.id, passage.text) for passage in spread(self.pool.passages, 2 * MOST)]
        halves = [(id_, half(self._analyser.query(text), text)) for id_, text in texts]
        own = spread([(id_, text) for id_, text in halves if text], MOST)
        spoken = {language(text) for _, text in texts}
        strange = [text.text for text in background() if text.role == "query" and text.style in _STYLES]
        some = spread([text for text in strange if language(text) in spoken], MOST)
        mine = [Asked(text, frozenset({id_}), by_words=False) for id_, text in own]
        return mine + [Asked(text, frozenset()) for text in some]


def spread(given: Sequence[T], most: int) -> list[T]:
    """At most so many, evenly."""
    if len(given) <= most:
        return list(given)
    return [given[at * (len(given) - 1) // (most - 1)] for at in range(most)]


def measured(pool: Pool, strangers: Sequence[Question], embedder: CachedEmbedder, state: str) -> list[float]:
    """The numbers of one index, in the order of `NAMES`."""
    bench = Trying(pool, embedder, "fused", state)
    itself_asked = bench.own_questions()
    embedder.queries([one.text for one in (*pool.questions, *strangers, *itself_asked)])
    for question in pool.questions:
        bench.note(question)
    own = [bench.tried(Asked(question.text, question.relevant)) for question in pool.questions]
    foreign = [bench.tried(Asked(question.text, frozenset())) for question in strangers]
    itself = [bench.tried(asked) for asked in itself_asked]
    shipped = judged(same(0.0), own, foreign)
    stand_ins = rates(itself, same(0.0)).answered or 0.0
    without = shift_of(itself, UNLABELLED)
    labels = shift_of([*own[::2], *foreign[::2]], LABELLED)
    return [
        stand_ins, *shipped, without, *judged(same(without), own, foreign),
        labels, *judged(same(labels), own[1::2], foreign[1::2]),
    ]  # fmt: skip


NAMES = (
    "background answered, as shipped", "foreign answered, as shipped", "cost, as shipped",
    "shift without labels", "foreign answered without labels", "cost without labels",
    "shift with labels", "foreign answered with labels", "cost with labels",
)  # fmt: skip


def shift_of(tried: Sequence[Tried], rule: Rule) -> float:
    """The one that is suggested; sets are of one language."""
    found = suggest(tried, rule)
    return 0.0 if found is None else max(found.shifts.values(), key=abs)


def judged(shifts: Shifts, own: Sequence[Tried], foreign: Sequence[Tried]) -> tuple[float, float]:
    """Foreign questions answered, and answers kept back."""
    kept = rates(own, shifts).found or 0.0
    return rates(foreign, shifts).answered or 0.0, (rates(own, same(-np.inf)).found or 0.0) - kept


def lines(data: Path, wanted: Sequence[str], embedder: CachedEmbedder) -> Iterator[dict[str, object]]:
    pools = {name: found for kind in SETS for name, found in groups(load(data, kind)).items()}
    pools = {name: found for name, found in pools.items() if "-to-" not in name}
    for name, mine in pools.items():
        if mine[0].set not in wanted:
            continue
        spoken = language(mine[0].questions[0].text)
        strangers = [
            question
            for found in pools.values()
            if found[0].set != mine[0].set and language(found[0].questions[0].text) == spoken
            for question in spread([q for pool in found for q in pool.questions], _EACH)
        ]
        for state in STATES:
            numbers = np.mean([measured(pool, strangers, embedder, state) for pool in mine], axis=0)
            told = {label: round(float(number), 3) for label, number in zip(NAMES, numbers, strict=True)}
            yield {"bench": "calibrating", "set": name, "state": state, **told, "foreign": len(strangers)}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo, madial, ...")
    parser.add_argument("--set", choices=SETS, action="append", help="only this set (may be repeated)")
    parser.add_argument("--cache", type=Path, help="folder for vectors between runs (default: temporary)")
    chosen = parser.parse_args()
    for line in lines(chosen.data, chosen.set or SETS, CachedEmbedder(folder=chosen.cache)):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
