"""Wire types of the methods about agents: what each takes."""

from __future__ import annotations

from memvault.model import Sensitivity
from memvault.rpc.wire import Nothing, Params

__all__ = ["AddAgent", "Nothing", "OneAgent", "Purge", "Quarantine", "Rights", "SetAgent"]


class Rights(Params, frozen=True):
    """What a grant allows; what is left out stays as it is, or is the default."""

    scopes: list[str] | None = None
    projects: str | list[str] | None = None
    ceiling: Sensitivity | None = None
    verbs: list[str] | None = None


class AddAgent(Rights, frozen=True, kw_only=True):
    """`host`: the known agent host whose processes get this grant even without a token."""

    name: str
    host: str | None = None


class SetAgent(Rights, frozen=True, kw_only=True):
    name: str


class OneAgent(Params, frozen=True):
    name: str


class Purge(Params, frozen=True):
    """`confirmed`: also what a person confirmed meanwhile."""

    name: str
    confirmed: bool = False


class Quarantine(Params, frozen=True):
    name: str
    on: bool = True
