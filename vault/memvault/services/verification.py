"""Check what a memory says against what can be looked at: cited files, their excerpts, the names it mentions.

Owns what is checked, and what becomes of a memory by it (SPEC 4, 10). `examine` reads files and belongs to no
thread of the vault; `conclude` writes. Nothing that a memory names is ever run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memvault.errors import Illegal
from memvault.lifecycle import Move
from memvault.model import Authority, Kind, Record, Source, SourceType, Status
from memvault.services.caller import Caller
from memvault.services.candidates import readable
from memvault.services.change import Change, change, fetch
from memvault.services.plain import NEEDS_VERIFICATION
from memvault.services.remember import attest
from memvault.services.vault import Vault
from memvault.store import memories
from memvault.watch import names
from memvault.watch.cited import Cited, Lack, bare, normal, project_root, read
from memvault.watch.names import State

FAILED = frozenset({State.CHANGED, State.MISSING})


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `detail` says more where the state does not."""

    what: str
    state: State
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found out about one version of a memory.

    `renewed`: its sources as they are now, for when it is found right. `lost`: a cited file is gone.
    """

    record: Record
    checks: tuple[Check, ...]
    renewed: tuple[Source, ...]
    lost: bool = False

    @property
    def passed(self) -> bool:
        """Nothing that could be looked at speaks against it; the rest is the person's word."""
        return not any(check.state in FAILED for check in self.checks)


@dataclass(frozen=True, slots=True)
class Concluded:
    """`may_expire`: a fact whose file is gone, so that expiring it suggests itself (SPEC 4)."""

    record: Record
    verified: bool
    may_expire: bool


def unanswered(record: Record) -> Examination:
    """The examination of a memory whose files could not be looked at in time."""
    silent = Check("files", State.UNKNOWN, "the disk did not answer")
    cites = any(source.type is SourceType.FILE for source in record.sources)
    return Examination(record, (silent,) if cites else (), record.sources)


def examine(record: Record, forbidden: Sequence[Path], at: str, stopped: Callable[[], bool]) -> Examination:
    """Look at everything the memory cites and names; takes seconds at most. `at`: now, ISO 8601."""
    found = {source: read(str(_path(source)), forbidden) for source in record.sources if _is_file(source)}
    looked = [(source, *_source(source, found, at)) if source in found else (source, None, source)
              for source in record.sources]  # fmt: skip
    checks = [check for _, check, _ in looked if check is not None]
    files = [file for file in found.values() if isinstance(file, Cited)]
    root = next(filter(None, (project_root(_path(source).parent) for source in found)), None)
    claim = record.claim
    said = names.named(filter(None, (claim.content, claim.value, claim.how_to_apply)))
    excerpts = [source.evidence for source in record.sources if source.evidence]
    states = names.look_up(said, files, excerpts, root, forbidden, stopped)
    checks += [Check(f"{name.sort} {name.text}", state) for name, state in states.items()]
    lost = any(check is not None and check.state is State.MISSING for _, check, _ in looked)
    return Examination(record, tuple(checks), tuple(renewed for _, _, renewed in looked), lost)


def _path(source: Source) -> Path:
    path = Path(bare(source.ref))
    return path.expanduser() if source.ref.startswith("~/") else path


def _is_file(source: Source) -> bool:
    return source.type is SourceType.FILE and source.ref.startswith(("/", "~/"))


def _source(source: Source, found: dict[Source, Cited | Lack], at: str) -> tuple[Check, Source]:
    """What became of a cited file, and the source as it is now."""
    what, file = f"file {source.ref}", found[source]
    holds = isinstance(file, Cited) and normal(source.evidence or "").strip() in file.text
    if source.content_hash is None:
        known = State.OK if holds else State.UNKNOWN
        return Check(what, known, "" if holds else "never read by memvault"), source
    if not isinstance(file, Cited):
        if _lies_elsewhere(source, found):
            moved = replace(source, content_hash=None, verified=False)
            return Check(what, State.OK, "the same file lies where another source says"), moved
        if file is Lack.MISSING:
            gone = replace(source, content_hash=None, verified=False)
            return Check(what, State.MISSING), gone
        return Check(what, State.UNKNOWN, "it cannot be read"), source
    if file.sha256 == source.content_hash:
        return Check(what, State.OK), source
    renewed = replace(source, content_hash=file.sha256, observed_at=at, verified=False)
    if holds:
        return Check(what, State.OK, "changed, and the excerpt is still there"), renewed
    return Check(what, State.CHANGED, "the excerpt is no longer there"), renewed


def _lies_elsewhere(source: Source, found: dict[Source, Cited | Lack]) -> bool:
    return any(
        other.content_hash == source.content_hash
        and isinstance(file, Cited)
        and file.sha256 == source.content_hash
        for other, file in found.items()
    )


def conclude(vault: Vault, caller: Caller, found: Examination, *, sure: bool, expire: bool) -> Concluded:
    """Verify what passed, or what the person is `sure` of; else flag it, or, with `expire`, expire it.

    Raises NotFound, Illegal when it was changed meanwhile, or when another memory has taken its place.
    """
    memory = found.record.id
    record = readable(vault, caller, memory)
    if (record.version, record.sources) != (found.record.version, found.record.sources):
        raise Illegal("the memory was changed while it was checked", "Verify it once more.")
    good = found.passed or sure
    with change(vault, "verify", caller.actor) as work:
        if good:
            if found.renewed != record.sources:
                memories.set_sources(vault.writer, memory, found.renewed, work.run)
            attest(work, _on_their_word(work, replace(record, sources=found.renewed), found))
        elif expire:
            work.move(record, Move.EXPIRE, Status.EXPIRED, "a verification failed")
        else:
            work.flag(record, NEEDS_VERIFICATION)
    after = fetch(vault, memory)
    offered = not good and found.lost and after.claim.kind is Kind.FACT and after.status is Status.ACTIVE
    return Concluded(after, good, offered)


def _on_their_word(work: Change, record: Record, found: Examination) -> Record:
    """What its file no longer says stands on the person's word alone."""
    if found.passed or record.authority is not Authority.FILE:
        return record
    reason = "a person vouches for what its file no longer says"
    return work.trust(record, "trust", reason, authority=Authority.USER_CONFIRMED)
