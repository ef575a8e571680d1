"""With the real model: a vault asked about itself tells its own matters from everything else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memvault.paths import cache_dir
from memvault.recall import shift
from memvault.services import calibrating, trials
from memvault.services.calibrating import LABELLED, UNLABELLED, Tried, rates, same
from memvault.services.trials import Asked
from memvault.services.vault import open_vault
from memvault_models.manifest import DEFAULT_MODEL_ID
from memvault_models.port import Embedder
from memvault_models.registry import means_for, open_embedder

pytestmark = pytest.mark.model

KNOWN = {
    "The tide gauge at Kessel pier reports in centimetres above chart datum, never in feet.":
        "what unit does the water level sensor at Kessel use",
    "Orla signs off the winter timetable before it goes to the printer in October.":
        "who approves the schedule for the cold season",
    "Deck plates of the ferry Linnet are greased with tallow because synthetic grease attracts grit.":
        "why do we not use synthetic lubricant on the Linnet",
    "The ticket office keeps its float of eighty coins in the blue tin under the counter.":
        "where is the change for the ticket counter kept",
    "Lantern seven blinks twice every nine seconds and must not be confused with the mole light.":
        "how does the seventh lamp flash",
    "Refunds above forty crowns need the harbour master's stamp on the pink slip.":
        "which refunds have to be stamped",
    "Pilot boats leave the north basin first when the wind stands from the west.":
        "what goes out first in a westerly",
    "The bilge pump of the dredger runs on the old two-stroke engine from the mill.":
        "what drives the pump of the dredger",
    "Crew lists are handed in on paper since the tablet fell into the lock in June.":
        "why are crew lists no longer electronic",
    "The customs shed is locked with the brass key that hangs behind the barometer.":
        "where do I find the key to customs",
}  # fmt: skip
MORE = [f"Berth {n} takes {kind} up to {n * 9} metres and is swept on the {n}th of each month."
        for n, kind in enumerate(("trawlers", "barges", "yachts", "coasters", "tugs", "launches", "lighters",
                                  "schooners", "ketches", "dinghies", "punts", "cutters"), 2)]  # fmt: skip
STRANGE = (
    "which moth ate the velvet scarf",
    "how many eggs go into the almond cake",
    "what is my cousin allergic to",
    "who won the chess tournament in Vienna",
    "how do I reset the router upstairs",
    "when is the dentist open",
    "what did the vet say about the rabbit",
    "which tyres fit the old bicycle",
    "how tall is the cherry tree",
    "what was the name of that jazz album",
    "how do I prune roses",
    "which school does Mia go to",
)


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    opened = open_embedder(DEFAULT_MODEL_ID, cache_dir())
    yield opened
    opened.close()


@pytest.fixture
def port(desk: Any, embedder: Embedder) -> Any:
    """The vault of a harbour, embedded by the real model."""
    desk.vault.close()
    means = means_for(embedder, cache_dir())
    desk.vault = open_vault(
        desk.layout, desk.key, desk.clock, DEFAULT_MODEL_ID, means, lambda _ids, _reason: None
    )
    desk.embedder = embedder
    for text in (*KNOWN, *MORE):
        desk.add(text)
    desk.embed()
    return desk


def tried(desk: Any, asked: list[Asked]) -> list[Tried]:
    return [calibrating.ask(desk.vault, one, desk.embedder.embed_query(one.text)) for one in asked]


def test_a_vault_asked_about_itself_finds_itself_and_little_else(port: Any) -> None:
    asked = tried(port, trials.own_questions(port.vault))
    found = rates(asked, same(0.0))
    assert found.found is not None and found.found >= 0.9
    assert found.answered is not None and found.answered <= 0.1
    suggested = calibrating.suggest(asked, UNLABELLED)
    assert suggested is not None and 0.0 <= suggested.shifts["en"] <= 0.06


def test_labels_move_the_line_so_that_one_stranger_in_ten_passes(port: Any) -> None:
    ids = {record["content"]: record["id"] for record in _all(port)}
    asked = [Asked(question, frozenset({ids[text]})) for text, question in KNOWN.items()]
    asked += [Asked(question, frozenset()) for question in STRANGE]
    found = calibrating.suggest(tried(port, asked), LABELLED)
    assert found is not None and found.rates.answered is not None and found.rates.answered <= 0.1
    assert found.rates.found is not None and found.rates.found >= 0.9 and found.cost <= 0.1
    calibrating.keep(port.vault, found.shifts)
    assert shift.by_group(port.vault.index.shift) == pytest.approx(dict(found.shifts))
    got = [bool(port.recall(question)) for question in STRANGE]
    assert np.mean(got) <= 0.1
    assert np.mean([bool(port.recall(question)) for question in KNOWN.values()]) >= 0.9


def _all(desk: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for text in KNOWN:
        (first, *_) = desk.recall(text, limit=1)
        found.append(first)
    return found
