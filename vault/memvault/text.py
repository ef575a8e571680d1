"""Text as memvault accepts, compares and shows it: the single place for all three.

`accept` is the door for text that comes in, `fold` makes two spellings of one claim equal, `visible`
is what any terminal or widget gets. Knows nothing of fields, storage or screens.
"""

from __future__ import annotations

import re
import unicodedata

from memvault.errors import TextUnusable

MAX_CONTENT_BYTES = 65_536
"""UTF-8 bytes of one text field. A claim is a sentence; a topic page of 40,000 characters still fits."""

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+(?:[.'_-][^\W_]+)*", re.UNICODE)
_CJK = re.compile(
    r"[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_EDGE = re.compile(
    rf"(?<![^\s(\[])[\"'`(\[]+|[\"'`)\].,;:!]+(?=\s|$)|(?<={_CJK.pattern})[,;:!.]+|[,;:!.]+(?={_CJK.pattern})"
)
_BESIDE_CJK = re.compile(rf"(?<={_CJK.pattern})\s+|\s+(?={_CJK.pattern})")
_FILLER = frozenset({"the", "an", "please", "we", "our", "just", "also"})
_CJK_FILLER = re.compile("我们|咱们|请|[吧啊呢嘛哦呀]")
_STRAIGHT = str.maketrans("“”‘’。、", "\"\"''.,")
_KEEP = {"\n", "\t"}
_INVISIBLE = {0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0}


def accept(text: str, what: str = "content", limit_bytes: int = MAX_CONTENT_BYTES) -> str:
    """Normalise incoming text to NFC with `\\n` line ends and no outer white space.

    Raises TextUnusable when it is empty, holds NUL bytes or lone surrogates, or exceeds `limit_bytes`.
    """
    if "\x00" in text:
        raise TextUnusable(f"the {what} holds a NUL byte")
    try:
        size_bytes = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise TextUnusable(f"the {what} is not valid Unicode (a lone surrogate)") from error
    if size_bytes > limit_bytes:
        raise TextUnusable(
            f"the {what} is {size_bytes:,} bytes, the limit is {limit_bytes:,}",
            "One memory is one claim: keep the conclusion and name the document as its source.",
        )
    clean = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if not clean:
        raise TextUnusable(f"the {what} is empty")
    return clean


def fold(text: str) -> str:
    """NFKC, case-folded, white space collapsed, outer punctuation gone: equal for equal claims."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", folded).strip(" .。!！?？;；,，:：\"'“”‘’`")


def gist(text: str) -> str:
    """The folded text without punctuation between words and without filler.

    Word order, numbers, names, negations and symbols stay, so only wordings of one claim are equal.
    """
    bare = _CJK_FILLER.sub("", _EDGE.sub(" ", fold(text).translate(_STRAIGHT)))
    kept = [word for word in bare.split() if word not in _FILLER]
    return _BESIDE_CJK.sub("", " ".join(kept)) or fold(text)


def words(text: str) -> list[str]:
    """The folded words in order; each CJK character counts as a word of its own."""
    out: list[str] = []
    for match in _WORD.finditer(fold(text)):
        word = match.group()
        if not _CJK.search(word):
            out.append(word)
            continue
        run = ""
        for char in word:
            if _CJK.match(char):
                if run:
                    out.append(run)
                    run = ""
                out.append(char)
            else:
                run += char
        if run:
            out.append(run)
    return out


def _hidden(char: str) -> bool:
    """Characters that act on a terminal or hide in a line: controls, format, surrogates, private use."""
    code = ord(char)
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return code >= 0xE0100
    return code in _INVISIBLE or unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def visible(text: str, one_line: bool = False) -> str:
    """Make every control, escape, bidi and zero-width character visible as `\\x1b` or `\\u202e`.

    Line feeds and tabs stay unless `one_line`, which turns them into spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    out: list[str] = []
    for char in text:
        if char in _KEEP:
            out.append(" " if one_line else char)
        elif _hidden(char):
            code = ord(char)
            out.append(
                f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
            )
        else:
            out.append(char)
    return "".join(out)
