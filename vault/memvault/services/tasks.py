"""Notes of running tasks (SPEC 3): opened, noted, done, and gone without a trace when the task closes.

Owns whose task is whose, how an item moves, the limits, and the erasure. A task makes neither event nor run
nor tombstone: what outlived it would tell of it. What is worth keeping goes through `remember` like any
claim. All of it is for the writer's thread, where what the daily run erases is gone before anybody looks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from memvault.clock import iso, parse
from memvault.errors import Busy, DiskFull, Illegal, LimitReached, NotFound, NotGranted, Refused, Usage
from memvault.gate.score import MOST_CANDIDATES
from memvault.ids import new_id
from memvault.model import Draft, NoteKind, NoteState
from memvault.services import remember
from memvault.services.caller import PERSON, Caller, Verb
from memvault.services.erase import empty_log
from memvault.services.intake import SHORT_FIELD_BYTES, checked_claim, checked_source
from memvault.services.placing import Written
from memvault.services.screening import Screened, count_refusal, require_clean
from memvault.services.vault import Vault, keep_reserve
from memvault.store import tasks
from memvault.store.tasks import Note, Step, Task, Whose
from memvault.text import accept, gist

NOTE_BYTES = 4_096
OWN_ID_BYTES = 200
"""UTF-8 bytes of one note, and of the name an owner gives its task."""
MOST_TASKS = 50
"""Tasks that one agent, or the person, has open in all projects."""
MOST_NOTES = 200
MOST_STEPS = 50
"""Notes of one task; steps (done, reopened) of one note."""
KEPT_FOR = timedelta(days=7)
"""How long notes stay after the last change of their task."""
MOST_ROWS = 500

_MOVES = {
    NoteState.NOTED: frozenset[NoteState](),
    NoteState.OPEN: frozenset({NoteState.DONE}),
    NoteState.DONE: frozenset({NoteState.REOPENED}),
    NoteState.REOPENED: frozenset({NoteState.DONE}),
}
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Keeping:
    """One conclusion of a task on its way to long-term memory."""

    draft: Draft
    correct: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """The task that is gone, how many notes went with it, and what became of each conclusion.

    `overwritten`: no page holds anything of it any more; False when a reader was in the way to the end, which
    the next deletion or lock makes up for.
    """

    id: str
    erased: int
    kept: tuple[Written, ...]
    overwritten: bool


def open_task(vault: Vault, caller: Caller, title: str, own: str | None) -> dict[str, Any]:
    """Open a task, or go on with the one that the caller opened under this name.

    Raises LimitReached, Refused for a credential, TextUnusable, Usage.
    """
    whose = _whose(caller)
    title = " ".join(_clean(vault, "title", title, SHORT_FIELD_BYTES).split())
    own = None if own is None else _clean(vault, "task id", own, OWN_ID_BYTES)
    if own is not None and _SPACE.search(own):
        raise Usage("a task id has no white space")
    owner, at = _owner(caller), vault.now()
    if own is not None:
        found = tasks.find(vault.writer, replace(whose, owner=owner), own)
        if found:
            return {**_whole(vault, found[0]), "resumed": True}
    if tasks.count(vault.writer, owner) >= MOST_TASKS:
        raise LimitReached(
            f"{MOST_TASKS} tasks are open already", "`memvault task list` shows them; close one first."
        )
    task = Task(None, new_id(), own, owner, caller.project, title, at, at)
    with vault.writer.transaction():
        tasks.put(vault.writer, task)
    return {**_plain(task), "notes": [], "resumed": False}


def note(vault: Vault, caller: Caller, task: str, kind: NoteKind, text: str) -> dict[str, Any]:
    """Add a note; one that is there already, done or not, is not added again but pointed to.

    Raises NotFound, LimitReached, Refused for a credential, TextUnusable.
    """
    found, row = _found(vault, caller, task)
    text = _clean(vault, "note", text, NOTE_BYTES)
    held = tasks.notes(vault.writer, row)
    twin = next((one for one in held if _same(one, kind, text)), None)
    if twin is not None:
        outcome = "done_already" if twin.state is NoteState.DONE else "known"
        return {"task": found.id, "outcome": outcome, **_plain_note(twin)}
    if len(held) >= MOST_NOTES:
        raise LimitReached(
            f"the task has {MOST_NOTES} notes already", "Close it, or open another task for what is left."
        )
    number, at = len(held) + 1, vault.now()
    with vault.writer.transaction():
        tasks.put_note(vault.writer, row, number, kind, text, at, caller.actor)
        tasks.touch(vault.writer, row, at)
    return {"task": found.id, "outcome": "noted", **_plain_note(_note(vault, row, number))}


def done(vault: Vault, caller: Caller, task: str, number: int) -> dict[str, Any]:
    """Mark an item as done; one that is done already stays as it is and the answer says so.

    Raises NotFound, Illegal for a finding or a decision.
    """
    found, row = _found(vault, caller, task)
    item = _note(vault, row, number)
    if item.state is NoteState.DONE:
        return {"task": found.id, "outcome": "done_already", **_plain_note(item)}
    if NoteState.DONE not in _MOVES[item.state]:
        raise Illegal(f"a {item.kind} is {item.state}, not an item that gets done")
    return _step(vault, caller, found, item, NoteState.DONE, None)


def reopen(vault: Vault, caller: Caller, task: str, number: int, why: str) -> dict[str, Any]:
    """Take up a done item again, for a reason that stays beside it.

    Raises NotFound, Illegal for what is not done, LimitReached, Refused for a credential, TextUnusable.
    """
    found, row = _found(vault, caller, task)
    why = _clean(vault, "reason", why, SHORT_FIELD_BYTES)
    item = _note(vault, row, number)
    if NoteState.REOPENED not in _MOVES[item.state]:
        raise Illegal(f"only a done item can be reopened, this {item.kind} is {item.state}")
    if len(item.steps) >= MOST_STEPS:
        raise LimitReached("the item was reopened too often", "Note what is left as an item of its own.")
    return _step(vault, caller, found, item, NoteState.REOPENED, why)


def get(vault: Vault, caller: Caller, task: str) -> dict[str, Any]:
    """A task with all of its notes. Raises NotFound."""
    return _whole(vault, _found(vault, caller, task)[0])


def listing(vault: Vault, caller: Caller, limit: int, offset: int) -> dict[str, Any]:
    """Tasks without their notes, last changed first: an agent's own in its project, a person's all."""
    rows, total = tasks.page(vault.writer, _whose(caller), min(limit, MOST_ROWS), offset)
    items = [{**_plain(task), "notes": notes, "open": waiting} for task, notes, waiting in rows]
    return {"items": items, "total": total}


def close(vault: Vault, caller: Caller, task: str, keep: Sequence[Keeping]) -> Closed:
    """Write down what is worth keeping, then erase the notes for good.

    A conclusion that is refused is an outcome; whatever is raised leaves all notes where they were. Raises
    NotFound, Usage (too many at once, or unusable as memories).
    """
    found, row = _found(vault, caller, task)
    if not caller.is_person and len(keep) > MOST_CANDIDATES:
        raise Usage(
            f"at most {MOST_CANDIDATES} conclusions are kept of one task", "Choose them; nothing was erased."
        )
    of_task = [replace(one, draft=_of_task(one.draft, found)) for one in keep]
    kept = tuple(remember.add(vault, caller, one.draft, correct=one.correct) for one in of_task)
    held = len(tasks.notes(vault.writer, row))
    return Closed(found.id, held, kept, _erase(vault, [row]))


def lapse_tasks(vault: Vault) -> int:
    """Erase the tasks that nobody changed for seven days; returns their number."""
    gone = tasks.unchanged_since(vault.writer, iso(vault.clock.now() - KEPT_FOR))
    if gone:
        _erase(vault, gone)
    return len(gone)


def _erase(vault: Vault, rows: Sequence[int]) -> bool:
    """Remove these tasks and return when no page and no log holds anything of them (SPEC 7).

    False when a reader stayed in the way: asked again, the caller would hear of no such task.
    """
    try:
        _remove(vault, rows)
    except DiskFull:
        vault.layout.reserve.unlink(missing_ok=True)
        _remove(vault, rows)
    try:
        empty_log(vault)
    except Busy:
        return False
    keep_reserve(vault.layout)
    return True


def _remove(vault: Vault, rows: Sequence[int]) -> None:
    with vault.writer.transaction():
        tasks.remove(vault.writer, rows)


def _of_task(draft: Draft, task: Task) -> Draft:
    """A checked draft whose sources name the task they come from. Raises TextUnusable, Usage."""
    sources = tuple(
        replace(checked_source(source), task=source.task or task.own or task.id) for source in draft.sources
    )
    return replace(draft, claim=checked_claim(draft.claim), sources=sources)


def _owner(caller: Caller) -> str:
    """What a script opens is the person's."""
    return caller.actor if caller.is_agent else PERSON.actor


def _whose(caller: Caller) -> Whose:
    """What a caller reaches. Raises NotGranted for an agent that may not write where it works."""
    caller.require(Verb.PROPOSE)
    if not caller.here:
        raise NotGranted("nothing there that you were granted")
    if caller.is_person:
        return Whose()
    return Whose(_owner(caller), caller.project, anywhere=not caller.is_agent)


def _found(vault: Vault, caller: Caller, name: str) -> tuple[Task, int]:
    """A task within reach, and its row. Raises NotFound, the same for an unknown and a foreign one."""
    found = tasks.find(vault.writer, _whose(caller), name)
    if len(found) > 1:
        mine = [task for task in found if task.owner == _owner(caller)]
        found = mine if len(mine) == 1 else found
    if not found or found[0].row is None:
        raise NotFound("no such task", "`memvault task list` shows the open ones.")
    if len(found) > 1:
        raise Usage("several tasks have this name", "`memvault task list` shows the id of each.")
    return found[0], found[0].row


def _note(vault: Vault, row: int, number: int) -> Note:
    """Raises NotFound."""
    found = tasks.notes(vault.writer, row, number)
    if not found:
        raise NotFound("the task has no note of that number", "`memvault task show TASK` lists them.")
    return found[0]


def _same(held: Note, kind: NoteKind, text: str) -> bool:
    """The same words, however spaced and spelled; a plan and a to-do that read the same are one item."""
    items = (NoteKind.PLAN, NoteKind.TO_DO)
    alike = held.kind is kind or (held.kind in items and kind in items)
    return alike and gist(held.text) == gist(text)


def _step(
    vault: Vault, caller: Caller, found: Task, item: Note, state: NoteState, why: str | None
) -> dict[str, Any]:
    at = vault.now()
    step = Step(at, caller.actor, state, why)
    with vault.writer.transaction():
        tasks.put_step(vault.writer, item.row, step)
        tasks.touch(vault.writer, int(found.row or 0), at)
    after = replace(item, state=state, steps=(*item.steps, step))
    return {"task": found.id, "outcome": str(state), **_plain_note(after)}


def _clean(vault: Vault, name: str, text: str, limit_bytes: int) -> str:
    """Accepted text without a credential. Raises TextUnusable, Refused; a refusal is counted."""
    found = accept(text, name, limit_bytes)
    try:
        require_clean(name, found)
    except Refused as refusal:
        with vault.writer.transaction():
            count_refusal(vault, Screened("credential", refusal.message))
        raise
    return found


def _plain(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "task": task.own,
        "title": task.title,
        "owner": task.owner,
        "project": task.project,
        "opened_at": task.opened_at,
        "changed_at": task.changed_at,
        "lapses_at": iso(parse(task.changed_at) + KEPT_FOR),
    }


def _whole(vault: Vault, task: Task) -> dict[str, Any]:
    held = [] if task.row is None else tasks.notes(vault.writer, task.row)
    return {**_plain(task), "notes": [_plain_note(one) for one in held]}


def _plain_note(one: Note) -> dict[str, Any]:
    return {
        "note": one.number,
        "kind": one.kind,
        "text": one.text,
        "state": one.state,
        "at": one.at,
        "by": one.actor,
        "steps": [{"at": step.at, "by": step.actor, "to": step.state, "why": step.why} for step in one.steps],
    }
