"""What a long prompt asks: its own sentences that ask or instruct, and what failed where they mean it. Pure.

The vector of a question is made of this, and its terms weigh more than the rest: a model reads one window,
and a pasted log would fill it. A prompt that fits and holds nothing pasted is its own gist. Must not know
models or rows; sizes are estimated, so the same prompt has the same gist with every model.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.pasted import CODE_LINE, FAILED, FENCE, LOG_LINE, QUOTED_LINE
from memvault.recall.marks import speaker

Vector = npt.NDArray[np.float32]

FITS_UNITS = 400
"""About four fifths of the default model's window; see `units`."""
KEPT_UNITS = 160
"""Of what is longer, so much of its sentences; a question is lost among more."""
FAILURES = 2
NAMES = 8
"""Of what was pasted: lines that say what failed, and names that occur nowhere else."""

BESIDE_WEIGHT = 0.3
"""Weight of words outside of the gist in a question."""

LAST_SHARE = 0.5
"""Of the last turn's vector, beside 1 for the whole conversation's. R@10 of MADial rose from .787 to .814 in
Chinese (in use), from .749 to .774 in English (first day); of the last two turns less so."""

_LINE_CHARS = 240
"""Longer lines without sentence ends are cut, and so are lines that say what failed."""
_ASKS, _WORD_ASKS, _AT_END, _AT_START = 3.0, 1.5, 1.0, 0.5
_SHORT_UNITS = 8
"""A question below this ("Why does it fail?") is about what was pasted."""

_TURNS = 3
"""Lines that begin with who speaks, and with half of the lines they make a conversation: its end is asked."""

_CJK = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SPEAKER = re.compile(r"\s*<[^<>/]{1,40}>\s*[:：]").match
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？；])|\n")
_ASKING = re.compile(r"[?？][\"'”’)\]]*\s*\Z|[吗呢]\s*[。？]?\s*\Z").search
_WORD_ASKING = re.compile(
    r"\b(?:how|what|why|where|when|who|whom|whose|which)\b|怎么|怎样|如何|为什么|为何|什么|哪|多少|几时|是否|能不能|有没有",
    re.IGNORECASE,
).search
_INSTRUCTING = re.compile(
    r"\s*(?:[-*•\d.)]+\s+)?(?:please|pls|kindly|can|could|would|will|should|do|does|did|is|are|was|were|has|have|find|fix|explain|tell"
    r"|show|write|add|make|help|use|check|look|remember|recall|let's|remind|give|list|summari[sz]e|review|update"
    r"|change|remove|implement|debug|figure|i(?:'d| would)? (?:want|need|like)|we (?:want|need|should|must)"
    r"|请|帮|麻烦|给我|告诉|看看|修复|解释|检查|写|找|记得|我想|我要|需要)",
    re.IGNORECASE,
).match
_POINTING = re.compile(
    r"\b(?:this|these|above|below|following|errors?|exceptions?|fail\w*|crash\w*|traceback|logs?|output)\b"
    r"|这|报错|错误|异常|失败|上面|下面|日志",
    re.IGNORECASE,
).search
_NAME = re.compile(
    r"(?<![\w.-])[A-Za-z_][\w]*(?:[._:/-]+[A-Za-z_]\w*)+|\b[A-Za-z]+(?:[A-Z][a-z]+)+\b|\b\w+_\w+\b"
)
_NOISE = re.compile(r"\d{2}|[0-9a-f]{8}").search


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence of the person's own; `at` is its number."""

    text: str
    at: int


def units(text: str) -> int:
    """About how many tokens: three CJK characters make two, four other characters one."""
    dense = len(_CJK.findall(text)) if not text.isascii() else 0
    return dense * 2 // 3 + (len(text) - dense + 3) // 4


def gist(text: str) -> str:
    """The informative part of a prompt, in its order; the prompt itself when it is short and all its own."""
    fits = units(text) <= FITS_UNITS
    if fits and "\n" not in text:
        return text
    spoken, pasted = _parted(text)
    if fits and len(pasted) < 3:
        return text
    if _is_talk(spoken):
        return _end_of(spoken) or _edges(text)
    pieces = _pieces(spoken)
    points = _points(pieces)
    found = _chosen(points, pieces)
    if _means_pasted(points):
        found += _failures(pasted)
    if not pieces:
        found += _names(pasted)
    return "\n".join(found) or _edges(text)


def last_said(text: str) -> str | None:
    """The last turn of a conversation of some turns, which tells more of what is asked than those before."""
    lines = [line for line in gist(text).splitlines() if line.strip()]
    return lines[-1] if len(lines) >= _TURNS and _is_talk(lines) else None


def together(whole: Vector, last: Vector | None) -> Vector:
    """The vector of a question: of its gist, and of what was said last. Of length 1, shape as given."""
    if last is None:
        return whole
    both = whole + np.float32(LAST_SHARE) * last
    return (both / max(float(np.linalg.norm(both)), 1e-6)).astype(np.float32)


def _parted(text: str) -> tuple[list[str], list[str]]:
    """Lines that were said and lines that were pasted."""
    pasted: list[str] = []

    def take(block: re.Match[str]) -> str:
        pasted.extend(block[0].splitlines())
        return "\n"

    rest = FENCE.sub(take, text)
    rest = QUOTED_LINE.sub(take, rest)
    spoken: list[str] = []
    for line in rest.splitlines():
        if line.strip():
            seen = line[:_LINE_CHARS]
            is_pasted = any(pattern.search(seen) for pattern in (CODE_LINE, LOG_LINE, FAILED))
            (pasted if is_pasted and not _SPEAKER(seen) else spoken).append(line)
    return spoken, pasted


def _is_talk(lines: list[str]) -> bool:
    """Whether it is a conversation, turn by turn with who speaks."""
    turns = sum(_SPEAKER(line) is not None or bool(speaker(line)) for line in lines)
    return turns >= _TURNS and 2 * turns >= len(lines)


def _end_of(lines: list[str]) -> str:
    """The last lines that fit."""
    at, left = len(lines), FITS_UNITS
    while at and units(lines[at - 1]) <= left:
        at -= 1
        left -= units(lines[at])
    return "\n".join(lines[at:])


def _pieces(lines: list[str]) -> list[_Piece]:
    """Sentences; what has no ends is cut between words."""
    out: list[_Piece] = []
    for line in lines:
        for sentence in _END.split(line):
            bare = sentence.strip() if sentence else ""
            while bare:
                cut = len(bare)
                if cut > _LINE_CHARS:
                    cut = bare.rfind(" ", _LINE_CHARS // 2, _LINE_CHARS)
                    cut = _LINE_CHARS if cut < 0 else cut
                out.append(_Piece(bare[:cut], len(out)))
                bare = bare[cut:].lstrip()
    return out


def _points(pieces: list[_Piece]) -> list[_Piece]:
    """The sentences that ask; without any those that instruct; without those all."""
    asking = [piece for piece in pieces if _ASKING(piece.text)]
    told = (piece for piece in pieces if _WORD_ASKING(piece.text) or _INSTRUCTING(piece.text))
    return asking or list(told) or pieces


def _chosen(points: list[_Piece], pieces: list[_Piece]) -> list[str]:
    """The best points that there is room for, each with the sentence before it, in their order.

    Of equal ones the last is the best.
    """
    last = len(pieces) - 1
    kept: dict[int, str] = {}
    left = KEPT_UNITS
    for point in sorted(points, key=lambda piece: (-_worth(piece, last), -piece.at)):
        for piece in (point, *pieces[max(point.at - 1, 0) : point.at]):
            size = units(piece.text)
            if size <= left and piece.at not in kept and piece.text not in kept.values():
                kept[piece.at] = piece.text
                left -= size
        if left <= 0:
            break
    return [kept[at] for at in sorted(kept)]


def _worth(piece: _Piece, last: int) -> float:
    worth = _ASKS if _ASKING(piece.text) else _WORD_ASKS if _WORD_ASKING(piece.text) else 0.0
    if piece.at >= last - 1:
        worth += _AT_END
    elif piece.at <= 1:
        worth += _AT_START
    return worth


def _means_pasted(points: list[_Piece]) -> bool:
    """Whether what was pasted is what the prompt is about: its sentences point there, or say little."""
    return sum(units(point.text) for point in points) < _SHORT_UNITS or any(
        _POINTING(point.text) for point in points
    )


def _failures(pasted: list[str]) -> list[str]:
    """The last different lines that say what failed."""
    found = [line.strip()[:_LINE_CHARS] for line in pasted if FAILED.search(line[: 2 * _LINE_CHARS])]
    return list(dict.fromkeys(reversed(found)))[:FAILURES][::-1]


def _names(pasted: list[str]) -> list[str]:
    """Names out of what was pasted, the rarest and of those the last; no numbered ones."""
    counts: Counter[str] = Counter()
    for line in pasted:
        counts.update(_NAME.findall(line[: 2 * _LINE_CHARS]))
    every = [name for name in counts if not _NOISE(name) and len(name) <= 60]
    place = {name: at for at, name in enumerate(every)}
    best = sorted(every, key=lambda name: (counts[name], -place[name]))[:NAMES]
    return [" ".join(sorted(best, key=place.__getitem__))] if best else []


def _edges(text: str) -> str:
    """Of a text without a sentence of its own: how it begins and how it ends."""
    return text if units(text) <= KEPT_UNITS else f"{text[:_LINE_CHARS]}\n{text[-_LINE_CHARS:]}"
