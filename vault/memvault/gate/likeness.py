"""What of a text makes it like another one: its words, the shape of its words, and what tells it apart. Pure.

Two texts that differ in case, order and filler have the same marks and nearly the same words and shingles.
What a different claim has is another mark (a number, a day, an amount, a negation) or another word in the
place of one (a name, a value). Whoever compares decides; here is only what can be compared.

What these features cannot tell: who does what to whom (the words of "from A to B" and "from B to A" are the
same), words that differ in nothing but their ending (William and Williams), which joining word was used
("in", "at"), a Chinese name inside a longer one (王明, 王小明) unless something says that it is a name, and
negations of other languages than English and Chinese.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import Stemmer

from memvault.gate import filler
from memvault.gate.marks import CJK, LETTER, plain_numbers, take_marks
from memvault.text import words

GRAM = 3
"""Characters of one shingle inside a word; pairs in scripts without spaces."""

_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "`": '"'})
_EMOJI = "\ufe0f"
"""Asks for the coloured form of the character before it."""
_SIGNS = re.compile(
    rf"(?<!{LETTER}){LETTER}++[+#]+(?!\w)|!=|==|<=|>=|≤|≥|≠|±|[<>](?=\s*[-+]?\d)|[$€£¥₹₩₽₿%‰°]|(?<![\w)\]'-])-(?=\d)"
)
"""What `text.words` drops though it tells claims apart: C++ and C#, < and >, $ and €, -5 and 5."""
_TOKENS = re.compile(rf"[{CJK}]|{LETTER}+(?:'{LETTER}+)?(?:[+#]+(?!\w))?|[^\w\s]")
_CJK = re.compile(f"[{CJK}]")
_POSSESSIVE = re.compile(r"'s?$")
_ASCII_WORD = re.compile(r"[a-z]+")
_QUOTED = re.compile(r"\"([^\"\n]{1,80})\"|「([^」\n]{1,80})」|《([^》\n]{1,80})》|『([^』\n]{1,80})』")
_CAPITAL = re.compile(rf"(?<!{LETTER})[A-Z]{LETTER}*")
_LONG_WORD = re.compile(r"[A-Za-z]{4,}")
_ARROWS = "→←↑↓"
_INNER = re.compile(
    rf"(?<!{LETTER})(?:{LETTER}++(?:[._/@]{LETTER}++)+|[a-z]++(?:[A-Z][a-z]++)+|(?:[A-Z][a-z]++){{2,}})"
)
_SURNAMES = (
    "张王李赵刘陈杨黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜"
    "范方石姚谭廖邹熊陆郝孔崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易武乔贺赖龚"
)
_CHINESE_NAME = re.compile(
    rf"[{_SURNAMES}][\u4e00-\u9fff]{{0,2}}(?:先生|女士|老师|经理|医生|律师|总监|同学|博士)|"
    rf"(?:叫做?|找|问|让|由|给|跟|@)([{_SURNAMES}][\u4e00-\u9fff]{{1,2}})"
)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Features of one text, folded: none depends on case, and only `shingles` a little on order."""

    bag: tuple[str, ...]
    """Every word as often as it occurs, sorted, with the signs that belong to words and whole numbers."""
    marks: frozenset[str]
    """Numbers, days, amounts, comparisons, negations."""
    tokens: frozenset[str]
    """Words that say something, by their stem; single characters in scripts without spaces."""
    names: frozenset[str]
    """Those of the tokens that the writing shows to be names: capitals, identifiers, quotations."""
    shingles: frozenset[str]
    """Tokens and the pieces of their characters, to measure likeness by."""
    ordered: bool
    """Whether `shingles` depend on order, as pairs of characters do in scripts without spaces."""


def likeness(text: str) -> Likeness:
    """The features of `text`; never raises, whatever the text."""
    shown = _shown(text)
    folded = shown.casefold()
    marks, runs = _read(shown)
    tokens = frozenset(token for run in runs for token in run)
    return Likeness(
        bag=tuple(
            sorted(
                [*words(shown), *_SIGNS.findall(folded), *plain_numbers(folded), *filter(_is_symbol, folded)]
            )
        ),
        marks=marks,
        tokens=tokens,
        names=tokens & _names(shown),
        shingles=frozenset(shingle for run in runs for shingle in _shingles(run)),
        ordered=any(len(run) > 1 for run in runs),
    )


def telling(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Marks, tokens and names alone, for whoever asks what a text says and not how like it is."""
    shown = _shown(text)
    marks, runs = _read(shown)
    tokens = frozenset(token for run in runs for token in run)
    return marks, tokens, tokens & _names(shown)


def core(text: str) -> tuple[str, ...]:
    """What a short text, such as a value, says: without filler, case and order."""
    found = likeness(text)
    return tuple(sorted(found.tokens | found.marks)) or found.bag


def _shown(text: str) -> str:
    """NFKC with straight quotes; characters that cannot be seen are dropped."""
    folded = unicodedata.normalize("NFKC", text).translate(_STRAIGHT)
    if folded.isascii():
        return folded
    return "".join(
        char for char in folded if unicodedata.category(char) not in {"Cf", "Cs"} and char != _EMOJI
    )


def _read(shown: str) -> tuple[frozenset[str], list[list[str]]]:
    """Marks, and the telling tokens in runs: a run is one word, or CJK characters that stand together."""
    text = filler.PHRASES.sub(" ", shown.casefold())
    marks, rest = take_marks(filler.CHINESE.sub(_close, text))
    stem = Stemmer.Stemmer("english").stemWord
    runs: list[list[str]] = []
    end = -1
    for match in _TOKENS.finditer(rest):
        token = match[0]
        if _CJK.match(token):
            if runs and end == match.start():
                runs[-1].append(token)
            else:
                runs.append([token])
            end = match.end()
        elif kept := _word(token, stem):
            runs.append([kept])
    return marks, runs


def _close(match: re.Match[str]) -> str:
    """Nothing, so that the characters around it stand together; a space between two words of letters."""
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return " " if before.isascii() and after.isascii() else ""


def _word(token: str, stem: Callable[[str], str]) -> str | None:
    """The token to compare by; None when it says nothing."""
    if not token[0].isalnum():
        return token if _is_symbol(token) else None
    if token in filler.WORDS:
        return None
    bare = _POSSESSIVE.sub("", token)
    return stem(bare) if _ASCII_WORD.fullmatch(bare) else bare


def _is_symbol(char: str) -> bool:
    """Pictures and arrows: what stands where a word could."""
    return not char.isascii() and (char in _ARROWS or unicodedata.category(char) == "So")


def _shingles(run: list[str]) -> Iterator[str]:
    for token in run:
        yield f"word:{token}"
    if len(run) > 1 or _CJK.match(run[0]):
        yield from (f"pair:{one}{other}" for one, other in pairwise(run))
        return
    padded = f"^{run[0]}$"
    yield from (f"gram:{padded[at : at + GRAM]}" for at in range(len(padded) - GRAM + 1))


def _names(shown: str) -> frozenset[str]:
    """Tokens of the places where the writing shows a name; empty where capitals show nothing."""
    found: list[str] = [next(filter(None, match.groups())) for match in _QUOTED.finditer(shown)]
    found += _INNER.findall(shown)
    found += [match[1] or match[0] for match in _CHINESE_NAME.finditer(shown)]
    if not _all_capitals(shown):
        found += [
            match[0] for match in _CAPITAL.finditer(shown) if not _begins_sentence(shown, match.start())
        ]
    return frozenset(token for run in _read("\n".join(found))[1] for token in run) if found else frozenset()


def _begins_sentence(shown: str, at: int) -> bool:
    before = shown[max(0, at - 3) : at].rstrip(" ")
    return not before.strip() or before[-1] in '.!?:;\n"([-*•。'


def _all_capitals(shown: str) -> bool:
    """Whether most words begin with a capital, as in a headline: then capitals show no names."""
    heads = [word[0] for word in _LONG_WORD.findall(shown)]
    return 2 * sum(head.isupper() for head in heads) > len(heads) > 2
