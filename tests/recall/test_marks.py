"""Beside its words a turn shows whether it asks and who says it; no other colon makes a speaker."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.recall.marks import asks, speaker


@pytest.mark.parametrize(
    "text",
    [
        "When does the ferry leave?",
        "Ada: when does the ferry leave?",
        "渡轮几点开？",
        "小明：渡轮几点开？",
        "It leaves at nine. Or does it?  ",
        'He asked "does it leave?"',
        "“渡轮几点开？”",
        "Does it leave?!",
        "Does it leave? 🙂",
        "Does it leave??\n",
    ],
)
def test_a_text_that_ends_in_a_question_asks(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The ferry leaves at nine.",
        "渡轮九点开。",
        "Does it leave? At nine.",
        "渡轮几点开？九点。",
        "Does it leave? Yes",
        "see https://ferry.example/times?day=tuesday",
        "what is left when the mark is missing",
    ],
)
def test_a_text_that_ends_in_anything_else_does_not_ask(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ada: I moved to the harbour.", ("Ada",)),
        ("Ada Lovelace: I moved.", ("Ada", "Lovelace")),
        ("  Ada:\tI moved.", ("Ada",)),
        ("Ada:\nI moved.", ("Ada",)),
        ("小明：我搬到港口了。", ("小明",)),
        ("小明: 我搬到港口了。", ("小明",)),
        ("小明:我搬到港口了。", ("小明",)),
        ("王 小明：我搬了。", ("王", "小明")),
        ("Ольга: я переехала.", ("Ольга",)),
        ("Note: the ferry leaves at nine.", ("Note",)),
        ("Maria de los Angeles: yes.", ("Maria", "de", "los", "Angeles")),
    ],
)
def test_a_name_before_the_first_colon_says_who_speaks(text: str, name: tuple[str, ...]) -> None:
    assert speaker(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        ": it is empty",
        "：空的",
        "I moved to the harbour.",
        "https://ferry.example/times",
        "file:///srv/ferry",
        "10:30 is when the ferry leaves",
        "At 10:30 the ferry leaves",
        "The ferry leaves at 10:30: be there",
        "std::vector holds it",
        "key:value",
        "localhost:8080 answers",
        "C:\\ferry\\times.txt",
        "Five words make no name: never",
        "a" * 41 + ": too long for a name",
        "one line\nAda: another one",
    ],
)
def test_no_other_colon_makes_a_speaker(text: str) -> None:
    assert speaker(text) == ()


@given(st.text(max_size=200))
def test_any_text_has_marks(text: str) -> None:
    name = speaker(text)
    assert len(name) <= 4 and all(word and word in text for word in name)
    assert not any(":" in word or "：" in word or word.isspace() for word in name)
    assert isinstance(asks(text), bool)


@given(st.text("?？:： \n.a中\ud83d\x00", max_size=300))
def test_runs_of_marks_are_read_in_one_go(text: str) -> None:
    assert isinstance(asks(text * 50), bool)
    assert len(speaker(text * 50)) <= 4


names = st.text(string.ascii_letters, min_size=1, max_size=12)
said = st.text(string.ascii_letters + " ,.", min_size=1, max_size=60)


@given(names, said)
def test_whoever_is_named_first_speaks(name: str, text: str) -> None:
    assert speaker(f"{name}: {text}") == (name,)
    assert speaker(f"{name} {text}") == ()


@given(said)
def test_a_question_mark_at_the_end_asks_and_one_before_words_does_not(text: str) -> None:
    assert asks(text + "?") and asks(text + "？")
    assert not asks("Really? " + "So it is, I was told. " + text + " so it is, really")


def test_a_question_finds_the_turns_of_whom_it_names(desk: Any) -> None:
    """As the analyser keeps it: under the key of the vault, whatever case, script or ending."""
    analyse = desk.analyser
    for question, turn in (
        ("Where did Ada move?", "Ada: to the harbour."),
        ("Where is ada's house?", "ADA: by the harbour."),
        ("小明搬到哪里了", "小明：搬到港口了。"),
        ("Wo wohnt José?", "Jose: am Hafen."),
    ):
        desk.put(turn, turn, thread="t", place=0)
        for mark in analyse.marks(question).names:
            if len(desk.index._parts.postings.find(mark)[0]):
                break
        else:
            raise AssertionError(question)
    found = analyse.marks("Where did Bob move?")
    assert not any(len(desk.index._parts.postings.find(mark)[0]) for mark in found.names)


def test_a_mark_is_no_word(desk: Any) -> None:
    """Nothing that can be asked for in words finds a mark."""
    desk.put("a", "Ada: does it leave?")
    marks = desk.analyser.marks("asks by: \0asks \0by:ada ada")
    words = {term.hash for term in desk.analyser.query("asks by: \0asks \0by:ada ada")}
    assert words.isdisjoint({marks.asks, *marks.names})
