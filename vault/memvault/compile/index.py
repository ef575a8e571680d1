"""The always-loaded index: one line a memory, a name to ask by, never the content. Pure.

Owns the limits of SPEC 9: 150 characters a line, 200 lines and 25,000 bytes a file. Over them the longest
lines are shortened first; what still does not fit is left out from the end and reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memvault.compile.entry import Entry
from memvault.compile.lines import dated, shown, source_name
from memvault.compile.shorten import pointer, without_filler

LINE_CHARS = 150
MOST_LINES = 200
MOST_BYTES = 25_000
TOPIC_CHARS = 40_000

NO_NAME = "no subject, and its sentence is too long for an index line: ask for it by id"
OVER = f"over the {MOST_LINES} lines or {MOST_BYTES:,} bytes of an index"


@dataclass(frozen=True, slots=True)
class Projection:
    """An index as a file; `shortened`: ids whose line was made shorter to fit."""

    text: str
    lines: int
    shortened: tuple[str, ...]
    left_out: dict[str, str]

    @property
    def size_bytes(self) -> int:
        return len(self.text.encode())


def index_forms(entry: Entry, *, with_id: bool = False) -> tuple[str, ...]:
    """Index lines of a memory within LINE_CHARS, from the fullest to the shortest; empty when none is safe.

    Subject and attribute name it. Without them its sentence does, whole or not at all.
    """
    claim = entry.record.claim
    subject, attribute = claim.subject, claim.attribute
    if subject and attribute:
        names = [f"{subject} / {attribute}", subject]
    else:
        names = [dated(claim.content, entry), dated(without_filler(claim.content), entry)]
    tail = f" ({entry.id})" if with_id else ""
    source = source_name(entry.record.sources, counted=False)
    lead = f"- [{claim.kind}, {entry.said_on}, "
    found = [
        f"{lead}{pointer(source, width)}] {shown(name)}{tail}"
        for name, width in dict.fromkeys(((names[0], 40), (names[0], 16), (names[-1], 16)))
    ]
    return tuple(dict.fromkeys(line for line in found if len(line) <= LINE_CHARS))


def projection(entries: Sequence[Entry]) -> Projection:
    """An index of `entries`, in their order, with ids."""
    left_out: dict[str, str] = {}
    found: list[tuple[str, tuple[str, ...]]] = []
    for entry in entries:
        lines = index_forms(entry, with_id=True)
        if lines:
            found.append((entry.id, lines))
        else:
            left_out[entry.id] = NO_NAME
    left_out.update((id_, OVER) for id_, _ in found[MOST_LINES:])
    found = found[:MOST_LINES]
    chosen = _shortened([lines for _, lines in found])
    while chosen and _size(chosen) > MOST_BYTES:
        chosen.pop()
        left_out[found[len(chosen)][0]] = OVER
    shorter = [id_ for (id_, lines), line in zip(found, chosen, strict=False) if line != lines[0]]
    text = "".join(f"{line}\n" for line in chosen)
    return Projection(text, len(chosen), tuple(shorter), left_out)


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _shortened(every: Sequence[tuple[str, ...]]) -> list[str]:
    """The fullest form of each line; over the limit the longest ones get their shorter forms first."""
    steps = [0] * len(every)
    size = _size([lines[0] for lines in every])
    while size > MOST_BYTES:
        longer = [at for at, lines in enumerate(every) if steps[at] + 1 < len(lines)]
        if not longer:
            break
        at = max(longer, key=lambda number: (len(every[number][steps[number]].encode()), -number))
        size -= len(every[at][steps[at]].encode()) - len(every[at][steps[at] + 1].encode())
        steps[at] += 1
    return [lines[step] for lines, step in zip(every, steps, strict=True)]


def large_topics(sizes: Mapping[str, int]) -> list[dict[str, object]]:
    """Subjects with more text than a topic page may hold (characters), to be split; the largest first."""
    over = [(name, chars) for name, chars in sizes.items() if chars > TOPIC_CHARS]
    over.sort(key=lambda found: (-found[1], found[0]))
    return [{"subject": shown(name), "chars": chars} for name, chars in over]
