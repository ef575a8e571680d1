"""Text at the door, in comparison and on the screen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import TextUnusable
from memvault.text import MAX_CONTENT_BYTES, accept, fold, visible, words

ANY_TEXT = st.text(st.characters(), max_size=200)
UNICODE = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("a\x00b", "NUL"),
        ("a\ud800b", "surrogate"),
        ("x" * (MAX_CONTENT_BYTES + 1), "limit"),
        ("部" * (MAX_CONTENT_BYTES // 3 + 1), "limit"),
    ],
)
def test_unusable_text_is_refused_with_a_reason_that_does_not_quote_it(text: str, why: str) -> None:
    with pytest.raises(TextUnusable) as refusal:
        accept(text)
    assert why in refusal.value.message
    assert len(refusal.value.message) < 100


def test_text_of_exactly_the_limit_passes() -> None:
    assert len(accept("x" * MAX_CONTENT_BYTES)) == MAX_CONTENT_BYTES


@given(ANY_TEXT)
def test_accepted_text_is_normal_and_accepting_it_again_changes_nothing(text: str) -> None:
    try:
        once = accept(text)
    except TextUnusable:
        return
    assert once == unicodedata.normalize("NFC", once) == once.strip()
    assert "\r" not in once
    assert accept(once) == once


@pytest.mark.parametrize(
    "same",
    [
        ("Deploy on Fridays.", "deploy on  fridays"),
        ("ＡＢＣ", "abc"),
        ("Straße", "STRASSE"),
        ("用表格。", "用表格"),
        ("“quoted”", "quoted"),
    ],
)
def test_spellings_of_one_claim_fold_to_the_same(same: tuple[str, str]) -> None:
    assert fold(same[0]) == fold(same[1])


@pytest.mark.parametrize("other", [("port 3000", "port 3001"), ("do", "do not"), ("周一", "周二")])
def test_another_number_word_or_day_stays_another_claim(other: tuple[str, str]) -> None:
    assert fold(other[0]) != fold(other[1])


@given(UNICODE)
def test_folding_has_one_outcome(text: str) -> None:
    assert fold(text) == fold(text.swapcase().swapcase()) or text.swapcase().swapcase() != text
    assert words(text) == words(f"  {text}\n")


def test_each_chinese_character_is_a_word_and_identifiers_stay_whole() -> None:
    assert words("部署 ship.sh 到 prod-eu") == ["部", "署", "ship.sh", "到", "prod-eu"]


@given(ANY_TEXT)
def test_nothing_that_acts_on_a_terminal_survives_being_shown(text: str) -> None:
    shown = visible(text)
    for char in shown:
        assert char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert not set(shown) & set("\x1b\x9b\u202e\u200b\ufeff\u00ad\u2066")
    assert visible(shown) == shown
    assert not set(visible(text, one_line=True)) & {"\n", "\t"}


@pytest.mark.parametrize("text", ["plain", "中文，标点", "emoji 👍🏽 and ❤️", "naïve Ωmega", "a\nb\tc"])
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text
