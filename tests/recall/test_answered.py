"""Whether a question has an answer at all is decided before anything is returned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.recall import calibration as known
from memvault.recall import fuse
from memvault.recall.calibration import STEEPNESS
from memvault_models.port import LANGUAGES

SETTING = fuse.Setting(1)
LINE = known.ANSWERED_FROM
NONE = np.zeros(1, np.bool_)
ALL = np.ones(1, np.bool_)


def row(value: float) -> Any:
    return np.array([value], np.float32)


def line(both: float, meaning: float, *, foreign: bool = False, setting: fuse.Setting = SETTING) -> float:
    """How far above the line one row is, in units of evidence."""
    odds = fuse.answered(row(both), row(meaning), ALL, ALL if foreign else NONE, setting)
    return odds / STEEPNESS


def test_the_nearest_meaning_and_half_of_the_best_evidence_count() -> None:
    assert line(0.0, LINE) == pytest.approx(0.0, abs=1e-6)
    assert line(0.2, LINE - 0.1) == pytest.approx(0.0, abs=1e-6)
    assert line(0.2, LINE) - line(0.2, LINE - 0.1) == pytest.approx(0.1, abs=1e-6)


def test_they_may_come_from_two_memories_and_others_take_nothing_away() -> None:
    both, meaning = np.array([0.9, 0.1, -0.2], np.float32), np.array([0.1, 0.4, -0.3], np.float32)
    rows, foreign = np.ones(3, np.bool_), np.zeros(3, np.bool_)
    found = fuse.answered(both, meaning, rows, foreign, SETTING) / STEEPNESS
    assert found == pytest.approx(0.4 + 0.45 - LINE, abs=1e-6)
    rows[1] = False
    lower = fuse.answered(both, meaning, rows, foreign, SETTING) / STEEPNESS
    assert lower == pytest.approx(0.1 + 0.45 - LINE, abs=1e-6), "only rows that are asked for"


def test_rows_in_another_language_need_more_and_a_near_one_in_the_own_is_not_held_back() -> None:
    assert line(0.3, 0.4, foreign=True) == pytest.approx(line(0.3, 0.4) - known.ANSWERED_FOREIGN, abs=1e-6)
    both, meaning = np.array([0.8, 0.3], np.float32), np.array([0.5, 0.4], np.float32)
    foreign = np.array([True, False])
    found = fuse.answered(both, meaning, np.ones(2, np.bool_), foreign, SETTING) / STEEPNESS
    assert found == pytest.approx(max(line(0.8, 0.5, foreign=True), line(0.3, 0.4)), abs=1e-6)


def test_without_rows_nothing_answers() -> None:
    assert fuse.answered(row(1.0), row(1.0), NONE, NONE, SETTING) == -math.inf


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-0.15, 0.15), st.integers(1, 10**7), st.booleans())
def test_a_shift_moves_the_line_by_as_much_and_more_rows_never_lower_it(
    both: float, meaning: float, shift: float, rows: int, foreign: bool
) -> None:
    plain = line(both, meaning, foreign=foreign, setting=fuse.Setting(rows))
    moved = line(both, meaning, foreign=foreign, setting=fuse.Setting(rows, shift=shift))
    assert moved == pytest.approx(plain - shift, abs=1e-6)
    more = line(both, meaning, foreign=foreign, setting=fuse.Setting(rows * 10))
    assert more <= plain + 1e-6


DEPLOY = "The billing service is deployed with ship.sh from the bastion host"
OTHERS = ["Invoices are numbered per calendar year", "The lobby plants are watered on Tuesdays"]
STRANGE = "which moth ate the velvet scarf"


def fill(desk: Any, *, vectors: bool = True) -> None:
    for number, text in enumerate([DEPLOY, *OTHERS]):
        desk.put(str(number), text, vectors=vectors)


@pytest.mark.parametrize("vectors", [True, False])
def test_nearly_all_the_words_asked_for_answer_by_themselves(desk: Any, vectors: bool) -> None:
    """However high the line lies, and whatever the question means."""
    fill(desk, vectors=vectors)
    desk.index.shift = dict.fromkeys(LANGUAGES, 10.0)
    assert desk.ids("billing service deployed bastion")[0] == "0"
    assert desk.ids(STRANGE) == []


def test_some_of_the_words_asked_for_do_not(desk: Any) -> None:
    fill(desk)
    desk.index.shift = dict.fromkeys(LANGUAGES, 10.0)
    assert desk.ids("billing service velvet scarf moth lantern") == []


def test_rows_without_vectors_are_judged_by_their_words(desk: Any) -> None:
    fill(desk)
    desk.put("late", "The lantern of the pier is lit by the harbour master", vectors=False)
    desk.index.shift = dict.fromkeys(LANGUAGES, 10.0)
    assert desk.ids("who lights the lantern of the pier at night")[:1] == ["late"]
    assert desk.ids("how does the billing service reach production at night") == []


def test_a_question_without_a_vector_is_judged_by_words_and_knows_no_shift(desk: Any) -> None:
    fill(desk)
    desk.index.shift = dict.fromkeys(LANGUAGES, 10.0)
    assert desk.ids("how is billing deployed", vector=False)[:1] == ["0"]
    assert desk.ids(STRANGE, vector=False) == []


def test_what_is_named_is_returned_even_when_nothing_else_is(desk: Any) -> None:
    fill(desk)
    desk.put("port", "It answers on 3000 since the move", subject="gateway", attribute="port")
    desk.index.shift = dict.fromkeys(LANGUAGES, 10.0)
    assert desk.ids("gateway port") == ["port"]
    assert desk.ids(STRANGE) == []


def test_a_threshold_of_nothing_returns_all_that_matched(desk: Any) -> None:
    fill(desk)
    assert sorted(desk.ids(STRANGE, threshold=0.0)) == ["0", "1", "2"]
    assert desk.ids(STRANGE) == []


def test_a_callers_threshold_takes_the_place_of_the_calibrated_ones(desk: Any) -> None:
    fill(desk)
    question = "how is the billing service deployed"
    found = {hit.id: hit.relevance for hit in desk.ask(question, threshold=0.0)}
    assert desk.ids(question, threshold=max(found.values()) - 1e-6) == ["0"]
    assert desk.ids(question, threshold=min(max(found.values()) + 1e-6, 1.0)) == []
    desk.index.shift = dict.fromkeys(LANGUAGES, 10.0)
    assert desk.ids(question, threshold=found["0"] - 1e-6) == ["0"], "a shift moves only the calibrated line"


@pytest.mark.parametrize("more", [0, 300])
def test_the_margin_says_where_the_line_is(desk: Any, more: int) -> None:
    """A shift just below the margin changes nothing, one just above it leaves nothing."""
    fill(desk)
    desk.index.put_many(
        desk.entry(f"f{n}", f"Ticket {n} was closed after a call with town {n}") for n in range(more)
    )
    text = "how is the billing of parcels and letters deployed abroad"
    query = desk.query(text)
    margin = desk.index.margin(query, lambda shelf: True)
    assert -1.0 < margin < 1.0
    desk.index.shift = dict.fromkeys(LANGUAGES, margin - 1e-4)
    assert desk.ids(text)
    desk.index.shift = dict.fromkeys(LANGUAGES, margin + 1e-4)
    assert desk.ids(text) == []
    assert desk.index.tried(query, lambda shelf: True, 5).holds == pytest.approx(margin, abs=1e-5)


def test_a_shift_counts_for_questions_of_its_language(desk: Any) -> None:
    desk.put("en", DEPLOY)
    desk.put("zh", "计费服务用脚本从堡垒机发布")
    english, chinese = "how is the billing service deployed here", "计费服务怎么发布上线"
    assert desk.ids(english) and desk.ids(chinese)
    desk.index.shift = {"zh": 10.0}
    assert desk.ids(english) and desk.ids(chinese) == []


def test_a_vault_without_permitted_memories_answers_nothing(desk: Any) -> None:
    fill(desk)
    query = desk.query("billing service")
    assert desk.index.margin(query, lambda shelf: False) == -math.inf
    assert desk.index.tried(query, lambda shelf: False, 5).answer == ()


def test_a_locked_vault_forgets_what_was_calibrated(desk: Any) -> None:
    desk.index.shift = {"en": 0.1}
    desk.index.clear()
    assert dict(desk.index.shift) == {}
