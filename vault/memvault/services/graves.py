"""The tombstones' door: what was deleted for good stays out, what resembles it waits for a person (SPEC 7).

Owns what a deleted claim, its words or its source refuse, what is only alike, and what a deletion leaves
behind. Every way in asks `tombstoned`: add, propose, edit, import, confirm, roll back, restore, and those to
come. Knows nothing of who asks or of what is made of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from memvault.errors import Refused
from memvault.gate.likeness import Likeness, core, likeness
from memvault.ids import new_id
from memvault.model import Claim, Draft, Outcome, Record, Source, SourceType, Status
from memvault.services.vault import Vault
from memvault.store import settings, sketch, sourcenames, tombstones
from memvault.store.tombstones import Near, Parts, Prints
from memvault.text import fold

RESEMBLES = "resembles_deleted"
"""Flag of a memory that was held because it resembles something deleted."""

HELD = "resembles something you deleted"

ALIKE = 0.55
"""Share of words and their pieces in common from which two texts resemble each other. Case, order and filler
leave 0.7 and more; tests/services/test_resembling.py keeps the two sides apart."""

_WITHIN, _IN_PROJECT, _ABOUT = "\x1e", "\x1d", "\x1c"


@dataclass(frozen=True, slots=True)
class Grave:
    """A tombstone that was met. `forbids`: the claim is refused; otherwise it is held for a person."""

    tombstone: str
    forbids: bool
    of_source: bool = False

    @property
    def outcome(self) -> Outcome:
        return Outcome.REFUSED if self.forbids else Outcome.CANDIDATE

    @property
    def reason(self) -> str:
        """One sentence for a person; an agent is told nothing of it."""
        if not self.forbids:
            return f"it {HELD}"
        what = "its source was" if self.of_source else "it was"
        return f"{what} deleted for good; a person can lift the tombstone {self.tombstone}"

    @property
    def hint(self) -> str:
        return f"`memvault tombstones lift {self.tombstone}` allows it again."


def tombstoned(vault: Vault, draft: Draft) -> Grave | None:
    """The tombstone that a checked draft meets, the strictest first. Reads from the writer's connection."""
    db, key = vault.writer, vault.secrets.tombstones
    if not tombstones.any_standing(db):
        return None
    found = _forbidding_source(vault, draft)
    if found is not None:
        return Grave(found, forbids=True, of_source=True)
    features = likeness(draft.claim.content)
    prints = _prints(key, draft.claim, features)
    found = tombstones.forbidding(db, prints)
    if found is not None:
        return Grave(found, forbids=True)
    for old in tombstones.near(db, prints):
        if _resembles(key, prints, features, old):
            return Grave(old.tombstone, forbids=False)
    return None


def _resembles(key: bytes, new: Prints, features: Likeness, old: Near) -> bool:
    """Whether `new`, whose marks are those of `old` or whose value is, says the same in other words.

    A word in the place of another is a different claim, and so is a further name; a word more or less is not.
    """
    if new.about is not None and new.about == old.about:
        return new.worth == old.worth
    if new.sketch is None or old.sketch is None:
        return False
    names = sketch.buckets(key, features.names)
    counts = list(zip(old.buckets, new.buckets, names, strict=True))
    more, less = any(now > was for was, now, _ in counts), any(now < was for was, now, _ in counts)
    further_name = any(now > was and named > was for was, now, named in counts)
    if further_name or (more and less):
        return False
    if not more and not less and not features.ordered:
        # The same words have the same sketch: another one betrays a word replaced within its bucket.
        return new.sketch == old.sketch
    return sketch.likeness_of(old.sketch, new.sketch) >= ALIKE


def is_held(record: Record) -> bool:
    """Whether a memory that stood is held; a candidate waits by its state, whatever it resembles."""
    return RESEMBLES in record.flags and record.status is not Status.CANDIDATE


def newly_met(vault: Vault, old: Claim, new: Claim) -> Grave | None:
    """For a memory that changes its text: the tombstone that the new text meets and the old one did not.

    What the old text meets already is no resurrection: the memory stayed when the other was deleted.
    """
    grave = tombstoned(vault, Draft(new, ()))
    if grave is None:
        return None
    before = tombstoned(vault, Draft(old, ()))
    same = before is not None and before.tombstone == grave.tombstone and before.forbids >= grave.forbids
    return None if same else grave


def refuse(vault: Vault, grave: Grave) -> NoReturn:
    """Count and raise Refused. Opens a transaction."""
    with vault.writer.transaction():
        count_refusal(vault)
    raise Refused(grave.reason, grave.hint)


def count_refusal(vault: Vault) -> None:
    """Inside the caller's transaction."""
    settings.count(vault.writer, "prevented_resurrections")


def count_held(vault: Vault) -> None:
    """Inside the caller's transaction."""
    settings.count(vault.writer, "held_resemblances")


def bury(vault: Vault, memory: str, claims: Sequence[Claim], at: str, run: str, *, by_source: bool) -> None:
    """Leave one tombstone for a memory: the prints of the claim in every version it had."""
    key = vault.secrets.tombstones
    found = [_prints(key, claim, likeness(claim.content)) for claim in claims]
    tombstones.put(vault.writer, new_id(), at, run, memory, found, by_source=by_source)


def bury_source(vault: Vault, name: str, at: str, run: str) -> None:
    """Leave a tombstone for a source, or for a session, as a person called it."""
    print_ = tombstones.source_print(vault.secrets.tombstones, name)
    tombstones.put(vault.writer, new_id(), at, run, None, (), by_source=True, source=print_)


def source_name(
    source: str | None, session: str | None, project: str | None = None, subject: str | None = None
) -> str | None:
    """One name for a source, a session, or a source within a session; narrowed to a project or subject.

    What a deletion left standing elsewhere may be written again: only the source within that project (or
    about that subject) stays out. None for a selection by neither source nor session.
    """
    origin = _WITHIN.join(sourcenames.normal(name) for name in (source, session) if name)
    return _narrowed(origin, project, subject) if origin else None


def _narrowed(origin: str, project: str | None, subject: str | None) -> str:
    origin = origin if project is None else f"{origin}{_IN_PROJECT}{project}"
    return origin if subject is None else f"{origin}{_ABOUT}{fold(subject)}"


def _forbidding_source(vault: Vault, draft: Draft) -> str | None:
    """The tombstone of a source the draft comes from: of all of it, or within its project or subject."""
    db, key, claim = vault.writer, vault.secrets.tombstones, draft.claim
    if not draft.sources or not tombstones.any_source(db):
        return None
    names = [
        _narrowed(origin, project, subject)
        for source in draft.sources
        for origin in _names_of(source)
        for project in {None, claim.project}
        for subject in {None, claim.subject}
    ]
    prints = [tombstones.source_print(key, name) for name in dict.fromkeys(names)]
    return tombstones.forbidding_source(db, prints)


def _names_of(source: Source) -> list[str]:
    """What a person may have called this source, its session, or both, when deleting by it.

    A person's own word is no source that can be shut out: `user:cli` is whatever they say next.
    """
    tasks = [] if source.task is None else sourcenames.wholes(sourcenames.normal(source.task))
    if source.type is SourceType.USER:
        return tasks
    refs = sourcenames.names_of(source.type, source.ref)
    return [*refs, *tasks, *(f"{ref}{_WITHIN}{task}" for ref in refs for task in tasks)]


def _prints(key: bytes, claim: Claim, found: Likeness) -> Prints:
    value = () if claim.value is None else core(claim.value)
    return tombstones.prints(key, claim, Parts(found.bag, found.marks, found.tokens, found.shingles, value))
