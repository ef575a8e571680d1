"""What questions have in common is learned from one day to the next, and never within a day."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memvault.errors import VaultDamaged
from memvault.recall.asked import Asked
from memvault_models.means import neutral_means

DIMS = 8


def unit(*values: float) -> Any:
    vector = np.zeros(DIMS, np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def test_learning_waits_for_the_next_day() -> None:
    asked = Asked(neutral_means("m", DIMS))
    before = asked.centre(unit(1, 1), "en", day=5)
    for _ in range(50):
        asked.note(unit(1, 0), "en")
    assert np.array_equal(asked.centre(unit(1, 1), "en", day=5), before)
    after = asked.centre(unit(1, 1), "en", day=6)
    assert after[1] > before[1]
    assert float(np.linalg.norm(after)) == pytest.approx(1.0, abs=1e-5)


def test_each_language_learns_for_itself() -> None:
    asked = Asked(neutral_means("m", DIMS))
    for _ in range(50):
        asked.note(unit(1, 0), "en")
    assert np.array_equal(asked.mean("zh", day=9), np.zeros(DIMS))
    assert asked.mean("en", day=9)[0] > 0.5


def test_what_was_learned_survives_being_stored() -> None:
    asked, again = Asked(neutral_means("m", DIMS)), Asked(neutral_means("m", DIMS))
    for number in range(40):
        asked.note(unit(1, number), "en")
        asked.note(unit(number, 1), "zh")
    again.restore(asked.encode())
    for language in ("en", "zh"):
        assert np.allclose(again.mean(language, day=1), asked.mean(language, day=1))


def test_a_few_questions_are_not_stored_because_they_could_be_told_apart() -> None:
    asked = Asked(neutral_means("m", DIMS))
    for number in range(20):
        asked.note(unit(1, number), "en")
    assert asked.encode() == Asked(neutral_means("m", DIMS)).encode()


def test_a_restart_within_the_day_changes_nothing_and_loses_nothing() -> None:
    asked = Asked(neutral_means("m", DIMS))
    for number in range(40):
        asked.note(unit(1, number), "en")
    before = asked.mean("en", day=6)
    for _ in range(20):
        asked.note(unit(0, 0, 1), "en")
    again, undisturbed = Asked(neutral_means("m", DIMS)), Asked(neutral_means("m", DIMS))
    again.restore(asked.encode())
    assert np.array_equal(again.mean("en", day=6), before)
    assert again.share("en", day=6) == asked.share("en", day=6) > 0.5
    again.note(unit(0, 0, 0, 1), "en")
    asked.note(unit(0, 0, 0, 1), "en")
    undisturbed.restore(again.encode())
    assert np.array_equal(undisturbed.mean("en", day=6), before)
    for one in (again, undisturbed):
        assert np.allclose(one.mean("en", day=7), asked.mean("en", day=7))


def test_so_few_questions_of_a_day_that_one_could_be_told_apart_are_not_stored_beside_the_others() -> None:
    asked, again = Asked(neutral_means("m", DIMS)), Asked(neutral_means("m", DIMS))
    for number in range(40):
        asked.note(unit(1, number), "en")
    kept = asked.mean("en", day=6)
    asked.note(unit(0, 0, 1), "en")
    again.restore(asked.encode())
    assert np.array_equal(again.mean("en", day=7), kept)


def test_a_record_of_another_version_is_left_and_learned_again() -> None:
    sums = np.append(50 * unit(1), 50.0).astype("<f8").tobytes()
    asked = Asked(neutral_means("m", DIMS))
    asked.restore(b"asked1" + b"en".ljust(8, b"\0") + sums)
    assert not asked.mean("en", day=1).any()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"asked0",
        b"asked2",
        b"asked2" + b"\0" * 9,
        b"asked2" + b"\0" * 8 + b"en".ljust(8, b"\0") + b"\0" * 8,
    ],
)
def test_a_damaged_record_is_told(data: bytes) -> None:
    with pytest.raises(VaultDamaged):
        Asked(neutral_means("m", DIMS)).restore(data)


def test_the_same_question_gets_the_same_answer_all_day(desk: Any) -> None:
    for number in range(20):
        desk.put(f"m{number}", f"deploy the billing service number {number}")
    first = desk.ask("deploy billing", limit=20)
    for number in range(30):
        desk.index.note_question(desk.query(f"deploy number {number}"))
    assert desk.ask("deploy billing", limit=20) == first


def test_the_same_few_questions_asked_over_and_over_still_find_their_answers(desk: Any) -> None:
    desk.put("a", "deploy the billing service")
    desk.put("b", "water the plants in the lobby")
    questions = {"a": "how do we deploy billing", "b": "who waters the plants"}
    for _ in range(200):
        for question in questions.values():
            desk.index.note_question(desk.query(question))
    for day in (20_000, 20_001):
        for id_, question in questions.items():
            assert desk.ids(question, today=day)[:1] == [id_]


def test_locking_forgets_what_was_learned(desk: Any) -> None:
    for _ in range(40):
        desk.index.note_question(desk.query("deploy"))
    kept = desk.index.learned()
    desk.index.clear()
    assert len(desk.index.learned()) < len(kept)
