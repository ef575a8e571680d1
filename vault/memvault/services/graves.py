"""The tombstones' door: what was deleted for good stays out (SPEC 7).

Owns what a deleted claim, its words or its source refuse. Every way in asks here.
"""

from __future__ import annotations

from memvault.model import Draft, Outcome, Source
from memvault.services.placing import Written
from memvault.services.vault import Vault
from memvault.store import tombstones


def tombstoned(vault: Vault, draft: Draft) -> Written | None:
    """A refusal when the claim, its content, its words or its source were deleted for good."""
    key = vault.secrets.tombstones
    names = [name for source in draft.sources for name in _names_of(source)]
    refs = [tombstones.source_print(key, name) for name in names]
    if tombstones.match(vault.writer, tombstones.prints(key, draft.claim), refs) is None:
        return None
    reason = "it was deleted for good; a person can lift the tombstone" if draft.sources else "it was deleted"
    return Written(Outcome.REFUSED, None, None, reason, None)


def _names_of(source: Source) -> list[str]:
    """What a person may have called this source, or its session, when deleting by it."""
    names = [source.ref, f"{source.type}:{source.ref}"]
    return names if source.task is None else [*names, source.task]
