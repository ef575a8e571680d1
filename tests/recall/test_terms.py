"""What counts as a word, and that stored terms hold no readable one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import VaultDamaged
from memvault.recall.terms import Analyser, decode, encode

KEY = bytes(range(32))


def shared(analyser: Analyser, question: str, passage: str) -> set[str]:
    held = set(decode([analyser.passage([(passage, 1.0)])]).hashes.tolist())
    return {term.text for term in analyser.query(question) if term.hash in held}


@pytest.mark.parametrize(
    ("question", "passage", "word"),
    [
        ("deploying", "we deploy on Fridays", "deploying"),
        ("Cafés", "the cafe opens at nine", "cafes"),
        ("ＤＥＰＬＯＹ", "deploy it", "deploy"),  # full width
        ("ship.sh", "run `bash ship.sh` first", "ship.sh"),
        ("ship", "run ship.sh", "ship"),
        ("fooBar", "calls fooBar twice", "foobar"),
        ("bar", "calls fooBar twice", "bar"),
        ("snake_case", "the snake_case rule", "snake_case"),
        ("snake", "the snake_case rule", "snake"),
        ("v1.2.3", "pinned to v1.2.3", "v1.2.3"),
        ("make drain", "use `make drain`", "drain"),
        ("grandmother's", "my grandmother", "grandmother"),
        ("部署", "生产环境的部署由运维组完成", "部署"),
        ("运维组", "生产环境的部署由运维组完成", "运维"),
        ("表", "一律用表格", "表"),
        ("デプロイ", "毎週デプロイする", "プロ"),
        ("배포", "매주 배포한다", "배포"),
        ("серверы", "перезапусти сервер", "серверы"),
        ("2024-05-03", "We moved on May 3, 2024.", "3"),
        ("May 3, 2024", "moved 2024-05-03", "3"),
        ("2024-05-03", "我们在2024年5月3日搬家", "5"),
    ],
)
def test_a_question_finds_the_word_in_another_form_or_inside_an_identifier(
    question: str, passage: str, word: str
) -> None:
    assert word in shared(Analyser(KEY), question, passage)


@pytest.mark.parametrize(
    ("question", "passage"),
    [("release-1.2.3", "release-1.2.4"), ("部门", "部署在门口"), ("表格", "图表"), ("cart", "car")],
)
def test_near_spellings_are_other_words(question: str, passage: str) -> None:
    assert shared(Analyser(KEY), question, passage) <= {"release"}


def test_single_characters_count_only_when_they_stand_alone() -> None:
    texts = [term.text for term in Analyser(KEY).query("部署 表")]
    assert texts == ["部署", "表"]


def test_function_words_weigh_little_and_whole_identifiers_more_than_their_parts() -> None:
    weight = {term.text: term.weight for term in Analyser(KEY).query("what does ship.sh do 怎么 部署")}
    assert weight["what"] < 0.3
    assert weight["怎么"] < 0.3
    assert weight["ship.sh"] == weight["部署"] == 1.0
    assert 0.3 < weight["ship"] < 1.0


def test_a_long_prompt_keeps_a_bounded_number_of_terms_and_its_end() -> None:
    terms = Analyser(KEY).query(" ".join(f"word{number}x" for number in range(5_000)) + " zanzibar")
    assert len(terms) <= 256
    assert terms[-1].text == "zanzibar"


def test_another_key_gives_other_terms_and_the_same_key_the_same() -> None:
    text = [("Deploy with ship.sh", 1.0)]
    assert Analyser(KEY).passage(text) == Analyser(KEY).passage(text)
    ours, theirs = Analyser(KEY).passage(text), Analyser(b"z" * 32).passage(text)
    assert not set(decode([ours]).hashes.tolist()) & set(decode([theirs]).hashes.tolist())


def test_a_blob_holds_no_word() -> None:
    blob = Analyser(KEY).passage([("zanzibarquokka 青铜翡翠", 1.0), ("subject:quokka", 2.0)])
    for word in ("zanzibar", "quokka", "青铜"):
        assert word.encode() not in blob
        assert word.encode("utf-16-le") not in blob


def test_a_field_with_more_weight_counts_more_often() -> None:
    plain = decode([Analyser(KEY).passage([("deploy", 1.0)])])
    heavy = decode([Analyser(KEY).passage([("deploy", 2.5)])])
    assert plain.counts.tolist() == [4]
    assert heavy.counts.tolist() == [10]
    assert heavy.lengths[0] == pytest.approx(2.5)


COUNTS = st.dictionaries(st.integers(1, 2**64 - 1), st.floats(0.25, 60.0), max_size=60)


@given(st.lists(COUNTS, max_size=5))
def test_terms_come_back_as_they_went_in(many: list[dict[int, float]]) -> None:
    terms = decode([encode(counts, sum(counts.values())) for counts in many])
    assert terms.sizes.tolist() == [len(counts) for counts in many]
    start = 0
    for counts, length in zip(many, terms.lengths, strict=True):
        stop = start + len(counts)
        assert terms.hashes[start:stop].tolist() == sorted(counts)
        expected = [max(round(counts[term] * 4), 1) for term in sorted(counts)]
        assert terms.counts[start:stop].tolist() == expected
        assert length == pytest.approx(sum(counts.values()), abs=0.26)
        start = stop


@given(st.text(max_size=300))
def test_any_text_can_be_analysed(text: str) -> None:
    analyser = Analyser(KEY)
    terms = decode([analyser.passage([(text, 1.0)])])
    assert bool(np.all(terms.hashes[1:] > terms.hashes[:-1]))
    assert all(0.0 < term.weight <= 1.0 for term in analyser.query(text))


@given(st.binary(max_size=60))
def test_a_damaged_blob_is_told_and_never_misread(data: bytes) -> None:
    whole = Analyser(KEY).passage([("deploy it", 1.0)])
    for blob in (data, whole[:-1], whole + b"x", b"\x02" + whole[1:]):
        if (
            blob.startswith(b"\x01")
            and len(blob) >= 12
            and len(blob) == 12 + 9 * int.from_bytes(blob[4:8], "little")
        ):
            continue
        with pytest.raises(VaultDamaged):
            decode([blob])


def test_a_key_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32"):
        Analyser(b"short")
