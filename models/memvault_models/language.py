"""Which language's mean a text is centred with. Owns the decision by script; must not know models or vectors.

Units: every Han, kana and Hangul character counts one; Latin, Cyrillic and other scripts count one a token,
where a token is a run without blanks or CJK characters (`scripts/deploy.sh` is one).

Rule, from the top, on the first 2,000 characters:
1. CJK characters are at least 0.4 of the units: Hangul when it outnumbers the rest, Japanese when at least
   a tenth of Han and kana is kana, else Chinese. So a Chinese sentence with English identifiers is "zh",
   an English one that quotes a Chinese name is "en".
2. Cyrillic tokens are at least 0.4 of all tokens: "ru". Same for other scripts (Arabic, Thai, Greek ...):
   "other".
3. Any Latin token: "en", which stands for Latin script.
4. No letter at all: "other".
"""

from __future__ import annotations

import re

from memvault_models.port import Language

_SHARE = 0.4
_KANA_SHARE = 0.1
_LOOK_AT = 2000

_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d"
_HANGUL = "\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e"
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"

_find_han = re.compile(f"[{_HAN}]").findall
_find_kana = re.compile(f"[{_KANA}]").findall
_find_hangul = re.compile(f"[{_HANGUL}]").findall
_find_tokens = re.compile(rf"[^\s\u3000-\u303f\uff00-\uff0f\uff1a-\uff20{_KANA}{_HANGUL}{_HAN}]+").findall
_has_latin = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]").search
_has_cyrillic = re.compile("[\u0400-\u052f]").search
_has_letter = re.compile(r"[^\W\d_]").search


def language(text: str) -> Language:
    """Decide per text; a sentence takes a few microseconds."""
    seen = text[:_LOOK_AT]
    if seen.isascii():
        return "en" if _has_latin(seen) else "other"
    han, kana, hangul = len(_find_han(seen)), len(_find_kana(seen)), len(_find_hangul(seen))
    latin, cyrillic, other = _count_tokens(_find_tokens(seen))
    dense = han + kana + hangul
    spaced = latin + cyrillic + other
    if dense and dense >= _SHARE * (dense + spaced):
        if hangul > han + kana:
            return "ko"
        return "ja" if kana >= _KANA_SHARE * (han + kana) else "zh"
    if cyrillic and cyrillic >= _SHARE * spaced and cyrillic >= other:
        return "ru"
    if other and other >= _SHARE * spaced:
        return "other"
    return "en" if latin else "other"


def _count_tokens(tokens: list[str]) -> tuple[int, int, int]:
    """Count Latin, Cyrillic and other tokens; those without a letter count nothing."""
    latin = cyrillic = other = 0
    for token in tokens:
        if _has_latin(token):
            latin += 1
        elif token.isascii():
            continue
        elif _has_cyrillic(token):
            cyrillic += 1
        elif _has_letter(token):
            other += 1
    return latin, cyrillic, other
