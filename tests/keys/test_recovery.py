"""The recovery code survives being copied by hand, and a mistake is named before a key is tried."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import WrongKey
from memvault.keys import recovery

CODES = st.binary(min_size=20, max_size=20).map(recovery.encode)
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@given(st.binary(min_size=20, max_size=20))
def test_every_code_reads_back(secret: bytes):
    code = recovery.encode(secret)
    assert re.fullmatch(r"([0-9A-HJKMNP-TV-Z]{5}-){7}[0-9A-HJKMNP-TV-Z]{5}", code)
    assert recovery.decode(code) == secret


def test_codes_hold_160_random_bits_and_differ():
    codes = {recovery.new_code() for _ in range(200)}
    assert len(codes) == 200
    assert all(len(recovery.decode(code)) == 20 for code in codes)


@given(CODES, st.randoms(use_true_random=False))
def test_case_spaces_dashes_and_look_alikes_do_not_matter(code: str, chance):
    alike = {"0": "0Oo０", "1": "1IiLlｌ", "-": ["", " ", "-", "\u2013", " - ", "\n", "\u00a0"]}
    typed = "".join(chance.choice(alike.get(char, [char, char.lower()])) for char in code)
    assert recovery.decode(f"  {typed}\n") == recovery.decode(code)


@given(CODES, st.integers(0, 39), st.integers(1, 31))
def test_one_wrong_character_names_its_group(code: str, place: int, change: int):
    typed = list(code.replace("-", ""))
    typed[place] = ALPHABET[ALPHABET.index(typed[place]) ^ change]
    with pytest.raises(WrongKey, match=f"group {place // 5 + 1} "):
        recovery.decode("".join(typed))


@given(CODES, st.integers(0, 7), st.integers(0, 4), st.integers(0, 4))
def test_two_characters_of_a_group_swapped_are_found(code: str, group: int, left: int, right: int):
    groups = code.split("-")
    typed = list(groups[group])
    if typed[left] == typed[right]:
        return
    typed[left], typed[right] = typed[right], typed[left]
    groups[group] = "".join(typed)
    with pytest.raises(WrongKey, match=f"group {group + 1} "):
        recovery.decode("-".join(groups))


@given(CODES, st.lists(st.integers(0, 7), min_size=2, max_size=2, unique=True))
def test_two_groups_swapped_are_found(code: str, places: list[int]):
    groups = code.split("-")
    left, right = sorted(places)
    groups[left], groups[right] = groups[right], groups[left]
    with pytest.raises(WrongKey, match=f"group {left + 1} "):
        recovery.decode(" ".join(groups))


@given(CODES, st.integers(0, 39))
def test_a_cut_or_a_longer_code_is_refused(code: str, length: int):
    typed = code.replace("-", "")
    for wrong in (typed[:length], typed + "0", typed + typed):
        with pytest.raises(WrongKey):
            recovery.decode(wrong)


@given(st.text())
def test_any_other_text_is_a_wrong_key_and_is_not_repeated(text: str):
    with pytest.raises(WrongKey) as caught:
        recovery.decode(text)
    assert len(text) < 12 or text not in caught.value.message


@pytest.mark.parametrize("typed", ["U" * 40, "*" * 40, "é" * 40, "", "-----", "0" * 10_000_000])
def test_foreign_characters_and_floods_are_refused(typed: str):
    with pytest.raises(WrongKey):
        recovery.decode(typed)
