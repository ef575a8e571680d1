"""Import: an importer's findings written in short steps, so that other writes go on in between.

Owns the report, the dry run and idempotency (the same source and text again changes nothing). Knows
nothing of file formats or the socket.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memvault.errors import Refused, Usage
from memvault.ids import new_id
from memvault.importers import IMPORTERS
from memvault.importers.base import Found, Item, Target, Unreadable
from memvault.model import Authority, Draft, Outcome, Record, Scope, Source, Status
from memvault.services import graves
from memvault.services.caller import Caller
from memvault.services.candidates import hold, propose
from memvault.services.change import Change, change
from memvault.services.intake import checked_claim, checked_source
from memvault.services.placing import Written, is_known, newcomer, take_place
from memvault.services.remember import write
from memvault.services.screening import count_refusal, screen
from memvault.services.trust import authority_of
from memvault.services.vault import Vault
from memvault.store import memories, runs
from memvault.text import fold

STEP_S = 0.05
"""Longest time one step keeps the writer."""
MOST_LISTED = 1_000
"""Refused and unreadable entries listed in a report; the counts are always whole."""


class _TryOnly(Exception):
    """Rolls a dry run's step back."""


@dataclass(slots=True)
class Report:
    """What an import did, or would do."""

    run: str
    added: int = 0
    merged: int = 0
    candidates: int = 0
    unchanged: int = 0
    superseded: int = 0
    conflicts: int = 0
    refused: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    unreadable: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    skipped: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    counts: dict[str, int] = field(default_factory=lambda: {"refused": 0, "unreadable": 0, "skipped": 0})
    interrupted: bool = False

    def list(self, name: str, where: str, reason: str) -> None:
        self.counts[name] += 1
        rows: list[dict[str, str]] = getattr(self, name)
        if len(rows) < MOST_LISTED:
            rows.append({"where": where, "reason": reason})

    def plain(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "added": self.added,
            "merged": self.merged,
            "candidates": self.candidates,
            "unchanged": self.unchanged,
            "superseded": self.superseded,
            "conflicts": self.conflicts,
            "refused": self.refused,
            "unreadable": self.unreadable,
            "skipped": self.skipped,
            "counts": self.counts,
            "interrupted": self.interrupted,
        }


class ImportJob:
    """One import under way. `step` belongs to the writer's thread; call it until it returns False."""

    def __init__(
        self, vault: Vault, caller: Caller, kind: str, path: Path, scope: str, project: str | None
    ) -> None:
        """Raises Usage for an unknown kind or a path that is not there."""
        importer = IMPORTERS.get(kind)
        if importer is None:
            raise Usage(f"no importer of that name: choose {', '.join(sorted(IMPORTERS))}")
        self.vault, self.caller, self.kind = vault, caller, kind
        self.plan = importer.plan(path, Target(Scope(scope), project, vault.now()))
        self.report = Report(new_id())
        self._root = root_name(path)
        self.done = False
        self._started = False
        self._seen: set[bytes] = set()

    @property
    def total(self) -> int | None:
        return self.plan.total

    @property
    def read(self) -> int:
        return self.plan.meter.done

    def step(self, dry_run: bool) -> bool:
        """Write what fits into STEP_S. False when everything is done."""
        if not self._started and not dry_run:
            with self.vault.writer.transaction():
                runs.start(
                    self.vault.writer,
                    self.report.run,
                    f"import:{self.kind}",
                    self.caller.actor,
                    self.vault.now(),
                )
            self._started = True
        try:
            with change(self.vault, f"import:{self.kind}", self.caller.actor, run=self.report.run) as work:
                self._write_some(work)
                self._keep_unless(dry_run)
        except _TryOnly:
            pass
        if self.done and not dry_run:
            self._finish("kept")
        return not self.done

    def stop(self) -> None:
        """End early: what was written stays, and running the import again goes on from there."""
        self.report.interrupted = True
        if self._started:
            self._finish("interrupted")

    def _finish(self, status: str) -> None:
        report = self.report
        summary = {
            "added": report.added,
            "merged": report.merged,
            "unchanged": report.unchanged,
            "superseded": report.superseded,
            "conflicts": report.conflicts,
            **report.counts,
        }
        with self.vault.writer.transaction():
            runs.finish(self.vault.writer, report.run, self.vault.now(), summary, status)

    @staticmethod
    def _keep_unless(dry_run: bool) -> None:
        if dry_run:
            raise _TryOnly

    def _write_some(self, work: Change) -> None:
        deadline = time.monotonic() + STEP_S
        while time.monotonic() < deadline:
            item = next(self.plan.items, None)
            if item is None:
                self.done = True
                return
            self._take(work, item)

    def _take(self, work: Change, item: Item) -> None:
        if not isinstance(item, Found):
            self.report.list(
                "unreadable" if isinstance(item, Unreadable) else "skipped", item.where, item.reason
            )
            return
        try:
            written = self._write(work, item)
        except (Usage, Refused) as error:
            self.report.list("refused", item.where, error.message)
            return
        self._count(item.where, written)

    def _write(self, work: Change, item: Found) -> Written:
        draft = item.draft
        draft = replace(
            draft,
            claim=checked_claim(self.vault.places.spelt(draft.claim)),
            sources=tuple(checked_source(self._placed(source)) for source in draft.sources),
        )
        grave = graves.tombstoned(self.vault, draft)
        if grave is not None and grave.forbids:
            graves.count_refusal(self.vault)
            return Written(Outcome.REFUSED, None, None, grave.reason, None)
        before, same = _before(self.vault, draft)
        if before is not None and same:
            return Written(Outcome.MERGED, before.id, before.version, "known already", None, changed=False)
        held = grave is not None and not is_known(self.vault, draft.claim)
        if before is not None and not held:
            new = newcomer(draft, authority_of(self.caller, draft.sources))
            return take_place(work, new, before, "the document says something else by now")
        screened = screen(draft, agent=False, imported=True, theta=self.vault.theta)
        if screened.refusal is not None:
            count_refusal(self.vault, screened)
            return Written(Outcome.REFUSED, None, None, screened.refusal, None)
        if held:
            return hold(work, self.caller, draft, screened.flags)
        if screened.flags:
            return propose(work, self.caller, draft, screened.flags)
        key = self.vault.derive(draft.claim).content_key
        again = key in self._seen
        self._seen.add(key)
        written = write(work, self.caller, draft)
        return (
            replace(written, outcome=Outcome.MERGED)
            if again and written.outcome is Outcome.ACTIVE
            else written
        )

    def _placed(self, source: Source) -> Source:
        """The source with its folder in the reference: two folders may hold a note of one name."""
        kind, _, rest = source.ref.partition(":")
        return replace(source, ref=f"{kind}:{self._root}/{rest}")

    def _count(self, where: str, written: Written) -> None:
        report = self.report
        if written.outcome is Outcome.REFUSED:
            report.list("refused", where, written.reason)
        elif not written.changed:
            report.unchanged += 1
        elif written.outcome is Outcome.MERGED:
            report.merged += 1
        elif written.outcome is Outcome.CANDIDATE:
            report.candidates += 1
        else:
            report.added += 1
            report.superseded += written.outcome is Outcome.SUPERSEDED
            report.conflicts += written.outcome is Outcome.CONFLICT


def root_name(path: Path) -> str:
    """The folder that is imported, or that holds the imported file, with `~` for the home folder."""
    found = path.resolve()
    folder = found if found.is_dir() else found.parent
    home = Path.home()
    return f"~/{folder.relative_to(home).as_posix()}" if folder.is_relative_to(home) else folder.as_posix()


_names_its_text = re.compile(r"[#-][0-9a-f]{10}\Z").search


def _before(vault: Vault, draft: Draft) -> tuple[Record | None, bool]:
    """The memory that this very place of this document gave before, and whether it said the same then.

    What was edited, replaced or switched off since must not come back beside itself; a changed text replaces
    what it said before, unless a person has made that their own.
    """
    standing: Record | None = None
    for source in draft.sources:
        for record in memories.with_source(vault.writer, source.type, source.ref):
            if (record.claim.scope, record.claim.project) != (draft.claim.scope, draft.claim.project):
                continue
            if _said_the_same(vault, draft, source, record):
                return record, True
            if record.status is Status.ACTIVE and record.authority.rank <= Authority.DOCUMENT.rank:
                standing = record
    return standing, False


def _said_the_same(vault: Vault, draft: Draft, source: Source, record: Record) -> bool:
    """By the digest in the reference, by the file's hash, or by the text of any version."""
    if _names_its_text(source.ref) or any(
        (old.ref, old.content_hash) == (source.ref, source.content_hash) for old in record.sources
    ):
        return True
    text = fold(draft.claim.content)
    return any(fold(old["content"]) == text for old in memories.versions(vault.writer, record.id))
