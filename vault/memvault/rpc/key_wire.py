"""The wire types of keys, repair and checking. Knows nothing of what the methods do."""

from __future__ import annotations

from typing import Literal

from memvault.rpc.wire import Count, Params


class AddPassphrase(Params, frozen=True):
    passphrase: str


class ChangePassphrase(Params, frozen=True):
    old: str
    new: str


class OneSlot(Params, frozen=True):
    slot: str


class Rotate(Params, frozen=True):
    """`passphrase` and `recovery_code` keep their slots; `drop_others` lets the rest go."""

    passphrase: str | None = None
    recovery_code: str | None = None
    drop_others: bool = False


class Recover(Params, frozen=True):
    """`mend`: what to repair; None only looks. `missing`: how many changes a person saw to be lost.

    A closed vault needs its passphrase or recovery code.
    """

    mend: Literal["header", "pages", "mark"] | None = None
    passphrase: str | None = None
    recovery_code: str | None = None
    missing: Count | None = None
