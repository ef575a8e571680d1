"""Personal data by shape, check digits and, where a check digit alone says little, the words around it.

Owns which shapes are looked for and what context each needs. Tier 1: Chinese resident ids, IBANs, and cards
that are grouped or named as such. Knows nothing of views.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memvault_sync.scan import cards
from memvault_sync.scan import check_digits as check

# Where to look closer: long digit runs, grouped numbers, and the middle of an Italian fiscal code.
_ANCHOR = re.compile(
    rb"[0-9](?:"
    rb"[0-9](?:[0-9](?:[0-9](?:[0-9][0-9]+|[ -][0-9A-Z]{4}[ -])"
    rb"|[ -](?<![0-9]...)[0-9]{2,3}[ -][0-9]{3,4}|[.](?<![0-9]...)[0-9]{3}[.][0-9]{3}[-/.])"
    rb"|[.](?<![0-9]..)[0-9]{2,3}[.][0-9]{2,3}-[0-9kK]| (?<![0-9]..)[0-9]{3} [0-9]{3} [0-9]{3}"
    rb"|[A-EHLMPRST](?<=[A-Z]{6}...)[0-9]{2}[A-Z][0-9]{3}[A-Z])"
    rb"|[. ](?<![0-9]..)(?:[0-9]{3}[.][0-9]{3}-|[0-9]{2} [0-9]{2} [0-9]{2,3}))"
)
# What a group of digits may follow within one number; then the number starts before it.
_BEFORE_GROUP = frozenset(b" .-ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_CONTEXT_OF_GROUP = 16
_CONTEXT = 48
_LONGEST_IBAN = 42  # in groups of four
_IBAN_HEAD = re.compile(rb"(?<![0-9A-Za-z_])[A-Z]{2}[0-9]{2} (?:[0-9A-Z]{4} ){0,6}\Z")
_IBAN = re.compile(rb"[A-Z]{2}[0-9]{2}(?:[0-9A-Z]{11,30}|(?: [0-9A-Z]{4}){2,7}(?: [0-9A-Z]{1,4})?)")
_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_WORD = _LETTERS | frozenset(b"0123456789_")
_MOST_LETTERS = 8
# Not the end of a decimal, a path of dashes, an amount.
_NOT_AFTER = re.compile(rb"[0-9][.,]|[0-9A-Za-z]-|\$")
_NOT_BEFORE = re.compile(rb"[0-9A-Za-z_]|[.,][0-9]|-[0-9A-Za-z]")

_IDENTITY = re.compile(
    r"身份|身分|证件|證件|证号|證號|居民|护照|護照|联系人|聯絡人|个人信息|個人|ID号|社保|税号|納税|マイナンバー|個人番号|주민"
    r"|(?<![A-Za-z])(?:id|pid|nid)(?:[ _-]?(?:no|nr|num|number|card))?[\"']?\s{0,2}(?:is|[:：=#])"
    r"|national[ _-]?(?:id|insurance|number)|identity|identification|passport|personal (?:id|number|code)"
    r"|social (?:security|insurance)|tax(?:payer)?[ _-](?:id|number|file)|fiscal|citizen|resident"
    r"|(?:my|his|her|their|our|your|customer|client|patient|employee)(?:'s)? (?:[a-z]{2,12} )?"
    r"(?:number|id|no\.?)(?![a-z])"
    r"|(?<![A-Za-z])(?:ssn|sin|nino|nhs|bsn|cpf|dni|nie|nif|nir|pesel|hetu|cnp|cpr|tckn?|rut|curp|rrn|nric|hkid"
    r"|aadhaar|personnummer|f[oø]dselsnummer|steuer-?id|idnr|codice fiscale|rijksregister|tfn|abn"
    r"|svnr)(?![A-Za-z])",
    re.IGNORECASE,
)
_CARD = re.compile(
    r"卡号|卡號|银行卡|銀行卡|信用卡|储蓄卡|借记卡|账号|帳號|カード|(?<![A-Za-z])(?:card|pan|visa|master-?card|amex"
    r"|unionpay|cc(?:n|_number)?|credit|debit|iban|account)(?![A-Za-z])",
    re.IGNORECASE,
)
_NOT_A_CARD = re.compile(
    r"imei|iccid|isbn|ean|upc|订单|訂單|order|invoice|发票|流水|tracking|timestamp|snowflake|message|msg|tweet|status/"
    r"|serial|sku|commit|build|version|port|size|offset|seed",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[ .()/-]")


@dataclass(frozen=True, slots=True)
class Shape:
    """One sort of number. `need`: "" nothing, "word" an identity word near it, "card", or its own words."""

    rule: str
    pattern: re.Pattern[bytes]
    holds: Callable[[str], bool]
    need: str = "word"
    tier: int = 2
    keep_sign: bool = False  # the separator is part of the number


# By what the number begins with: how many letters, then how many digits.
_BY_HEAD: dict[tuple[int, int], list[Shape]] = {}


def _shape(
    rule: str,
    heads: str,
    pattern: bytes,
    holds: Callable[[str], bool],
    need: str = "word",
    tier: int = 2,
    keep_sign: bool = False,
) -> None:
    shape = Shape(rule, re.compile(pattern), holds, need, tier, keep_sign)
    for head in heads.split():
        letters, _, digits = head.rpartition("+")
        first, _, last = digits.partition("-")
        for count in range(int(first), int(last or first) + 1):
            _BY_HEAD.setdefault((int(letters or 0), count), []).append(shape)


_shape(
    "cn-resident-id",
    "17-18 6",
    rb"[0-9]{6} ?[0-9]{4} ?[0-9]{4} ?[0-9]{3}[0-9Xx]|[0-9]{6} [0-9]{8} [0-9]{3}[0-9Xx]"
    rb"|[0-9]{6}-[0-9]{8}-[0-9]{3}[0-9Xx]",
    check.cn_resident,
    "",
    1,
)
_shape(
    "bank-card",
    "4",
    rb"[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{3})?|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5}",
    cards.is_card,
    "",
    1,
)
_shape("bank-card", "6", rb"[0-9]{6} [0-9]{13}", cards.is_card, "", 1)
_shape("bank-card", "13-19", rb"62[0-9]{17}|[0-9]{13,18}", cards.is_card, "card")
# Any 64-bit number has 19 digits; of the schemes only UnionPay commonly does.
_shape("bank-card", "19", rb"[0-9]{19}", cards.is_card, "card|pan|visa|credit|debit|卡号|银行卡|信用卡", 1)
_shape("tw-national-id", "1+9", rb"[A-Z][1289][0-9]{8}", check.tw_national)
_shape("hk-hkid", "1+6 2+6", rb"[A-Z]{1,2}[0-9]{6}\([0-9A]\)", check.hk_identity, "")
_shape("hk-hkid", "1+6-7 2+6-7", rb"[A-Z]{1,2}[0-9]{6}[0-9A]", check.hk_identity)
_shape("sg-nric", "1+7", rb"[STFGM][0-9]{7}[A-Z]", check.sg_nric, "")
_shape("kr-rrn", "6", rb"[0-9]{6}-[0-9]{7}", check.kr_resident, "")
_shape("kr-rrn", "13", rb"[0-9]{13}", check.kr_resident)
_shape("jp-my-number", "12 4", rb"[0-9]{12}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}", check.jp_my_number)
_shape("in-aadhaar", "12 4", rb"[0-9]{12}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}", check.in_aadhaar)
_shape("br-cpf", "3", rb"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", check.br_cpf, "")
_shape("br-cpf", "11", rb"[0-9]{11}", check.br_cpf)
_shape("es-dni", "8 1+7", rb"[0-9]{8}-?[A-Z]|[XYZ]-?[0-9]{7}-?[A-Z]", check.es_dni, "")
_shape(
    "fr-nir",
    "15 1 7",
    rb"[12][0-9]{4}(?:[0-9]{2}|2[AB])[0-9]{8}"
    rb"|[12] [0-9]{2} [0-9]{2} (?:[0-9]{2}|2[AB]) [0-9]{3} [0-9]{3} [0-9]{2}",
    check.fr_nir,
)
_shape(
    "it-codice-fiscale",
    "6+2",
    rb"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]",
    check.it_codice_fiscale,
    "",
)
_shape("pl-pesel", "11", rb"[0-9]{11}", check.pl_pesel)
_shape("se-personnummer", "6 8 10 12", rb"(?:19|20)?[0-9]{6}[-+]?[0-9]{4}", check.se_personal)
_shape("fi-hetu", "6", rb"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-Y]", check.fi_hetu, "", keep_sign=True)
_shape("nl-bsn", "9", rb"[0-9]{9}", check.nl_bsn)
_shape("de-idnr", "11 2", rb"[0-9]{11}|[0-9]{2} [0-9]{3} [0-9]{3} [0-9]{3}", check.de_idnr)
_shape("gb-nhs", "10 3", rb"[0-9]{10}|[0-9]{3}([ -])[0-9]{3}\1[0-9]{4}", check.gb_nhs)
_shape("ca-sin", "9 3", rb"[0-9]{9}|[0-9]{3}([ -])[0-9]{3}\1[0-9]{3}", check.ca_sin)
_shape("tr-tckn", "11", rb"[0-9]{11}", check.tr_tckn)
_shape("za-id", "13", rb"[0-9]{13}", check.za_id)
_shape("cl-rut", "1 2", rb"[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-[0-9Kk]", check.cl_rut, "")
_shape("cl-rut", "7-8", rb"[0-9]{7,8}-[0-9Kk]", check.cl_rut)
_shape("mx-curp", "4+6", rb"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[0-9A-Z][0-9]", check.mx_curp, "")
_shape("ro-cnp", "13", rb"[1-8][0-9]{12}", check.ro_cnp)
_shape("be-nn", "2", rb"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}", check.be_national, "")
_shape("be-nn", "11", rb"[0-9]{11}", check.be_national)
_shape("no-fodselsnummer", "11 6", rb"[0-9]{6} ?[0-9]{5}", check.no_national)
_shape("dk-cpr", "10 6", rb"[0-9]{6}-?[0-9]{4}", check.dk_cpr, "cpr")
_shape("au-tfn", "9 3", rb"[0-9]{9}|[0-9]{3}([ -])[0-9]{3}\1[0-9]{3}", check.au_tfn, "tfn|tax file")
_shape("pt-nif", "9", rb"[0-9]{9}", check.pt_nif, "nif|contribuinte")
_shape("us-ssn", "3", rb"[0-9]{3}-[0-9]{2}-[0-9]{4}", check.us_ssn, "ssn|social security")


def personal(data: bytes, digits: Iterable[int]) -> Iterator[tuple[str, int, int, int]]:
    """Rule, tier, start and end of each personal number in UTF-8 `data`.

    `digits`: where three digits stand together, in order; every number has them.
    """
    last = -2
    done = 0
    for place in digits:
        inside, last = place == last + 1, place
        if inside or place < done:
            continue
        anchor = _ANCHOR.match(data, place)
        if anchor is None and place > 0 and data[place - 1] in _BEFORE_GROUP:
            anchor = _ANCHOR.search(data, max(0, place - _CONTEXT_OF_GROUP), place + _CONTEXT_OF_GROUP)
        if anchor is not None:
            done = max(done, anchor.start() + 1)
            yield from _at(data, anchor)


def _at(data: bytes, anchor: re.Match[bytes]) -> Iterator[tuple[str, int, int, int]]:
    first = anchor.start()
    start = first
    while start > 0 and first - start <= _MOST_LETTERS and data[start - 1] in _LETTERS:
        start -= 1
    if not _stands_free(data, start):
        if start > 0 and data[start - 1] in _WORD:
            yield from _iban(data, first)
        return
    yield from _iban(data, first)
    head = anchor.group()
    digits = len(head) - len(head.lstrip(b"0123456789"))
    for shape in _BY_HEAD.get((first - start, digits), ()):
        found = shape.pattern.match(data, start)
        if found is None or _NOT_BEFORE.match(data, found.end()):
            continue
        tier = _judge(shape, data, *found.span())
        if tier:
            yield shape.rule, tier, *found.span()


def _stands_free(data: bytes, start: int) -> bool:
    return (start == 0 or data[start - 1] not in _WORD) and not _NOT_AFTER.match(
        data, max(0, start - 2), start
    )


def _iban(data: bytes, anchor: int) -> Iterator[tuple[str, int, int, int]]:
    """An IBAN in which a digit run starts at `anchor`, written in one piece or in groups of four."""
    start = anchor
    while start > 0 and anchor - start < _LONGEST_IBAN and data[start - 1] in _WORD:
        start -= 1
    if anchor > 4 and data[anchor - 1] == 0x20 and start == anchor:
        begin = max(0, anchor - _LONGEST_IBAN)
        head = _IBAN_HEAD.search(data[begin:anchor])
        start = begin + head.start() if head else start
    found = _IBAN.match(data, start)
    if found is None:
        return
    size = cards.iban_length(found.group()[:2].decode())
    text = bytearray()
    for end in range(start, found.end()):
        if data[end] != 0x20:
            text.append(data[end])
        if len(text) == size and not _NOT_BEFORE.match(data, end + 1):
            if cards.is_iban(text.decode()):
                yield "iban", 1, start, end + 1
            return


def _judge(shape: Shape, data: bytes, start: int, end: int) -> int:
    """1 or 2, or 0 when check digits or the words around it do not bear it out.

    A text that is nothing but the number needs no words.
    """
    text = data[start:end].decode().upper()
    if not shape.holds(text if shape.keep_sign else _SEPARATORS.sub("", text)):
        return 0
    if not shape.need:
        return shape.tier
    before = data[max(0, start - _CONTEXT) : start].decode("utf-8", "ignore").rpartition("\n")[2]
    after = data[end : end + _CONTEXT].decode("utf-8", "ignore").partition("\n")[0]
    near = before + " \n" + after[:16]
    if shape.need == "card":
        if _CARD.search(near):
            return 1
        return 0 if _NOT_A_CARD.search(near) else shape.tier
    if len(data) < _CONTEXT and not (data[:start] + data[end:]).strip():
        return shape.tier
    words = (
        _IDENTITY
        if shape.need == "word"
        else re.compile(rf"(?<![a-z])(?:{shape.need})(?![a-z])", re.IGNORECASE)
    )
    return shape.tier if words.search(near) else 0
