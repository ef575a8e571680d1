"""Bank cards and IBANs: issuer ranges, lengths, national structures, check digits. Knows nothing of text."""

from __future__ import annotations

import re

from memvault_sync.scan.check_digits import luhn

# First digits (from, to) and lengths of the large schemes.
_SCHEMES: tuple[tuple[int, int, frozenset[int]], ...] = (
    (4, 4, frozenset({13, 16, 19})),  # Visa
    (51, 55, frozenset({16})),  # Mastercard
    (2221, 2720, frozenset({16})),
    (34, 34, frozenset({15})),  # American Express
    (37, 37, frozenset({15})),
    (6011, 6011, frozenset({16, 19})),  # Discover
    (644, 649, frozenset({16, 19})),
    (65, 65, frozenset({16, 19})),
    (3528, 3589, frozenset({16, 19})),  # JCB
    (300, 305, frozenset({14})),  # Diners Club
    (3095, 3095, frozenset({14})),
    (36, 36, frozenset({14})),
    (38, 39, frozenset({14})),
    (62, 62, frozenset({16, 17, 18, 19})),  # UnionPay
    (81, 81, frozenset({16, 17, 18, 19})),
    (2200, 2204, frozenset({16, 17, 18, 19})),  # Mir
)
_PUBLISHED = """
4111111111111111 4242424242424242 4012888888881881 4000056655665556 4222222222222 4000000000000002
5555555555554444 5105105105105100 5200828282828210 2223003122003222 2223000048400011 378282246310005
371449635398431 378734493671000 6011111111111117 6011000990139424 6011000000000004 3056930009020004
30569309025904 36227206271667 38520000023237 3530111333300000 3566002020360505 6200000000000005
6200000000000047 6205500000000000004
GB82WEST12345698765432 DE89370400440532013000 GB29NWBK60161331926819 GB33BUKB20201555555555
FR1420041010050500013M02606 NL91ABNA0417164300 ES9121000418450200051332 CH9300762011623852957
IT60X0542811101000000123456 BE68539007547034 AT611904300234573201 SE4550000000058398257466
NO9386011117947 DK5000400440116243 FI2112345600000785 PL61109010140000071219812874
IE29AIBK93115212345678 PT50000201231234567890154 AE070331234567890123456 SA0380000000608010167519
"""
_EXAMPLES = frozenset(_PUBLISHED.split())  # what vendors and standards print in their documentation
# The part after the check digits: n digits, a capital letters, c both.
_STRUCTURES = """
AD:8n12c AE:19n AL:8n16c AT:16n AZ:4a20c BA:16n BE:12n BG:4a6n8c BH:4a14c BI:23n BR:23n1a1c BY:4c4n16c
CH:5n12c CR:18n CY:8n16c CZ:20n DE:18n DJ:23n DK:14n DO:4c20n EE:16n EG:25n ES:20n FI:14n FK:2a12n FO:14n
FR:10n11c2n GB:4a14n GE:2a16n GI:4a15c GL:14n GR:7n16c GT:4c20c HR:17n HU:24n IE:4a14n IL:19n IQ:4a15n
IS:22n IT:1a10n12c JO:4a4n18c KW:4a22c KZ:3n13c LB:4n20c LC:4a24c LI:5n12c LT:16n LU:3n13c LV:4a13c
LY:21n MC:10n11c2n MD:2c18c ME:18n MK:3n10c2n MN:16n MR:23n MT:4a5n18c MU:4a19n3a NI:4a20n NL:4a10n
NO:11n OM:3n16c PK:4a16c PL:24n PS:4a21c PT:21n QA:4a21c RO:4a16c RS:18n RU:14n15c SA:2n18c SC:4a20n3a
SD:14n SE:20n SI:15n SK:20n SM:1a10n12c SO:19n ST:21n SV:4a20n TL:19n TN:20n TR:5n1n16c UA:6n19c VA:18n
VG:4a16n XK:16n
"""
_IBAN_STRUCTURE = {line[:2]: line[3:] for line in _STRUCTURES.split()}
_CLASS = {"n": "[0-9]", "a": "[A-Z]", "c": "[0-9A-Z]"}
_PART = re.compile(r"(\d+)([nac])")


def is_card(number: str) -> bool:
    """Issuer's range, issuer's length, Luhn, and not a published test number."""
    size = len(number)
    return (
        any(low <= int(number[: len(str(low))]) <= high and size in sizes for low, high, sizes in _SCHEMES)
        and len(set(number)) > 2
        and luhn(number)
        and number not in _EXAMPLES
    )


def iban_length(country: str) -> int:
    """Length of a country's IBANs, 0 for a country that has none."""
    structure = _IBAN_STRUCTURE.get(country)
    return 4 + sum(int(count) for count, _ in _PART.findall(structure)) if structure else 0


def is_iban(text: str) -> bool:
    """Country, national structure, MOD 97-10, and not a published example."""
    structure = _IBAN_STRUCTURE.get(text[:2])
    if structure is None or text in _EXAMPLES:
        return False
    shape = "".join(f"{_CLASS[kind]}{{{count}}}" for count, kind in _PART.findall(structure))
    if not re.fullmatch(f"[A-Z]{{2}}[0-9]{{2}}{shape}", text):
        return False
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1
