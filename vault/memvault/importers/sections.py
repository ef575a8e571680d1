"""What a topic file says under "Why:" and "How to apply:". Owns the labels; must not know files or kinds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from memvault.importers import blocks, notes
from memvault.importers.base import Skipped
from memvault.importers.blocks import Block

_WHY = r"why|reason|rationale|为什么|原因|理由"
_HOW = r"how to apply|how|when to apply|怎么用|如何应用|如何使用|应用方式|用法"
_LABEL = re.compile(rf"[*_]{{0,3}}(?:({_WHY})|({_HOW}))[*_]{{0,3}}\s*[:：][*_]{{0,3}}\s*", re.IGNORECASE)
_HEADING = re.compile(rf"(?:({_WHY})|({_HOW}))\s*[:：?？]?\Z", re.IGNORECASE)


_INLINE = re.compile(rf"(?<=\S)[ \t]+(?=[*_]{{2}}(?:{_WHY}|{_HOW})[*_]{{0,2}}\s*[:：])", re.IGNORECASE)


@dataclass(slots=True)
class _Claim:
    """A block with what was said about it."""

    block: Block
    why: list[str] = field(default_factory=list[str])
    how: list[str] = field(default_factory=list[str])
    raw: list[str] = field(default_factory=list[str])

    def add(self, label: str, lines: tuple[str, ...] | list[str]) -> None:
        """Put lines under a label, `why` or `how`."""
        (self.why if label == "why" else self.how).extend(lines)
        self.raw.extend(lines)


def pieces(note: notes.Note) -> list[notes.Piece | Skipped]:
    """The claims of a topic file; reasons and applications join the claim before them.

    One without any label is cut like any other note.
    """
    labelled = _gather(note.found)
    if not any(claim.why or claim.how for claim in labelled):
        return list(notes.pieces(note))
    mains = [claim.block for claim in labelled]
    plain = replace(note, found=mains)
    if (
        len(mains) > 1
        and sum(bool(claim.why or claim.how) for claim in labelled) == 1
        and blocks.is_one(mains)
    ):
        one = next(claim for claim in labelled if claim.why or claim.how)
        labelled = [
            _Claim(
                replace(mains[0], lines=tuple(blocks.render(mains).split("\n"))), one.why, one.how, one.raw
            )
        ]
    out: list[notes.Piece | Skipped] = list(notes.left_out(plain))
    for claim in labelled:
        if claim.block.form in {"task", "image"}:
            continue
        out.append(
            notes.Piece(
                claim.block.text,
                "\n".join((*claim.block.lines, *claim.raw)),
                claim.block.line,
                claim.block.headings,
                claim.block.lead,
                blocks.prose(claim.why) or None,
                blocks.prose(claim.how) or None,
                whole=len(labelled) == 1,
            )
        )
    return out


def _gather(found: list[Block]) -> list[_Claim]:
    """Blocks without their labelled parts, each with the parts that belong to it.

    A labelled paragraph stays open for what follows it, up to the next label or heading.
    """
    out: list[_Claim] = []
    open_label = ""
    open_headings: tuple[str, ...] = ()
    for block in blocks.claims(found):
        label = _heading_label(block) or _label(block.lead)
        if label and out:
            out[-1].add(label, _as_item(block) if block.form == "item" else block.lines)
            continue
        parts = _split(block)
        main = parts.pop(0)[1] if not parts[0][0] else []
        follows = block.headings == open_headings and open_label
        if main and follows and out:
            out[-1].add(open_label, _as_item(block) if block.form == "item" else main)
        elif main:
            out.append(_Claim(replace(block, lines=tuple(main))))
            open_label = ""
        elif not out:
            out.append(_Claim(block))
            continue
        for named, lines in parts:
            out[-1].add(named, lines)
            open_label = named if block.form == "paragraph" else ""
            open_headings = block.headings
    return out


def _as_item(block: Block) -> list[str]:
    return [f"- {block.lines[0]}", *block.lines[1:]]


def _heading_label(block: Block) -> str:
    """`why` or `how` when the block stands under such a heading."""
    return _label(block.headings[-1]) if block.headings else ""


def _label(title: str) -> str:
    match = _HEADING.match(title.strip("*_ "))
    return "" if match is None else "why" if match.group(1) else "how"


def _split(block: Block) -> list[tuple[str, list[str]]]:
    """The lines of a block by label; those before the first label have none."""
    parts: list[tuple[str, list[str]]] = []
    for line in _INLINE.sub("\n", "\n".join(block.lines)).split("\n"):
        match = _LABEL.match(line.strip())
        if match:
            parts.append(("why" if match.group(1) else "how", [line.strip()[match.end() :]]))
        elif parts:
            parts[-1][1].append(line)
        else:
            parts.append(("", [line]))
    return parts
