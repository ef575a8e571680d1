"""Other names as a person sets, removes and lists them; and taking such a change back.

Owns the run and its event, which hold no name. What comes with memvault or was learned from a memory is
switched off rather than removed: by a keyed print, so that nothing readable outlives the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from memvault.errors import LimitReached, NotFound, Usage
from memvault.ids import new_id
from memvault.recall.aliases import Group, words_of
from memvault.recall.function_words import FUNCTION_WORDS
from memvault.services.caller import Caller
from memvault.services.change import Change, change
from memvault.services.screening import require_clean
from memvault.services.vault import Vault
from memvault.store import aliases, runs
from memvault.text import accept

MOST_SET = 2_000
MOST_NAMES = 8
"""Names of one thing in one call."""
NAME_BYTES = 160
_KIND = "aliases"
_SET, _OFF = "alias", "alias_off"
"""Keys of what a run found before it: the row of a set of names, whether a print was switched off."""

Image = tuple[str, dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Changed:
    """`ids`: rows made or removed; `switched`: names and pairs switched on or off. `run` None: no change."""

    ids: list[str]
    switched: int
    run: str | None


def checked(names: Sequence[str], least: int) -> tuple[str, ...]:
    """The names as they are kept. Raises Usage, TextUnusable, Refused (a credential goes to no disk)."""
    clean = [" ".join(accept(name, "name", NAME_BYTES).split()) for name in names]
    for text in (*clean, " ".join(clean)):
        require_clean("name", text)
    once = {words_of(name): name for name in reversed(clean)}
    if () in once or any(len(words) == 1 and words[0] in FUNCTION_WORDS for words in once):
        raise Usage("a name needs a letter or a digit and is no word like 'it' or 'the'")
    if not least <= len(once) <= MOST_NAMES:
        raise Usage(f"give {least} to {MOST_NAMES} different names of one thing")
    return tuple(name for name in clean if once.get(words_of(name)) == name)


def listing(vault: Vault, name: str | None, origin: str | None, limit: int, offset: int) -> dict[str, Any]:
    """Groups, those a person set first, then learned and known ones."""
    found = [group for group in vault.aliases.every(name) if origin is None or group.origin == origin]
    return {"items": [_plain(vault, group) for group in found[offset : offset + limit]], "total": len(found)}


def _plain(vault: Vault, group: Group) -> dict[str, Any]:
    off = [list(pair) for pair in combinations(group.names, 2) if vault.aliases.is_off(*pair)]
    return {
        "id": group.id if group.origin == "set" else None,
        "names": list(group.names),
        "origin": group.origin,
        "project": group.project,
        "memory": group.id if group.origin == "learned" else None,
        "on": len(off) < len(group.names) * (len(group.names) - 1) // 2,
        "off": off,
    }


def add(vault: Vault, caller: Caller, names: Sequence[str], project: str | None) -> Changed:
    """Let these names stand for one thing, and switch on again what of it was off.

    Raises Usage, TextUnusable, Refused, LimitReached.
    """
    wanted = checked(names, 2)
    known = aliases.every(vault.writer)
    if len(known) >= MOST_SET:
        raise LimitReached(f"{MOST_SET:,} sets of names are kept at most")
    same = any(place == project and _same(kept, wanted) for _, place, kept in known)
    off = [one for one in _prints(vault, wanted) if one in aliases.switched_off(vault.writer)]
    if same and not off:
        return Changed([], 0, None)
    with change(vault, _KIND, caller.actor) as work:
        _switch(work, off, off=False)
        made = [] if same else [new_id()]
        for ident in made:
            runs.keep_image(vault.writer, work.run, ident, {_SET: None})
            aliases.put(vault.writer, ident, project, wanted)
        _told(work, "alias", len(made), len(off))
    return Changed(made, len(off), work.run)


def remove(vault: Vault, caller: Caller, names: Sequence[str], project: str | None) -> Changed:
    """Take back that these names stand for one thing; a single name stands for nothing else then.

    With `project`, only what was set for it. Raises Usage, TextUnusable, Refused, NotFound.
    """
    wanted = checked(names, 1)
    gone, kept = _meant(vault, wanted, project)
    off: list[str] = []
    if project is None and any(_among(wanted, group) for group in kept):
        known = aliases.switched_off(vault.writer)
        off = [one for one in _prints(vault, wanted, singles=len(wanted) == 1) if one not in known]
    if not gone and not off:
        raise NotFound("no such names are known as one thing", "`memvault aliases list` shows them.")
    with change(vault, _KIND, caller.actor) as work:
        for group in gone:
            image = {"project": group.project, "names": list(group.names)}
            runs.keep_image(vault.writer, work.run, group.id, {_SET: image})
            aliases.remove(vault.writer, group.id)
        _switch(work, off, off=True)
        _told(work, "unalias", len(gone), len(off))
    return Changed([group.id for group in gone], len(off), work.run)


def _meant(vault: Vault, wanted: tuple[str, ...], project: str | None) -> tuple[list[Group], list[Group]]:
    """Sets that go, and other groups that still hold the names."""
    gone: list[Group] = []
    kept: list[Group] = []
    for group in vault.aliases.every():
        if not _among(wanted, group):
            continue
        own = group.origin == "set" and (project is None or group.project == project)
        whole = _same(group.names, wanted) or (len(wanted) == 1 and len(group.names) == 2)
        (gone if own and whole else kept).append(group)
    return gone, kept


def _among(wanted: tuple[str, ...], group: Group) -> bool:
    return set(map(words_of, wanted)) <= set(map(words_of, group.names))


def _same(one: Iterable[str], other: Iterable[str]) -> bool:
    return set(map(words_of, one)) == set(map(words_of, other))


def _prints(vault: Vault, names: tuple[str, ...], *, singles: bool = True) -> list[str]:
    found = [vault.aliases.print_of(*pair) for pair in combinations(names, 2)]
    return found + ([vault.aliases.print_of(name) for name in names] if singles else [])


def _switch(work: Change, prints: Sequence[str], *, off: bool) -> None:
    for one in prints:
        runs.keep_image(work.vault.writer, work.run, f"off:{one}", {_OFF: not off})
        aliases.switch(work.vault.writer, one, off=off)


def _told(work: Change, word: str, rows: int, switched: int) -> None:
    work.names = True
    work.summary |= {"aliases": rows, "switched": switched}
    work.beside(word, {"aliases": rows, "switched": switched})


def erase(work: Change, project: str | None) -> None:
    """A deleted project leaves none of the names that were set for it, nor their images."""
    db = work.vault.writer
    here = [ident for ident, place, _ in aliases.every(db) if place == project]
    for ident in {*here, *aliases.imaged(db, project)}:
        aliases.remove(db, ident)
        runs.forget_images(db, ident)
        work.names = True


def put_back(work: Change, images: Sequence[Image]) -> list[Image]:
    """Bring names back to what a run found; gives the images that are of memories."""
    db = work.vault.writer
    now = {ident: {"project": place, "names": list(names)} for ident, place, names in aliases.every(db)}
    off = aliases.switched_off(db)
    rest: list[Image] = []
    for ident, image in images:
        if image is not None and _SET in image:
            runs.keep_image(db, work.run, ident, {_SET: now.get(ident)})
            before = image[_SET]
            if before is None:
                aliases.remove(db, ident)
            else:
                aliases.put(db, ident, before["project"], before["names"])
        elif image is not None and _OFF in image:
            one = ident.removeprefix("off:")
            runs.keep_image(db, work.run, ident, {_OFF: one in off})
            aliases.switch(db, one, off=image[_OFF])
        else:
            rest.append((ident, image))
    if len(rest) < len(images):
        work.names = True
        work.beside("roll_back", {"aliases": len(images) - len(rest)})
    return rest
