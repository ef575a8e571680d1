"""The weights of SPEC 8: two clocks, a floor, confidence, trust of the kind, whole days."""

from __future__ import annotations

import math
from typing import Any

import pytest

TODAY = 20_000
TRUST = {
    "policy": 1.0,
    "preference": 1.0,
    "fact": 0.9,
    "relationship": 0.9,
    "episode": 0.9,
    "procedure": 0.9,
    "reflection": 0.8,
}
TAU = {"fact": 180.0, "relationship": 365.0, "procedure": 180.0, "reflection": 90.0}


def weight(desk: Any, **more: Any) -> float:
    desk.put("x", "deploy the billing service", **more)
    return desk.ask("deploy billing", threshold=0.0)[0].weight


@pytest.mark.parametrize("kind", list(TRUST))
def test_a_new_memory_weighs_its_confidence_times_the_trust_of_its_kind(desk: Any, kind: str) -> None:
    assert weight(desk, kind=kind, confidence=0.5, created_day=TODAY) == pytest.approx(0.5 * TRUST[kind])


@pytest.mark.parametrize(("kind", "tau"), TAU.items())
def test_both_clocks_run_and_the_one_of_verification_half_as_fast(desk: Any, kind: str, tau: float) -> None:
    found = weight(desk, kind=kind, confidence=1.0, used_day=TODAY - 20, verified_day=TODAY - 40)
    assert found == pytest.approx(TRUST[kind] * math.exp(-20 / tau - 40 / (2 * tau)), rel=1e-5)


def test_an_episode_halves_in_ninety_days(desk: Any) -> None:
    assert weight(desk, kind="episode", confidence=1.0, created_day=TODAY - 90) == pytest.approx(
        0.45, rel=1e-4
    )


@pytest.mark.parametrize("kind", ["policy", "preference"])
def test_policies_and_preferences_never_grow_old_by_time(desk: Any, kind: str) -> None:
    assert weight(desk, kind=kind, confidence=1.0, created_day=TODAY - 5_000) == pytest.approx(1.0)


def test_at_the_floor_a_memory_is_ranked_low_and_still_returned(desk: Any) -> None:
    assert weight(desk, confidence=1.0, created_day=0) == pytest.approx(0.3 * 0.9)
    desk.put("y", "deploy the billing service")
    assert desk.ids("deploy billing") == ["y", "x"]


def test_a_day_in_the_future_counts_as_today(desk: Any) -> None:
    assert weight(desk, confidence=1.0, created_day=TODAY + 4_000) == pytest.approx(0.9)


def test_use_and_verification_are_noted_apart(desk: Any) -> None:
    weight(desk, confidence=1.0, created_day=TODAY - 60)
    old = desk.ask("deploy billing", today=TODAY + 1)[0]
    desk.index.touch("x", used_day=TODAY)
    used = desk.ask("deploy billing", today=TODAY + 1)[0]
    desk.index.touch("x", verified_day=TODAY + 1)
    verified = desk.ask("deploy billing", today=TODAY + 1)[0]
    assert old.weight < used.weight < verified.weight == pytest.approx(0.9, abs=0.01)
    assert "used yesterday" in used.reasons
    assert "verified today" in verified.reasons
    assert not any("verified today" in reason for reason in used.reasons)


def test_a_use_counts_from_the_next_day_on(desk: Any) -> None:
    before = weight(desk, confidence=1.0, created_day=TODAY - 60, used_day=TODAY - 30)
    desk.index.touch("x", used_day=TODAY)
    desk.index.touch("x", used_day=TODAY)
    (again,) = desk.ask("deploy billing")
    assert again.weight == before
    assert "used 30 days ago" in again.reasons
    assert desk.ask("deploy billing", today=TODAY + 1)[0].weight > before


def test_of_two_statements_the_newer_ranks_first(desk: Any) -> None:
    desk.put("a-old", "We deploy with npm", created_day=TODAY - 90)
    desk.put("b-new", "We deploy with bash", created_day=TODAY - 7)
    assert desk.ids("how do we deploy") == ["b-new", "a-old"]
