"""The wire types: what each method takes. Unknown fields are refused by name.

Owns names and types of parameters. Knows nothing of what methods do. For the daemon: the client needs none.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import msgspec

from memvault.errors import Usage
from memvault.model import Kind, Scope, Sensitivity, SourceType, Status

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""A number that every JSON reader and the database can hold."""

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""0..1."""


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all parameter types."""


class Nothing(Params, frozen=True):
    pass


class Hello(Params, frozen=True):
    client: str
    version: str
    protocol: Count
    """The newest version of the protocol that the client speaks."""
    oldest: Count | None = None
    """The oldest version it speaks; without it, `protocol` is the only one."""
    cwd: str | None = None
    agent: str | None = None
    token: str | None = None


class Init(Params, frozen=True):
    passphrase: str | None = None
    keychain: bool = False


class Key(Params, frozen=True):
    """One way to show that the caller may open the vault."""

    passphrase: str | None = None
    recovery_code: str | None = None
    keychain: bool = False


class SourceGiven(Params, frozen=True):
    type: SourceType
    ref: str
    task: str | None = None
    message_index: Count | None = None
    evidence: str | None = None
    observed_at: str | None = None


class FailureGiven(Params, frozen=True):
    symptom: str
    cause: str
    fix: str
    verification: str = ""
    stop_rule: str = ""


class EstimateGiven(Params, frozen=True):
    """How sure the proposer is, 0..1; it can only lower the gate's scores."""

    stable: Share
    reusable: Share


class Add(Params, frozen=True):
    content: str
    kind: Kind
    scope: Scope
    source: SourceGiven
    project: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    why: str | None = None
    how_to_apply: str | None = None
    conditions: str | None = None
    context: str | None = None
    about: str | None = None
    sensitivity: Sensitivity | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    expires_at: str | None = None
    failure: FailureGiven | None = None
    correct: bool = False
    estimate: EstimateGiven | None = None
    everywhere: bool = False
    """An agent's proposal for all projects, instead of the one it works in."""


class OneMemory(Params, frozen=True):
    id: str


class Verify(Params, frozen=True):
    """`sure`: the person says so whatever the checks say. `expire`: when a check fails, expire it."""

    id: str
    sure: bool = False
    expire: bool = False


class ListFilter(Params, frozen=True):
    kind: Kind | None = None
    scope: Scope | None = None
    project: str | None = None
    status: Status | None = None
    subject: str | None = None
    source: str | None = None
    text: str | None = None
    ids: list[str] | None = None


class ListPage(ListFilter, frozen=True):
    sort: str = "updated"
    limit: Count = 50
    offset: Count = 0


class Edit(Params, frozen=True):
    id: str
    changes: dict[str, str | None]
    version: Count | None = None
    reason: str | None = None


class Delete(Params, frozen=True):
    ids: list[str] = []
    source: str | None = None
    session: str | None = None
    project: str | None = None
    subject: str | None = None
    why: str | None = None


class Page(Params, frozen=True):
    limit: Count = 50
    offset: Count = 0


class Recall(Params, frozen=True):
    query: str
    project: str | None = None
    limit: Count = 5
    include: list[str] = []
    kind: Kind | None = None
    log: bool = True


class Feedback(Params, frozen=True):
    """What a recalled memory was worth; `evidence` is needed for wrong and outdated."""

    id: str
    verdict: Literal["used", "wrong", "outdated"]
    evidence: str | None = None


class Explain(Params, frozen=True):
    """Without `id`: everything in the answer, and what came near."""

    query: str
    id: str | None = None
    project: str | None = None
    limit: Count = 5
    include: list[str] = []
    kind: Kind | None = None


class OneRun(Params, frozen=True):
    run: str


class OneTombstone(Params, frozen=True):
    id: str


class RollBack(Params, frozen=True):
    run: str
    with_dependents: bool = False


class Import(Params, frozen=True):
    kind: str
    path: str
    scope: Scope
    project: str | None = None
    dry_run: bool = False


class ExportPage(Params, frozen=True):
    scope: Scope | None = None
    project: str | None = None
    status: Status | None = None
    cursor: Count = 0
    limit: Count = 200


class Resolve(Params, frozen=True):
    """`keep`: the id of a side, "both" or "neither"; `conditions`: side -> when it holds."""

    conflict: str
    keep: str
    why: str | None = None
    conditions: dict[str, str] = {}


class MakeBackup(Params, frozen=True):
    path: str | None = None


class Restore(Params, frozen=True):
    """`passphrase` or `recovery_code` opens the backup; `vault_passphrase` the closed vault that is there."""

    path: str
    passphrase: str | None = None
    recovery_code: str | None = None
    vault_passphrase: str | None = None


class GateText(Params, frozen=True):
    content: str
    kind: Kind = Kind.FACT
    estimate: EstimateGiven | None = None


class Labels(Params, frozen=True):
    path: str


class Theta(Params, frozen=True):
    theta: Annotated[float, msgspec.Meta(gt=0, le=1)]


class UseModel(Params, frozen=True):
    id: str


class Cancel(Params, frozen=True):
    id: int | str


P = TypeVar("P", bound=Params)


def convert(params: Any, into: type[P]) -> P:
    """Check `params` against a wire type. Raises Usage, naming the field that is wrong."""
    try:
        return msgspec.convert(params, into)
    except msgspec.ValidationError as error:
        raise Usage(str(error)) from error
