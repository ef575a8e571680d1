"""Check digits of personal numbers: whether a number is one that its issuer could have given out.

Pure functions over the number without separators, letters upper case. Knows nothing of the text around it.
"""

from __future__ import annotations

from collections import Counter
from datetime import date

_EARLIEST_BIRTH = date(1900, 1, 1)
_CN_PROVINCES = frozenset(
    {
        *range(11, 16),
        *range(21, 24),
        *range(31, 38),
        *range(41, 47),
        *range(50, 55),
        *range(61, 66),
        71,
        81,
        82,
        83,
    }
)
_CN_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_TW_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"  # in the order of their values, from 10
_VERHOEFF_MULTIPLY = (
    "0123456789",
    "1234067895",
    "2340178956",
    "3401289567",
    "4012395678",
    "5987604321",
    "6598710432",
    "7659821043",
    "8765932104",
    "9876543210",
)
_VERHOEFF_PERMUTE = (
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
)
_IT_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            2,
            4,
            18,
            20,
            11,
            3,
            6,
            8,
            12,
            14,
            16,
            10,
            22,
            25,
            24,
            23,
        ),
        strict=True,
    )
)
_FI_CHECKS = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_ES_CHECKS = "TRWAGMYFPDXBNJZSQVHLCKE"
_CURP_LETTERS = "0123456789ABCDEFGHIJKLMN#OPQRSTUVWXYZ"


def weighted(number: str, weights: tuple[int, ...] | range) -> int:
    """Sum of digit times weight, over as many as there are weights."""
    return sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False))


def luhn(number: str) -> bool:
    """Luhn's formula over all digits, the check digit last."""
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def is_birth(year: int, month: int, day: int) -> bool:
    """A real date from 1900 to today."""
    try:
        born = date(year, month, day)
    except ValueError:
        return False
    return _EARLIEST_BIRTH <= born <= date.today()  # noqa: DTZ011 - a day either way does not matter


def is_short_birth(yymmdd: str) -> bool:
    """A real date in 1900..1999 or 2000..today."""
    year, month, day = int(yymmdd[:2]), int(yymmdd[2:4]), int(yymmdd[4:6])
    return is_birth(1900 + year, month, day) or is_birth(2000 + year, month, day)


def cn_resident(number: str) -> bool:
    """Province, birth date, ISO 7064 MOD 11-2."""
    return (
        int(number[:2]) in _CN_PROVINCES
        and is_birth(int(number[6:10]), int(number[10:12]), int(number[12:14]))
        and "10X98765432"[weighted(number[:17], _CN_WEIGHTS) % 11] == number[17]
    )


def tw_national(number: str) -> bool:
    """A letter worth two digits, then nine."""
    value = _TW_LETTERS.index(number[0]) + 10
    return (value // 10 + value % 10 * 9 + weighted(number[1:], (8, 7, 6, 5, 4, 3, 2, 1, 1))) % 10 == 0


def hk_identity(number: str) -> bool:
    """One or two letters, six digits, a check character 0-9 or A; modulo 11."""
    padded = number.rjust(9)
    total = sum(
        (36 if char == " " else int(char, 36)) * weight
        for char, weight in zip(padded[:8], range(9, 1, -1), strict=True)
    )
    return (total + (10 if padded[8] == "A" else int(padded[8]))) % 11 == 0


def sg_nric(number: str) -> bool:
    """S and T citizens, F and G foreigners, M foreigners since 2022."""
    total = weighted(number[1:8], (2, 7, 6, 5, 4, 3, 2)) + {"T": 4, "G": 4, "M": 3}.get(number[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "XWUTRQPNJLK"}.get(number[0], "XWUTRQPNMLK")
    return letters[total % 11] == number[8]


def kr_resident(number: str) -> bool:
    """Birth date, a century digit, eleven minus the weighted sum."""
    century = 1900 if number[6] in "1256" else 2000
    return (
        number[6] in "12345678"
        and is_birth(century + int(number[:2]), int(number[2:4]), int(number[4:6]))
        and (11 - weighted(number, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10 == int(number[12])
    )


def jp_my_number(number: str) -> bool:
    """Twelve digits, modulo 11."""
    rest = weighted(number, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return (0 if rest <= 1 else 11 - rest) == int(number[11])


def in_aadhaar(number: str) -> bool:
    """Verhoeff's scheme; the first digit is 2 to 9; no palindromes."""
    check = 0
    for place, digit in enumerate(reversed(number)):
        check = int(_VERHOEFF_MULTIPLY[check][int(_VERHOEFF_PERMUTE[place % 8][int(digit)])])
    return check == 0 and number[0] not in "01" and number != number[::-1]


def br_cpf(number: str) -> bool:
    """Two check digits, modulo 11."""
    first = -weighted(number, range(10, 1, -1)) % 11 % 10
    second = -weighted(number, range(11, 1, -1)) % 11 % 10
    return number[9:] == f"{first}{second}" and len(set(number)) > 1


def es_dni(number: str) -> bool:
    """DNI or NIE: the letter is the number modulo 23."""
    digits = str("XYZ".find(number[0])) + number[1:8] if number[0] in "XYZ" else number[:8]
    return _ES_CHECKS[int(digits) % 23] == number[-1]


def fr_nir(number: str) -> bool:
    """Sex, year, month, place; 97 minus the number modulo 97."""
    plain = number.replace("2A", "19").replace("2B", "18") if number[5:7] in {"2A", "2B"} else number
    month = int(plain[3:5])
    return (
        plain[0] in "12"
        and (1 <= month <= 12 or 20 <= month <= 42 or month >= 50)
        and 97 - int(plain[:13]) % 97 == int(plain[13:])
    )


def it_codice_fiscale(number: str) -> bool:
    """Odd and even places count differently, modulo 26."""
    total = sum(
        int(char, 36) - (10 if char.isalpha() else 0) if place % 2 else _IT_ODD[char]
        for place, char in enumerate(number[:15])
    )
    return chr(65 + total % 26) == number[15]


def pl_pesel(number: str) -> bool:
    """Birth date (the century is in the month), weighted modulo 10."""
    month = int(number[2:4])
    year = {0: 1900, 1: 2000, 2: 2100, 3: 2200, 4: 1800}[month // 20] + int(number[:2])
    return is_birth(year, month % 20, int(number[4:6])) and -weighted(
        number, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
    ) % 10 == int(number[10])


def se_personal(number: str) -> bool:
    """Birth date and Luhn over the last ten digits."""
    return is_short_birth(number[-10:-4]) and luhn(number[-10:])


def fi_hetu(number: str) -> bool:
    """Birth date, sign of the century, modulo 31."""
    day, month, year = int(number[:2]), int(number[2:4]), int(number[4:6])
    century = 1800 if number[6] == "+" else 2000 if number[6] in "ABCDEF" else 1900
    return (
        is_birth(century + year, month, day) and _FI_CHECKS[int(number[:6] + number[7:10]) % 31] == number[10]
    )


def nl_bsn(number: str) -> bool:
    """The eleven test."""
    return weighted(number, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0 and int(number) > 0


def de_idnr(number: str) -> bool:
    """MOD 11,10; of the first ten digits exactly one occurs more than once, at most three times."""
    counts = Counter(number[:10]).most_common()
    if number[0] == "0" or counts[0][1] not in {2, 3} or (len(counts) > 1 and counts[1][1] > 1):
        return False
    product = 10
    for digit in number[:10]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(number[10])


def gb_nhs(number: str) -> bool:
    """Modulo 11; ten is never given out."""
    check = 11 - weighted(number, range(10, 1, -1)) % 11
    return check != 10 and check % 11 == int(number[9])


def ca_sin(number: str) -> bool:
    """Luhn; 0 and 8 start no number."""
    return number[0] not in "08" and luhn(number)


def tr_tckn(number: str) -> bool:
    """Two check digits."""
    digits = [int(char) for char in number]
    tenth = (sum(digits[0:9:2]) * 7 - sum(digits[1:8:2])) % 10
    return digits[0] != 0 and digits[9] == tenth and digits[10] == sum(digits[:10]) % 10


def za_id(number: str) -> bool:
    """Birth date, citizenship 0 to 2, Luhn."""
    return is_short_birth(number[:6]) and number[10] in "012" and luhn(number)


def cl_rut(number: str) -> bool:
    """Modulo 11, K for ten."""
    total = sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(number[:-1])))
    return "0123456789K0"[-total % 11] == number[-1]


def mx_curp(number: str) -> bool:
    """Birth date, weighted modulo 10."""
    total = sum(_CURP_LETTERS.index(char) * (18 - place) for place, char in enumerate(number[:17]))
    return is_short_birth(number[4:10]) and str(-total % 10) == number[17]


def ro_cnp(number: str) -> bool:
    """Sex and century, birth date, modulo 11."""
    century = {"1": 1900, "2": 1900, "5": 2000, "6": 2000, "7": 1900, "8": 1900}.get(number[0], 0)
    rest = weighted(number, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return is_birth(century + int(number[1:3]), int(number[3:5]), int(number[5:7])) and (
        1 if rest == 10 else rest
    ) == int(number[12])


def be_national(number: str) -> bool:
    """Birth date, 97 minus the number modulo 97 (with a leading 2 for births from 2000)."""
    check = int(number[9:])
    return is_short_birth(number[:6]) and any(97 - int(lead + number[:9]) % 97 == check for lead in ("", "2"))


def no_national(number: str) -> bool:
    """Birth date (also with day or month raised by 40), two check digits modulo 11."""
    day, month, year = int(number[:2]) % 40, int(number[2:4]) % 40, int(number[4:6])
    if not (is_birth(1900 + year, month, day) or is_birth(2000 + year, month, day)):
        return False
    return (
        weighted(number, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11 == 0
        and weighted(number, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0
    )


def dk_cpr(number: str) -> bool:
    """Only the birth date can be checked."""
    return is_short_birth(number[4:6] + number[2:4] + number[:2])


def au_tfn(number: str) -> bool:
    """Weighted modulo 11."""
    return weighted(number, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0 and int(number) > 0


def pt_nif(number: str) -> bool:
    """Modulo 11."""
    check = 11 - weighted(number, range(9, 1, -1)) % 11
    return number[0] not in "04" and (0 if check >= 10 else check) == int(number[8])


def us_ssn(number: str) -> bool:
    """No check digit: the areas, groups and serials that are never given out."""
    return (
        number[:3] not in {"000", "666"} and number[0] != "9" and number[3:5] != "00" and number[5:] != "0000"
    )
