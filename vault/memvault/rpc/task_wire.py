"""Wire types of task notes. As `wire`; knows nothing of what the methods do."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memvault.model import NoteKind
from memvault.rpc.wire import Add, Params

Number = Annotated[int, msgspec.Meta(ge=1, le=2**31)]
"""A note's number within its task."""


class OpenTask(Params, frozen=True):
    """`task`: a name of the caller's own, such as its session's; opening it again goes on with it."""

    title: str
    task: str | None = None


class OneTask(Params, frozen=True):
    """`task`: the id that opening gave, or the caller's own name."""

    task: str


class AddNote(OneTask, frozen=True):
    kind: NoteKind
    text: str


class OneNote(OneTask, frozen=True):
    note: Number


class ReopenNote(OneNote, frozen=True):
    why: str


class CloseTask(OneTask, frozen=True):
    """`keep`: conclusions worth keeping, each as the parameters of memory.add."""

    keep: Annotated[tuple[Add, ...], msgspec.Meta(max_length=50)] = ()
