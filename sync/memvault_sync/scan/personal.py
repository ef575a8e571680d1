"""Personal data by shape, check digits and, where a check digit alone says little, the words around it.

Owns which shapes are looked for and what context each needs. Tier 1: Chinese resident ids, IBANs, and cards that
are grouped or named as such. Knows nothing of views.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memvault_sync.scan import cards
from memvault_sync.scan import check_digits as check

# Where to look closer: long digit runs, grouped numbers, and the middle of an Italian fiscal code.
_ANCHOR = re.compile(
    rb"[0-9](?:[0-9]{5,}"
    rb"|[0-9]{3}[ -][0-9A-Z]{4}[ -]"
    rb"|(?<=[^0-9][0-9])[0-9]{0,2}[.][0-9]{3}[.][0-9]{3}[-/.]"
    rb"|(?<=[^0-9][0-9])[0-9][ .-][0-9]{2,3}[ .-][0-9]{2,3}[ .-][0-9]{2,3}"
    rb"|(?<=[^0-9][0-9])[0-9]{2}[ -][0-9]{2,3}[ -][0-9]{3,4}"
    rb"|(?<=[A-Z]{6}[0-9])[0-9][A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z])"
)
_BEFORE = 48
_AFTER = 48
# Not inside a word, a decimal, an identifier or a longer dashed number.
_LEFT = r"(?<![0-9A-Za-z_])(?<![0-9][.,])(?<![0-9A-Za-z]-)(?<!\$)"
_RIGHT = r"(?![0-9A-Za-z_])(?![.,][0-9])(?!-[0-9A-Za-z])"

_IDENTITY = re.compile(
    r"身份|身分|证件|證件|证号|證號|居民|护照|護照|联系人|聯絡人|个人信息|個人|ID号|社保|税号|納税|マイナンバー|個人番号|주민"
    r"|(?<![A-Za-z])(?:id|pid|nid)(?:[ _-]?(?:no|nr|num|number|card))?[\"']?\s{0,2}(?:is|[:：=#])"
    r"|national[ _-]?(?:id|insurance|number)|identity|identification|passport|personal (?:id|number|code)"
    r"|social (?:security|insurance)|tax(?:payer)?[ _-](?:id|number|file)|fiscal|citizen|resident"
    r"|(?:my|his|her|their|our|your|customer|client|patient|employee)(?:'s)? (?:[a-z]{2,12} )?(?:number|id|no\.?)(?![a-z])"
    r"|(?<![A-Za-z])(?:ssn|sin|nino|nhs|bsn|cpf|dni|nie|nif|nir|pesel|hetu|cnp|cpr|tckn?|rut|curp|rrn|nric|hkid"
    r"|aadhaar|personnummer|f[oø]dselsnummer|steuer-?id|idnr|codice fiscale|rijksregister|tfn|abn|svnr)(?![A-Za-z])",
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
    """One sort of number. `need`: "" nothing, "word" an identity word near it, "form" the usual punctuation."""

    rule: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool]
    need: str = "word"
    tier: int = 2


def _shape(rule: str, pattern: str, holds: Callable[[str], bool], need: str = "word", tier: int = 2) -> Shape:
    return Shape(rule, re.compile(_LEFT + f"(?:{pattern})" + _RIGHT), holds, need, tier)


def _grouped_iban(text: str) -> bool:
    return cards.is_iban(text)


_SHAPES: tuple[Shape, ...] = (
    _shape("cn-resident-id", r"[0-9]{6} ?[0-9]{4} ?[0-9]{4} ?[0-9]{3}[0-9Xx]|[0-9]{6}-[0-9]{8}-[0-9]{3}[0-9Xx]",
           check.cn_resident, "", 1),
    _shape("bank-card", r"[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{3})?|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5}"
           r"|[0-9]{6} [0-9]{13}", cards.is_card, "", 1),
    _shape("bank-card", r"[0-9]{13,19}", cards.is_card, "card"),
    _shape("iban", r"[A-Z]{2}[0-9]{2}(?:[0-9A-Z]{11,30}|(?: [0-9A-Z]{4}){2,7}(?: [0-9A-Z]{1,4})?)", _grouped_iban, "",
           1),
    _shape("tw-national-id", r"[A-Z][1289][0-9]{8}", check.tw_national),
    _shape("hk-hkid", r"[A-Z]{1,2}[0-9]{6}\([0-9A]\)", check.hk_identity, ""),
    _shape("hk-hkid", r"[A-Z]{1,2}[0-9]{6}[0-9A]", check.hk_identity),
    _shape("sg-nric", r"[STFGM][0-9]{7}[A-Z]", check.sg_nric, ""),
    _shape("kr-rrn", r"[0-9]{6}-[0-9]{7}", check.kr_resident, ""),
    _shape("kr-rrn", r"[0-9]{13}", check.kr_resident),
    _shape("jp-my-number", r"[0-9]{12}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}", check.jp_my_number),
    _shape("in-aadhaar", r"[0-9]{12}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}", check.in_aadhaar),
    _shape("br-cpf", r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", check.br_cpf, ""),
    _shape("br-cpf", r"[0-9]{11}", check.br_cpf),
    _shape("es-dni", r"[0-9]{8}-?[A-Z]|[XYZ]-?[0-9]{7}-?[A-Z]", check.es_dni, ""),
    _shape("fr-nir", r"[12][0-9]{4}(?:[0-9]{2}|2[AB])[0-9]{8}|[12] [0-9]{2} [0-9]{2} (?:[0-9]{2}|2[AB]) [0-9]{3} [0-9]{3} [0-9]{2}",
           check.fr_nir),
    _shape("it-codice-fiscale", r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]", check.it_codice_fiscale, ""),
    _shape("pl-pesel", r"[0-9]{11}", check.pl_pesel),
    _shape("se-personnummer", r"(?:19|20)?[0-9]{6}[-+][0-9]{4}", check.se_personal, "form"),
    _shape("se-personnummer", r"(?:19|20)?[0-9]{10}", check.se_personal),
    _shape("fi-hetu", r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-Y]", check.fi_hetu, ""),
    _shape("nl-bsn", r"[0-9]{9}", check.nl_bsn),
    _shape("de-idnr", r"[0-9]{11}|[0-9]{2} [0-9]{3} [0-9]{3} [0-9]{3}", check.de_idnr),
    _shape("gb-nhs", r"[0-9]{10}|[0-9]{3}([ -])[0-9]{3}\1[0-9]{4}", check.gb_nhs),
    _shape("ca-sin", r"[0-9]{9}|[0-9]{3}([ -])[0-9]{3}\1[0-9]{3}", check.ca_sin),
    _shape("tr-tckn", r"[0-9]{11}", check.tr_tckn),
    _shape("za-id", r"[0-9]{13}", check.za_id),
    _shape("cl-rut", r"[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-[0-9Kk]", check.cl_rut, ""),
    _shape("cl-rut", r"[0-9]{7,8}-[0-9Kk]", check.cl_rut),
    _shape("mx-curp", r"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[0-9A-Z][0-9]", check.mx_curp, ""),
    _shape("ro-cnp", r"[1-8][0-9]{12}", check.ro_cnp),
    _shape("be-nn", r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}", check.be_national, ""),
    _shape("be-nn", r"[0-9]{11}", check.be_national),
    _shape("no-fodselsnummer", r"[0-9]{6} ?[0-9]{5}", check.no_national),
    _shape("dk-cpr", r"[0-9]{6}-?[0-9]{4}", check.dk_cpr, "cpr"),
    _shape("au-tfn", r"[0-9]{9}|[0-9]{3}([ -])[0-9]{3}\1[0-9]{3}", check.au_tfn, "tfn|tax file"),
    _shape("pt-nif", r"[0-9]{9}", check.pt_nif, "nif|contribuinte"),
    _shape("us-ssn", r"[0-9]{3}-[0-9]{2}-[0-9]{4}|[0-9]{9}", check.us_ssn, "ssn|social security"),
)


def personal(data: bytes) -> Iterator[tuple[str, int, int, int]]:
    """Rule, tier, start and end of each personal number in UTF-8 `data`; spans may repeat."""
    for anchor in _ANCHOR.finditer(data):
        start = max(0, anchor.start() - _BEFORE)
        stop = min(len(data), anchor.end() + _AFTER)
        # One byte a character, so that positions stay; what is not ASCII becomes a letter outside it.
        window = data[start:stop].decode("latin-1")
        for rule, tier, found in _in_window(window, data, anchor.start() - start, start):
            yield rule, tier, start + found.start(), start + found.end()


def _in_window(window: str, data: bytes, at: int, base: int) -> Iterator[tuple[str, int, re.Match[str]]]:
    for shape in _SHAPES:
        found = _covering(shape.pattern, window, at)
        if found is None:
            continue
        number = _SEPARATORS.sub("", found.group()).upper()
        if shape.rule in {"fi-hetu"}:
            number = found.group().upper()
        if not shape.holds(number):
            continue
        context = _context(data, base + found.start(), base + found.end())
        tier = _tier(shape, context)
        if tier:
            yield shape.rule, tier, found


def _covering(pattern: re.Pattern[str], window: str, at: int) -> re.Match[str] | None:
    """The match that contains position `at`."""
    found = pattern.search(window, max(0, at - _BEFORE))
    while found is not None and found.end() <= at:
        found = pattern.search(window, found.end())
    return found if found is not None and found.start() <= at else None


@dataclass(frozen=True, slots=True)
class _Context:
    near: str
    alone: bool


def _context(data: bytes, start: int, end: int) -> _Context:
    before = data[max(0, start - _BEFORE) : start].decode("utf-8", "ignore")
    after = data[end : end + _AFTER].decode("utf-8", "ignore")
    alone = not data[:start].strip() and not data[end:].strip() if len(data) < 64 else False
    return _Context(before.rpartition("\n")[2] + " \n" + after.partition("\n")[0][:16], alone)


def _tier(shape: Shape, context: _Context) -> int:
    """1 or 2, or 0 when what is around the number does not bear it out. A text that is the number needs no words."""
    if shape.need == "card":
        if _CARD.search(context.near):
            return 1
        return 0 if _NOT_A_CARD.search(context.near) else 2
    if not shape.need or context.alone:
        return shape.tier
    if shape.need in {"word", "form"}:
        return shape.tier if _IDENTITY.search(context.near) else 0
    return shape.tier if re.search(rf"(?<![a-z])(?:{shape.need})(?![a-z])", context.near.lower()) else 0
