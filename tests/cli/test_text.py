"""Text of the command line fits its columns and cannot act on a terminal."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from memvault import model
from memvault.cli import importing, layout, options, times, write
from memvault.cli.jsontext import encode
from memvault.cli.markdown import as_markdown
from memvault.cli.views import words
from memvault.clock import iso
from memvault.text import visible

MIXED = st.text(st.sampled_from("ab c\n\t-部署キャッシュ한글é\x1b\u202e\u200b"), max_size=120)


@given(MIXED, st.integers(10, 60))
def test_a_cut_line_never_exceeds_its_columns(text: str, columns: int) -> None:
    line = layout.cut(text, columns)
    assert 0 <= wcswidth(line) <= columns
    assert "\n" not in line


@given(MIXED, st.integers(10, 60))
def test_wrapped_lines_fit_and_lose_no_visible_character(text: str, columns: int) -> None:
    lines = layout.wrap(text, columns)
    assert all(wcswidth(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(visible(text).split())


def test_chinese_text_wraps_between_any_two_characters() -> None:
    assert layout.wrap("部署前先跑一遍冒烟测试", 8) == ["部署前先", "跑一遍冒", "烟测试"]


def test_padding_counts_the_columns_of_wide_characters() -> None:
    assert layout.pad("部署", 6) == "部署  "


@given(st.text())
def test_json_means_the_same_and_holds_nothing_a_terminal_obeys(text: str) -> None:
    line = encode({"content": text}, pretty=False)
    assert json.loads(line) == {"content": text}
    assert visible(line.removesuffix("\n"), one_line=True) == line.removesuffix("\n")


def test_json_keeps_letters_of_every_script_readable() -> None:
    assert encode(["部署 é"], pretty=False) == '["部署 é"]\n'


NOW = datetime(2026, 3, 12, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "short", "long"),
    [
        (timedelta(seconds=5), "now", "just now"),
        (timedelta(minutes=5), "5m", "5 minutes ago"),
        (timedelta(hours=1), "1h", "1 hour ago"),
        (timedelta(days=41), "41d", "41 days ago"),
        (timedelta(days=900), "2y", "2 years ago"),
        (timedelta(days=-3), "now", "in 3 days"),
    ],
)
def test_times_are_told_relative_and_absolute(ago: timedelta, short: str, long: str) -> None:
    at = iso(NOW - ago)
    assert times.age(at, NOW) == short
    assert times.when(at, NOW).endswith(f"({long})")
    assert times.when(at, NOW).startswith("20")


def test_a_broken_date_is_shown_as_it_is() -> None:
    assert (times.age("yesterday"), times.when("yesterday"), times.when(None)) == ("", "yesterday", "")


def test_the_words_of_the_options_are_those_of_the_model() -> None:
    assert tuple(model.Kind) == options.KINDS
    assert tuple(model.Scope) == options.SCOPES
    assert tuple(model.Sensitivity) == options.SENSITIVITIES
    assert tuple(model.SourceType) == write.SOURCE_TYPES
    assert tuple(state for state in model.Status if state != "deleted") == options.STATUSES
    assert set(write.CLEARABLE) <= set(model.CLAIM_FIELDS)
    assert set(write.FAILURE_PARTS) == set(model.Failure.__dataclass_fields__)
    assert importing.KINDS


def test_any_value_of_the_protocol_becomes_words() -> None:
    assert words(["a", None, {"b": 1}]) == "a; b 1"
    assert (words(None), words(0.5), words(3)) == ("", "0.50", "3")


def test_markdown_holds_the_text_unchanged_and_each_fact_on_one_line() -> None:
    page = as_markdown({
        "kind": "fact", "status": "active", "scope": "private", "content": "两行\n# not a heading of ours",
        "why": "a\nb", "sources": [{"type": "user", "ref": "me", "evidence": "said so"}],
    })  # fmt: skip
    assert "两行\n# not a heading of ours\n" in page
    assert '- why: "a\\nb"\n- source: user:me\n  - said so\n' in page
