"""Where a memory was said: the conversation and the position in it, of the first source that tells both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memvault.store.connection import Database

_COLUMNS = "SELECT memory, type, ref, task, message_index FROM source WHERE message_index IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Turn:
    """`row` is the memory's row; `thread` names the conversation, `place` counts its messages from 0."""

    row: int
    thread: str
    place: int


def stream(db: Database) -> Iterator[Turn]:
    """Of every memory that was said in a conversation, in the order of rows."""
    last = None
    for row in db.stream(_COLUMNS + " ORDER BY memory, row"):
        if row[0] != last:
            yield _turn(row)
        last = row[0]


def of(db: Database, rows: Sequence[int]) -> dict[int, Turn]:
    """The same for some memories, by row."""
    found: dict[int, Turn] = {}
    for memory in rows:
        row = db.maybe(_COLUMNS + " AND memory = ? ORDER BY row LIMIT 1", (memory,))
        if row is not None:
            found[memory] = _turn(row)
    return found


def _turn(row: Sequence[object]) -> Turn:
    memory, kind, ref, task, place = row
    return Turn(int(str(memory)), f"{kind}\x1f{ref}\x1f{task or ''}", max(int(str(place)), 0))
