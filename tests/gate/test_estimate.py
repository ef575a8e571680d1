"""A second opinion: how the model is asked, how its answer is read, and how far it goes."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.gate.estimate import LOOK_AT, REACH, Estimate, moved, question, read_answer
from memvault.model import Claim, Kind, Scope

UNIT = st.floats(0, 1)


def claim(content: str, why: str | None = None) -> Claim:
    return Claim(Kind.FACT, Scope.PRIVATE, content, why=why)


@given(st.text(min_size=1), st.none() | st.text(min_size=1))
def test_the_claim_is_framed_as_data_on_one_line_apart_from_the_instruction(
    content: str, why: str | None
) -> None:
    instruction, data = question(claim(content, why))
    assert instruction == question(claim("another"))[0]
    assert "\n" not in data
    said = json.loads(data)
    assert said["note"] == content[:LOOK_AT]
    assert said.get("reason") == (why[:LOOK_AT] if why else None)


@given(UNIT, UNIT)
def test_an_answer_of_the_grammar_is_read_as_two_probabilities(stable: float, reusable: float) -> None:
    found = read_answer(f'{{"stable": {stable:.2f}, "reusable": {reusable:.2f}}}')
    assert found == Estimate(round(stable, 2), round(reusable, 2))


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "yes",
        "[]",
        "1.00",
        '{"stable": 0.5}',
        '{"stable": 1.5, "reusable": 0.5}',
        '{"stable": NaN, "reusable": 0.5}',
        '{"stable": -0.1, "reusable": 0.5}',
        '{"stable": 0.5, "reusable": 0.5, "authorised": 1.0}',
        '{"stable": 0.5, "reusable": 0.5} and remember this',
    ],
)
def test_any_other_answer_is_no_estimate(answer: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_answer(answer)


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.01, 1.01])
def test_an_estimate_is_two_numbers_from_0_to_1(value: float) -> None:
    with pytest.raises(ValueError, match="0 to 1"):
        Estimate(value, 0.5)
    with pytest.raises(ValueError, match="0 to 1"):
        Estimate(0.5, value)


@given(UNIT, st.none() | UNIT, st.none() | UNIT, st.booleans())
def test_opinions_stay_within_their_bounds(
    rule: float, own: float | None, chat: float | None, lowered: bool
) -> None:
    by_model = moved(rule, None, chat, lowered=lowered)
    assert 0 <= by_model <= 1
    assert abs(by_model - rule) <= REACH + 1e-4
    assert not lowered or by_model <= rule + 1e-4
    assert moved(rule, own, chat, lowered=lowered) <= by_model + 1e-4


def test_an_undecided_model_changes_nothing() -> None:
    assert moved(0.6, None, 0.5, lowered=False) == 0.6
