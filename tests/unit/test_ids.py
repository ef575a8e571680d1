"""Identifiers and instants."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.clock import SystemClock, iso, parse
from memvault.errors import Usage
from memvault.ids import is_id, new_id


def test_ids_are_version_seven_unique_and_ascending() -> None:
    made = [new_id() for _ in range(5_000)]
    assert made == sorted(set(made))
    assert {UUID(one).version for one in made} == {7}
    assert all(map(is_id, made))


def test_ids_of_many_threads_are_unique() -> None:
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.extend(new_id() for _ in range(500))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 4_000


def test_ids_still_ascend_when_the_clock_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = new_id()
    past = time.time_ns() - 3_600 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: past)
    assert new_id() > before


@given(st.text(max_size=40))
def test_only_canonical_ids_are_ids(text: str) -> None:
    assert not is_id(text) or str(UUID(text)) == text


@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(9000, 1, 1)))  # noqa: DTZ001
def test_instants_are_read_back_to_the_millisecond_and_sort_as_text(at: datetime) -> None:
    known = at.replace(tzinfo=UTC)
    assert abs(parse(iso(known)) - known) < timedelta(milliseconds=1)
    assert iso(known) <= iso(known + timedelta(milliseconds=1))


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "2026-1-1", "0001-01-01T00:00+23:59", "x" * 300])
def test_what_is_no_date_is_a_usage_error(text: str) -> None:
    with pytest.raises(Usage):
        parse(text)


def test_a_date_means_its_midnight_and_a_missing_zone_means_utc() -> None:
    assert iso(parse("2026-03-02")) == "2026-03-02T00:00:00.000Z"
    assert iso(parse("2026-03-02T09:00")) == "2026-03-02T09:00:00.000Z"
    assert iso(parse("2026-03-02T09:00+02:00")) == "2026-03-02T07:00:00.000Z"


def test_the_system_clock_knows_utc_and_never_runs_back() -> None:
    clock = SystemClock()
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.monotonic_s() <= clock.monotonic_s()
