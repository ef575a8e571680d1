"""Rows are exactly as wide as the screen, whatever text they carry, and nothing in them is markup."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from wcwidth import wcswidth

from memvault_tui.columns import columns_for
from memvault_tui.diff import word_diff, wrap_cells
from memvault_tui.i18n import use_language
from memvault_tui.lines import Marks, fit, heading_row, memory_row, row_text, steady, width, wrap
from memvault_tui.records import Memory, Source
from memvault_tui.words import KIND_WORDS, STATUS_WORDS, age, kind_letter, status_letter

NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)

TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("部署前先跑一遍冒烟测试，한국어テスト❤️👍🏽e\u0301\u202e\x1b\x07\u200d[]@=…"),
    ),
    max_size=120,
)


def memory(content: str, **fields: object) -> Memory:
    given_fields: dict[str, object] = {"id": "1", "kind": "fact", "status": "active", **fields}
    return Memory(content=content, **given_fields)  # pyright: ignore[reportArgumentType]


@given(TEXTS, st.integers(1, 100))
def test_a_fitted_text_has_exactly_its_cells(text: str, cells: int) -> None:
    fitted = fit(text, cells)
    assert width(fitted) == cells
    assert wcswidth(fitted) in (cells, -1)


@given(TEXTS)
def test_no_control_or_bidi_character_survives_drawing(text: str) -> None:
    for shown in (fit(text, 80), *wrap(text, 20)):
        assert not any(ord(char) < 32 or char in "\x7f\x9b\u202e\u2066\u200b" for char in shown)


@given(TEXTS, st.integers(2, 60))
def test_wrapped_lines_fit_and_lose_no_word(text: str, cells: int) -> None:
    lines = wrap(text, cells)
    assert all(width(line) <= cells for line in lines)
    kept = "".join("".join(lines).split())
    assert kept == "".join(steady(text).expandtabs(4).split())


@given(TEXTS, st.integers(60, 200))
def test_every_row_is_as_wide_as_the_list(text: str, cells: int) -> None:
    columns = columns_for(cells)
    row = row_text(memory_row(memory(text, project=text), columns, NOW, Marks(cursor=True, news="new")))
    assert width(row) == cells == columns.total
    assert width(row_text(heading_row(columns))) == cells


@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=40))
def test_the_drawing_library_measures_what_we_measure(text: str) -> None:
    """Otherwise it would cut or pad a line in the wrong place. Code points that Python's own table does not
    know yet are left out: the two libraries follow Unicode at different speeds."""
    shown = steady(text, one_line=True)
    if any("\U0001f1e6" <= char <= "\U0001f1ff" for char in shown):
        return
    assert width(shown) == cell_len(shown)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("cells", [60, 80, 88, 120, 200])
def test_the_claims_of_all_rows_start_in_one_column(language: str, cells: int) -> None:
    use_language(language)
    letters = max(
        width(letter) for letter in [*map(kind_letter, KIND_WORDS), *map(status_letter, STATUS_WORDS)]
    )
    columns = columns_for(cells, letters)
    starts: set[int] = set()
    for kind in KIND_WORDS:
        for status in STATUS_WORDS:
            row = memory_row(
                memory("|claim", kind=kind, status=status, project="计费"), columns, NOW, Marks()
            )
            starts.add(width(row_text(row).partition("|")[0]))
    assert len(starts) == 1


def test_letters_tell_kinds_and_statuses_apart_without_colour() -> None:
    for language in ("en", "zh_CN"):
        use_language(language)
        assert len({kind_letter(kind) for kind in KIND_WORDS}) == len(KIND_WORDS)
        assert len({status_letter(status) for status in STATUS_WORDS}) == len(STATUS_WORDS)


def test_a_row_shows_sources_and_what_must_be_checked() -> None:
    sources = (Source("user", "a"), Source("file", "b"))
    row = row_text(
        memory_row(memory("Staging", sources=sources, verify_first=True), columns_for(80), NOW, Marks())
    )
    assert " 2! " in row
    assert row.rstrip().endswith("(verify first)")


def test_a_verified_fact_no_longer_asks_to_be_checked() -> None:
    checked = memory("Staging", verify_first=True, verified_at="2026-03-11T00:00:00Z")
    assert not checked.needs_check
    assert memory("x", flags=("needs_verification",), verified_at="2026-03-11T00:00:00Z").needs_check


@pytest.mark.parametrize(
    ("stamp", "shown"),
    [
        ("2026-03-12T11:59:30Z", "now"),
        ("2026-03-12T11:55:00Z", "5m"),
        ("2026-03-12T02:00:00Z", "10h"),
        ("2026-01-30T12:00:00Z", "41d"),
        ("2025-10-01T12:00:00Z", "23w"),
        ("2020-03-12T12:00:00Z", "6y"),
        ("2027-01-01T00:00:00Z", "now"),
        ("", ""),
        ("not a date", ""),
    ],
)
def test_ages_are_short_and_never_negative(stamp: str, shown: str) -> None:
    assert age(stamp, NOW) == shown


def test_markup_in_a_claim_stays_text() -> None:
    row = row_text(memory_row(memory("[@click=app.quit]x[/] [bold]y[/]"), columns_for(80), NOW, Marks()))
    assert "[@click=app.quit]x[/] [bold]y[/]" in row


def test_a_word_diff_marks_only_what_changed() -> None:
    cells = word_diff("Deploy with npm run deploy.", "Deploy with `bash ship.sh` now.")
    assert "".join(text for text, role in cells if role != "added") == "Deploy with npm run deploy."
    assert "".join(text for text, role in cells if role != "removed") == "Deploy with `bash ship.sh` now."
    assert ("Deploy with ", "plain") in cells


def test_a_chinese_diff_works_by_character() -> None:
    cells = word_diff("测试用的是测试库", "测试用的是预发库")
    assert [text for text, role in cells if role == "removed"] == ["测试"]
    assert [text for text, role in cells if role == "added"] == ["预发"]


@given(TEXTS, TEXTS)
def test_a_wrapped_diff_loses_nothing(before: str, after: str) -> None:
    rows = wrap_cells(word_diff(before, after), 30)
    assert all(width(row_text(row)) <= 30 for row in rows)
    drawn = "".join("".join(row_text(row) for row in rows).split())
    told = "".join(text for text, _role in word_diff(before, after))
    assert drawn == "".join(steady(told).expandtabs(4).split())
