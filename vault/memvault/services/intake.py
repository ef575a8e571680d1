"""What a caller hands in, field by field: accepted, normalised, within its limits.

Owns the limits of every text field. Pure; knows nothing of the vault or of who asks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memvault.clock import iso, parse
from memvault.errors import Usage
from memvault.model import CLAIM_FIELDS, Claim, Failure, Kind, Scope, Source
from memvault.text import MAX_CONTENT_BYTES, accept

SHORT_FIELD_BYTES = 1_024
"""UTF-8 bytes of subject, attribute, project and other single-line fields."""

LONG_FIELD_BYTES = 16_384
"""UTF-8 bytes of the explaining fields, and of evidence."""

_NEEDED_OF_A_FAILURE = {"symptom", "cause", "fix"}

_LIMITS = {
    **dict.fromkeys(
        ("project", "subject", "attribute", "valid_from", "valid_to", "expires_at"), SHORT_FIELD_BYTES
    ),
    "content": MAX_CONTENT_BYTES,
}


def checked_claim(claim: Claim) -> Claim:
    """Every text field accepted and normalised. Raises TextUnusable, Usage."""
    found: dict[str, Any] = {}
    for name in CLAIM_FIELDS:
        value = getattr(claim, name)
        if name in ("kind", "scope", "sensitivity", "failure") or value is None:
            continue
        found[name] = accept(value, name, _LIMITS.get(name, LONG_FIELD_BYTES))
    if claim.failure is not None:
        found["failure"] = _checked_failure(claim.failure)
    for name in ("valid_from", "valid_to", "expires_at"):
        if name in found:
            found[name] = iso(parse(found[name]))
    checked = replace(claim, **found)
    if bool(checked.subject) != bool(checked.attribute) and checked.attribute:
        raise Usage("an attribute needs its subject")
    if checked.value and not checked.attribute:
        raise Usage("a value needs its subject and attribute")
    if checked.scope is Scope.TASK:
        raise Usage(
            "task notes belong to a running task, not to long-term memory",
            "`memvault task note` keeps one; for a memory choose private or team.",
        )
    if checked.failure is not None and checked.kind is not Kind.REFLECTION:
        raise Usage("only a reflection describes a failure")
    return checked


def _checked_failure(failure: Failure) -> Failure:
    found: dict[str, str] = {}
    for name in Failure.__dataclass_fields__:
        said: str = getattr(failure, name)
        if said or name in _NEEDED_OF_A_FAILURE:
            found[name] = accept(said, f"failure {name}", LONG_FIELD_BYTES)
    return Failure(**found)


def checked_source(source: Source) -> Source:
    """Source texts accepted. Raises TextUnusable, Usage."""
    found = {
        name: accept(value, f"source {name}", LONG_FIELD_BYTES)
        for name in ("ref", "task", "evidence")
        if (value := getattr(source, name))
    }
    if source.observed_at is not None:
        found["observed_at"] = iso(parse(source.observed_at))
    if "ref" not in found:
        raise Usage(
            "a source needs a reference that can be followed", "Write TYPE:REF, for example user:chat."
        )
    return replace(source, **found)
