"""Everything that is remembered about somebody or something, as a list (SPEC 7).

Owns what counts as being about a subject: its name is the subject or stands in `about`, or the claim, its
explanations or its evidence name it as a word of its own. For a person; changes nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Any

from memvault.errors import Usage
from memvault.gate.marks import CJK, LETTER
from memvault.services import plain
from memvault.services.caller import Caller
from memvault.services.intake import SHORT_FIELD_BYTES
from memvault.services.recollect import MOST_ROWS, PORTION_ROWS, Boundless, Room
from memvault.services.vault import Vault
from memvault.store import memories, mentions
from memvault.store.memories import Filter
from memvault.store.mentions import Texts
from memvault.text import accept, fold

_PORTION = 200
_COUNTED = {"scopes": "scope", "kinds": "kind", "statuses": "status", "projects": "project"}


class Name:
    """A subject's name, to be found in any case, as a whole word where words have ends."""

    def __init__(self, subject: str) -> None:
        """Raises Usage for a name without a letter or digit."""
        self._folded = fold(subject)
        if not any(map(str.isalnum, self._folded)):
            raise Usage("name somebody or something")
        before = "" if re.match(f"[{CJK}]", self._folded) else f"(?<!{LETTER})"
        after = "" if re.search(rf"[{CJK}]\Z", self._folded) else f"(?!{LETTER})"
        self._word = re.compile(f"{before}{re.escape(self._folded)}{after}")

    def is_in(self, text: str) -> bool:
        shown = text if text.isascii() else unicodedata.normalize("NFKC", text)
        lower = shown.casefold()
        return self._folded in lower and self._word.search(lower) is not None

    def is_subject(self, text: str) -> bool:
        """Also behind a kind, as `Orla` in `person:Orla`."""
        whole = fold(text)
        return self._folded in (whole, whole.partition(":")[2])


def page(
    vault: Vault, caller: Caller, subject: str, limit: int, offset: int, room: Room | None = None
) -> dict[str, Any]:
    """Records with `because` (the fields that name it), those about it first, and counts of all.

    A page that has no more room ends early. For the browser's thread. Raises Usage, TextUnusable.
    """
    if not 0 <= limit <= MOST_ROWS or offset < 0:
        raise Usage(f"the limit is between 0 and {MOST_ROWS}, the offset not negative")
    name, room = Name(accept(subject, "subject", SHORT_FIELD_BYTES)), room or Boundless()
    found = _named(vault, caller, name, room)
    found.sort(key=lambda pair: not {"subject", "about"} & set(pair[1]))
    wanted = {texts.id: because for texts, because in found[offset : offset + limit]}
    items, passed = _packed(vault, caller, wanted, room)
    following = offset + passed
    return {
        "subject": subject,
        "items": items,
        "total": len(found),
        "next": following if passed and following < len(found) else None,
        **{
            plural: dict(Counter(getattr(texts, one) for texts, _ in found).most_common())
            for plural, one in _COUNTED.items()
        },
    }


def _packed(vault: Vault, caller: Caller, wanted: dict[str, list[str]], room: Room) -> tuple[list[Any], int]:
    """The records there is room for, and how many of `wanted` that makes."""
    items: list[Any] = []
    for at, (memory, because) in enumerate(wanted.items()):
        if at % PORTION_ROWS == 0:
            room.give_way()
        record = memories.get(vault.browser, [memory], caller.reach).get(memory)
        if record is None:
            continue
        packed = room.pack({**plain.record(record), "because": because})
        if packed is None:
            return items, at
        items.append(packed)
    return items, len(wanted)


def _named(vault: Vault, caller: Caller, name: Name, room: Room) -> list[tuple[Texts, list[str]]]:
    """Every memory that names it, newest first, with the fields that do."""
    ids = memories.ids_of(vault.browser, caller.reach, Filter())[::-1]
    found: list[tuple[Texts, list[str]]] = []
    for start in range(0, len(ids), _PORTION):
        room.give_way()
        for texts in reversed(mentions.texts(vault.browser, ids[start : start + _PORTION])):
            because = [
                field
                for field, text in texts.fields.items()
                if name.is_in(text) or (field == "subject" and name.is_subject(text))
            ]
            if because:
                found.append((texts, because))
    return found
