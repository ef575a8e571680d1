"""Passphrases: what may be one, how long it takes to try one, and what a header may not ask for."""

from __future__ import annotations

import unicodedata

import pytest

from memvault.errors import HeaderDamaged, Usage
from memvault.keys import kdf
from memvault.keys.kdf import STANDARD, KdfProfile
from memvault.keys.slots import KdfParams

CHEAP = KdfProfile.test().floor
SALT = b"0123456789abcdef"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1234567",
        "ﬁ" * 3,
        "with\x00nul-byte",
        "arrow\x1b[Akey",
        "tab\tbed-in",
        "line\nfeeds!",
        "lone\ud800surrogate",
        "x" * 1025,
        "长" * 342,
    ],
)
def test_what_cannot_be_a_passphrase_is_refused_as_usage(text: str):
    with pytest.raises(Usage) as caught:
        kdf.accept_new(text)
    assert text == "" or text not in caught.value.message
    assert not kdf.can_open(text)


@pytest.mark.parametrize(
    "text", ["12345678", "密码密码密码密码", " spaces kept ", "ﬁ" * 4, "x" * 1024, "👩‍👩‍👧 family"]
)
def test_eight_characters_of_any_script_are_enough(text: str):
    assert kdf.accept_new(text)


def test_two_spellings_of_one_passphrase_are_the_same():
    composed = unicodedata.normalize("NFC", "café-ｐassword")
    typed = unicodedata.normalize("NFD", "café-password")
    assert composed != typed
    assert kdf.derive(composed, SALT, CHEAP) == kdf.derive(typed, SALT, CHEAP)
    assert kdf.derive(composed, SALT, CHEAP) != kdf.derive("cafe-password", SALT, CHEAP)


def test_it_is_argon2id_as_rfc_9106_has_it():
    derived = kdf.derive("correct horse battery", SALT, KdfParams(memory_kib=64, passes=1, lanes=1))
    assert derived.hex() == "feeaf97cb10b51bd5e5e44fda0a1eaaba807199f4f87081b8f8ab221c08d6987"


@pytest.mark.parametrize(
    "params",
    [
        KdfParams(memory_kib=1024 * 1024 + 1, passes=1, lanes=4),
        KdfParams(memory_kib=2**40, passes=3, lanes=4),
        KdfParams(memory_kib=1024 * 1024, passes=5, lanes=4),
        KdfParams(memory_kib=64, passes=65, lanes=1),
        KdfParams(memory_kib=64, passes=0, lanes=1),
        KdfParams(memory_kib=64, passes=-1, lanes=1),
        KdfParams(memory_kib=65536, passes=3, lanes=17),
        KdfParams(memory_kib=65536, passes=3, lanes=0),
        KdfParams(memory_kib=7, passes=1, lanes=1),
        KdfParams(memory_kib=0, passes=1, lanes=1),
    ],
)
def test_a_header_cannot_ask_for_absurd_work(params: KdfParams):
    with pytest.raises(HeaderDamaged):
        kdf.derive("correct horse battery", SALT, params)


def test_everything_calibration_may_choose_is_accepted_on_opening():
    kdf.check(STANDARD.ceiling)
    kdf.check(STANDARD.floor)
    kdf.check(CHEAP)


@pytest.mark.parametrize("unit_s", [10.0, 0.6, 0.3, 0.1, 0.02, 0.001, 0.0])
def test_calibration_stays_between_floor_and_ceiling_and_near_its_target(unit_s: float):
    floor = STANDARD.floor
    work = floor.memory_kib * floor.passes
    chosen = kdf.calibrate(STANDARD, measure=lambda params: unit_s)
    predicted_s = unit_s * chosen.memory_kib * chosen.passes / work
    assert floor.memory_kib <= chosen.memory_kib <= STANDARD.ceiling.memory_kib
    assert floor.passes <= chosen.passes <= STANDARD.ceiling.passes
    assert chosen == floor or predicted_s <= STANDARD.target_s
    assert chosen == STANDARD.ceiling or predicted_s > STANDARD.target_s / 2
    kdf.check(chosen)


def test_the_standard_profile_is_never_weaker_than_64_mib_three_passes():
    assert STANDARD.floor.memory_kib >= 64 * 1024
    assert STANDARD.floor.passes >= 3


def test_the_cheap_profile_measures_nothing():
    def fail(params: KdfParams) -> float:
        raise AssertionError("measured")

    assert kdf.calibrate(KdfProfile.test(), measure=fail) == CHEAP
