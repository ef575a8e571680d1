"""Claims, sources and failures as columns and as canonical JSON. Pure; knows nothing of SQL.

Canonical JSON (sorted keys, no spaces, no ASCII escapes) is what versions, images and the event chain hold.
"""

from __future__ import annotations

import json
from typing import Any

from memvault.errors import VaultDamaged
from memvault.model import CLAIM_FIELDS, Claim, Failure, Kind, Scope, Sensitivity, Source, SourceType

CLAIM_COLUMNS = ", ".join(CLAIM_FIELDS)


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain_failure(failure: Failure | None) -> dict[str, str] | None:
    if failure is None:
        return None
    return {name: getattr(failure, name) for name in Failure.__dataclass_fields__}


def plain_claim(claim: Claim) -> dict[str, Any]:
    """Field name -> plain JSON value."""
    found = {name: getattr(claim, name) for name in CLAIM_FIELDS}
    return {**found, "failure": _plain_failure(claim.failure)}


def claim_of(plain: dict[str, Any]) -> Claim:
    """The reverse of `plain_claim`. Raises VaultDamaged for what no claim can be."""
    try:
        known: dict[str, Any] = {name: plain.get(name) for name in CLAIM_FIELDS}
        failure: dict[str, str] | None = known["failure"]
        known["kind"], known["scope"] = Kind(plain["kind"]), Scope(plain["scope"])
        known["sensitivity"] = Sensitivity(plain["sensitivity"])
        known["failure"] = None if failure is None else Failure(**failure)
        return Claim(**known)
    except (KeyError, TypeError, ValueError) as error:
        raise VaultDamaged("a stored claim cannot be read") from error


def claim_values(claim: Claim) -> list[Any]:
    """Values in the order of CLAIM_COLUMNS; the failure as JSON."""
    plain = plain_claim(claim)
    failure = plain["failure"]
    plain["failure"] = None if failure is None else canonical(failure)
    return [plain[name] for name in CLAIM_FIELDS]


def claim_from_values(values: tuple[Any, ...]) -> Claim:
    plain = dict(zip(CLAIM_FIELDS, values, strict=True))
    if plain["failure"] is not None:
        plain["failure"] = json.loads(plain["failure"])
    return claim_of(plain)


SOURCE_FIELDS: tuple[str, ...] = tuple(Source.__dataclass_fields__)
SOURCE_COLUMNS = ", ".join(SOURCE_FIELDS)


def plain_source(source: Source) -> dict[str, Any]:
    return {name: getattr(source, name) for name in SOURCE_FIELDS}


def source_of(plain: dict[str, Any]) -> Source:
    typed: dict[str, Any] = {
        **plain,
        "type": SourceType(plain["type"]),
        "verified": bool(plain.get("verified")),
    }
    return Source(**typed)


def source_values(source: Source) -> list[Any]:
    return [getattr(source, name) for name in SOURCE_FIELDS]
