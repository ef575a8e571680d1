"""Markdown cut into the blocks a claim can come from: headings, lists, fences, comments, wrapped lines.

A sketch of Markdown, not a renderer: it finds where one claim ends, and text stays as it was written.
Must not know front matter or fields.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

MAX_WHOLE_CHARS = 600
"""A note up to this size is one claim, when it has the shape of one."""

_MAX_HEADING_CHARS = 120
_MAX_LEAD_CHARS = 200  # a longer sentence before a list says something by itself
_MAX_IMAGE_CHARS = 1_000
_CODE_INDENT = 4
_NESTED_INDENT = 2
_MARKER = re.compile(r"([-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_CHECK_BOX = re.compile(r"\[[ xX/-]\](?:\s|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_LINK_TARGET = re.compile(r"\[[^\]]+\]:\s+\S")
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|!\[\[[^\]]*\]\]")
_SENTENCE_ENDS = tuple(".。!！?？:：;；,，")

Form = Literal["paragraph", "item", "step", "task", "code", "image"]


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item, numbered step, check box, code block or lone image.

    `line` counts from 1 in the file; `lines` are without list marker and indentation; `lead` is the sentence
    that introduces the list an item stands in.
    """

    line: int
    form: Form
    lines: tuple[str, ...]
    headings: tuple[str, ...] = ()
    marker: str = ""
    lead: str = ""

    @property
    def text(self) -> str:
        return prose(self.lines)

    @property
    def verbatim(self) -> str:
        return "\n".join(self.lines)


def prose(lines: Sequence[str]) -> str:
    """Join wrapped lines to sentences; lists, tables, code and hard breaks keep their line ends."""
    out: list[str] = []
    fence = ""
    hard = True
    for line in lines:
        mark = _FENCE.match(line.strip())
        kept = bool(fence) or bool(mark) or line.lstrip().startswith("|")
        if mark:
            fence = _next_fence(fence, line.strip(), mark.group())
        own_line = kept or bool(_MARKER.match(line.lstrip()))
        piece = line.rstrip() if kept else line.strip()
        if out:
            out.append("\n" if own_line or hard or not piece else _between(out[-1], piece))
        out.append(piece)
        hard = kept or not piece or line.endswith(("  ", "\\"))
    return "".join(out).strip()


def joined(left: str, right: str) -> str:
    """Two pieces of a sentence with a space between them, but none between East Asian characters."""
    return f"{left}{_between(left, right)}{right}"


def _between(left: str, right: str) -> str:
    tight = not left or not right or (_is_wide(left[-1]) and _is_wide(right[0]))
    return "" if tight else " "


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in {"W", "F"}


def _next_fence(fence: str, stripped: str, mark: str) -> str:
    """The fence that is open after this line, or nothing."""
    if not fence:
        return mark
    closes = stripped[0] == fence[0] and len(mark) >= len(fence) and not stripped.strip(fence[0])
    return "" if closes else fence


def parse(body: str, first_line: int = 1) -> list[Block]:
    """The blocks in order; `body` has `\\n` line ends and begins on `first_line` of its file."""
    parser = _Parser(first_line)
    for line in _without_comments(body).split("\n"):
        parser.feed(line)
    parser.flush()
    return parser.done


def _without_comments(body: str) -> str:
    """Drop `<!-- -->` outside code fences and keep the number of lines; an unclosed one is text."""
    if "<!--" not in body:
        return body
    out: list[str] = []
    fence = ""
    in_comment = False
    last_close = body.count("\n", 0, max(body.rfind("-->"), 0))
    for number, line in enumerate(body.split("\n")):
        mark = None if in_comment else _FENCE.match(line.strip())
        if mark:
            fence = _next_fence(fence, line.strip(), mark.group())
        if fence or mark:
            out.append(line)
            continue
        kept, in_comment = _strip_comments(line, in_comment, number < last_close)
        out.append(kept)
    return "\n".join(out)


def _strip_comments(line: str, inside: bool, may_go_on: bool) -> tuple[str, bool]:
    """The line without comments, and whether one is still open at its end."""
    kept: list[str] = []
    at = 0
    while at < len(line):
        if inside:
            closed = line.find("-->", at)
            if closed < 0:
                break
            inside, at = False, closed + 3
            continue
        opened = line.find("<!--", at)
        if opened < 0 or (not may_go_on and line.find("-->", opened + 4) < 0):
            kept.append(line[at:])
            break
        kept.append(line[at:opened])
        inside, at = True, opened + 4
    return "".join(kept), inside


@dataclass(slots=True)
class _Parser:
    """Takes lines one by one; a block is done when the next begins."""

    number: int
    done: list[Block] = field(default_factory=list[Block])
    headings: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    lines: list[str] = field(default_factory=list[str])
    form: Form | None = None
    begun: int = 0
    marker: str = ""
    indent: int = 0
    fence: str = ""
    blank: bool = False

    def feed(self, line: str) -> None:
        """Take the next line of the body."""
        stripped = line.strip()
        indent = len(_margin(line))
        if self.fence:
            self._in_fence(line, stripped)
        elif not stripped:
            self._blank_line()
        elif not self._continues_item(indent, stripped):
            self._begin(line, stripped, indent)
        else:
            self._continue_item(line, stripped)
        self.number += 1

    def flush(self) -> None:
        """End the block at hand."""
        if self.form is not None and any(line.strip() for line in self.lines):
            while not self.lines[-1].strip():
                self.lines.pop()
            path = tuple(title for _, title in self.headings)
            self.done.append(Block(self.begun, self.form, tuple(self.lines), path, self.marker))
        self.lines, self.form, self.marker, self.blank, self.fence = [], None, "", False, ""

    def _open(self, form: Form, line: str, marker: str = "", indent: int = 0) -> None:
        self.flush()
        self.form, self.lines, self.begun = form, [line], self.number
        self.marker, self.indent = marker, indent

    def _in_fence(self, line: str, stripped: str) -> None:
        self.lines.append(self._dedent(line))
        mark = _FENCE.match(stripped)
        if mark:
            self.fence = _next_fence(self.fence, stripped, mark.group())
        if not self.fence and self.form == "code":
            self.flush()

    def _blank_line(self) -> None:
        if self.form in {"item", "step", "task"}:
            self.blank = True
        else:
            self.flush()

    def _continues_item(self, indent: int, stripped: str) -> bool:
        if self.form not in {"item", "step", "task"}:
            return False
        if indent >= _NESTED_INDENT:
            return True
        lazy = not self.blank and not _MARKER.match(stripped) and not _FENCE.match(stripped)
        return lazy and not stripped.startswith("#") and not _is_rule(stripped)

    def _continue_item(self, line: str, stripped: str) -> None:
        if self.blank:
            self.lines.append("")
            self.blank = False
        self.lines.append(self._dedent(line))
        mark = _FENCE.match(stripped)
        if mark:
            self.fence = mark.group()

    def _dedent(self, line: str) -> str:
        return _margin(line)[self.indent :] + line.lstrip()

    def _begin(self, line: str, stripped: str, indent: int) -> None:
        """A line outside any item: a heading, rule, list, fence, or a paragraph's line."""
        level = len(stripped) - len(stripped.lstrip("#"))
        fence = _FENCE.match(stripped)
        marked = _MARKER.match(stripped)
        if indent >= _CODE_INDENT:
            self._paragraph(line)
        elif fence:
            self._open("code", line.lstrip(), indent=indent)
            self.fence = fence.group()
        elif 1 <= level <= 6 and stripped[level : level + 1] in {"", " "}:
            self._heading(level, stripped[level:].strip().rstrip("#").rstrip())
        elif self.form == "paragraph" and self._underlines(stripped):
            title, self.form = self.lines[0].strip(), None
            self._heading(1 if stripped[0] == "=" else 2, title)
        elif _is_rule(stripped):
            self.flush()
        elif marked:
            self._item(stripped, indent, marked.group(1), marked.end())
        elif not _LINK_TARGET.match(stripped):
            self._paragraph(line)

    def _heading(self, level: int, title: str) -> None:
        self.flush()
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        if title:
            self.headings.append((level, title[:_MAX_HEADING_CHARS]))

    def _underlines(self, stripped: str) -> bool:
        """Whether this line makes a heading of a one-line paragraph; below a sentence it is only a rule."""
        if stripped.strip("=") and (stripped.strip("-") or len(stripped) < 2):
            return False
        title = self.lines[0].strip()
        return (
            len(self.lines) == 1 and len(title) <= _MAX_HEADING_CHARS and not title.endswith(_SENTENCE_ENDS)
        )

    def _item(self, stripped: str, indent: int, marker: str, end: int) -> None:
        said = stripped[end:]
        form: Form = "task" if _CHECK_BOX.match(said) else "step" if marker[0].isdigit() else "item"
        self._open(form, said, marker, indent + end)

    def _paragraph(self, line: str) -> None:
        if line.lstrip().startswith(">"):
            line = line.lstrip(" \t>")
        if self.form == "paragraph":
            self.lines.append(line.lstrip())
        elif line.strip():
            self._open("image" if _is_image(line) else "paragraph", line.lstrip())


def _is_image(line: str) -> bool:
    return len(line) <= _MAX_IMAGE_CHARS and not _IMAGE.sub("", line).strip()


def _margin(line: str) -> str:
    """The white space a line begins with, tabs as columns."""
    return line[: len(line) - len(line.lstrip())].expandtabs(4)


def _is_rule(stripped: str) -> bool:
    squeezed = stripped.replace(" ", "")
    return len(squeezed) >= 3 and squeezed[0] in "-*_" and not squeezed.strip(squeezed[0])


def is_one(found: Sequence[Block]) -> bool:
    """Whether the blocks make one claim: short, under one heading, no list without a sentence before it."""
    if len(found) == 1:
        return found[0].form in {"paragraph", "item", "step", "code"}
    if not found or sum(len(block.text) for block in found) > MAX_WHOLE_CHARS:
        return False
    forms = [block.form for block in found]
    same_place = len({block.headings for block in found}) == 1
    return (
        same_place
        and forms[0] == "paragraph"
        and forms.count("paragraph") <= 2
        and not {"task", "image"} & {*forms}
    )


def render(found: Sequence[Block]) -> str:
    """The blocks of one claim as one text; a single list item loses its marker."""
    if len(found) == 1:
        return found[0].text
    return "\n".join(f"{block.marker} {block.text}" if block.marker else block.text for block in found)


def claims(found: Sequence[Block]) -> Iterator[Block]:
    """The blocks as claims: code joins what stands before it, a sentence before a list joins the list.

    The steps of an introduced numbered list stay together, because their order is the claim.
    """
    return _with_leads(_with_code(found))


def _with_code(found: Sequence[Block]) -> list[Block]:
    groups: list[list[Block]] = []
    for block in found:
        if block.form == "code" and groups and _takes_code(groups[-1][0], block):
            groups[-1].append(block)
        else:
            groups.append([block])
    return [
        replace(first, lines=tuple(line for block in (first, *code) for line in block.lines))
        if code
        else first
        for first, *code in groups
    ]


def _takes_code(before: Block, code: Block) -> bool:
    return before.headings == code.headings and before.form in {"paragraph", "item", "step"}


def _with_leads(found: Sequence[Block]) -> Iterator[Block]:
    position = 0
    while position < len(found):
        block = found[position]
        position += 1
        if block.form != "paragraph" or not block.text.endswith((":", "：")):
            yield block
            continue
        run = _list_after(found, position)
        if not run:
            yield block
        elif run[0].form == "step":
            position += len(run)
            steps = [f"{step.marker} {step.lines[0]}" for step in run]
            rest = [line for step, first in zip(run, steps, strict=True) for line in (first, *step.lines[1:])]
            yield replace(block, lines=(*block.lines, *rest))
        else:
            position += len(run)
            if len(block.text) > _MAX_LEAD_CHARS:
                yield block
            yield from (replace(item, lead=block.text) for item in run)


def _list_after(found: Sequence[Block], start: int) -> list[Block]:
    """The list items of one form that follow, under the same heading as the block before them."""
    run: list[Block] = []
    for position in range(start, len(found)):
        block = found[position]
        if block.form not in {"item", "step"} or block.headings != found[start - 1].headings:
            break
        if run and block.form != run[0].form:
            break
        run.append(block)
    return run
