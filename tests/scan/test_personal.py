"""Personal numbers are told by shape and check digits; near misses and published examples pass."""

from __future__ import annotations

import pytest

from memvault_sync.scan import Kind, Scanner, check_digits, scan
from memvault_sync.scan.cards import is_card, is_iban


def completed(start: str, holds: object, places: int = 1, alphabet: str = "0123456789") -> str:
    """`start` with the check characters that make it valid, found by trying."""
    assert callable(holds)
    endings = [""]
    for _ in range(places):
        endings = [ending + char for ending in endings for char in alphabet]
    return next(start + ending for ending in endings if holds(start + ending))


def iban(country: str, rest: str) -> str:
    return next(
        f"{country}{check:02}{rest}" for check in range(2, 99) if is_iban(f"{country}{check:02}{rest}")
    )


CN = completed("110105" + "19491231" + "002", check_digits.cn_resident, alphabet="0123456789X")
VISA = completed("45331234" + "5678901", is_card)
UNION = completed("622202" + "123456789012", is_card)

SPEAKS_FOR_ITSELF = {
    "cn-resident-id": CN,
    "bank-card": " ".join(VISA[at : at + 4] for at in range(0, 16, 4)),
    "iban": iban("DE", "5001" + "05170648489890"),
    "hk-hkid": next(
        f"B98765{d}({c})" for d in "3" for c in "0123456789A" if check_digits.hk_identity(f"B98765{d}{c}")
    ),
    "sg-nric": completed("S" + "1234567", check_digits.sg_nric, alphabet="ABCDEFGHIJZ"),
    "kr-rrn": completed("850505" + "-123456", lambda text: check_digits.kr_resident(text.replace("-", ""))),
    "es-dni": completed("5432" + "1098", check_digits.es_dni, alphabet="TRWAGMYFPDXBNJZSQVHLCKE"),
    "it-codice-fiscale": completed(
        "VRDLGU" + "70B15F205", check_digits.it_codice_fiscale, alphabet="ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    ),
    "fi-hetu": completed("131052" + "-308", check_digits.fi_hetu, alphabet="0123456789ABCDEFHJKLMNPRSTUVWXY"),
    "mx-curp": completed("GARC" + "850101HDFRRL0", check_digits.mx_curp),
}
NEEDS_WORDS = {
    "tw-national-id": completed("A12345" + "678", check_digits.tw_national),
    "jp-my-number": completed("12345" + "678901", check_digits.jp_my_number),
    "in-aadhaar": completed("23412" + "341234", check_digits.in_aadhaar),
    "br-cpf": completed("52998" + "2247", check_digits.br_cpf, 2),
    "fr-nir": completed("18505" + "78006084", check_digits.fr_nir, 2),
    "pl-pesel": completed("44051" + "40145", check_digits.pl_pesel),
    "de-idnr": completed("86095" + "74271", check_digits.de_idnr),
    "tr-tckn": completed("10000" + "0001", check_digits.tr_tckn, 2),
    "za-id": completed("80010" + "1500908", check_digits.za_id),
    "ro-cnp": completed("18001" + "0122114", check_digits.ro_cnp),
    "be-nn": completed("85073" + "0033", check_digits.be_national, 2),
    "gb-nhs": completed("94347" + "6591", check_digits.gb_nhs),
    "ca-sin": completed("13045" + "468", check_digits.ca_sin),
    "no-fodselsnummer": completed("01018" + "01", check_digits.no_national, 4),
}


def rules(text: str) -> set[str]:
    return {finding.rule for finding in scan(text) if finding.kind is Kind.PERSONAL}


def one_digit_off(number: str) -> str:
    place = max(at for at, char in enumerate(number) if char.isdigit() and at < len(number) - 2)
    return number[:place] + str((int(number[place]) + 1) % 10) + number[place + 1 :]


@pytest.mark.parametrize(("rule", "number"), SPEAKS_FOR_ITSELF.items(), ids=SPEAKS_FOR_ITSELF)
def test_numbers_with_strong_checks_are_found_anywhere(rule: str, number: str) -> None:
    for around in ("{}", "his is {}.", "号码{}，请保密", '{{"id_no":"{}"}}'):
        assert rule in rules(around.format(number)), around
    assert rule not in rules(f"his is {one_digit_off(number)}.")


@pytest.mark.parametrize(("rule", "number"), NEEDS_WORDS.items(), ids=NEEDS_WORDS)
def test_numbers_with_weak_checks_need_a_word_beside_them(rule: str, number: str) -> None:
    assert rule in rules(f"身份证件号{number}")
    assert rule in rules(f"His number is {number}, please file it.")
    assert rule not in rules(f"build {number} finished")
    assert rule not in rules(f"His number is {one_digit_off(number)}, please file it.")


def test_a_text_that_is_nothing_but_a_number_needs_no_words() -> None:
    assert "br-cpf" in rules(NEEDS_WORDS["br-cpf"])


def test_resident_ids_are_found_in_full_width_digits_groups_and_with_hidden_characters() -> None:
    wide = "".join(chr(ord(char) + 0xFEE0) for char in CN)
    for text in (wide, f"{CN[:6]} {CN[6:14]} {CN[14:]}", f"{CN[:10]}\u200b{CN[10:]}", CN.lower()):
        assert "cn-resident-id" in rules(text)


def test_resident_ids_need_a_province_and_a_day_that_has_been() -> None:
    for start in (
        "990105" + "19491231" + "002",
        "110105" + "20991231" + "002",
        "110105" + "19490231" + "002",
    ):
        ends = (start + char for char in "0123456789X")
        assert not any(rules(end) for end in ends)


def test_cards_are_serious_when_grouped_or_named_and_else_need_a_tick() -> None:
    def tier(text: str) -> list[int]:
        return [finding.tier for finding in scan(text) if finding.rule == "bank-card"]

    assert tier(SPEAKS_FOR_ITSELF["bank-card"]) == [1]
    assert tier(f"银行卡{UNION}已绑定") == [1]
    assert tier(f"value {VISA} here") == [2]
    assert tier(f"IMEI {VISA}") == []


def test_numbers_of_64_bits_are_cards_only_where_they_are_named() -> None:
    number = completed("45331234" + "5678901234", is_card)
    assert "bank-card" not in rules(f"[{number}, 7177518203184491332]")
    assert "bank-card" in rules(f"card {number}")
    assert "bank-card" in rules(f"value {UNION} here")


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1111",
        "378282246310005",
        "GB82 WEST 1234 5698 7654 32",
        "0x4111111111111111",
        "9744-8101-2291-0213",
        "1718589518915",
        "978-7-339-01139-6",
        "2.718281828459045235360287471352",
        "192.168.100.100 v1",
        "00:1A:2B:3C:4D:5E",
        "6222 **** **** 1234",
        "QX322WQ0XL62DE96CKKR",
        "2024-01-15 10:22:33",
    ],
)
def test_published_examples_and_other_numbers_pass(text: str) -> None:
    assert not rules(text)


def test_ibans_are_found_in_groups_and_need_the_country_structure(scanner: Scanner) -> None:
    number = iban("NL", "ABNA" + "0417164301")
    grouped = " ".join(number[at : at + 4] for at in range(0, len(number), 4))
    (finding,) = [finding for finding in scanner.scan(f"pay to {grouped}, thanks") if finding.rule == "iban"]
    assert (finding.start, finding.end, finding.tier) == (7, 7 + len(grouped), 1)
    assert "iban" not in rules(f"pay to {one_digit_off(number)}")
